//! Memory of this process, before and after a time flat out.

use std::time::{Duration, Instant};

use crate::cases::{CASES, Mode};

/// Prints what ten seconds of scopes without a pause leave behind, once their nodes exist.
pub(crate) fn print() {
    let cases = || {
        CASES
            .iter()
            .filter(|case| ["sites8", "recursion", "cold5000"].contains(&case.name))
    };
    cases().for_each(|case| case.run(Mode::Exact));
    let before = anonymous_kib();
    let end = Instant::now() + Duration::from_secs(10);
    let mut scopes = 0;
    while Instant::now() < end {
        for case in cases() {
            case.run(Mode::Exact);
            scopes += case.scopes;
        }
    }
    let after = anonymous_kib();
    println!("\n{scopes} scopes in 10 s: RssAnon before {before} KiB, after {after} KiB");
}

/// KiB of memory of its own, as the kernel counts them; 0 where it does not say.
fn anonymous_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0)
}

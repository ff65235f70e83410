//! Measures the memory of this process before and after a period of full load.

use std::time::Duration;

use tickscope_bench::kernel::anonymous_bytes;
use tickscope_bench::timing::run_for;

use crate::cases::{CASES, Case};
use crate::modes::Mode;

/// Prints the memory before and after ten seconds of scopes without a pause (a minute if `long`). Their nodes are
/// created beforehand.
pub(crate) fn print(long: bool) {
    Mode::Exact.enter();
    let cases = ["sites8", "recursion", "cold5000"];
    let counts: Vec<(&Case, u64)> = CASES
        .iter()
        .filter(|case| cases.contains(&case.name))
        .map(|case| (case, case.scopes(case.amount)))
        .collect();
    let mut scopes = 0;
    let mut once = || {
        for (case, count) in &counts {
            case.run(Mode::Exact, case.amount);
            scopes += count;
        }
    };
    // These runs create the nodes and the parts of their histograms that cover the usual latencies.
    (0..100).for_each(|_| once());
    let kib = || anonymous_bytes() / 1024.0;
    let seconds = if long { 60 } else { 10 };
    let before = kib();
    run_for(Duration::from_secs(seconds), once);
    println!(
        "\n{scopes} scopes in {seconds} s: RssAnon before {before} KiB, after {} KiB",
        kib()
    );
}

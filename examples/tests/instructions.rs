#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which says why it is skipped"
)]
//! How many instructions a scope takes, as callgrind counts them: the same every time, whatever the machine does.

use std::hint::black_box;
use std::process::Command;

/// Set in the process that callgrind watches: how many scopes to open.
const SCOPES: &str = "COUNT_INSTRUCTIONS_OF_SCOPES";

/// Instructions of one enter and one exit where the child is the one entered last, with the loop around them
/// (rustc 1.95): inlined as in a release build, and called as in a debug build that optimises this crate. A
/// compiler may change it a little; whoever changes the code says here why it grew.
const EXPECTED: f64 = if cfg!(debug_assertions) { 80.0 } else { 56.0 };

#[inline(never)]
fn scopes(count: u64) {
    for scope in 0..count {
        black_box(scope);
        tickscope::scope!("counted");
    }
}

/// Instructions of a process that opens so many scopes; none where there is no callgrind.
fn instructions(count: u64) -> Option<u64> {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!(
            "--callgrind-out-file={}",
            out.path().join("out").display()
        ))
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_scope_takes_as_many_instructions_as_before",
            "--test-threads=1",
        ])
        .env(SCOPES, count.to_string())
        .output()
        .ok()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(out.path().join("out")).unwrap();
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .unwrap();
    Some(total.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn a_scope_takes_as_many_instructions_as_before() {
    if let Ok(count) = std::env::var(SCOPES) {
        return scopes(count.parse().unwrap());
    }
    // What differs between the two is the scopes alone.
    let (Some(few), Some(many)) = (instructions(10_000), instructions(110_000)) else {
        eprintln!("skipped: there is no valgrind here (Debian: apt-get install valgrind)");
        return;
    };
    let per_scope = (many - few) as f64 / 100_000.0;
    assert!(
        (EXPECTED * 0.5..=EXPECTED * 1.05).contains(&per_scope),
        "{per_scope:.1} instructions a scope, {EXPECTED} expected"
    );
}

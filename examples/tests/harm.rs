//! What the slowest operations lose to a publisher and a viewer is measured, and not more than may be.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot run its program has failed; one line is for who collects the figures"
)]

use std::process::Command;

#[test]
fn the_slowest_operations_lose_no_more_than_they_may() {
    let directory = tempfile::tempdir().unwrap();
    let mut harm = Command::new(env!("CARGO_BIN_EXE_overhead"));
    harm.arg("--harm").env("TICKSCOPE_DIR", directory.path());
    let output = harm.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let rows = said.lines().filter(|line| line.contains(" with "));
    assert!(rows.count() >= 1, "{said}");
    let figure = said.lines().find(|line| line.starts_with("G11: p99.9 ")).unwrap();
    println!("{figure}");
}

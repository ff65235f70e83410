//! Tests that the benchmark measures how much the slowest operations are slowed down. Does not judge the measured times.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot run its program has failed; one line is for who collects the figures"
)]

use std::process::Command;

#[test]
#[ignore = "it measures times: .ci/nightly figures"]
fn what_the_slowest_operations_lose_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let mut harm = Command::new(env!("CARGO_BIN_EXE_bench"));
    harm.arg("harm").env("TICKSCOPE_DIR", directory.path());
    let output = harm.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Records were published during the measurement, and the percentiles are in ascending order.
    let row = said.lines().find(|line| line.contains(" with ")).unwrap();
    let numbers: Vec<f64> = row.split_whitespace().flat_map(str::parse).collect();
    let [records, middle, p999, p9999, most, ..] = numbers[..] else {
        panic!("{said}");
    };
    assert!(records > 1.0, "{said}");
    assert!(
        0.0 < middle && middle <= p999 && p999 <= p9999 && p9999 <= 1000.0 * most,
        "{said}"
    );
    let figure = said.lines().find(|line| line.starts_with("G11: p99.9 ")).unwrap();
    println!("{figure}");
}

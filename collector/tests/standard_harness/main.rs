//! Reports that test binaries write at exit. The standard test harness runs each test on a thread of its own, and ends
//! the process with `exit`.

#![cfg(feature = "enable")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::process::Command;

use tickscope_format::ids::NodeId;
use tickscope_report::archive;

/// Environment variable that is set when a test of this file runs this binary again.
const INNER: &str = "TICKSCOPE_TEST_INNER";

fn is_inner() -> bool {
    std::env::var_os(INNER).is_some()
}

#[tickscope::profile]
fn work() {}

#[test]
fn inner_works() {
    if is_inner() {
        work();
    }
}

#[test]
fn inner_works_and_fails() {
    if is_inner() {
        work();
        panic!("on purpose");
    }
}

#[test]
fn tests_that_pass_and_fail_are_in_the_report() {
    for (filter, code) in [("inner_works", 101), ("--exact inner_works", 0)] {
        let dir = tempfile::tempdir().unwrap();
        let done = Command::new(std::env::current_exe().unwrap())
            .args(filter.split(' '))
            .env(INNER, "1")
            .env("TICKSCOPE_REPORT", dir.path().join("%n.html"))
            .env_remove("TICKSCOPE")
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(code), "{done:?}");
        let reports: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(reports.len(), 1, "{reports:?}");
        let report = reports[0].as_ref().unwrap();
        let name = report.file_name().into_string().unwrap();
        assert!(name.starts_with("standard_harness-"), "{name}");
        assert!(name.ends_with(".html"), "{name}");
        let snapshot = archive::read(&report.path()).unwrap();
        let calls: u64 = (0..snapshot.nodes.len())
            .filter(|&row| snapshot.site_of(NodeId(row as u32)).name == "work")
            .map(|row| snapshot.nodes.calls[row])
            .sum();
        assert_eq!(calls, if code == 0 { 1 } else { 2 });
        // Each test runs on a thread that is named after it, and threads that have ended are kept by name.
        let named = |name: &str| {
            snapshot
                .threads
                .iter()
                .any(|thread| name.starts_with(&thread.name))
        };
        assert!(named("inner_works"), "{:?}", snapshot.threads);
    }
}

#[tickscope::profile]
fn asserted(depth: u32) {
    if depth > 0 {
        asserted(depth - 1);
    }
}

#[test]
fn a_test_asserts_how_often_a_function_was_called() {
    let before = tickscope::snapshot().function("asserted");
    assert_eq!((before.sites, before.calls), (0, 0), "no other test calls it");
    asserted(2);
    std::thread::spawn(|| asserted(0)).join().unwrap();
    let after = tickscope::snapshot().function("standard_harness::asserted");
    assert_eq!((after.sites, after.calls), (1, 4));
    assert_eq!(after.total_time, after.self_time, "it calls nothing but itself");
}

//! Bugs that were found by reading and trying, each test named after what went wrong.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod support;

use std::fs::OpenOptions;
use std::sync::mpsc;
use std::time::Duration;

use support::{Isolated, calls_of, check, isolated, newest, test_name, wait_for, wait_until};
use tickscope::{Builder, Status};
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::NO_PARENT;

/// The next store into the mapping was a SIGBUS.
fn a_ring_cut_from_outside_killed_the_program() {
    isolated!(|| {
        let session = Builder::new("cut")
            .interval(Duration::from_millis(10))
            .try_start()
            .unwrap();
        // The first that is lost is replaced at once, the second is not: then it stops.
        let mut path = session.path().unwrap();
        for length in [100, 5000] {
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(length).unwrap();
            if length == 100 {
                path = wait_for("another ring", || session.path().filter(|now| *now != path));
            }
        }
        wait_until("it stops publishing", || session.status() == Status::Counting);
        let warnings = session.warnings().join("\n");
        assert!(
            warnings.contains("ring files lost: 2; the last: ")
                && warnings.contains("was cut from outside to 5000 bytes")
                && warnings.contains("start the session anew"),
            "{warnings}"
        );
        tickscope::time!("after", ());
        assert_eq!(
            calls_of(&tickscope::snapshot(), "after"),
            1,
            "scopes are counted all the same"
        );
        assert_eq!(
            std::fs::metadata(&path).unwrap().len(),
            5000,
            "nothing is written behind the cut"
        );
        // The advice it gives holds.
        drop(session);
        drop(Builder::new("again").try_start().unwrap());
    });
}

/// It was not published, and nobody was told.
fn a_snapshot_too_large_for_the_ring_was_lost() {
    isolated!(|| {
        let session = Builder::new("large").ring_bytes(64 << 10).try_start().unwrap();
        support::call_many_paths();
        let whole = tickscope::snapshot();
        assert_eq!(whole.capture.pruned, 0);
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        drop(session);
        let shown = newest(&ring);
        check(&shown);
        assert!(shown.capture.pruned > 1000, "{}", shown.capture.pruned);
        assert!(shown.sites.iter().any(|site| site.name == "(pruned)"));
        assert_eq!(
            (shown.calls(), shown.lifetime.calls),
            (4 * 8u64.pow(4), 4 * 8u64.pow(4))
        );
        assert!(
            shown
                .nodes
                .parent
                .iter()
                .filter(|&&parent| parent == NO_PARENT)
                .count()
                >= 8
        );
    });
}

/// What `start` itself had to say reached nobody who did not ask the session.
fn warnings_of_the_start_were_in_no_snapshot() {
    let done = Isolated::new(test_name!())
        .env("TICKSCOPE_MAX_DEPTH", "deep")
        .env("TICKSCOPE_REPORT", "stderr")
        .run(|| {
            let session = Builder::new("a b").try_start().unwrap();
            let warnings = session.warnings();
            assert_eq!(warnings.len(), 2, "each is said once: {warnings:?}");
            tickscope::time!("work", ());
        })
        .succeeded();
    let warnings = newest(&done.ring()).process.warnings.join("\n");
    for says in ["TICKSCOPE_MAX_DEPTH=deep", "\"a b\" was changed to \"a-b\""] {
        assert!(
            warnings.contains(says) && done.stderr.contains(says),
            "{says}: {warnings}\n{}",
            done.stderr
        );
    }
}

/// The report at exit waited for std's lock, which another thread held for ever.
fn a_report_at_exit_hung_behind_a_lock_on_standard_error() {
    let done = Isolated::new(test_name!())
        .env("TICKSCOPE", "report")
        .run(|| {
            tickscope::time!("work", ());
            let (locked, wait) = mpsc::channel();
            let holder = std::thread::spawn(move || {
                let _held = std::io::stderr().lock();
                locked.send(()).unwrap();
                loop {
                    std::thread::park();
                }
            });
            wait.recv().unwrap();
            assert!(!holder.is_finished());
            std::process::exit(0);
        })
        .succeeded();
    assert!(done.stderr.contains("work"), "{}", done.stderr);
}

/// In a forked child each thread took a new block: its memory grew without end.
fn threads_of_a_forked_child_gave_nothing_back() {
    fn anonymous_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))
            .unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }
    fn threads(count: u32) {
        for _ in 0..count {
            std::thread::spawn(|| tickscope::time!("short", ()))
                .join()
                .unwrap();
        }
    }
    isolated!(|| {
        tickscope::time!("before", ());
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            0 => {
                threads(100);
                let before = anonymous_kib();
                threads(1000);
                let grown = anonymous_kib().saturating_sub(before);
                // A block with its first nodes and table takes 12 KiB and more.
                let code = if grown < 4_000 { 0 } else { 1 };
                // SAFETY: ends the process without handlers.
                unsafe { libc::_exit(code) }
            }
            child => {
                let mut status = -1;
                // SAFETY: `status` is a valid place.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0, "its memory grew");
            }
        }
    });
}

/// The publisher made it absolute, when the program had long gone elsewhere.
fn a_relative_directory_was_looked_up_too_late() {
    isolated!(|| {
        std::env::set_current_dir(support::shared_place()).unwrap();
        let session = Builder::new("relative").dir("here").start();
        std::env::set_current_dir("/").unwrap();
        wait_until("it publishes", || session.status() == Status::Publishing);
        let path = session.path().unwrap();
        assert!(
            path.is_absolute() && path.starts_with(support::shared_place()),
            "{}",
            path.display()
        );
    });
}

support::tests![
    a_ring_cut_from_outside_killed_the_program,
    a_snapshot_too_large_for_the_ring_was_lost,
    warnings_of_the_start_were_in_no_snapshot,
    a_report_at_exit_hung_behind_a_lock_on_standard_error,
    threads_of_a_forked_child_gave_nothing_back,
    a_relative_directory_was_looked_up_too_late,
];

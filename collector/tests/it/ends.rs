//! Nothing is missing at the two ends of a program. `ENDS` is the number of programs of each kind; `.ci/nightly` runs many, on a busy machine.

use std::sync::{Arc, Barrier};

use crate::support::{Done, Isolated, calls_of, newest, test_name};
use tickscope_format::file::open::Liveness;

/// How many paths a thread has.
const ROWS: u64 = 1 << 12;
const THREADS: usize = 8;

/// Runs a body as often as is asked for.
fn again_and_again(few: u32, body: impl Fn()) {
    let asked = std::env::var("ENDS").map(|ends| ends.parse().unwrap());
    (0..asked.unwrap_or(few)).for_each(|_| body());
}

/// A program that ended normally has an ended ring with all calls.
fn assert_whole(done: &Done, name: &str, calls: u64) {
    assert!(done.status.success(), "{done:?}");
    let ring = done.ring();
    assert!(
        matches!(ring.liveness().unwrap(), Liveness::Exited { .. }),
        "{done:?}"
    );
    assert_eq!(calls_of(&newest(&ring), name), calls);
}

fn work() {
    (0..100).for_each(|_| tickscope::time!("work", ()));
}

fn a_program_of_a_millisecond_leaves_all_calls() {
    again_and_again(3, || {
        let done = Isolated::as_usual(test_name!()).run(|| {
            let _session = tickscope::start("short");
            work();
        });
        assert_whole(&done, "work", 100);
        let done = Isolated::as_usual(test_name!())
            .env("TICKSCOPE", "live")
            .run(work);
        assert_whole(&done, "work", 100);
    });
}

/// Calls on a path of its own for each number.
fn path(number: u64, depth: u32) {
    if depth > 0 {
        match number % 4 {
            0 => tickscope::time!("a", path(number / 4, depth - 1)),
            1 => tickscope::time!("b", path(number / 4, depth - 1)),
            2 => tickscope::time!("c", path(number / 4, depth - 1)),
            _ => tickscope::time!("d", path(number / 4, depth - 1)),
        }
    }
}

fn threads_with_many_rows_end_whole() {
    again_and_again(1, || {
        let done = Isolated::as_usual(test_name!()).run(|| {
            let session = tickscope::start("rows");
            let barrier = Arc::new(Barrier::new(THREADS + 1));
            for _ in 0..THREADS {
                let barrier = Arc::clone(&barrier);
                std::thread::spawn(move || {
                    (0..ROWS).for_each(|number| path(number, ROWS.ilog(4)));
                    barrier.wait();
                    loop {
                        std::thread::park();
                    }
                });
            }
            barrier.wait();
            drop(session);
        });
        let quarter = THREADS as u64 * ROWS * u64::from(ROWS.ilog(4)) / 4;
        for name in ["a", "b", "c", "d"] {
            assert_whole(&done, name, quarter);
        }
    });
}

crate::support::tests![
    a_program_of_a_millisecond_leaves_all_calls,
    threads_with_many_rows_end_whole,
];

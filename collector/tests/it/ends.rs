//! No call is lost, however early or late in the program it is made. In the environment, `ENDS` sets the number of
//! programs of each kind, and `PATHS` the number of paths per thread. `.ci/nightly` runs many programs on a busy
//! machine.

use std::sync::{Arc, Barrier};

use crate::support::{Done, Isolated, calls_of, has_exited, newest, test_name};

const THREADS: usize = 8;
const DEPTH: u32 = 8;

fn asked(variable: &str, few: u64) -> u64 {
    std::env::var(variable).map_or(few, |many| many.parse().unwrap())
}

/// Checks that the program ended normally and that its ring has all calls: in total, and also by name if no rows were
/// pruned.
fn assert_whole(done: &Done, calls: &[(&str, u64)]) {
    assert!(done.status.success(), "{done:?}");
    let ring = done.ring();
    assert!(has_exited(&ring), "{done:?}");
    let last = newest(&ring);
    assert_eq!(last.calls(), calls.iter().map(|(_, calls)| calls).sum::<u64>());
    for &(name, calls) in calls.iter().filter(|_| last.capture.pruned == 0) {
        assert_eq!(calls_of(&last, name), calls, "{name}");
    }
}

fn work() {
    (0..100).for_each(|_| tickscope::time!("work", ()));
}

fn a_program_of_a_millisecond_leaves_all_calls() {
    for _ in 0..asked("ENDS", 3) {
        let done = Isolated::as_usual(test_name!()).run(|| {
            let _session = tickscope::start("short");
            work();
        });
        assert_whole(&done, &[("work", 100)]);
        let done = Isolated::as_usual(test_name!())
            .env("TICKSCOPE", "live")
            .run(work);
        assert_whole(&done, &[("work", 100)]);
    }
}

/// Makes calls on a path that is unique to `number`.
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
    let paths = || asked("PATHS", 4_000);
    for _ in 0..asked("ENDS", 1) {
        let done = Isolated::as_usual(test_name!()).run(|| {
            let session = tickscope::start("rows");
            let barrier = Arc::new(Barrier::new(THREADS + 1));
            for _ in 0..THREADS {
                let barrier = Arc::clone(&barrier);
                std::thread::spawn(move || {
                    (0..paths()).for_each(|number| path(number, DEPTH));
                    barrier.wait();
                    loop {
                        std::thread::park();
                    }
                });
            }
            barrier.wait();
            drop(session);
        });
        let digits = |number: u64| (0..DEPTH).map(move |place| number >> (2 * place) & 3);
        let calls = |digit: u64| {
            let of_thread = (0..paths()).flat_map(digits).filter(|&found| found == digit);
            THREADS as u64 * of_thread.count() as u64
        };
        assert_whole(
            &done,
            &[("a", calls(0)), ("b", calls(1)), ("c", calls(2)), ("d", calls(3))],
        );
    }
}

tickscope_testkit::tests![
    a_program_of_a_millisecond_leaves_all_calls,
    threads_with_many_rows_end_whole,
];

//! All the ways in which a program can end. Each must end it promptly, and with its own exit code.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, LazyLock};
use std::time::Duration;

use crate::support::{self, Isolated, calls_of, has_exited, newest, ring_of, started, test_name};
use tickscope::{Builder, Clock};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::snapshot::CaptureKind;

/// Ways to end the program, each with the exit code or the signal that the parent sees.
const WAYS: [(&str, Option<i32>, Option<i32>); 7] = [
    ("process::exit", Some(7), None),
    ("exit", Some(7), None),
    ("_exit", Some(7), None),
    ("quick_exit", Some(7), None),
    ("abort", None, Some(libc::SIGABRT)),
    ("killed", None, Some(libc::SIGKILL)),
    ("terminated", None, Some(libc::SIGTERM)),
];

unsafe extern "C" {
    fn quick_exit(code: libc::c_int) -> !;
}

/// Value of the variable `WAY`. It is read early, because reading it in a signal handler would allocate.
static WAY: LazyLock<String> = LazyLock::new(|| std::env::var("WAY").unwrap());

fn end() {
    let raise = |signal| {
        // SAFETY: `raise` takes no pointers.
        unsafe { libc::raise(signal) };
    };
    match &**WAY {
        "process::exit" => std::process::exit(7),
        // SAFETY: `exit` takes no pointers. The other threads of this test may run until the process ends.
        "exit" => unsafe { libc::exit(7) },
        // SAFETY: `_exit` takes no pointers.
        "_exit" => unsafe { libc::_exit(7) },
        // SAFETY: `quick_exit` takes no pointers.
        "quick_exit" => unsafe { quick_exit(7) },
        "abort" => std::process::abort(),
        "killed" => raise(libc::SIGKILL),
        _ => raise(libc::SIGTERM),
    }
}

static ENDS: AtomicBool = AtomicBool::new(false);

/// Ends the process at the first signal, no matter which code the signal interrupts.
extern "C" fn ending(_: libc::c_int) {
    if !ENDS.swap(true, Ordering::Relaxed) {
        tickscope::scope!("handler");
        end();
    }
}

fn busy(barrier: &Barrier) {
    let mut begun = false;
    loop {
        tickscope::scope!("busy");
        tickscope::time!("step", std::hint::black_box(()));
        if !std::mem::replace(&mut begun, true) {
            barrier.wait();
        }
    }
}

/// Runs the work of one of many threads, which mostly sleeps, because there are too many threads to keep them all busy.
fn at_work(barrier: &Barrier) {
    let mut begun = false;
    loop {
        tickscope::scope!("busy");
        tickscope::time!("waits", std::thread::sleep(Duration::from_millis(20)));
        if !std::mem::replace(&mut begun, true) {
            barrier.wait();
        }
    }
}

fn every_way_to_end_from_everywhere_ends_as_without_tickscope() {
    static BEGUN: Barrier = Barrier::new(5);
    for from in ["main", "thread", "scope", "handler", "handler in the allocator"] {
        for (way, code, signal) in WAYS {
            let test = Isolated::as_usual(test_name!()).env("FROM", from).env("WAY", way);
            let done = test.run(|| {
                let _session = Builder::new("ends").try_start().unwrap();
                for _ in 0..4 {
                    std::thread::spawn(|| busy(&BEGUN));
                }
                BEGUN.wait();
                LazyLock::force(&WAY);
                match &*std::env::var("FROM").unwrap() {
                    "main" => end(),
                    "thread" => drop(std::thread::spawn(end).join()),
                    "scope" => tickscope::time!("ends", end()),
                    _ => {
                        support::on_signal(libc::SIGUSR1, ending);
                        let main = support::thread_id();
                        std::thread::spawn(move || support::signal_thread(main, libc::SIGUSR1));
                        let allocates = std::env::var("FROM").unwrap() != "handler";
                        loop {
                            tickscope::scope!("interrupted");
                            if allocates {
                                // Allocating a block of this size takes the allocator's lock.
                                drop(std::hint::black_box(vec![1u8; 3000]));
                            } else {
                                // Taking a snapshot holds the collector's lock.
                                drop(tickscope::snapshot());
                            }
                        }
                    }
                }
                panic!("it goes on");
            });
            assert_eq!(done.status.code(), code, "{way} from {from}: {done:?}");
            assert_eq!(done.status.signal(), signal, "{way} from {from}: {done:?}");
            assert_eq!((&*done.stdout, &*done.stderr), ("", ""), "{way} from {from}");
            let ring = done.ring();
            let newest = support::checked(newest(&ring));
            let fate = ring.liveness().unwrap();
            let asked = matches!(way, "process::exit" | "exit");
            // The ring is not marked as ended if the handler interrupted a snapshot or the machine was too busy.
            if asked && !from.starts_with("handler") && matches!(fate, Liveness::Exited { .. }) {
                assert!(calls_of(&newest, "busy") >= 4);
            }
            if !asked {
                assert!(matches!(fate, Liveness::Crashed { .. }), "{way}: {fate:?}");
            }
        }
    }
}

static EXITS: AtomicBool = AtomicBool::new(false);

/// A clock that calls `exit` when it is read in the middle of a capture, just as a signal handler might.
fn exiting_clock() -> u64 {
    if EXITS.swap(false, Ordering::Relaxed) {
        end();
    }
    1
}

/// The exit holds the collector's lock and needs the session's lock, while the publisher takes the two in the opposite
/// order.
fn an_exit_inside_a_capture_ends_while_the_session_ends() {
    for way in ["process::exit", "exit"] {
        let done = Isolated::as_usual(test_name!()).env("WAY", way).run(|| {
            let _reader = support::full_standard_error();
            let builder = Builder::new("ends").clock(Clock::Custom(exiting_clock, 1e9));
            let session = started(builder.log_every(Duration::from_millis(10)));
            LazyLock::force(&WAY);
            tickscope::time!(group = "log", "work", ());
            let ring = ring_of(&session);
            std::thread::spawn(|| drop(session));
            support::wait_until("the last record", || {
                newest(&ring).capture.kind == CaptureKind::Final
            });
            // The publisher waits for the full pipe first, and then for the collector's lock.
            EXITS.store(true, Ordering::Relaxed);
            drop(tickscope::snapshot());
            panic!("it goes on");
        });
        assert_eq!(done.status.code(), Some(7), "{done:?}");
    }
}

/// Returns how many milliseconds pass between the call to `exit` and the moment when the parent sees that the process
/// has ended.
fn milliseconds_to_end(off: bool) -> f64 {
    const THREADS: usize = 1_000;
    let test = Isolated::as_usual("a_thousand_threads_at_work_do_not_hold_up_the_end");
    let test = if off { test.env("TICKSCOPE", "off") } else { test };
    let running = test.start(|| {
        let barrier = &*Box::leak(Box::new(Barrier::new(THREADS + 1)));
        let _session = Builder::new("crowd").start();
        for _ in 0..THREADS {
            let thread = std::thread::Builder::new().stack_size(128 << 10);
            thread.spawn(|| at_work(barrier)).unwrap();
        }
        barrier.wait();
        support::tell("ends", now_ns().to_string());
        std::process::exit(7);
    });
    let began = running.told("ends").parse::<u64>().unwrap();
    let done = running.wait();
    assert_eq!(done.status.code(), Some(7), "{done:?}");
    (now_ns() - began) as f64 / 1e6
}

fn now_ns() -> u64 {
    tickscope_format::os::monotonic_ns()
}

fn a_thousand_threads_at_work_do_not_hold_up_the_end() {
    let [without, with] = [true, false].map(milliseconds_to_end);
    println!(
        "exit with 1000 threads at work, in ms (looked at every 2 ms): {with:.0}, with TICKSCOPE=off {without:.0}"
    );
}

/// Reports to the parent that it is ready, and never returns.
fn ready() -> ! {
    tickscope::time!("work", ());
    support::tell("ready", "");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn send(running: &support::Running, signal: i32) {
    running.told("ready");
    // SAFETY: `kill` takes no pointers, and the process is a child that has not been waited for yet.
    unsafe { libc::kill(running.pid().cast_signed(), signal) };
}

fn a_signal_writes_the_last_record_where_that_is_asked_for() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        for asked in ["no", "builder", "environment"] {
            let test = Isolated::as_usual(test_name!()).env("ASKED", asked);
            let test = match asked {
                "environment" => test.env("TICKSCOPE_END_ON_SIGNALS", "1"),
                _ => test,
            };
            let running = test.start(|| {
                let by_builder = std::env::var("ASKED").unwrap() == "builder";
                let _session = Builder::new("signalled").end_on_signals(by_builder).start();
                ready();
            });
            send(&running, signal);
            let done = running.wait();
            assert_eq!(done.status.signal(), Some(signal), "{asked}");
            let ring = done.ring();
            if asked == "no" {
                assert!(matches!(ring.liveness().unwrap(), Liveness::Crashed { .. }));
            } else {
                assert!(has_exited(&ring), "{asked}");
                assert_eq!(calls_of(&newest(&ring), "work"), 1);
            }
        }
    }
}

static OWN: AtomicBool = AtomicBool::new(false);

extern "C" fn own(_: libc::c_int) {
    OWN.store(true, Ordering::Relaxed);
}

fn a_handler_of_the_program_stays_before_and_after_the_start() {
    for when in ["before", "after"] {
        let running = Isolated::as_usual(test_name!()).env("WHEN", when).start(|| {
            let when = std::env::var("WHEN").unwrap();
            if when == "before" {
                support::on_signal(libc::SIGTERM, own);
            }
            let _session = Builder::new("handles").end_on_signals(true).start();
            if when == "after" {
                support::on_signal(libc::SIGTERM, own);
            }
            support::tell("ready", "");
            support::wait_until("the handler", || OWN.load(Ordering::Relaxed));
            std::process::exit(3);
        });
        send(&running, libc::SIGTERM);
        assert_eq!(running.wait().status.code(), Some(3), "{when}");
    }
}

fn a_forked_child_ends_by_the_signal() {
    let done = Isolated::as_usual(test_name!()).run(|| {
        let _session = Builder::new("forks").end_on_signals(true).start();
        let child = support::fork(|| {
            std::thread::sleep(support::FOR_GOOD);
            0
        });
        // SAFETY: `kill` takes no pointers.
        unsafe { libc::kill(child, libc::SIGTERM) };
        assert_eq!(support::status_of(child).signal(), Some(libc::SIGTERM));
    });
    assert!(done.status.success(), "{done:?}");
}

/// The child inherits the handlers from a session that began before `main`, but not the thread that waits for signals.
fn a_forked_child_with_a_session_of_its_own_ends_by_the_signal_with_its_last_record() {
    let test = Isolated::as_usual(test_name!())
        .env("TICKSCOPE", "live")
        .env("TICKSCOPE_END_ON_SIGNALS", "1");
    let done = test.succeeds(|| {
        let child = support::fork(|| {
            let _session = Builder::new("child").try_start().unwrap();
            tickscope::time!("in the child", ());
            // SAFETY: `kill` takes no pointers.
            unsafe { libc::kill(std::process::id() as libc::pid_t, libc::SIGTERM) };
            std::thread::sleep(support::FOR_GOOD);
            0
        });
        assert_eq!(support::status_of(child).signal(), Some(libc::SIGTERM));
    });
    let rings = support::rings_in(&done.place().join("rings"));
    let child = rings
        .iter()
        .find(|path| path.to_string_lossy().contains("child."));
    let ring = RingFile::open(child.unwrap()).unwrap();
    assert!(has_exited(&ring));
    assert_eq!(calls_of(&newest(&ring), "in the child"), 1);
}

tickscope_testkit::tests![
    a_signal_writes_the_last_record_where_that_is_asked_for,
    a_handler_of_the_program_stays_before_and_after_the_start,
    a_forked_child_ends_by_the_signal,
    a_forked_child_with_a_session_of_its_own_ends_by_the_signal_with_its_last_record,
    every_way_to_end_from_everywhere_ends_as_without_tickscope,
    an_exit_inside_a_capture_ends_while_the_session_ends,
    a_thousand_threads_at_work_do_not_hold_up_the_end,
];

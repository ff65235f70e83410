//! Forks, exits, aborts, panics: the program behaves as without us, and its ring tells what became of it.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{
    self, FOR_GOOD, Isolated, calls_of, check, isolated_as_usual, newest, rings_in, test_name, wait_for,
    wait_until,
};
use tickscope::{Builder, Clock, Destination, Status};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::snapshot::CaptureKind;

/// Forks; the child runs `body` and is gone.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> libc::pid_t {
    // SAFETY: the child calls what children of programs with threads often call in practice: this is the test.
    match unsafe { libc::fork() } {
        0 => {
            // A child that hangs shall not stay for ever.
            // SAFETY: takes a number.
            unsafe { libc::alarm(FOR_GOOD.as_secs() as u32) };
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
            // SAFETY: ends the process without handlers.
            unsafe { libc::_exit(code) }
        }
        pid => {
            assert!(pid > 0);
            // What it owns is the child's to drop.
            std::mem::forget(body);
            pid
        }
    }
}

/// How a child ended, once it did.
pub(crate) fn status_of(pid: libc::pid_t) -> std::process::ExitStatus {
    wait_for("the end of the forked child", || {
        let mut status = 0;
        // SAFETY: `status` is a valid place.
        let ended = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
        (ended == pid).then(|| std::process::ExitStatus::from_raw(status))
    })
}

/// The settling thread keeps the others waiting while it looks at the clock.
static IS_SETTLING: AtomicBool = AtomicBool::new(false);
static MAY_SETTLE: AtomicBool = AtomicBool::new(false);

fn slow_clock() -> u64 {
    IS_SETTLING.store(true, Ordering::Relaxed);
    while !MAY_SETTLE.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    1
}

/// It waited for a thread that it had not.
fn a_child_forked_while_another_thread_chooses_the_clock_goes_on() {
    isolated_as_usual!(|| {
        let settling =
            std::thread::spawn(|| drop(Builder::new("slow").clock(Clock::Custom(slow_clock, 1e9)).start()));
        wait_until("the first look at the clock", || {
            IS_SETTLING.load(Ordering::Relaxed)
        });
        let pid = fork(|| {
            for _ in 0..3 {
                tickscope::scope!("in the child");
            }
            tickscope::count!("in the child", 3);
            let session = Builder::new("child").start();
            i32::from(
                session
                    .warnings()
                    .iter()
                    .all(|warning| !warning.contains("a forked child publishes nothing")),
            )
        });
        assert_eq!(status_of(pid).code(), Some(0));
        MAY_SETTLE.store(true, Ordering::Relaxed);
        settling.join().unwrap();
    });
}

fn a_forked_child_goes_on_and_publishes_nothing() {
    let done = isolated_as_usual!(|| {
        let session = Builder::new("forks").try_start().unwrap();
        tickscope::time!("before", ());
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        let guard = tickscope::scope_guard!("open over the fork");
        let pid = fork(|| {
            drop(guard);
            for _ in 0..1000 {
                tickscope::time!("child", ());
            }
            assert_eq!(tickscope::snapshot().calls(), 0);
            assert_eq!(tickscope::reset().calls(), 0);
            let refused = tickscope::dump("/tmp/never-written", tickscope::Format::Text).unwrap_err();
            assert!(
                refused
                    .to_string()
                    .contains("a forked child has no tree of its own; start a new program instead"),
                "{refused}"
            );
            let pause = tickscope::pause();
            drop(pause);
            let thread = std::thread::spawn(|| tickscope::time!("thread of the child", ()));
            thread.join().unwrap();
            let own = tickscope::start("child");
            assert!(
                own.warnings().iter().any(|warning| warning
                    .contains("a forked child publishes nothing; start a new program instead")),
                "{:?}",
                own.warnings()
            );
            assert_eq!(own.status(), Status::Counting);
            drop(own);
            drop(session);
            7
        });
        assert_eq!(status_of(pid).code(), Some(7));
        assert_eq!(ring.liveness().unwrap(), Liveness::Running);
        tickscope::time!("after", ());
        let _slot = ring.take_slot().unwrap();
        wait_until("a later record", || calls_of(&newest(&ring), "after") == 1);
        let snapshot = newest(&ring);
        assert_eq!(
            calls_of(&snapshot, "child") + calls_of(&snapshot, "thread of the child"),
            0
        );
    });
    assert_eq!(rings_in(&done.place().join("rings")).len(), 1);
    assert!(matches!(done.ring().liveness().unwrap(), Liveness::Exited { .. }));
}

fn a_child_forked_while_locks_are_held_does_not_hang() {
    isolated_as_usual!(|| {
        let session = Builder::new("forks").try_start().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        tickscope::time!("busy", drop(session.warnings()));
                    }
                });
            }
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    tickscope::time!("busy", drop(tickscope::snapshot()));
                }
            });
            let _over = support::Over(&over);
            for _ in 0..100 {
                let pid = fork(|| {
                    tickscope::time!("child", ());
                    tickscope::request_reset();
                    let said = (session.status(), session.path(), session.warnings().len());
                    assert_eq!(said, (Status::Counting, None, 0));
                    let _ = (tickscope::reset(), tickscope::snapshot());
                    let own = tickscope::start("child");
                    own.status();
                    drop(own);
                    0
                });
                assert!(status_of(pid).success());
            }
        });
        assert_eq!(session.status(), Status::Publishing);
        check(&tickscope::snapshot());
    });
}

fn a_forked_child_may_exit_through_the_handlers_and_from_a_thread() {
    isolated_as_usual!(|| {
        let session = Builder::new("forks")
            .report_at_exit(Destination::Stdout)
            .try_start()
            .unwrap();
        tickscope::time!("before", ());
        let pid = fork(|| std::process::exit(3));
        assert_eq!(status_of(pid).code(), Some(3));
        let pid = fork(|| {
            let _ = std::thread::spawn(|| std::process::exit(4)).join();
            0
        });
        assert_eq!(status_of(pid).code(), Some(4));
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        assert_eq!(ring.liveness().unwrap(), Liveness::Running);
        assert_eq!(session.status(), Status::Publishing);
    });
}

fn the_lock_is_freed_when_the_program_dies_though_its_child_lives() {
    let mut running = Isolated::as_usual(test_name!()).start(|| {
        let session = Builder::new("parent").try_start().unwrap();
        tickscope::time!("work", ());
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        wait_until("the work", || calls_of(&newest(&ring), "work") == 1);
        let forked = fork(|| {
            std::thread::sleep(FOR_GOOD);
            0
        });
        #[expect(clippy::zombie_processes, reason = "it outlives this process")]
        let run = Command::new("sleep").arg("3600").spawn().unwrap();
        support::tell("children", format!("{forked} {}", run.id()));
        std::thread::sleep(FOR_GOOD);
    });
    let children: Vec<libc::pid_t> = running
        .told("children")
        .split(' ')
        .map(|pid| pid.parse().unwrap())
        .collect();
    let ring = running.ring();
    assert_eq!(ring.liveness().unwrap(), Liveness::Running);
    running.kill();
    wait_until("the lock", || {
        matches!(ring.liveness().unwrap(), Liveness::Crashed { .. })
    });
    assert_eq!(calls_of(&newest(&ring), "work"), 1);
    for pid in children {
        // SAFETY: a number; 0 only asks.
        let result = unsafe { libc::kill(pid, 0) };
        assert_eq!(result, 0, "the child lives");
        // SAFETY: our own grandchild.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

fn fork_and_exec_are_left_alone() {
    isolated_as_usual!(|| {
        let session = Builder::new("spawns").try_start().unwrap();
        tickscope::scope!("spawning");
        for _ in 0..20 {
            let done = tickscope::time!("child", Command::new("true").status().unwrap());
            assert!(done.success());
        }
        assert_eq!(session.status(), Status::Publishing);
        assert_eq!(calls_of(&tickscope::snapshot(), "child"), 20);
    });
}

fn a_normal_exit_leaves_a_final_record_and_the_mark() {
    let done = isolated_as_usual!(|| {
        std::mem::forget(Builder::new("leaves").try_start().unwrap());
        tickscope::time!("work", ());
    });
    let ring = done.ring();
    assert!(matches!(ring.liveness().unwrap(), Liveness::Exited { .. }));
    let last = newest(&ring);
    assert_eq!(
        (last.capture.kind, calls_of(&last, "work")),
        (CaptureKind::Final, 1)
    );
}

fn a_scope_before_the_start_does_not_cost_the_final_record_or_the_report() {
    let done = isolated_as_usual!(|| {
        tickscope::scope!("main");
        let session = Builder::new("scoped")
            .report_at_exit(Destination::Stderr)
            .try_start()
            .unwrap();
        tickscope::time!("work", ());
        std::mem::forget(session);
    });
    let ring = done.ring();
    assert!(
        matches!(ring.liveness().unwrap(), Liveness::Exited { .. }),
        "{:?}",
        ring.liveness()
    );
    assert_eq!(calls_of(&newest(&ring), "work"), 1);
    assert!(done.stderr.contains("work"), "{}", done.stderr);
}

fn exit_from_another_thread_ends_the_program_as_asked() {
    let done = Isolated::as_usual(test_name!()).run(|| {
        std::mem::forget(Builder::new("exits").try_start().unwrap());
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            tickscope::scope!("exiting");
            is_ready.recv().unwrap();
            std::process::exit(3);
        });
        let mut rounds = 0u64;
        loop {
            tickscope::time!("busy", std::hint::black_box(()));
            rounds += 1;
            if rounds == 10_000 {
                ready.send(()).unwrap();
            }
        }
    });
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    let ring = done.ring();
    assert!(matches!(ring.liveness().unwrap(), Liveness::Exited { .. }));
    let last = newest(&ring);
    check(&last);
    assert_eq!(last.capture.kind, CaptureKind::Final);
    assert!(calls_of(&last, "busy") >= 10_000 && calls_of(&last, "exiting") == 1);
}

fn a_panic_closes_the_scopes_it_leaves() {
    isolated_as_usual!(|| {
        std::panic::set_hook(Box::new(|_| {}));
        fn fails(depth: u32) {
            tickscope::scope!("fails");
            if depth == 0 {
                panic!("on purpose");
            }
            tickscope::time!("wrapped", fails(depth - 1));
        }
        for _ in 0..10 {
            tickscope::scope!("caught");
            assert!(std::panic::catch_unwind(|| fails(3)).is_err());
            tickscope::time!("after", ());
        }
        let died = std::thread::Builder::new()
            .name("dies".into())
            .spawn(|| fails(1))
            .unwrap();
        assert!(died.join().is_err());
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let calls = support::calls(&snapshot);
        assert_eq!(
            (calls["fails"], calls["wrapped"], calls["caught"], calls["after"]),
            (42, 31, 10, 10)
        );
        assert!(support::tree(&snapshot, "main").contains("\n  after 10 "));
        assert_eq!(
            (
                snapshot.capture.losses.unbalanced,
                snapshot.capture.losses.dropped
            ),
            (0, 0)
        );
    });
}

fn ten_starts_and_exits_in_the_middle_of_all_threads_work() {
    for code in 1..=10 {
        let done = Isolated::as_usual(test_name!())
            .env("ROUND", code.to_string())
            .run(|| {
                let code: i32 = std::env::var("ROUND").unwrap().parse().unwrap();
                for thread in 0..4 {
                    std::thread::spawn(move || {
                        loop {
                            tickscope::scope!("busy");
                            std::thread::scope(|scope| {
                                scope.spawn(|| tickscope::time!("short", ()));
                            });
                            if thread == 0 {
                                drop(tickscope::reset());
                            }
                        }
                    });
                }
                std::mem::forget(tickscope::start("exits"));
                std::thread::sleep(Duration::from_millis(code as u64));
                std::process::exit(code);
            });
        assert_eq!(done.status.code(), Some(code), "{done:?}");
    }
}

/// In a forked child each thread took a new block: its memory grew without end.
fn threads_of_a_forked_child_give_back_their_memory() {
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
    isolated_as_usual!(|| {
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

tickscope_testkit::tests![
    threads_of_a_forked_child_give_back_their_memory,
    a_child_forked_while_another_thread_chooses_the_clock_goes_on,
    a_forked_child_goes_on_and_publishes_nothing,
    a_child_forked_while_locks_are_held_does_not_hang,
    a_forked_child_may_exit_through_the_handlers_and_from_a_thread,
    the_lock_is_freed_when_the_program_dies_though_its_child_lives,
    fork_and_exec_are_left_alone,
    a_normal_exit_leaves_a_final_record_and_the_mark,
    a_scope_before_the_start_does_not_cost_the_final_record_or_the_report,
    exit_from_another_thread_ends_the_program_as_asked,
    a_panic_closes_the_scopes_it_leaves,
    ten_starts_and_exits_in_the_middle_of_all_threads_work,
];

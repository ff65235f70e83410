//! Forks, exits, aborts and panics. The program must behave as it would without tickscope, and its ring must show how
//! it ended.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{
    self, FOR_GOOD, Isolated, anonymous, calls_of, check, fork, has_exited, isolated_as_usual, newest,
    ring_of, rings_in, started, status_of, test_name, wait_until,
};
use tickscope::{Builder, Clock, Destination, Status};
use tickscope_format::file::open::Liveness;

/// Whether the thread that chooses the clock has begun to read it. This read does not return until `MAY_SETTLE` is set.
static IS_SETTLING: AtomicBool = AtomicBool::new(false);
static MAY_SETTLE: AtomicBool = AtomicBool::new(false);

fn slow_clock() -> u64 {
    IS_SETTLING.store(true, Ordering::Relaxed);
    while !MAY_SETTLE.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    1
}

/// The child must not wait for a thread that exists only in the parent.
fn a_child_forked_while_another_thread_chooses_the_clock_goes_on() {
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
}

fn a_forked_child_goes_on_and_publishes_nothing() {
    let done = isolated_as_usual!(|| {
        let session = Builder::new("forks").try_start().unwrap();
        tickscope::time!("before", ());
        let ring = ring_of(&session);
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
                    .contains("a forked child has no call tree; start a new program instead"),
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
    assert!(has_exited(&done.ring()));
}

fn a_child_forked_while_locks_are_held_does_not_hang() {
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
}

fn a_forked_child_may_exit_through_the_handlers_and_from_a_thread_and_reports_nothing() {
    let done = isolated_as_usual!(|| {
        let session = started(Builder::new("forks").report_at_exit(Destination::Stderr));
        tickscope::time!("before", ());
        let pid = fork(|| std::process::exit(3));
        assert_eq!(status_of(pid).code(), Some(3));
        let pid = fork(|| {
            let _ = std::thread::spawn(|| std::process::exit(4)).join();
            0
        });
        assert_eq!(status_of(pid).code(), Some(4));
        let ring = ring_of(&session);
        assert_eq!(ring.liveness().unwrap(), Liveness::Running);
        assert_eq!(session.status(), Status::Publishing);
    });
    let reports = if cfg!(feature = "report") { 1 } else { 0 };
    assert_eq!(
        done.stderr.matches("Call tree").count(),
        reports,
        "{}",
        done.stderr
    );
}

fn the_lock_is_freed_when_the_program_dies_though_its_child_lives() {
    let mut running = Isolated::as_usual(test_name!()).start(|| {
        let session = Builder::new("parent").try_start().unwrap();
        tickscope::time!("work", ());
        let ring = ring_of(&session);
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
        // SAFETY: `kill` takes no pointers, and signal 0 only tests whether the process exists.
        let result = unsafe { libc::kill(pid, 0) };
        assert_eq!(result, 0, "the child lives");
        // SAFETY: `kill` takes no pointers, and the process is a grandchild of this test.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

fn a_scope_before_the_start_does_not_cost_the_final_record_or_the_report() {
    let done = isolated_as_usual!(|| {
        tickscope::scope!("main");
        let session = started(Builder::new("scoped").report_at_exit(Destination::Stderr));
        tickscope::time!("work", ());
        std::mem::forget(session);
    });
    let ring = done.ring();
    assert!(has_exited(&ring), "{:?}", ring.liveness());
    assert_eq!(calls_of(&newest(&ring), "work"), 1);
    assert!(done.stderr.contains("work"), "{}", done.stderr);
}

/// If each thread in a forked child allocated a new block and never gave it back, the child's memory would grow without
/// limit.
fn threads_of_a_forked_child_give_back_their_memory() {
    fn threads(count: u32) {
        for _ in 0..count {
            std::thread::spawn(|| tickscope::time!("short", ()))
                .join()
                .unwrap();
        }
    }
    tickscope::time!("before", ());
    let child = fork(|| {
        threads(100);
        let before = anonymous();
        threads(1000);
        let grown = anonymous().saturating_sub(before);
        // A block with its first nodes and its table takes at least 12 KiB, so 1 000 of them would take 12 MB.
        i32::from(grown >= 4_000 << 10)
    });
    assert!(status_of(child).success(), "its memory grew");
}

crate::support::tests![
    own:
    a_forked_child_goes_on_and_publishes_nothing,
    a_forked_child_may_exit_through_the_handlers_and_from_a_thread_and_reports_nothing,
    the_lock_is_freed_when_the_program_dies_though_its_child_lives,
    a_scope_before_the_start_does_not_cost_the_final_record_or_the_report;
    as_usual:
    threads_of_a_forked_child_give_back_their_memory,
    a_child_forked_while_another_thread_chooses_the_clock_goes_on,
    a_child_forked_while_locks_are_held_does_not_hang;
];

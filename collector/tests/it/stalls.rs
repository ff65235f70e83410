//! Programs and publishers that are stopped for a while. Viewers notice it, programs carry on, and no count is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::{
    self, Isolated, Running, calls_of, newest, publisher_of, quick, test_name, threads_named, ticks_of,
    wait_until,
};
use tickscope::{Builder, Clock, Status};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_testkit::suite::skip;

/// Starts a program that runs short-lived threads, requests resets, and reports how many rounds it has completed.
fn busy_program(name: &'static str) -> Running {
    Isolated::as_usual(name).start(|| {
        let session = quick("busy");
        let mut rounds = 0u64;
        while session.status() == Status::Publishing {
            tickscope::scope!("round");
            std::thread::spawn(|| tickscope::time!("short", ()))
                .join()
                .unwrap();
            tickscope::request_reset();
            rounds += 1;
            support::tell("rounds", rounds.to_string());
        }
    })
}

fn rounds(running: &Running) -> u64 {
    running.told("rounds").parse().unwrap()
}

fn stale_and_back(ring: &RingFile, mut meanwhile: impl FnMut(), go_on: impl FnOnce()) {
    wait_until("a heartbeat that is old", || {
        meanwhile();
        matches!(ring.liveness().unwrap(), Liveness::Stale { .. })
    });
    let before = ring.newest().unwrap().sequence;
    go_on();
    wait_until("the heart to beat", || {
        ring.liveness().unwrap() == Liveness::Running
    });
    wait_until("a later record", || ring.newest().unwrap().sequence > before);
    support::check(&newest(ring));
}

fn while_the_publisher_is_stopped_the_program_goes_on() {
    let mut running = busy_program(test_name!());
    let ring = running.ring();
    rounds(&running);
    let publisher = publisher_of(running.pid()) as libc::pid_t;
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the publisher is a thread of this test's child.
    if unsafe { libc::ptrace(libc::PTRACE_SEIZE, publisher, nothing, nothing) } != 0 {
        running.kill();
        skip("tracing is not permitted here");
    }
    // SAFETY: the thread was seized above.
    let result = unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, publisher, nothing, nothing) };
    assert_eq!(result, 0);
    let mut status = 0;
    // SAFETY: the pointer is valid for writes.
    let result = unsafe { libc::waitpid(publisher, &mut status, libc::__WALL) };
    assert_eq!(result, publisher);
    let first = rounds(&running);
    wait_until("the program's work", || rounds(&running) > first + 20);
    stale_and_back(
        &ring,
        || (),
        || {
            let stopped = rounds(&running);
            wait_until("the program's work", || rounds(&running) > stopped + 20);
            // SAFETY: the thread was stopped above.
            let result = unsafe { libc::ptrace(libc::PTRACE_DETACH, publisher, nothing, nothing) };
            assert_eq!(result, 0);
        },
    );
    running.kill();
}

fn a_program_that_was_stopped_is_shown_with_its_age_and_goes_on() {
    let mut running = busy_program(test_name!());
    let ring = running.ring();
    rounds(&running);
    let send = |signal| {
        // SAFETY: the process is a child of this test.
        assert_eq!(unsafe { libc::kill(running.pid() as i32, signal) }, 0);
    };
    send(libc::SIGSTOP);
    stale_and_back(&ring, || (), || send(libc::SIGCONT));
    let before = rounds(&running);
    wait_until("the program's work", || rounds(&running) > before);
    running.kill();
}

static HOLDS: AtomicBool = AtomicBool::new(false);

static HOLDER: AtomicU64 = AtomicU64::new(0);

/// Returns tick 1. On the thread `HOLDER`, does not return until `HOLDER` is cleared.
fn holding_clock() -> u64 {
    let tid = u64::from(crate::support::thread_id());
    if HOLDER.load(Ordering::Relaxed) == tid {
        HOLDS.store(true, Ordering::Relaxed);
        while HOLDER.load(Ordering::Relaxed) == tid {
            std::hint::spin_loop();
        }
    }
    1
}

/// Reads the manual clock. On the thread `HOLDER`, does not return until `HOLDER` is cleared.
fn late_clock() -> u64 {
    let now = support::tick();
    holding_clock();
    now
}

/// A thread loses its CPU right after it has read the clock. If another thread takes a snapshot meanwhile, the time
/// that it shows must be charged to a row in the end.
fn time_that_a_snapshot_has_shown_is_charged_in_the_end() {
    let _session = Builder::new("late").clock(Clock::Custom(late_clock, 1e9)).start();
    let deeds: [fn(); 4] = [
        || drop(tickscope::pause()),
        tickscope::thread::exclude,
        || {
            let outer = tickscope::scope_guard!("outer");
            let inner = tickscope::scope_guard!("inner");
            drop(outer);
            drop(inner);
        },
        || tickscope::time!("inside", ()),
    ];
    for deed in deeds {
        let work = tickscope::scope_guard!("work");
        support::spend(100);
        HOLDS.store(false, Ordering::Relaxed);
        let meanwhile = std::thread::spawn(|| {
            wait_until("the look at the clock", || HOLDS.load(Ordering::Relaxed));
            support::spend(10_000);
            let shown = tickscope::snapshot();
            HOLDER.store(0, Ordering::Relaxed);
            shown
        });
        HOLDER.store(u64::from(crate::support::thread_id()), Ordering::Relaxed);
        deed();
        let shown = meanwhile.join().unwrap();
        let later = tickscope::snapshot();
        support::check_order(&shown, &later);
        assert!(
            shown.lifetime.ticks <= later.lifetime.ticks,
            "{} {}",
            shown.lifetime.ticks,
            later.lifetime.ticks
        );
        drop(work);
        tickscope::thread::include();
    }
}

/// Threads that end during a capture must not be shown as alive forever, and their memory must be reused.
fn threads_that_end_during_a_long_capture_are_folded() {
    let _session = Builder::new("long").clock(Clock::Custom(late_clock, 1e9)).start();
    tickscope::time!("first", ());
    let capture = std::thread::spawn(|| {
        HOLDER.store(u64::from(crate::support::thread_id()), Ordering::Relaxed);
        tickscope::snapshot()
    });
    wait_until("the capture", || HOLDS.load(Ordering::Relaxed));
    for _ in 0..3 {
        let short = std::thread::Builder::new().name("short".into());
        let short = short.spawn(|| {
            let _leaked = std::mem::ManuallyDrop::new(tickscope::scope_guard!("short"));
        });
        short.unwrap().join().unwrap();
    }
    // This time must not be charged to the ended threads, although they are not folded yet.
    support::spend(1_000_000);
    HOLDER.store(0, Ordering::Relaxed);
    let during = capture.join().unwrap();
    support::check(&during);
    let snapshot = support::checked(tickscope::snapshot());
    support::check_order(&during, &snapshot);
    let short: Vec<_> = threads_named(&snapshot, "short").collect();
    assert_eq!(short.len(), 1);
    let thread = &snapshot.threads[short[0].index()];
    assert_eq!((thread.count, thread.tid, thread.open.len()), (3, 0, 0));
    assert!(thread.cpu_ns.is_some());
    assert_eq!(calls_of(&snapshot, "short"), 3);
    assert_eq!(ticks_of(&snapshot, "short"), 0);
    assert_eq!(thread.outside_ticks, 0);
    assert_eq!(calls_of(&tickscope::reset(), "short"), 3);
    assert_eq!(calls_of(&tickscope::snapshot(), "short"), 0);
}

crate::support::tests![
    own:
    while_the_publisher_is_stopped_the_program_goes_on,
    a_program_that_was_stopped_is_shown_with_its_age_and_goes_on;
    as_usual:
    time_that_a_snapshot_has_shown_is_charged_in_the_end,
    threads_that_end_during_a_long_capture_are_folded;
];

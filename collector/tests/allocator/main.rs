//! Scopes in the program's allocator, which may be called in the middle of another scope's code or of the collector's
//! own. These tests have their own binary, because a program can have only one global allocator.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tests print figures")]

#[path = "../support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::support::{
    Isolated, calls_of, check, checked, each_passes, newest, path_of, started, test_name, threads_named,
    wait_until,
};
use tickscope::{Builder, Destination};
use tickscope_format::Snapshot;

/// An allocator that measures every allocation while holding a non-reentrant lock.
struct Measured;

#[global_allocator]
static ALLOCATOR: Measured = Measured;

/// Kernel id of the thread that holds the allocator's lock; 0 if the lock is free.
static HOLDER: AtomicU32 = AtomicU32::new(0);

/// Kernel id of the thread that exits the program at its next allocation; 0 if there is none.
static GIVES_UP: AtomicU32 = AtomicU32::new(0);

/// Kernel id of the thread that sends itself a signal at its next allocation; 0 if there is none.
static INTERRUPTED: AtomicU32 = AtomicU32::new(0);

/// Kernel id of the thread that exits the program at its next allocation, while it holds the allocator's lock; 0 if
/// there is none.
static GIVES_UP_INSIDE: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn locked<T>(body: impl FnOnce() -> T) -> T {
    let me = support::thread_id();
    while let Err(holder) = HOLDER.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
        if holder == me {
            // A message would allocate.
            std::process::abort();
        }
        std::thread::yield_now();
    }
    let value = body();
    HOLDER.store(0, Ordering::Release);
    value
}

// SAFETY: every method forwards its arguments to the system allocator.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if GIVES_UP.load(Ordering::Relaxed) == support::thread_id() {
            GIVES_UP.store(0, Ordering::Relaxed);
            std::process::exit(7);
        }
        if INTERRUPTED.load(Ordering::Relaxed) == support::thread_id() {
            INTERRUPTED.store(0, Ordering::Relaxed);
            // SAFETY: `raise` takes no pointers.
            unsafe { libc::raise(libc::SIGUSR1) };
        }
        locked(|| {
            if GIVES_UP_INSIDE.load(Ordering::Relaxed) == support::thread_id() {
                // SAFETY: `exit` takes no pointers. Other threads run on until the process ends, as in any program.
                unsafe { libc::exit(7) };
            }
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
            tickscope::scope!("alloc");
            tickscope::count!("bytes", layout.size());
            // SAFETY: the caller upholds the contract of `alloc`.
            unsafe { System.alloc(layout) }
        })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        locked(|| {
            tickscope::scope!("dealloc");
            // SAFETY: the caller upholds the contract of `dealloc`.
            unsafe { System.dealloc(pointer, layout) }
        })
    }
}

/// Returns how often a site was called on all threads with this name.
fn calls_in(snapshot: &Snapshot, thread: &str, site: &str) -> u64 {
    threads_named(snapshot, thread)
        .flat_map(|thread| snapshot.rows_of(thread))
        .filter(|&row| path_of(snapshot, row).last() == Some(&site))
        .map(|row| snapshot.nodes.calls[row])
        .sum()
}

fn churn(threads: u32) {
    let (ready, is_ready) = mpsc::channel();
    let (told, hear) = mpsc::channel::<()>();
    let worker = std::thread::Builder::new().name("worker".into()).spawn(move || {
        for size in 0..2000usize {
            tickscope::scope!("user");
            black_box(vec![0u8; size % 64 + 1]);
        }
        ready.send(()).unwrap();
        // Waiting allocates once, so the count is read afterwards.
        let _ = hear.recv();
        ALLOCATIONS.get()
    });
    is_ready.recv().unwrap();
    for round in 0..threads {
        let short = std::thread::spawn(move || {
            let text = format!("{round}");
            tickscope::time!("user", black_box(text.clone()));
        });
        short.join().unwrap();
        if round % 50 == 0 {
            check(&tickscope::reset());
        }
        check(&tickscope::snapshot());
    }
    drop(told);
    worker.unwrap().join().unwrap();
}

fn scopes_in_the_allocator_neither_recurse_nor_hang() {
    let in_mode = |mode| Isolated::new(test_name!()).env("TICKSCOPE_MODE", mode);
    each_passes(["exact", "adaptive", "sampled", "off"], in_mode, |mode| {
        let session = Builder::new("allocator").try_start().unwrap();
        churn(300);
        let snapshot = checked(tickscope::snapshot());
        if mode == "off" {
            assert_eq!(snapshot.lifetime.calls, 0);
        } else {
            assert!(snapshot.lifetime.calls > 2000 + 300);
        }
        assert_eq!(snapshot.capture.losses.unbalanced, 0);
        assert_eq!(snapshot.clock.errors, 0);
        drop(session);
    });
}

fn the_first_scope_of_the_program_may_stand_in_its_allocator() {
    // The runtime allocates before `main`, so the collector reads its environment and starts its publisher before
    // `main`.
    let test = Isolated::new(test_name!()).env("TICKSCOPE", "live");
    let done = test.succeeds(|| churn(100));
    let last = checked(newest(&done.ring()));
    assert!(last.lifetime.calls > 4000, "{}", last.lifetime.calls);
}

fn every_allocation_of_a_thread_is_a_call() {
    let (ready, is_ready) = mpsc::sync_channel::<u64>(1);
    let (told, hear) = mpsc::sync_channel::<()>(1);
    let worker = std::thread::Builder::new().name("worker".into()).spawn(move || {
        for size in 1..500usize {
            black_box(vec![0u8; size]);
        }
        let mut slept = false;
        ready.send(0).unwrap();
        let _ = hear.recv();
        let boxed: Vec<Box<u64>> = (0..1000).map(Box::new).collect();
        black_box(&boxed);
        SEEN.store(ALLOCATIONS.get(), Ordering::Release);
        while !std::mem::replace(&mut slept, GO.load(Ordering::Acquire)) {
            std::hint::spin_loop();
        }
    });
    static SEEN: AtomicU64 = AtomicU64::new(0);
    static GO: AtomicBool = AtomicBool::new(false);
    is_ready.recv().unwrap();
    told.send(()).unwrap();
    wait_until("the count", || SEEN.load(Ordering::Acquire) > 0);
    let snapshot = tickscope::snapshot();
    GO.store(true, Ordering::Release);
    assert_eq!(
        calls_in(&snapshot, "worker", "alloc"),
        SEEN.load(Ordering::Relaxed)
    );
    assert_eq!(
        calls_in(&snapshot, "worker", "bytes"),
        SEEN.load(Ordering::Relaxed)
    );
    assert_eq!(snapshot.capture.losses.dropped, 0);
    worker.unwrap().join().unwrap();
}

fn an_exit_while_a_session_is_asked_says_that_there_is_no_report() {
    for asks in ["session", "snapshot"] {
        let done = Isolated::new(test_name!()).env("ASKS", asks).run(|| {
            // The interval is too short and causes a warning; `warnings` copies its text, which allocates.
            let builder = Builder::new("gives-up").interval(Duration::ZERO);
            let session = started(builder.report_at_exit(Destination::Stdout));
            let asks = std::env::var("ASKS").unwrap();
            assert_eq!(session.warnings().len(), 1);
            GIVES_UP.store(support::thread_id(), Ordering::Relaxed);
            match asks.as_str() {
                "session" => drop(session.warnings()),
                _ => drop(tickscope::snapshot()),
            }
        });
        assert_eq!(done.status.code(), Some(7), "{}", done.stderr);
        assert_eq!(done.stdout, "");
        assert_eq!(
            done.stderr,
            "tickscope: no report at exit: the program ended in the middle of a snapshot, or of a session's start or \
             end\n"
        );
    }
}

/// The program exits inside its allocator, as can happen if a signal handler interrupts an allocation. Any allocation
/// during the exit would then deadlock on the allocator's lock. Each case takes half a minute, because other threads
/// spin on that lock until the process ends.
fn an_exit_inside_the_allocator_allocates_nothing() {
    for from in ["main", "thread"] {
        let done = Isolated::new(test_name!()).env("FROM", from).run(|| {
            let _session = Builder::new("ends").try_start().unwrap();
            let end = || {
                tickscope::scope!("ends");
                GIVES_UP_INSIDE.store(support::thread_id(), Ordering::Relaxed);
                black_box(vec![0u8; 64]);
            };
            if std::env::var("FROM").unwrap() == "main" {
                end();
            }
            let _ = std::thread::spawn(end).join();
        });
        assert_eq!(done.status.code(), Some(7), "{from}: {done:?}");
    }
}

/// Whether `exiting` calls `libc::exit` instead of `std::process::exit`.
static BY_LIBC: AtomicBool = AtomicBool::new(false);

extern "C" fn exiting(_: libc::c_int) {
    tickscope::scope!("handler");
    if BY_LIBC.load(Ordering::Relaxed) {
        // SAFETY: `exit` takes no pointers. The publisher, the only other thread, keeps running until the process ends.
        unsafe { libc::exit(7) };
    }
    std::process::exit(7);
}

/// A signal handler ends the program while the interrupted thread holds the session's lock, which the exit needs.
fn an_exit_that_interrupts_the_holder_of_the_session_waits_for_nothing() {
    for way in ["std", "libc"] {
        let done = Isolated::new(test_name!()).env("WAY", way).run(|| {
            let session = Builder::new("with / a warning").try_start().unwrap();
            assert_eq!(session.warnings().len(), 1);
            BY_LIBC.store(std::env::var("WAY").unwrap() == "libc", Ordering::Relaxed);
            support::on_signal(libc::SIGUSR1, exiting);
            INTERRUPTED.store(support::thread_id(), Ordering::Relaxed);
            // `warnings` holds the session's lock while it allocates a copy of the warnings.
            drop(session.warnings());
            panic!("it goes on");
        });
        assert_eq!(done.status.code(), Some(7), "{way}: {done:?}");
        assert_eq!(calls_of(&newest(&done.ring()), "handler"), 0);
    }
}

support::tests![
    own:
    an_exit_that_interrupts_the_holder_of_the_session_waits_for_nothing,
    an_exit_while_a_session_is_asked_says_that_there_is_no_report,
    scopes_in_the_allocator_neither_recurse_nor_hang,
    the_first_scope_of_the_program_may_stand_in_its_allocator;
    isolated: every_allocation_of_a_thread_is_a_call;
    ignored:
    // The test takes a minute, so only `.ci/nightly` runs it.
    an_exit_inside_the_allocator_allocates_nothing;
];

fn main() -> std::process::ExitCode {
    support::main(&[TESTS])
}

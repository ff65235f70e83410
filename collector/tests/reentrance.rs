//! Scopes where a scope may be in the middle of its work: in the program's allocator and in signal handlers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;

use support::{Isolated, calls_of, check, isolated, path_of, test_name, threads_named, wait_until};
use tickscope::{Builder, Status};
use tickscope_format::Snapshot;

/// Measures every allocation while it holds a lock that its thread must not take twice.
struct Measured;

#[global_allocator]
static ALLOCATOR: Measured = Measured;

/// The thread that holds the allocator's lock; 0 for none.
static HOLDER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn own_tid() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::gettid() as u32 }
}

fn locked<T>(body: impl FnOnce() -> T) -> T {
    let me = own_tid();
    while let Err(holder) = HOLDER.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
        if holder == me {
            // No message: that would allocate.
            std::process::abort();
        }
        std::thread::yield_now();
    }
    let value = body();
    HOLDER.store(0, Ordering::Release);
    value
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        locked(|| {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
            tickscope::scope!("alloc");
            // SAFETY: as the caller promises.
            unsafe { System.alloc(layout) }
        })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        locked(|| {
            tickscope::scope!("dealloc");
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(pointer, layout) }
        })
    }
}

/// Calls of a site in the live threads of a name.
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
        // Waiting allocates, once: what is counted is told when it is over.
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
    isolated!(|| {
        let session = Builder::new("allocator").try_start().unwrap();
        churn(300);
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert!(snapshot.lifetime.calls > 2000 + 300);
        assert_eq!((snapshot.capture.unbalanced, snapshot.clock.errors), (0, 0));
        drop(session);
    });
}

fn the_first_scope_of_the_program_may_stand_in_its_allocator() {
    // The runtime allocates before `main`, so that is where its environment is read and its publisher made.
    let done = Isolated::new(test_name!())
        .env("TICKSCOPE", "live")
        .run(|| churn(100))
        .succeeded();
    let last = support::newest(&done.ring());
    check(&last);
    assert!(last.lifetime.calls > 4000, "{}", last.lifetime.calls);
}

fn every_allocation_of_a_thread_is_a_call() {
    isolated!(|| {
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
        assert_eq!(snapshot.capture.dropped, 0);
        worker.unwrap().join().unwrap();
    });
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    tickscope::scope!("handler");
    tickscope::time!("in it", ());
}

fn install(signal: libc::c_int) {
    // SAFETY: zeros are a valid `sigaction` (an empty mask, no flags).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler does what handlers may, for as long as the program runs.
    let result = unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    assert_eq!(result, 0);
}

fn interrupted(depth: u64) -> u64 {
    tickscope::scope!("interrupted");
    1 + if depth == 0 {
        0
    } else {
        interrupted(depth - 1) + interrupted(depth / 2)
    }
}

fn scopes_in_signal_handlers_are_counted_or_counted_as_dropped() {
    isolated!(|| {
        let session = Builder::new("signals").start();
        install(libc::SIGPROF);
        // The clock of the kernel is too slow for this, so a thread helps.
        let every = libc::timeval {
            tv_sec: 0,
            tv_usec: 100,
        };
        let timer = libc::itimerval {
            it_interval: every,
            it_value: every,
        };
        // SAFETY: `timer` is a valid place.
        let result = unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
        assert_eq!(result, 0);
        // SAFETY: takes nothing, cannot fail.
        let main = unsafe { libc::pthread_self() };
        let over = AtomicBool::new(false);
        let mut made = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // SAFETY: the main thread outlives this one.
                    unsafe { libc::pthread_kill(main, libc::SIGPROF) };
                }
            });
            while HANDLED.load(Ordering::Relaxed) < 100_000 || made < 100_000 {
                made += interrupted(12);
            }
            over.store(true, Ordering::Relaxed);
        });
        let never = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        let timer = libc::itimerval {
            it_interval: never,
            it_value: never,
        };
        // SAFETY: as above.
        let result = unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) };
        assert_eq!(result, 0);
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(calls_of(&snapshot, "interrupted"), made);
        let opened = 2 * HANDLED.load(Ordering::Relaxed);
        let counted = calls_of(&snapshot, "handler") + calls_of(&snapshot, "in it");
        assert_eq!(counted + snapshot.capture.dropped, opened);
        assert!(counted > 0);
        assert_eq!((snapshot.capture.unbalanced, snapshot.clock.errors), (0, 0));
        wait_until("publishing", || session.status() == Status::Publishing);
    });
}

support::tests![
    scopes_in_the_allocator_neither_recurse_nor_hang,
    the_first_scope_of_the_program_may_stand_in_its_allocator,
    every_allocation_of_a_thread_is_a_call,
    scopes_in_signal_handlers_are_counted_or_counted_as_dropped,
];

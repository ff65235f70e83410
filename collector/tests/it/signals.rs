//! Scopes and counters in signal handlers that interrupt scopes, the start and end of threads, snapshots, and the
//! allocator before a thread's first scope, in each mode. Not tested: handlers that leave by `longjmp`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::{self, Isolated, calls_of, check, checked, each_passes, test_name};
use tickscope::{Builder, Mode};

pub(super) static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Number of handlers that have returned. A handler may run on an ending thread that no longer has a tree.
static RETURNED: AtomicU64 = AtomicU64::new(0);

static MADE: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    tickscope::time!("handler", tickscope::time!("in it", ()));
    RETURNED.fetch_add(1, Ordering::Release);
}

fn interrupted(depth: u64) {
    tickscope::scope!("interrupted");
    MADE.fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        interrupted(depth - 1);
        interrupted(depth / 2);
    }
}

/// Installs a SIGPROF handler as profilers do, on the alternative stack if the thread has one. A timer fires 1000 times
/// per second of CPU time. With `on` false the timer stops.
pub(super) fn profile(on: bool) {
    // SAFETY: zeros are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: `action` is filled in.
    let result = unsafe { libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut()) };
    assert_eq!(result, 0);
    support::every_millisecond(libc::ITIMER_PROF, on);
}

/// Threads that are working and may be signalled.
static AT_WORK: Mutex<Vec<libc::pthread_t>> = Mutex::new(Vec::new());

/// Signals all working threads. No thread can end meanwhile, because it needs the list's lock.
fn prod() {
    let at_work = AT_WORK.lock().unwrap();
    for &thread in at_work.iter() {
        // SAFETY: a thread removes itself from the list before it ends.
        unsafe { libc::pthread_kill(thread, libc::SIGPROF) };
    }
}

/// Works while another thread signals this one, until handlers have counted `times` signals, or `times / 100` after two
/// seconds. If both threads share a CPU, only one signal arrives in each of the thread's time slices.
pub(super) fn while_interrupted(
    signal: libc::c_int,
    handled: &AtomicU64,
    times: u64,
    mut work: impl FnMut(),
) {
    let began = Instant::now();
    let is_enough = || {
        let handled = handled.load(Ordering::Relaxed);
        handled >= times || handled >= times / 100 && began.elapsed() > Duration::from_secs(2)
    };
    // SAFETY: the call takes no argument and cannot fail.
    let worker = unsafe { libc::pthread_self() };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Without this mask, a handler could run on this thread while the thread ends.
            mask(libc::SIG_BLOCK);
            while !over.load(Ordering::Relaxed) {
                // SAFETY: the worker outlives this thread.
                unsafe { libc::pthread_kill(worker, signal) };
            }
        });
        while !is_enough() {
            work();
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// Blocks or unblocks SIGPROF for this thread and for threads that it will create.
fn mask(how: libc::c_int) {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the pointer is to a valid place.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the set was emptied above.
    unsafe { libc::sigaddset(set.as_mut_ptr(), libc::SIGPROF) };
    // SAFETY: the set was filled above.
    let result = unsafe { libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut()) };
    assert_eq!(result, 0);
}

fn listed(work: impl FnOnce()) {
    // SAFETY: the call takes no argument and cannot fail.
    let me = unsafe { libc::pthread_self() };
    AT_WORK.lock().unwrap().push(me);
    mask(libc::SIG_UNBLOCK);
    // The first scope of most threads is in a handler that has interrupted the allocator.
    for size in 0..500 {
        drop(std::hint::black_box(vec![1u8; 3000 + size]));
    }
    work();
    // `prod` no longer signals this thread, but the kernel's timer may while the thread ends.
    AT_WORK.lock().unwrap().retain(|&thread| thread != me);
}

fn many_threads_under_a_profiler_lose_nothing_in_any_mode() {
    let in_mode = |mode| Isolated::as_usual(test_name!()).env("TICKSCOPE_MODE", mode);
    each_passes(["exact", "adaptive", "sampled", "off"], in_mode, |_| {
        let _session = Builder::new("signals").try_start().unwrap();
        mask(libc::SIG_BLOCK);
        profile(true);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    listed(|| {
                        while !over.load(Ordering::Relaxed) {
                            interrupted(8);
                        }
                    });
                });
            }
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // The threads are short, so that signals interrupt the creation and the end of trees.
                    std::thread::scope(|scope| {
                        for _ in 0..4 {
                            scope.spawn(|| listed(|| interrupted(4)));
                        }
                    });
                }
            });
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    prod();
                    // The pause lets the interrupted threads proceed.
                    std::thread::sleep(Duration::from_micros(200));
                }
            });
            let _over = support::Over(&over);
            mask(libc::SIG_UNBLOCK);
            while HANDLED.load(Ordering::Relaxed) < 300 || MADE.load(Ordering::Relaxed) < 5_000 {
                checked(tickscope::snapshot());
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        profile(false);
        // A pending signal may still come, even to an ending thread without a tree. So the wait ends once all
        // handlers that have begun returned before the snapshot.
        let (handled, snapshot) = support::wait_for("the last thread to be folded", || {
            let returned = RETURNED.load(Ordering::Acquire);
            let snapshot = tickscope::snapshot();
            let living = snapshot.threads.iter().filter(|thread| thread.tid != 0);
            let is_still = HANDLED.load(Ordering::Acquire) == returned;
            (is_still && living.count() <= 1).then_some((returned, snapshot))
        });
        let opened = MADE.load(Ordering::Relaxed) + 2 * handled;
        check(&snapshot);
        if tickscope::mode() == Mode::Off {
            assert_eq!((snapshot.calls(), snapshot.capture.losses.dropped), (0, 0));
        } else {
            let [interrupted, handler, in_it] =
                ["interrupted", "handler", "in it"].map(|name| calls_of(&snapshot, name));
            let dropped = snapshot.capture.losses.dropped;
            assert_eq!(
                snapshot.calls() + dropped,
                opened,
                "{interrupted} of {}; {handler} and {in_it} of {}; {dropped} dropped",
                MADE.load(Ordering::Relaxed),
                handled
            );
            assert_eq!(interrupted, MADE.load(Ordering::Relaxed));
            assert!(handler > 0);
        }
        assert_eq!(snapshot.capture.losses.unbalanced, 0);
        assert_eq!(snapshot.clock.errors, 0);
        // Each path has one row for each thread name, for any number of threads.
        assert!(snapshot.nodes.len() < 2000, "{}", snapshot.nodes.len());
    });
}

tickscope_testkit::tests![many_threads_under_a_profiler_lose_nothing_in_any_mode];

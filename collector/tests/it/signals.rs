//! Scopes and counters in signal handlers, in each mode. The handlers interrupt scopes, the beginning and end of
//! threads, snapshots, and, before a thread's first scope, the allocator. Handlers that leave by `longjmp` are not tested.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::{self, Isolated, calls_of, check, checked, each_passes, test_name};
use tickscope::{Builder, Mode};

pub(super) static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Number of signal handlers that have returned. Some may have run on an ending thread that no longer has a tree.
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

/// Installs a SIGPROF handler the way profilers do: it runs on the thread's alternate signal stack, if there is one.
/// Starts a timer that fires 1000 times per second of CPU time or, if `on` is false, stops that timer.
pub(super) fn profile(on: bool) {
    // SAFETY: an all-zero `sigaction` is valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: `action` is initialised, and the old action is not read.
    let result = unsafe { libc::sigaction(libc::SIGPROF, &action, std::ptr::null_mut()) };
    assert_eq!(result, 0);
    support::every_millisecond(libc::ITIMER_PROF, on);
}

/// Threads that are working and may be signalled.
static AT_WORK: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Signals all working threads. No thread can end meanwhile, because it must take the lock of this list before it ends.
fn prod() {
    let at_work = AT_WORK.lock().unwrap();
    for &thread in at_work.iter() {
        support::signal_thread(thread, libc::SIGPROF);
    }
}

/// Runs `work` repeatedly while another thread keeps signalling this one, until handlers have counted `times` signals.
/// After two seconds, a hundredth of that is enough: if both threads share a CPU, this thread receives only one signal
/// per time slice.
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
    let worker = support::thread_id();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Without this mask, a handler could run on this thread while the thread ends.
            mask(libc::SIG_BLOCK);
            while !over.load(Ordering::Relaxed) {
                support::signal_thread(worker, signal);
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
    // SAFETY: the pointer is valid for writes.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the set was emptied above.
    unsafe { libc::sigaddset(set.as_mut_ptr(), libc::SIGPROF) };
    // SAFETY: the set was filled above.
    let result = unsafe { libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut()) };
    assert_eq!(result, 0);
}

fn listed(work: impl FnOnce()) {
    let me = support::thread_id();
    AT_WORK.lock().unwrap().push(me);
    mask(libc::SIG_UNBLOCK);
    // On most threads, the first scope is opened by a signal handler that has interrupted one of these allocations.
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
                    // The threads are short-lived, so that signals arrive while trees are created and released.
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
                    // The pause gives the interrupted threads time to make progress.
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
        // A pending signal may still arrive, even on an ending thread without a tree. So this waits for a snapshot that
        // was taken after all handlers had returned.
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
        // However many threads there were, each path has only one row per thread name.
        assert!(snapshot.nodes.len() < 2000, "{}", snapshot.nodes.len());
    });
}

tickscope_testkit::tests![many_threads_under_a_profiler_lose_nothing_in_any_mode];

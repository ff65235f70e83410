//! Tests with large numbers of nodes, threads, levels and calls, in each mode that counts calls.
//!
//! By default, the sizes are as follows. Those in parentheses apply if the environment has `SCALE=full`, which needs
//! `--release`:
//!
//! - 2 million calls (500 million)
//! - 20 000 nodes (100 000)
//! - 3 000 threads in each mode (100 000)
//! - 300 threads at once (1 000)
//! - 100 000 futures at once (1 million)
//! - 2 200 locks (100 000)
//! - 300 waiting threads at once (10 000)

use std::future::{Future, pending};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use super::locks::is_asleep;
use crate::support::{
    self, Done, Isolated, anonymous, by_hand, calls, calls_of, check, checked, each_passes, isolated, newest,
    path_of, quick, spend, started, test_name, threads_named,
};
use tickscope::sync::{Mutex, named_mutex};
use tickscope::{Builder, Snapshot};
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Mode, Quantity};

/// Returns `full` if the environment has `SCALE=full`, otherwise `short`.
fn scaled(short: usize, full: usize) -> usize {
    let is_full = std::env::var_os("SCALE").is_some_and(|value| value == "full");
    if is_full { full } else { short }
}

/// Runs `body` once in each mode, each time in a new process, and returns the results.
fn in_each_mode(name: &'static str, body: fn()) -> Vec<(&'static str, Done)> {
    let in_mode = |mode| Isolated::new(name).env("TICKSCOPE_MODE", mode);
    each_passes(["exact", "adaptive", "sampled"], in_mode, |_| body())
}

/// Calls `node` inside calls of all its ancestors. The tree has ten children per node, and nodes are numbered level by
/// level, starting with 1.
fn call(node: usize) {
    let mut way = Vec::new();
    let mut at = node;
    while at > 0 {
        way.push((at - 1) % 10);
        at = (at - 1) / 10;
    }
    way.reverse();
    walk(&way);
}

fn walk(way: &[usize]) {
    let Some((first, rest)) = way.split_first() else {
        return;
    };
    macro_rules! step {
        ($name:literal) => {{
            tickscope::scope!($name);
            walk(rest)
        }};
    }
    match first {
        0 => step!("zero"),
        1 => step!("one"),
        2 => step!("two"),
        3 => step!("three"),
        4 => step!("four"),
        5 => step!("five"),
        6 => step!("six"),
        7 => step!("seven"),
        8 => step!("eight"),
        _ => step!("nine"),
    }
}

/// Checks a snapshot that was taken after `call` ran `times` times for each node. Each run also calls all ancestors of
/// the node.
fn check_tree(snapshot: &Snapshot, times: u64) {
    check(snapshot);
    let nodes = &snapshot.nodes;
    let sizes = nodes.totals(&vec![times; nodes.len()]);
    assert!(nodes.calls == sizes, "calls are calls of the subtree");
    check_histograms(snapshot);
}

/// Checks that the histograms agree with the numbers of calls. All calls must have ended.
fn check_histograms(snapshot: &Snapshot) {
    let latencies = &snapshot.latencies;
    match snapshot.capture.mode {
        Mode::Exact => {
            assert_eq!(latencies.row.len(), snapshot.nodes.len());
            for (row, &calls) in snapshot.nodes.calls.iter().enumerate() {
                assert_eq!(latencies.of(row as u32).count(), calls, "row {row}");
            }
        }
        Mode::Adaptive => {
            // Rows whose calls were all made inside untimed calls have no histogram.
            assert!(!latencies.row.is_empty());
            for &row in &latencies.row {
                let (timed, calls) = (latencies.of(row).count(), snapshot.nodes.calls[row as usize]);
                assert!((1..=calls).contains(&timed), "row {row}: {timed} of {calls}");
            }
        }
        Mode::Sampled | Mode::Off | _ => assert!(latencies.row.is_empty()),
    }
}

fn many_nodes_of_one_thread_are_in_one_record() {
    let nodes = scaled(20_000, 100_000);
    let runs = in_each_mode(test_name!(), || {
        let nodes = scaled(20_000, 100_000);
        let builder = Builder::new("nodes")
            .max_nodes(nodes as u32)
            .ring_bytes(128 << 20);
        let session = started(builder.interval(Duration::from_millis(50)));
        (1..=nodes).for_each(call);
        let snapshot = tickscope::snapshot();
        check_tree(&snapshot, 1);
        // After a reset, all nodes start from 0 again, and a single snapshot must have all of them.
        drop(tickscope::reset());
        (1..=nodes).for_each(call);
        check_tree(&tickscope::snapshot(), 1);
        drop(session);
    });
    for (_, run) in runs {
        let last = newest(&run.ring());
        assert_eq!((last.nodes.len(), last.capture.pruned), (nodes, 0));
        assert_eq!(last.capture.losses.dropped, 0);
        check_tree(&last, 1);
        assert_eq!(last.lifetime.calls, 2 * last.calls());
    }
}

fn many_threads_at_once() {
    in_each_mode(test_name!(), || {
        let threads = scaled(300, 1_000);
        let _session = Builder::new("crowd").try_start().unwrap();
        let (begun, seen) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
        let snapshot = std::thread::scope(|scope| {
            for number in 0..threads {
                let thread = std::thread::Builder::new()
                    .name(format!("t{number}"))
                    .stack_size(128 << 10);
                let work = || {
                    tickscope::scope!("hold");
                    for _ in 0..10 {
                        tickscope::time!("step", std::hint::black_box(()));
                    }
                    begun.wait();
                    seen.wait();
                };
                let _thread = thread.spawn_scoped(scope, work).unwrap();
            }
            begun.wait();
            let snapshot = tickscope::snapshot();
            seen.wait();
            snapshot
        });
        check(&snapshot);
        for number in 0..threads {
            let name = format!("t{number}");
            let named: Vec<_> = threads_named(&snapshot, &name).collect();
            assert_eq!(named.len(), 1);
            let rows = snapshot.rows_of(named[0]);
            assert_eq!(snapshot.nodes.calls[rows], [1, 10]);
            assert_eq!(snapshot.threads[named[0].index()].open.len(), 1);
        }
        let after = checked(tickscope::snapshot());
        assert_eq!(calls_of(&after, "hold"), threads as u64);
        assert_eq!(calls_of(&after, "step"), 10 * threads as u64);
        assert_eq!(after.capture.losses.dropped, 0);
    });
}

fn threads_that_come_and_go_leave_no_memory_behind() {
    in_each_mode(test_name!(), || {
        let threads = scaled(3_000, 100_000) as u64;
        let _session = Builder::new("many").try_start().unwrap();
        let batch = |count: u64| {
            for _ in 0..count / 10 {
                std::thread::scope(|scope| {
                    for _ in 0..10 {
                        let _thread = scope.spawn(|| {
                            tickscope::scope!("short");
                            for _ in 0..3 {
                                tickscope::time!("step", std::hint::black_box(()));
                            }
                        });
                    }
                });
                // On a busy machine, threads leave their trees to the next snapshot.
                drop(tickscope::snapshot());
            }
        };
        let first = 1_000;
        batch(first);
        drop(tickscope::snapshot());
        let before = anonymous();
        batch(threads - first);
        // `std::thread::scope` may return before its threads have ended in the kernel.
        let snapshot = support::wait_for("the last thread to be folded", || {
            let snapshot = tickscope::snapshot();
            let gone: u64 = threads_named(&snapshot, "thread")
                .map(|thread| &snapshot.threads[thread.index()])
                .filter(|thread| thread.open.is_empty() && thread.tid == 0)
                .map(|thread| thread.count)
                .sum();
            (gone == threads).then_some(snapshot)
        });
        let after = anonymous();
        check(&snapshot);
        assert_eq!(calls_of(&snapshot, "short"), threads);
        assert_eq!(calls_of(&snapshot, "step"), 3 * threads);
        assert_eq!(snapshot.nodes.len(), 2);
        assert_eq!(snapshot.capture.losses.dropped, 0);
        assert_eq!(snapshot.capture.losses.unbalanced, 0);
        check_histograms(&snapshot);
        // Up to 4 MiB more is allowed, because allocators keep some freed memory. If each thread's tree were kept, this
        // would take 2 GiB.
        assert!(after < before + (4 << 20), "{before} {after}");
    });
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns the CPU time of the publisher so far, in ns.
fn publisher_ns() -> u64 {
    tickscope::snapshot().capture.cost.publisher_cpu_ns
}

/// Prints the measurements that the child wrote to the file `measured`.
fn print_told(done: &Done) {
    println!(
        "{}",
        std::fs::read_to_string(done.place().join("measured")).unwrap()
    );
}

fn futures_at_once_take_little_memory_and_few_rows() {
    let done = isolated!(|| {
        let count = scaled(100_000, 1_000_000) as u64;
        let _session = quick("futures");
        let name = "request";
        let mut context = Context::from_waker(Waker::noop());
        let mut futures = Vec::with_capacity(count as usize);
        futures.extend((0..count).map(|_| Box::pin(tickscope::future!("request", pending::<()>()))));
        let before = anonymous();
        for future in &mut futures {
            assert!(future.as_mut().poll(&mut context).is_pending());
        }
        let begin = Instant::now();
        let snapshot = tickscope::snapshot();
        let took = begin.elapsed();
        let bytes = anonymous().saturating_sub(before);
        check(&snapshot);
        assert_eq!(calls_of(&snapshot, name), count);
        assert_eq!(snapshot.tasks.roots_in_flight(), count);
        assert_eq!((snapshot.tasks.paths.len(), snapshot.nodes.len()), (1, 1));
        assert_eq!(snapshot.measures.of_row(Quantity::InFlight, 0), count);
        // Allows 64 bytes per call, plus the slots that the collector allocates ahead of time, plus the memory for a snapshot.
        assert!(
            bytes < 64 * count + (24 << 20),
            "{bytes} bytes for {count} futures"
        );
        // The publisher keeps writing records, and now and then it reads all calls in flight.
        let (began, cost, seq) = (Instant::now(), publisher_ns(), snapshot.capture.seq);
        support::wait_until("more records", || {
            tickscope::snapshot().capture.seq >= seq + 20 && began.elapsed() > Duration::from_millis(500)
        });
        let share = (publisher_ns() - cost) as f64 / began.elapsed().as_nanos() as f64;
        drop(futures);
        let after = tickscope::snapshot();
        assert!(after.measures.of(Quantity::InFlight).is_none());
        assert_eq!(after.measures.of_row(Quantity::FutureCancels, 0), count);
        assert_eq!(after.tasks.roots_in_flight(), 0);
        assert_eq!(after.capture.losses.dropped, 0);
        let text = format!(
            "{count} futures at once: {:.1} bytes each, a snapshot {:.1} ms, the publisher {:.2} % of a core",
            bytes as f64 / count as f64,
            took.as_secs_f64() * 1e3,
            share * 100.0
        );
        support::tell("measured", text);
    });
    print_told(&done);
}

fn locks_with_many_names_have_a_bounded_number_of_rows() {
    /// Number of names that can have their own rows; all other names share one row.
    const NAMES: usize = 2_048;
    let done = isolated!(|| {
        let count = scaled(2_200, 100_000);
        let _session = Builder::new("locks").try_start().unwrap();
        let locks: Vec<Mutex<u32>> = (0..count)
            .map(|number| named_mutex(format!("lock {number}").leak(), 0))
            .collect();
        let before = anonymous();
        // `held` is n + 1 while `locks[n]` is held.
        let (held, tid) = (AtomicU64::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                tickscope::scope!("waiter");
                tid.store(crate::support::thread_id(), Ordering::Release);
                for (number, lock) in (1..).zip(&locks) {
                    while held.load(Ordering::Acquire) < number {
                        std::thread::yield_now();
                    }
                    *lock.lock().unwrap() += 1;
                }
            });
            for (number, lock) in (1..).zip(&locks) {
                tickscope::scope!("holder");
                let guard = lock.lock().unwrap();
                held.store(number, Ordering::Release);
                // Between two locks, the waiter spins. So if it is asleep, it is waiting for a lock.
                while !is_asleep(tid.load(Ordering::Acquire)) {
                    std::thread::yield_now();
                }
                drop(guard);
            }
            waiter.join().unwrap();
        });
        let bytes = anonymous().saturating_sub(before);
        let snapshot = checked(tickscope::snapshot());
        let locks = |name: &str| name.starts_with("[lock] ");
        let rows: Vec<(&str, u64)> = calls(&snapshot)
            .into_iter()
            .filter(|(name, _)| locks(name))
            .collect();
        assert_eq!(rows.iter().map(|(_, calls)| calls).sum::<u64>(), count as u64);
        assert_eq!(rows.len(), NAMES + 1, "of {count} names");
        assert_eq!(
            calls_of(&snapshot, "[lock] (others)"),
            (count - NAMES) as u64,
            "the rest"
        );
        let charged = snapshot.measures.of(Quantity::MadeOthersWait).unwrap();
        assert!(charged.rows.iter().map(|(_, ticks)| ticks).sum::<u64>() > 0);
        assert!(bytes < 32 << 20, "{bytes}");
        assert_eq!(snapshot.capture.losses.dropped, 0);
        support::tell(
            "measured",
            format!(
                "{count} contended locks: {} rows, {:.1} MiB in all",
                rows.len(),
                bytes as f64 / 1048576.0
            ),
        );
    });
    print_told(&done);
}

fn threads_that_wait_keep_few_descriptors_and_are_looked_at_in_turns() {
    /// Number of threads that can keep their `schedstat` file open.
    const DESCRIPTORS: usize = 64;
    let done = isolated!(|| {
        let threads = scaled(300, 10_000);
        let _session = started(Builder::new("waiting").interval(Duration::from_millis(100)));
        let (descriptors_before, memory_before) = (descriptors(), anonymous());
        // Each thread waits three times. The collector takes note of a thread's first wait only at the thread's next event.
        let gates = [(); 3].map(|()| Barrier::new(threads + 1));
        let (snapshot, took, descriptors, bytes, share) = std::thread::scope(|scope| {
            for _ in 0..threads {
                let thread = std::thread::Builder::new()
                    .name("waits".into())
                    .stack_size(64 << 10);
                let work = || {
                    tickscope::scope!("work");
                    tickscope::time!("first", gates[0].wait());
                    tickscope::time!("second", gates[1].wait());
                    tickscope::time!("third", gates[2].wait());
                };
                let _thread = thread.spawn_scoped(scope, work).unwrap();
            }
            gates[0].wait();
            gates[1].wait();
            support::wait_until("all threads to wait for the third time", || {
                calls_of(&tickscope::snapshot(), "third") == threads as u64
            });
            let (began, cost, seq) = (Instant::now(), publisher_ns(), tickscope::snapshot().capture.seq);
            support::wait_until("looks at threads", || {
                let snapshot = tickscope::snapshot();
                let found = snapshot.waits_in.samples().map(|(.., count)| count).sum::<u64>();
                found > 16 && snapshot.capture.seq > seq + 10 && began.elapsed() > Duration::from_secs(1)
            });
            let share = (publisher_ns() - cost) as f64 / began.elapsed().as_nanos() as f64;
            let begin = Instant::now();
            let snapshot = tickscope::snapshot();
            let took = begin.elapsed();
            let found = (descriptors(), anonymous().saturating_sub(memory_before));
            gates[2].wait();
            (snapshot, took, found.0, found.1, share)
        });
        check(&snapshot);
        assert!(snapshot.waits);
        let ours = threads_named(&snapshot, "waits").count();
        assert_eq!(ours, threads);
        let waits = snapshot.measures.of(Quantity::Waiting).unwrap();
        assert!(waits.rows.len() >= threads, "each has waited");
        assert!(
            descriptors <= descriptors_before + DESCRIPTORS,
            "{descriptors} descriptors, {descriptors_before} before"
        );
        support::tell(
            "measured",
            format!(
                "{threads} threads that wait: {} descriptors more, {:.0} KiB each, a snapshot {:.1} ms, the publisher {:.2} % of a core",
                descriptors - descriptors_before,
                bytes as f64 / threads as f64 / 1024.0,
                took.as_secs_f64() * 1e3,
                share * 100.0
            ),
        );
    });
    print_told(&done);
}

fn recursion_far_beyond_the_deepest_level() {
    const LEVELS: u64 = 4_096;
    const CALLS: u64 = 50_000;
    fn down(left: u64) {
        tickscope::scope!("down");
        spend(1);
        if left > 1 {
            down(left - 1);
        } else {
            let snapshot = checked(tickscope::snapshot());
            let open = &snapshot.threads.iter().max_by_key(|thread| thread.open.len());
            assert_eq!(open.unwrap().open.len() as u64, LEVELS);
        }
    }
    let runs = in_each_mode(test_name!(), || {
        let session = started(Builder::new("deep").clock(by_hand()).max_depth(LEVELS as u32));
        let deep = std::thread::Builder::new().stack_size(256 << 20);
        deep.spawn(|| down(CALLS)).unwrap().join().unwrap();
        drop(session);
    });
    for (_, run) in runs {
        let last = checked(newest(&run.ring()));
        assert_eq!((last.nodes.len() as u64, last.calls()), (LEVELS, LEVELS));
        assert_eq!(last.capture.losses.dropped, CALLS - LEVELS);
        assert_eq!(last.capture.losses.unbalanced, 0);
        if last.capture.mode != Mode::Sampled {
            // Each call spends one tick before it makes the next call. Calls beyond the limit have no row, so their
            // time goes to the deepest row.
            let ticks = &last.nodes.self_ticks;
            assert!(ticks[..LEVELS as usize - 1].iter().all(|&ticks| ticks == 1));
            assert_eq!(ticks[LEVELS as usize - 1], CALLS - LEVELS + 1);
        }
        let deepest = path_of(&last, LEVELS as usize - 1);
        assert_eq!(deepest.len() as u64, LEVELS);
    }
}

fn known_calls_are_counted_to_the_last_one() {
    let runs = in_each_mode(test_name!(), || {
        let calls = scaled(2_000_000, 500_000_000) as u64;
        let session = quick("calls");
        for number in 0..calls / 2 {
            tickscope::scope!("outer");
            tickscope::time!("inner", std::hint::black_box(number));
        }
        drop(session);
        support::tell("calls", calls.to_string());
    });
    for (_, run) in runs {
        let calls: u64 = std::fs::read_to_string(run.place().join("calls"))
            .unwrap()
            .parse()
            .unwrap();
        let last = checked(newest(&run.ring()));
        assert_eq!(calls_of(&last, "outer"), calls / 2);
        assert_eq!(calls_of(&last, "inner"), calls / 2);
        assert_eq!(last.capture.losses.dropped, 0);
        check_histograms(&last);
    }
}

fn a_snapshot_too_large_for_its_record_is_pruned_and_its_sums_hold() {
    let runs = in_each_mode(test_name!(), || {
        let builder = Builder::new("pruned").ring_bytes(512 << 10);
        let session = started(builder.interval(Duration::from_millis(20)));
        (1..=30_000).for_each(call);
        // After this many calls, adaptive mode has begun to estimate times.
        for _ in 0..2_000 {
            (1..=20).for_each(call);
        }
        drop(session);
        // This snapshot has the same calls as the last record, because no scope has run in between.
        let whole = tickscope::snapshot();
        assert_eq!((whole.nodes.len(), whole.capture.pruned), (30_000, 0));
        let text = format!(
            "{} {} {}",
            whole.calls(),
            whole.measured_ticks(),
            whole.estimates.len()
        );
        support::tell("whole", text);
    });
    for (_, run) in runs {
        let whole = std::fs::read_to_string(run.place().join("whole")).unwrap();
        let whole: Vec<u64> = whole.split(' ').map(|word| word.parse().unwrap()).collect();
        let ring = run.ring();
        let last = checked(newest(&ring));
        let mode = last.capture.mode;
        assert!(last.capture.pruned > 0, "{mode:?}");
        assert!(last.nodes.len() > 1_000, "{mode:?}: {}", last.nodes.len());
        // Each "(pruned)" row stands for at least one row that was left out.
        assert!(
            last.nodes.len() as u64 + last.capture.pruned >= 30_000,
            "{mode:?}"
        );
        assert_eq!(last.calls(), whole[0], "{mode:?}");
        if mode == Mode::Exact {
            assert_eq!(last.measured_ticks(), whole[1]);
            assert!(last.estimates.is_empty());
        } else {
            assert!(!last.estimates.is_empty() && whole[2] > 0, "{mode:?}");
        }
        let pruned = (0..last.nodes.len()).find(|&row| last.site_of(NodeId(row as u32)).name == "(pruned)");
        assert!(last.latencies.of(pruned.unwrap() as u32).is_empty());
        for estimate in &last.estimates {
            assert!(estimate.timed <= last.nodes.calls[estimate.node.index()]);
        }
        for &row in &last.latencies.row {
            let calls = last.nodes.calls[row as usize];
            let finished = last.latencies.of(row).count();
            match mode {
                Mode::Exact => assert_eq!(finished, calls),
                Mode::Adaptive | Mode::Sampled | Mode::Off | _ => assert!((1..=calls).contains(&finished)),
            }
        }
    }
}

tickscope_testkit::tests!(
    many_nodes_of_one_thread_are_in_one_record,
    many_threads_at_once,
    threads_that_come_and_go_leave_no_memory_behind,
    futures_at_once_take_little_memory_and_few_rows,
    locks_with_many_names_have_a_bounded_number_of_rows,
    threads_that_wait_keep_few_descriptors_and_are_looked_at_in_turns,
    recursion_far_beyond_the_deepest_level,
    known_calls_are_counted_to_the_last_one,
    a_snapshot_too_large_for_its_record_is_pruned_and_its_sums_hold,
);

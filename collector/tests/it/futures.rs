//! Calls of futures: durations from the first poll to the end, on any thread; calls in flight; and tasks.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use tickscope::Builder;
use tickscope_format::ids::{NO_PARENT, NodeId};
use tickscope_format::snapshot::{Quantity, Snapshot, TaskPath};

use crate::support::{by_hand, check_with_polls, measured, rows_named, spend, tree};

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future that returns `Pending` this many times before it is ready.
struct Pending(u32);

impl Future for Pending {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.0.checked_sub(1) {
            None => Poll::Ready(()),
            Some(left) => {
                self.0 = left;
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Counts of the calls of one future in a snapshot, summed over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    started: u64,
    ended: u64,
    cancelled: u64,
    in_flight: i64,
    polls: u64,
    wall: u64,
    latencies: u64,
}

fn calls(snapshot: &Snapshot, name: &str) -> Calls {
    let sum = |quantity| measured(snapshot, name, quantity);
    let over = sum(Quantity::FutureEnds) + sum(Quantity::FutureCancels);
    let rows = || rows_named(snapshot, name);
    let latencies: u64 = rows().map(|row| snapshot.async_latencies.of(row).count()).sum();
    // A snapshot may miss the newest latency of each of up to four threads.
    assert!(
        latencies.abs_diff(over) <= 4,
        "{over} calls are over and {latencies} have a latency"
    );
    Calls {
        started: rows().map(|row| snapshot.nodes.calls[row as usize]).sum(),
        ended: sum(Quantity::FutureEnds),
        cancelled: sum(Quantity::FutureCancels),
        in_flight: sum(Quantity::InFlight) as i64 - sum(Quantity::EndedElsewhere) as i64,
        polls: sum(Quantity::Polls),
        wall: sum(Quantity::FutureTime),
        latencies,
    }
}

/// Returns, for each path, its name in the form `outer > inner`, the number of calls in flight, how many of these are
/// innermost, and the age of the oldest call in ns.
fn in_flight(snapshot: &Snapshot) -> Vec<(String, u64, u64, u64)> {
    let paths = &snapshot.tasks.paths;
    let name = |path: &TaskPath| snapshot.sites[path.site.index()].name.clone();
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let own = name(path);
        names.push(match path.parent {
            NO_PARENT => own,
            parent => format!("{} > {own}", names[parent as usize]),
        });
    }
    let counts = paths
        .iter()
        .map(|path| (path.in_flight, path.innermost, path.oldest_ns));
    let mut all: Vec<_> = names
        .into_iter()
        .zip(counts)
        .map(|(name, (in_flight, innermost, oldest_ns))| (name, in_flight, innermost, oldest_ns))
        .collect();
    all.sort();
    all
}

fn a_call_lasts_from_its_first_poll_to_its_end() {
    let _session = Builder::new("calls").clock(by_hand()).start();
    let work = || {
        tickscope::future!("work", async {
            spend(5);
            Pending(1).await;
            spend(7);
        })
    };
    drop(work());
    let mut future = Box::pin(work());
    spend(100);
    assert!(poll(&mut future).is_pending());
    spend(1_000);
    let during = tickscope::snapshot();
    assert_eq!(in_flight(&during), [("work".to_owned(), 1, 1, 1_005)]);
    let begun = Calls {
        started: 1,
        in_flight: 1,
        polls: 1,
        ..Calls::default()
    };
    assert_eq!(calls(&during, "work"), begun);
    assert!(poll(&mut future).is_ready());
    // Dropping a future whose call has ended does not end the call again.
    drop(future);
    let after = tickscope::snapshot();
    let over = Calls {
        started: 1,
        ended: 1,
        polls: 2,
        wall: 1_012,
        latencies: 1,
        ..Calls::default()
    };
    assert_eq!(calls(&after, "work"), over);
    assert!(after.tasks.is_empty());
    assert_eq!(tree(&after, "main"), "work 1 12 12\n");
    assert_eq!(after.latencies.of(0).count(), 2, "each poll has a latency");
}

fn futures_that_are_dropped_or_panic_are_cancelled_where_they_were() {
    let _session = Builder::new("cancelled").clock(by_hand()).start();
    let nested = || {
        tickscope::future!("outer", async {
            tickscope::wait!("inner", Pending(9)).await;
        })
    };
    let mut pending = Box::pin(nested());
    assert!(poll(&mut pending).is_pending());
    spend(50);
    let during = tickscope::snapshot();
    let waits: Vec<bool> = during.tasks.paths.iter().map(|path| path.names_await).collect();
    assert_eq!(waits, [false, true]);
    assert_eq!(
        in_flight(&during),
        [
            ("outer".to_owned(), 1, 0, 50),
            ("outer > inner".to_owned(), 1, 1, 50)
        ]
    );
    {
        tickscope::scope!("elsewhere");
        drop(pending);
    }
    let mut panics = Box::pin(tickscope::future!("panics", async {
        Pending(1).await;
        spend(3);
        panic!("on purpose");
    }));
    assert!(poll(&mut panics).is_pending());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut panics)));
    assert!(caught.is_err());
    let during = tickscope::snapshot();
    assert!(during.threads[0].open.is_empty());
    assert_eq!(calls(&during, "panics").in_flight, 0, "what has panicked is over");
    drop(panics);
    let after = tickscope::snapshot();
    let cancelled = |polls, wall| Calls {
        started: 1,
        cancelled: 1,
        polls,
        wall,
        latencies: 1,
        ..Calls::default()
    };
    assert_eq!(calls(&after, "outer"), cancelled(1, 50));
    assert_eq!(calls(&after, "inner"), cancelled(1, 50));
    assert_eq!(calls(&after, "panics"), cancelled(2, 3));
    assert!(after.tasks.is_empty());
    for row in 0..after.nodes.len() as u32 {
        let polls = after.measures.of_row(Quantity::Polls, row);
        let latencies = after.latencies.of(row).count();
        let what = after.site_of(NodeId(row)).name.as_str();
        // A latency is recorded for each poll. Dropping a future is not a poll, so it adds none. "elsewhere" is an
        // ordinary scope, whose single call has one latency.
        let expected = if what == "elsewhere" { 1 } else { polls };
        assert_eq!(latencies, expected, "latencies of polls of {what}");
    }
    check_with_polls(&after);
}

fn what_ends_below_its_future_ends_in_its_row() {
    let _session = Builder::new("rows").clock(by_hand()).start();
    let mut pending = Box::pin(tickscope::future!("outer", async {
        tickscope::future!("inner", Pending(9)).await;
    }));
    assert!(poll(&mut pending).is_pending());
    drop(pending);
    let after = tickscope::snapshot();
    assert_eq!(tree(&after, "main"), "outer 1 0 0\n  inner 1 0 0\n");
    let column = after.measures.of(Quantity::FutureCancels).unwrap();
    assert_eq!(column.rows, [(0, 1), (1, 1)]);
    assert!(after.measures.of(Quantity::InFlight).is_none());
}

/// A waker that records its use.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn tasks_have_the_time_from_a_wake_to_the_poll_that_follows() {
    #[tickscope::profile(task, name = "attribute")]
    async fn attribute() {
        Pending(2).await;
    }
    let _session = Builder::new("tasks").clock(by_hand()).start();
    let named: Boxed = Box::pin(tickscope::task("function", Pending(2)));
    for (mut future, name) in [(named, "function"), (Box::pin(attribute()), "attribute")] {
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        for delay in [1_000, 30, 40] {
            spend(delay);
            let result = future.as_mut().poll(&mut Context::from_waker(&waker));
            assert_eq!(woken.0.swap(false, Ordering::Relaxed), result.is_pending());
        }
        let snapshot = tickscope::snapshot();
        assert_eq!(calls(&snapshot, name).polls, 3);
        let of_row = |quantity| measured(&snapshot, name, quantity);
        // Only two of the three polls count, because it is unknown when the first one was requested.
        assert_eq!(of_row(Quantity::ScheduledTime), 70, "{name}");
        assert_eq!(of_row(Quantity::ScheduledPolls), 2, "{name}");
    }
}

/// A pool of threads that poll futures from a shared queue, so that futures move between threads.
struct Pool {
    queue: Mutex<Vec<Boxed>>,
    stop: AtomicBool,
}

impl Pool {
    /// Polls futures, and drops some of them unfinished, until `stop` is set and no future is left. Returns how many it
    /// has dropped.
    fn work(&self, mut seed: u64) -> u64 {
        let mut cancelled = 0;
        loop {
            let next = {
                let mut queue = self.queue.lock().unwrap();
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (seed >> 33) as usize % queue.len().max(1);
                (at < queue.len()).then(|| queue.swap_remove(at))
            };
            let Some(mut future) = next else {
                if self.stop.load(Ordering::Relaxed) {
                    return cancelled;
                }
                std::thread::yield_now();
                continue;
            };
            if poll(&mut future).is_pending() {
                if seed >> 60 == 0 {
                    cancelled += 1;
                    continue;
                }
                self.queue.lock().unwrap().push(future);
            }
        }
    }
}

/// Tells the pool to stop when dropped.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn calls_that_move_between_threads_are_all_there() {
    const CALLS: u64 = 20_000;
    let _session = tickscope::start("moved");
    let pool = Pool {
        queue: Mutex::new(Vec::new()),
        stop: AtomicBool::new(false),
    };
    let mut sums = [Calls::default(), Calls::default()];
    let names = ["request", "lock"];
    let mut cancelled = 0;
    let mut look = |closed: Snapshot| {
        check_with_polls(&closed);
        for (sum, name) in sums.iter_mut().zip(names) {
            let now = calls(&closed, name);
            sum.started += now.started;
            sum.ended += now.ended;
            sum.cancelled += now.cancelled;
            sum.polls += now.polls;
            sum.in_flight = now.in_flight;
            sum.latencies += now.latencies;
            let over = (sum.ended + sum.cancelled) as i64;
            assert_eq!(sum.started as i64, over + sum.in_flight, "{name} at every look");
        }
    };
    std::thread::scope(|scope| {
        // The pool is stopped even if a check below fails.
        let stops = Stops(&pool.stop);
        let threads: Vec<_> = (1..=4)
            .map(|seed| {
                scope.spawn({
                    let pool = &pool;
                    move || pool.work(seed)
                })
            })
            .collect();
        for call in 0..CALLS {
            let request = tickscope::future!("request", async move {
                Pending((call % 5) as u32).await;
                tickscope::wait!("lock", Pending((call % 3) as u32)).await;
            });
            pool.queue.lock().unwrap().push(Box::pin(request));
            if call % 500 == 0 {
                look(tickscope::reset());
            }
        }
        drop(stops);
        for thread in threads {
            cancelled += thread.join().unwrap();
        }
    });
    let last = tickscope::snapshot();
    look(last.clone());
    assert_eq!(sums[0].started, CALLS);
    assert_eq!((sums[0].ended, sums[0].cancelled), (CALLS - cancelled, cancelled));
    assert_eq!([sums[0].in_flight, sums[1].in_flight], [0, 0]);
    assert!(cancelled > 0 && sums[1].cancelled > 0);
    assert!(
        last.tasks.is_empty(),
        "{:?} {}",
        in_flight(&last),
        last.tasks.beyond
    );
    for sum in sums {
        assert_eq!(sum.latencies, sum.ended + sum.cancelled);
    }
}

/// Two modules with the same chain of functions, each of which awaits the next, with and without the attribute.
macro_rules! chain {
    ($($name:ident -> $next:ident),*) => {
        mod marked {
            $(#[tickscope::profile]
            pub(super) async fn $name(amount: u64) -> u64 {
                $next(amount + 1).await + amount
            })*

            #[tickscope::profile]
            async fn last(amount: u64) -> u64 {
                super::Pending(1).await;
                amount
            }
        }

        mod plain {
            $(pub(super) async fn $name(amount: u64) -> u64 {
                $next(amount + 1).await + amount
            })*

            async fn last(amount: u64) -> u64 {
                super::Pending(1).await;
                amount
            }
        }
    };
}

chain!(
    a -> b, b -> c, c -> d, d -> e, e -> f, f -> g, g -> h, h -> i, i -> j, j -> k, k -> l, l -> m, m -> n, n -> o,
    o -> p, p -> q, q -> r, r -> s, s -> last
);

fn twenty_functions_that_await_each_other_compile_and_stay_small() {
    let _session = Builder::new("chain").clock(by_hand()).start();
    let mut future: Pin<Box<dyn Future<Output = u64> + Send>> = Box::pin(marked::a(1));
    let size = size_of_val(&*future);
    let plain = size_of_val(&plain::a(1));
    assert!(
        size <= plain + 20 * 32,
        "{size} bytes, and {plain} without the attribute"
    );
    assert!(poll(&mut future).is_pending());
    assert_eq!(poll(&mut future), Poll::Ready(210));
    let snapshot = tickscope::snapshot();
    assert_eq!(snapshot.nodes.len(), 20);
    assert_eq!(calls(&snapshot, "a").ended, 1);
    assert_eq!(calls(&snapshot, "last").polls, 2);
}

crate::support::tests![
    isolated:
    a_call_lasts_from_its_first_poll_to_its_end,
    futures_that_are_dropped_or_panic_are_cancelled_where_they_were,
    what_ends_below_its_future_ends_in_its_row,
    tasks_have_the_time_from_a_wake_to_the_poll_that_follows,
    calls_that_move_between_threads_are_all_there,
    twenty_functions_that_await_each_other_compile_and_stay_small;
];

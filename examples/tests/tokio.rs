//! Calls of futures on a real executor, tokio. The test keeps its own account of these calls, and compares it with
//! each snapshot.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, and this one says how near it came"
)]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::latency::{Histogram, bucket_of};
use tickscope_format::snapshot::Quantity;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

/// Number of calls to make with each number of workers. The environment variable `CALLS` overrides it.
const CALLS: u64 = 10_000;

/// Number of clients, each of which has one call in flight.
const CLIENTS: u64 = 200;

/// Maximum number of calls for each thread that a snapshot may leave to the next snapshot (see `compare`).
const LATE: u64 = 8;

/// The test's own account of the calls of one future.
#[derive(Debug, Default)]
struct Account {
    /// Number of calls whose first poll has begun or is about to begin.
    starting: AtomicU64,
    /// Number of calls whose first poll is over.
    started: AtomicU64,
    ended: AtomicU64,
    cancelled: AtomicU64,
    /// Number of calls that ended on a different thread than their first poll.
    moved: AtomicU64,
    lasted: Mutex<Vec<Duration>>,
}

/// The counts of an account at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    starting: u64,
    started: u64,
    over: u64,
}

/// A future whose call is recorded in an account.
struct Accounted<F> {
    future: Option<Pin<Box<F>>>,
    account: Arc<Account>,
    first: Option<(Instant, ThreadId)>,
}

impl Account {
    fn of<F: Future>(self: &Arc<Self>, future: F) -> Accounted<F> {
        Accounted {
            future: Some(Box::pin(future)),
            account: Arc::clone(self),
            first: None,
        }
    }

    fn read(&self) -> Reading {
        // Read the counts of later events first, so that they cannot exceed the counts of earlier events.
        let over = self.ended.load(Ordering::SeqCst) + self.cancelled.load(Ordering::SeqCst);
        let started = self.started.load(Ordering::SeqCst);
        Reading {
            starting: self.starting.load(Ordering::SeqCst),
            started,
            over,
        }
    }
}

impl<F> Accounted<F> {
    fn end(&mut self, count: impl FnOnce(&Account) -> &AtomicU64) {
        let Some((begin, thread)) = self.first else {
            return;
        };
        let now = Instant::now();
        let account = &self.account;
        account.lasted.lock().unwrap().push(now - begin);
        let moved = std::thread::current().id() != thread;
        account.moved.fetch_add(moved.into(), Ordering::SeqCst);
        count(account).fetch_add(1, Ordering::SeqCst);
    }
}

impl<F: Future> Future for Accounted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let is_first = self.first.is_none();
        if is_first {
            self.account.starting.fetch_add(1, Ordering::SeqCst);
            self.first = Some((Instant::now(), std::thread::current().id()));
        }
        let future = self.future.as_mut().unwrap();
        let poll = future.as_mut().poll(context);
        if is_first {
            self.account.started.fetch_add(1, Ordering::SeqCst);
        }
        if poll.is_ready() {
            self.future = None;
            self.end(|account| &account.ended);
        }
        poll
    }
}

impl<F> Drop for Accounted<F> {
    fn drop(&mut self) {
        if self.future.take().is_some() {
            self.end(|account| &account.cancelled);
        }
    }
}

/// What a snapshot contains about the calls of a future: in all nodes, and in the list of tasks.
#[derive(Debug)]
struct Seen {
    started: u64,
    over: [u64; 2],
    in_flight: i64,
    tasks: u64,
    latencies: Histogram,
}

impl Seen {
    fn of(snapshot: &Snapshot, name: &str) -> Self {
        let rows = (0..snapshot.nodes.len() as u32).filter(|&row| snapshot.site_of(NodeId(row)).name == name);
        let rows: Vec<u32> = rows.collect();
        let sum = |quantity| -> u64 {
            let column = snapshot.measures.of(quantity);
            let of_row = |&row: &u32| column.map_or(0, |column| column.of_row(row));
            rows.iter().map(of_row).sum()
        };
        let mut latencies = Histogram::default();
        for &row in &rows {
            latencies.add(&snapshot.async_latencies.of(row));
        }
        let paths = &snapshot.tasks.paths;
        let paths = paths
            .iter()
            .filter(|path| snapshot.sites[path.site.index()].name == name);
        Self {
            started: rows.iter().map(|&row| snapshot.nodes.calls[row as usize]).sum(),
            over: [sum(Quantity::FutureEnds), sum(Quantity::FutureCancels)],
            in_flight: sum(Quantity::InFlight) as i64 - sum(Quantity::EndedElsewhere) as i64,
            tasks: paths.map(|path| path.in_flight).sum(),
            latencies,
        }
    }
}

/// Data that all calls of a runtime share.
#[derive(Debug, Default)]
struct Shared {
    request: Arc<Account>,
    lock: Arc<Account>,
    mutex: tokio::sync::Mutex<u64>,
}

/// Takes some milliseconds, except that every tenth call is ready at its first poll.
async fn work(shared: Arc<Shared>, call: u64) {
    if call.is_multiple_of(10) {
        return;
    }
    for _ in 0..call % 3 {
        yield_now().await;
    }
    sleep(Duration::from_millis(1 + call % 4)).await;
    if call.is_multiple_of(7) {
        let lock = tickscope::wait!("lock", shared.mutex.lock());
        let mut guard = shared.lock.of(lock).await;
        yield_now().await;
        *guard += 1;
    }
}

/// Creates a call that is recorded in the account of requests. It has not been polled yet.
fn request(shared: &Arc<Shared>, call: u64) -> Accounted<impl Future<Output = ()> + use<>> {
    let request = tickscope::future!("request", work(Arc::clone(shared), call));
    shared.request.of(request)
}

/// Makes a call that is polled first on the thread that calls `block_on`, and then on a worker. So at least one call
/// moves, under any load.
async fn moved_call(shared: &Arc<Shared>) {
    let mut request = request(shared, 1);
    let is_ready = poll_fn(|context| Poll::Ready(Pin::new(&mut request).poll(context).is_ready())).await;
    assert!(!is_ready, "it sleeps");
    tokio::spawn(request).await.unwrap();
}

/// Makes one call. Depending on its number, it runs to its end or is cancelled in one of several ways, perhaps even
/// before its first poll.
async fn call(shared: &Arc<Shared>, call: u64) {
    let request = request(shared, call);
    match call % 16 {
        // This call is never polled.
        1 => drop(request),
        2 => _ = timeout(Duration::from_millis(2), request).await,
        3 => {
            tokio::select! {
                () = request => {}
                () = sleep(Duration::from_millis(2)) => {}
            }
        }
        4 => {
            let task = tokio::spawn(request);
            sleep(Duration::from_millis(2)).await;
            task.abort();
            _ = task.await;
        }
        // This call is aborted before or during its first polls.
        5 => {
            let task = tokio::spawn(request);
            yield_now().await;
            task.abort();
            _ = task.await;
        }
        6 => request.await,
        _ => tokio::spawn(request).await.unwrap(),
    }
}

/// Compares a snapshot with the account as it was before and after the snapshot.
fn compare(seen: &Seen, before: Reading, after: Reading, threads: u64) {
    let over = seen.over.iter().sum::<u64>();
    assert_eq!(seen.started as i64, over as i64 + seen.in_flight, "{seen:?}");
    let context = || format!("{seen:?} between {before:?} and {after:?}");
    // A snapshot that is taken while a thread moves durations into a histogram omits these durations and their calls.
    // The next snapshot includes them.
    let late = LATE * threads;
    assert!(before.started <= seen.started + late, "{}", context());
    assert!(seen.started <= after.starting, "{}", context());
    // On each thread, one call may have ended that is not in the account yet.
    assert!(before.over <= over + late, "{}", context());
    assert!(over <= after.over + threads, "{}", context());
    assert!(
        before.started <= seen.tasks + after.over + threads && seen.tasks + before.over <= after.starting,
        "{}",
        context()
    );
}

fn median_and_p99(mut lasted: Vec<Duration>) -> [Duration; 2] {
    lasted.sort_unstable();
    [0.5, 0.99].map(|share| {
        let rank = (share * lasted.len() as f64).ceil() as usize;
        lasted[rank.max(1) - 1]
    })
}

/// Makes `calls` calls on `workers` workers, and takes snapshots all the while. The caller must have reset all earlier
/// counts.
fn calls_of_tokio(workers: usize, calls: u64) {
    let shared = Arc::new(Shared::default());
    let accounts = [("request", &shared.request), ("lock", &shared.lock)];
    let is_done = AtomicBool::new(false);
    let looks = std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut looks = 0;
            loop {
                let is_last = is_done.load(Ordering::SeqCst);
                let before = accounts.map(|(_, account)| account.read());
                let snapshot = tickscope::snapshot();
                let after = accounts.map(|(_, account)| account.read());
                for (at, (name, _)) in accounts.iter().enumerate() {
                    // The thread that calls `block_on` counts as well, because it drops the remaining calls.
                    let threads = workers as u64 + 1;
                    compare(&Seen::of(&snapshot, name), before[at], after[at], threads);
                }
                looks += 1;
                if is_last {
                    return looks;
                }
            }
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(moved_call(&shared));
        let clients = (0..CLIENTS).map(|client| {
            let shared = Arc::clone(&shared);
            runtime.spawn(async move {
                for number in (client..calls).step_by(CLIENTS as usize) {
                    call(&shared, number).await;
                }
            })
        });
        let clients: Vec<_> = clients.collect();
        for client in clients {
            runtime.block_on(client).unwrap();
        }
        drop(runtime);
        is_done.store(true, Ordering::SeqCst);
        looks.join().unwrap()
    });
    let last = tickscope::snapshot();
    assert_eq!(last.capture.losses.dropped, 0);
    for (name, account) in accounts {
        let seen = Seen::of(&last, name);
        let over = [&account.ended, &account.cancelled].map(|count| count.load(Ordering::SeqCst));
        assert_eq!((seen.over, seen.in_flight, seen.tasks), (over, 0, 0), "{name}");
        assert_eq!(seen.started, over[0] + over[1], "{name}");
        assert_eq!(seen.latencies.count(), seen.started, "{name}");
        let moved = account.moved.load(Ordering::SeqCst);
        let own = median_and_p99(std::mem::take(&mut account.lasted.lock().unwrap()));
        let mut line = format!("{name}: {} of {} cancelled, {moved} moved", over[1], seen.started);
        for ((share, own), label) in [0.5, 0.99].into_iter().zip(own).zip(["p50", "p99"]) {
            let ticks = seen.latencies.quantile(share).unwrap();
            let own_ticks = own.as_secs_f64() * last.clock.ticks_per_second;
            let shown = Duration::from_nanos(last.nanos(ticks));
            line += &format!(", {label} {shown:.2?} by its own account {own:.2?}");
            assert!(
                bucket_of(ticks).abs_diff(bucket_of(own_ticks as u64)) <= 1,
                "{line}"
            );
        }
        println!("{workers} workers, {looks} looks, {line}");
    }
    let request = &shared.request;
    assert!(
        request.moved.load(Ordering::SeqCst) > 0,
        "no call has moved to another thread"
    );
    assert!(
        request.started.load(Ordering::SeqCst) < calls,
        "some are never polled"
    );
    assert!(request.cancelled.load(Ordering::SeqCst) > calls / 100);
}

// One test covers both numbers of workers, because a program has one collector.
#[test]
fn calls_under_tokio_are_those_of_their_own_account() {
    let calls = std::env::var("CALLS").map_or(CALLS, |calls| calls.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let _session = tickscope::Builder::new("tokio").dir(directory.path()).start();
    for workers in [2, 8] {
        tickscope::reset();
        calls_of_tokio(workers, calls);
    }
}

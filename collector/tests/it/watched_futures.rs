//! Watched async functions. Their calls take many polls, which may happen on different threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tickscope::{Builder, Mode, Over, Snapshot};
use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{CauseKind, PathSums, Watch, WatchState};

use crate::support::{Random, Yield, spend, tick};
use crate::watches::{replayed, session, watched};

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

fn poll(call: &mut Call) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    call.as_mut().poll(&mut context).is_ready()
}

/// Makes a call of the watched function. All calls are made here, so that they share one site.
fn named(future: impl Future<Output = ()> + Send + 'static) -> Call {
    Box::pin(tickscope::future!("request", future))
}

/// Makes a call that parses and then awaits `lookups` lookups. Of a hundred calls, one works longer in its lookups, and another
/// one also awaits a flush, which takes 31 polls.
fn request(number: u64, lookups: u32) -> Call {
    named(async move {
        tickscope::note!("number", number);
        {
            tickscope::scope!("parse");
            spend(50);
        }
        let work = if number % 100 == 12 { 500 } else { 10 };
        for _ in 0..lookups {
            tickscope::future!("lookup", async {
                spend(work);
                Yield::default().await;
                spend(10);
            })
            .await;
        }
        if number % 100 == 99 {
            tickscope::future!("flush", async {
                for _ in 0..30 {
                    Yield::default().await;
                }
            })
            .await;
        }
        spend(5);
    })
}

/// Polls a call until it is ready. Spends `between` ticks after each poll but the last.
fn run(mut call: Call, between: u64) {
    while !poll(&mut call) {
        spend(between);
    }
}

fn watch(over: u64) {
    run(request(0, 1), 1);
    tickscope::watch("request", Over::Duration(Duration::from_nanos(over))).unwrap();
    let watch = watched();
    assert_eq!((watch.state, watch.calls()), (WatchState::Watching, (0, 0)));
}

/// Returns the numbers of discarded and of missed calls, which are in no sum. Calls that could not be kept because a
/// capture held the lock are in the sums.
fn lost(watch: &Watch) -> (u64, u64) {
    (watch.lost.discarded, watch.lost.missed)
}

/// Returns the sums of each path in typical and in slow calls, keyed by the names along the path.
fn by_path(snapshot: &Snapshot, watch: &Watch) -> BTreeMap<String, [PathSums; 2]> {
    let mut names: Vec<String> = Vec::new();
    for path in &watch.paths {
        let name = &snapshot.sites[path.site.index()].name;
        names.push(match path.parent {
            NO_PARENT => name.clone(),
            parent => format!("{};{name}", names[parent as usize]),
        });
    }
    // Paths with the same names are added up, even if their sites differ.
    let mut by_name: BTreeMap<String, [PathSums; 2]> = BTreeMap::new();
    for (name, path) in names.into_iter().zip(&watch.paths) {
        let sums = by_name.entry(name).or_default();
        for (to, more) in sums.iter_mut().zip([path.typical, path.slow]) {
            to.calls += more.calls;
            to.ticks += more.ticks;
            to.waiting += more.waiting;
        }
    }
    by_name
}

/// Slow requests of five kinds: with a longer wait, with many more lookups, with an additional wait, with three more lookups
/// that mostly wait, and with longer work and a little more waiting. Each poll runs on a different thread than the one before.
fn slow_calls_of_an_async_function_are_told_with_what_they_awaited() {
    let _session = session(Builder::new("requests"));
    watch(700);
    let threads = [Worker::new(), Worker::new()];
    for number in 1..=400 {
        let (lookups, between) = match number % 100 {
            33 => (3, 5_000),
            66 => (40, 100),
            50 => (6, 100),
            12 => (3, 150),
            _ => (3, 100),
        };
        let mut call = Some(request(number, lookups));
        for turn in 0.. {
            // Which of the two threads runs the last poll of a typical call depends on the call's number.
            match threads[(turn + number as usize / 2) % 2].poll(call.take().unwrap()) {
                Some(rest) => call = Some(rest),
                None => break,
            }
            spend(between);
        }
    }
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!((watch.calls(), lost(watch)), ((380, 20), (0, 0)));
    let sums = by_path(&snapshot, watch);
    let counted = |path: &str| sums[path].map(|sums| [sums.calls, sums.ticks, sums.waiting]);
    assert_eq!(counted("request"), [[380, 380 * 5, 0], [20, 20 * 5, 0]]);
    assert_eq!(counted("request;parse"), [[380, 380 * 50, 0], [20, 20 * 50, 0]]);
    let lookups = [380 * 3, 4 * (3 + 40 + 3 + 6 + 3)];
    let work = [lookups[0] * 20, lookups[1] * 20 + 4 * 3 * 490];
    let waiting = [lookups[0] * 100, 4 * (3 * 5_000 + (40 + 3 + 6) * 100 + 3 * 150)];
    let expected = [0, 1].map(|side| [lookups[side], work[side] + waiting[side], waiting[side]]);
    assert_eq!(counted("request;lookup"), expected);
    let causes: Vec<_> = watch
        .causes
        .iter()
        .map(|cause| (cause.kind, cause.calls, cause.path_calls))
        .collect();
    let (calls, waiting) = (CauseKind::Calls, CauseKind::Waiting);
    let expected = [
        (CauseKind::SelfTime, 4, 12),
        (calls, 4, 160),
        (waiting, 8, 36),
        (waiting, 4, 4),
    ];
    assert_eq!(causes, expected);
    for exemplar in &watch.exemplars {
        assert_eq!(replayed(exemplar), exemplar.ticks);
        let trace = exemplar.trace.as_ref().unwrap();
        let number: u64 = trace.notes[0].value.parse().unwrap();
        let (times, each, flushed) = match number % 100 {
            33 => (3, 5_000, 0),
            66 => (40, 100, 0),
            50 => (6, 100, 0),
            12 => (3, 150, 0),
            _ => (3, 100, 30),
        };
        let awaited: Vec<_> = trace
            .off_cpu
            .iter()
            .map(|&(step, waiting, _)| {
                let path = &watch.paths[trace.path[step as usize] as usize];
                (snapshot.sites[path.site.index()].name.as_str(), waiting)
            })
            .collect();
        let mut expected = vec![("lookup", each); times];
        expected.extend(vec![("flush", 100); flushed]);
        assert_eq!(awaited, expected);
    }
}

/// A thread that polls each given call once.
struct Worker {
    calls: Sender<(Call, bool)>,
    rests: Receiver<Option<Call>>,
}

impl Worker {
    fn new() -> Self {
        let (calls, given) = channel::<(Call, bool)>();
        let (sender, rests) = channel();
        std::thread::spawn(move || {
            for (mut call, is_dropped) in given {
                // A call that is to be dropped is not polled again.
                let is_over = is_dropped || poll(&mut call);
                let rest = (!is_over).then_some(call);
                sender.send(rest).unwrap();
            }
        });
        Self { calls, rests }
    }

    fn poll(&self, call: Call) -> Option<Call> {
        self.calls.send((call, false)).unwrap();
        self.rests.recv().unwrap()
    }

    fn drop(&self, call: Call) {
        self.calls.send((call, true)).unwrap();
        self.rests.recv().unwrap();
    }
}

/// For each path, its calls, its ticks, and how many of these ticks the call spent awaiting the path.
type Sums = BTreeMap<String, [u64; 3]>;

/// Sums of a random call so far, kept by the call itself.
#[derive(Default)]
struct Account {
    sums: Sums,
    /// Paths that the call is awaiting. The one that was polled last comes last.
    awaited: Vec<String>,
    since: u64,
}

impl Account {
    fn charge(&mut self, path: &str, calls: u64, ticks: u64, waiting: u64) {
        let sums = self.sums.entry(path.into()).or_default();
        for (to, more) in sums.iter_mut().zip([calls, ticks, waiting]) {
            *to += more;
        }
    }

    fn resume(&mut self) {
        let gap = tick() - self.since;
        let awaited = self.awaited.last().unwrap().clone();
        self.charge(&awaited, 0, gap, gap);
    }
}

/// A [`Yield`] that lists its path in the account for as long as the call awaits it.
struct Awaits(Arc<Mutex<Account>>, String, Yield);

impl Future for Awaits {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let poll = Pin::new(&mut self.2).poll(context);
        if poll.is_pending() {
            self.0.lock().unwrap().awaited.push(self.1.clone());
        }
        poll
    }
}

impl Drop for Awaits {
    fn drop(&mut self) {
        let awaited = &mut self.0.lock().unwrap().awaited;
        if let Some(at) = awaited.iter().rposition(|path| *path == self.1) {
            awaited.remove(at);
        }
    }
}

/// The random number generator that all calls share.
type Chance = Arc<Mutex<Random>>;

fn below(chance: &Chance, limit: u64) -> u64 {
    chance.lock().unwrap().below(limit)
}

/// Returns a future that does random work and charges it to `path`.
fn does(own: Arc<Mutex<Account>>, chance: Chance, path: String, depth: u32) -> Call {
    Box::pin(async move {
        let charge = |path: &str, calls, ticks| own.lock().unwrap().charge(path, calls, ticks, 0);
        charge(&path, 1, 0);
        let child = |name: &str| {
            does(
                Arc::clone(&own),
                Arc::clone(&chance),
                format!("{path};{name}"),
                depth + 1,
            )
        };
        for _ in 0..below(&chance, 6) {
            match below(&chance, if depth < 4 { 9 } else { 4 }) {
                0 => {
                    let ticks = below(&chance, 40);
                    spend(ticks);
                    charge(&path, 0, ticks);
                }
                1 => {
                    tickscope::scope!("work");
                    let ticks = below(&chance, 300);
                    spend(ticks);
                    charge(&format!("{path};work"), 1, ticks);
                }
                2 | 3 => {
                    Awaits(Arc::clone(&own), path.clone(), Yield::default()).await;
                }
                4 => tickscope::future!("a", child("a")).await,
                5 => tickscope::future!("b", child("b")).await,
                6 => {
                    let mut both = [
                        Some(Box::pin(tickscope::future!("b", child("b")))),
                        Some(Box::pin(tickscope::future!("c", child("c")))),
                    ];
                    std::future::poll_fn(|context| {
                        for one in &mut both {
                            one.take_if(|one| one.as_mut().poll(context).is_ready());
                        }
                        match both.iter().all(Option::is_none) {
                            true => Poll::Ready(()),
                            false => Poll::Pending,
                        }
                    })
                    .await;
                }
                _ => {
                    // Polls a future at most a few times, and then drops it.
                    let mut one = Some(Box::pin(tickscope::future!("a", child("a"))));
                    let mut left = below(&chance, 3);
                    std::future::poll_fn(|context| {
                        one.take_if(|one| one.as_mut().poll(context).is_ready());
                        one.take_if(|_| left == 0);
                        left = left.saturating_sub(1);
                        match one.is_none() {
                            true => Poll::Ready(()),
                            false => Poll::Pending,
                        }
                    })
                    .await;
                }
            }
        }
    })
}

/// The sums of typical and of slow calls must exactly equal the sums that the calls keep themselves.
fn sums_are_those_of_random_calls_on_random_threads() {
    let _session = session(Builder::new("random"));
    const CALLS: u64 = 1_000;
    let threshold = 700;
    watch(threshold);
    let chance = Arc::new(Mutex::new(Random(0x9e37_79b9_7f4a_7c15)));
    let workers: Vec<Worker> = (0..4).map(|_| Worker::new()).collect();
    let mut calls: Vec<(Option<Call>, Arc<Mutex<Account>>)> = Vec::new();
    let mut expected: [Sums; 2] = Default::default();
    let (mut began, mut polls) = (0, 0);
    while began < CALLS || !calls.is_empty() {
        if began < CALLS && calls.len() < 20 {
            began += 1;
            let own = Arc::new(Mutex::new(Account::default()));
            let does = does(Arc::clone(&own), Arc::clone(&chance), "request".into(), 0);
            calls.push((Some(named(does)), own));
        }
        let at = below(&chance, calls.len() as u64) as usize;
        let (call, own) = &mut calls[at];
        let worker = &workers[below(&chance, 4) as usize];
        let was_polled = own.lock().unwrap().since != 0;
        if was_polled {
            own.lock().unwrap().resume();
        }
        polls += 1;
        let given = call.take().unwrap();
        if was_polled && below(&chance, 30) == 0 {
            worker.drop(given);
        } else {
            *call = worker.poll(given);
        }
        own.lock().unwrap().since = tick();
        if call.is_none() {
            let (_, own) = calls.swap_remove(at);
            let sums = std::mem::take(&mut own.lock().unwrap().sums);
            let ticks: u64 = sums.values().map(|sums| sums[1]).sum();
            let side = &mut expected[usize::from(ticks >= threshold)];
            for (path, more) in sums {
                let sums = side.entry(path).or_default();
                sums.iter_mut().zip(more).for_each(|(to, more)| *to += more);
            }
        }
        spend(below(&chance, 60));
    }
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!(lost(watch), (0, 0));
    let (typical, slow) = watch.calls();
    println!("{typical} typical, {slow} slow, {polls} polls");
    assert!(typical > CALLS / 6 && slow > CALLS / 6);
    let counted = by_path(&snapshot, watch);
    for (side, expected) in expected.iter().enumerate() {
        let mut of_side = Sums::new();
        for (path, sums) in &counted {
            let PathSums {
                calls,
                ticks,
                waiting,
                ..
            } = sums[side];
            if (calls, ticks) != (0, 0) {
                of_side.insert(path.clone(), [calls, ticks, waiting]);
            }
        }
        let differs = expected
            .iter()
            .find(|(path, sums)| of_side.get(*path) != Some(*sums));
        assert_eq!(differs.map(|(path, sums)| (path, sums, of_side.get(path))), None);
        assert_eq!(of_side.len(), expected.len());
    }
    for exemplar in &watch.exemplars {
        assert_eq!(replayed(exemplar), exemplar.ticks);
    }
}

/// Whatever interrupts a watched call, between two polls or during a poll, must be reported.
fn whatever_happens_to_an_async_call_is_told() {
    let _session = session(Builder::new("inside"));
    watch(1_000);
    let begun = |number| {
        let mut call = request(number, 2);
        assert!(!poll(&mut call));
        call
    };
    // The call panics in its second poll.
    let mut panics = named(async {
        Yield::default().await;
        panic!("as planned");
    });
    assert!(!poll(&mut panics));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut panics))).is_err());
    drop(panics);
    let watch = watched();
    assert_eq!((watch.calls(), watch.lost.discarded), ((0, 0), 1));
    // A reset comes between two polls.
    let call = begun(1);
    drop(tickscope::reset());
    run(call, 1);
    assert_eq!(watched().calls(), (0, 0));
    run(begun(2), 1);
    assert_eq!(watched().calls(), (1, 0));
    // A call never ends if it is leaked, or if its function is switched off between two polls.
    let forgotten = begun(3);
    std::mem::forget(forgotten);
    let call = begun(4);
    tickscope::disable_sites("request").unwrap();
    run(call, 1);
    tickscope::enable_sites("request").unwrap();
    let watch = watched();
    assert_eq!((watch.calls(), watch.lost.discarded), ((1, 0), 1));
    // A poll runs inside another watched call.
    tickscope::watch("other", Over::Duration(Duration::from_nanos(1_000))).unwrap();
    let other = |mut call: Call| {
        tickscope::scope!("other");
        poll(&mut call);
        call
    };
    let call = other(begun(6));
    run(call, 1);
    let snapshot = tickscope::snapshot();
    assert_eq!(snapshot.watches[0].lost.discarded, 2);
    assert_eq!(snapshot.watches[1].calls(), (1, 0));
    tickscope::unwatch("other").unwrap();
    // The mode changes during a poll and between two polls.
    let mut changes = named(async {
        Yield::default().await;
        tickscope::set_mode(Mode::Adaptive);
        tickscope::scope!("inside");
    });
    assert!(!poll(&mut changes));
    assert!(poll(&mut changes));
    let call = begun(7);
    tickscope::set_mode(Mode::Exact);
    run(call, 1);
    assert_eq!(watched().calls(), (0, 0), "each switch is a reset as well");
    // A call that is cancelled counts as waiting until it is dropped.
    let call = begun(8);
    spend(5_000);
    drop(call);
    let watch = watched();
    assert_eq!(watch.calls(), (0, 1));
    assert_eq!(watch.exemplars[0].ticks, 60 + 5_000);
    // The thread that ran the first poll has ended before the next poll.
    let call = std::thread::spawn(move || begun(9)).join().unwrap();
    run(call, 1);
    assert_eq!(watched().calls(), (1, 1));
    // The watch ends between two polls.
    let call = begun(10);
    tickscope::unwatch("request").unwrap();
    run(call, 1);
    assert!(tickscope::snapshot().watches.is_empty());
}

/// A call with many polls and a call with long polls must be in the sums completely, even though their traces are cut.
fn a_long_async_call_is_counted_whole() {
    let _session = session(Builder::new("long"));
    watch(1_000_000);
    run(request(1, 1), 1);
    run(request(2, 50_000), 30);
    let long_polls = named(async {
        for _ in 0..2 {
            for _ in 0..100_000 {
                tickscope::scope!("parse");
                spend(10);
            }
            Yield::default().await;
        }
    });
    run(long_polls, 500_000);
    let snapshot = tickscope::snapshot();
    let watch = &snapshot.watches[0];
    assert_eq!((watch.calls(), lost(watch)), ((1, 2), (0, 0)));
    let sums = by_path(&snapshot, watch);
    let slow = |path: &str| {
        let sums = sums[path][1];
        [sums.calls, sums.ticks, sums.waiting]
    };
    assert_eq!(slow("request"), [2, 5 + 1_000_000, 1_000_000]);
    assert_eq!(slow("request;lookup"), [50_000, 50_000 * 50, 50_000 * 30]);
    assert_eq!(slow("request;parse"), [200_001, 2_000_050, 0]);
    for exemplar in &watch.exemplars {
        let trace = exemplar.trace.as_ref().unwrap();
        let gap = trace.gap.unwrap();
        assert!(trace.len() > 3 && gap.steps > 50_000, "{} {gap:?}", trace.len());
        assert_eq!(replayed(exemplar) + gap.ticks, exemplar.ticks);
    }
}

crate::support::tests![
    isolated:
    slow_calls_of_an_async_function_are_told_with_what_they_awaited,
    sums_are_those_of_random_calls_on_random_threads,
    whatever_happens_to_an_async_call_is_told,
    a_long_async_call_is_counted_whole;
];

//! Tests the demo's service through the counts in the collector's snapshot.
//!
//! One test covers everything, because a program has only one collector.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use tickscope::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Quantity, ThreadState};

#[global_allocator]
static ALLOCATOR: tickscope_demo::Alloc = tickscope_demo::Alloc::system();

/// Number of clients that each frame sends.
const CLIENTS: u64 = 40;
/// Number of items whose prices are computed if the offers of their section are not in the cache.
const SECTION_ITEMS: u64 = 600;
/// Enough frames for clients of every kind to come.
const SOME: u64 = 4;
const KINDS: [&str; 4] = ["browse", "search", "order", "invoice"];

/// Sums over all rows that have the same name.
struct Sums<'a>(&'a Snapshot);

impl Sums<'_> {
    fn rows(&self, name: &str) -> impl Iterator<Item = NodeId> {
        let rows = (0..self.0.nodes.len()).map(|row| NodeId(row as u32));
        rows.filter(move |&row| self.0.site_of(row).name == *name)
    }

    fn calls(&self, name: &str) -> u64 {
        self.rows(name).map(|row| self.0.nodes.calls[row.index()]).sum()
    }

    fn of(&self, quantity: Quantity, name: &str) -> u64 {
        let rows = self.rows(name);
        rows.map(|row| self.0.measures.of_row(quantity, row.0)).sum()
    }

    /// Returns the number of calls of `name` directly below `parent`.
    fn calls_below(&self, parent: &str, name: &str) -> u64 {
        let below = self.rows(name).filter(|&row| {
            let above = self.0.nodes.parent_of(row);
            above.is_some_and(|above| self.0.site_of(above).name == *parent)
        });
        below.map(|row| self.0.nodes.calls[row.index()]).sum()
    }

    /// Returns how many calls of a future completed, and how many were dropped before they did.
    fn ends(&self, name: &str) -> (u64, u64) {
        let of = |quantity| self.of(quantity, name);
        (of(Quantity::FutureEnds), of(Quantity::FutureCancels))
    }
}

/// Runs the demo for this many frames, and returns the counts of this run.
fn run(frames: u64) -> Snapshot {
    drop(tickscope::reset());
    // Runs on a new thread, where no other scope is open.
    thread::scope(|scope| {
        scope.spawn(|| tickscope_demo::run(&mut |done| done < frames));
    });
    tickscope::snapshot()
}

#[test]
fn each_request_is_served_once_and_nothing_stays_behind() {
    // Enough for a ping, which comes only after a connection has been used 200 times.
    let frames = 24;
    let first = run(frames);
    let sums = Sums(&first);
    let clients = frames * CLIENTS;
    assert_eq!(sums.calls("serve"), clients);
    assert_eq!(sums.ends("serve"), (clients, 0));
    let mut begun = 0;
    for kind in KINDS {
        let calls = sums.calls(kind);
        let (ended, cancelled) = sums.ends(kind);
        assert!(calls > 0, "there is a {kind}");
        assert_eq!(ended + cancelled, calls, "{kind}");
        begun += calls;
    }
    assert_eq!(begun, clients);
    let in_flight = |quantity| -> u64 { KINDS.iter().map(|kind| sums.of(quantity, kind)).sum() };
    assert_eq!(
        in_flight(Quantity::InFlight),
        in_flight(Quantity::EndedElsewhere),
        "no call is in flight"
    );
    assert!(first.tasks.is_empty(), "{:?}", first.tasks);

    // A client that leaves after 2 ms cancels its order, because an order takes longer.
    assert!(
        KINDS.iter().any(|kind| sums.ends(kind).1 > 0),
        "some are cancelled"
    );
    // The database runs one query for each answer.
    assert_eq!(sums.calls("answer"), sums.calls("Server::query"));
    assert_eq!(sums.calls("Server::query"), sums.calls("Connection::read_disk"));
    assert!(sums.calls("Connection::ping") > 0);
    // An entry that is missing from the cache is made again. For offers, this means computing 600 prices, which makes
    // some requests slow.
    let looks = sums.calls("hit") + sums.calls("miss");
    assert_eq!(looks, sums.calls("Cache::get"));
    assert!(sums.calls("hit") > sums.calls("miss"));
    let rebuilt = sums.calls("best_of");
    assert!(rebuilt > 0);
    assert_eq!(sums.calls_below("best_of", "price"), rebuilt * SECTION_ITEMS);
    // Checks values, gauges, allocations, and the picture that the cache keeps.
    assert_eq!(sums.calls("rows"), sums.calls("Server::query"));
    assert_eq!(sums.calls("queue"), sums.calls("Server::query"));
    assert!(sums.of(Quantity::Allocations, "sort") > 0);
    let decoded = sums.calls("decode");
    assert!(sums.of(Quantity::AllocatedBytes, "decode") >= decoded * (32 << 10));

    // The same clients come in each run, but timing decides which of them leave without an answer.
    let [second, third] = [(); 2].map(|()| run(SOME));
    for kind in KINDS {
        let calls = Sums(&second).calls(kind);
        assert!(calls > 0, "there is a {kind}");
        assert_eq!(Sums(&third).calls(kind), calls, "{kind}");
    }

    // A panic in the caller also ends the demo.
    let caught = catch_unwind(AssertUnwindSafe(|| {
        tickscope_demo::run(&mut |done| if done == 2 { panic!("as a test") } else { true });
    }));
    assert!(caught.is_err());
    assert_eq!(Sums(&tickscope::snapshot()).calls("serve"), (SOME + 2) * CLIENTS);

    // The scope has waited only until the closures of these threads returned. The threads themselves end a little later.
    while has_threads_left(&tickscope::snapshot()) {
        thread::yield_now();
    }
    assert!(!has_threads_left(&run(1)), "of a run that has ended");
}

fn has_threads_left(snapshot: &Snapshot) -> bool {
    let threads = snapshot.threads.iter();
    let mut left = threads.filter(|thread| thread.state != ThreadState::Finished);
    left.any(|thread| {
        ["executor", "database", "timer", "render", "thumbnail"]
            .iter()
            .any(|name| thread.name.starts_with(name))
    })
}

//! Tests the demo's service by the collector's counts.
//!
//! One test covers everything, because a program has one collector.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use tickscope::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Quantity, ThreadState};

#[global_allocator]
static ALLOCATOR: tickscope_demo::Alloc = tickscope_demo::Alloc::system();

/// Number of clients that a frame brings.
const CLIENTS: u64 = 40;
/// Number of items whose prices are computed if the offers of a section are not in the cache.
const SECTION_ITEMS: u64 = 600;
/// Number of frames in which clients of each kind come.
const SOME: u64 = 4;
const KINDS: [&str; 4] = ["browse", "search", "order", "invoice"];

/// Sums over all rows of a name.
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

    /// Returns the calls of `name` directly below `parent`.
    fn calls_below(&self, parent: &str, name: &str) -> u64 {
        let below = self.rows(name).filter(|&row| {
            let above = self.0.nodes.parent_of(row);
            above.is_some_and(|above| self.0.site_of(above).name == *parent)
        });
        below.map(|row| self.0.nodes.calls[row.index()]).sum()
    }

    /// Returns the calls of a future that were ready, and the calls that were dropped before.
    fn ends(&self, name: &str) -> (u64, u64) {
        let of = |quantity| self.of(quantity, name);
        (of(Quantity::FutureEnds), of(Quantity::FutureCancels))
    }
}

/// Runs the demo for this many frames, and returns the counts of this run.
fn run(frames: u64) -> Snapshot {
    drop(tickscope::reset());
    // On a thread of its own, as in the harness of tests, so that no other scope is open.
    thread::scope(|scope| {
        scope.spawn(|| tickscope_demo::run(&mut |done| done < frames));
    });
    tickscope::snapshot()
}

#[test]
fn each_request_is_served_once_and_nothing_stays_behind() {
    // Enough for a ping, because each connection is used 200 times before its first ping.
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

    // Clients that leave after 2 ms do not wait for the end of an order.
    assert!(
        KINDS.iter().any(|kind| sums.ends(kind).1 > 0),
        "some are cancelled"
    );
    // Each answer of the database is one query.
    assert_eq!(sums.calls("answer"), sums.calls("Server::query"));
    assert_eq!(sums.calls("Server::query"), sums.calls("Connection::read_disk"));
    assert!(sums.calls("Connection::ping") > 0);
    // Missing entries are made again: offers out of 600 prices, which is the reason of the slow requests.
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

    // The same clients come in each run. Time decides which of them leave without an answer.
    let [second, third] = [(); 2].map(|()| run(SOME));
    for kind in KINDS {
        let calls = Sums(&second).calls(kind);
        assert!(calls > 0, "there is a {kind}");
        assert_eq!(Sums(&third).calls(kind), calls, "{kind}");
    }

    // A caller that panics ends the demo as well.
    let caught = catch_unwind(AssertUnwindSafe(|| {
        tickscope_demo::run(&mut |done| if done == 2 { panic!("as a test") } else { true });
    }));
    assert!(caught.is_err());
    assert_eq!(Sums(&tickscope::snapshot()).calls("serve"), (SOME + 2) * CLIENTS);

    // The scope has waited for the closures of these threads, and the system ends them soon.
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

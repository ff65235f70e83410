//! Models of nodes and histograms that one thread creates while another thread reads them.

use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::Quantity;

use super::{INNER, OUTER, leaked};
use crate::enabled::capture::tree_reader::latency_of;
use crate::enabled::platform::sync::modelled;
use crate::enabled::platform::sync::{AtomicU64, Ordering};
use crate::enabled::record::arena::Column;
use crate::enabled::record::latency::{Latencies, Latency};
use crate::enabled::record::measures::QUANTITIES;
use crate::enabled::record::node::Nodes;
use crate::enabled::record::numbers::NumbersOfTree;
use crate::enabled::record::tree::{NO_LIMIT, Path, Tree};

/// Each node whose index is below the length that a reader sees is complete, with its index, site and parent.
#[test]
fn nodes_below_the_length_are_filled_in() {
    let nodes: &'static Nodes = leaked();
    modelled::check(None, move || {
        let owner = modelled::spawn(move || {
            let outer = nodes.add(Some(&OUTER), None).unwrap();
            nodes.add(Some(&INNER), Some(outer)).unwrap();
        });
        let length = nodes.len();
        for index in 0..length {
            let node = nodes.get(index).unwrap();
            assert_eq!(node.index(), index);
            assert!(node.site.is([&OUTER, &INNER][index as usize]));
            let parent = node.parent.get().map(|parent| parent.index());
            assert_eq!(parent, index.checked_sub(1));
        }
        owner.join().unwrap();
        assert_eq!(nodes.len(), 2);
    });
}

/// A reader that sees a chunk also sees its elements, so it reads them without a further check.
#[test]
fn a_column_is_read_while_its_chunk_is_made() {
    let column: &'static Column<AtomicU64> = leaked();
    modelled::check(None, move || {
        let owner = modelled::spawn(move || {
            column.make(0).unwrap().store(1, Ordering::Relaxed);
        });
        if let Some(errors) = column.get(0) {
            assert!(errors.load(Ordering::Relaxed) <= 1);
        }
        owner.join().unwrap();
        assert_eq!(column.get(0).unwrap().load(Ordering::Relaxed), 1);
    });
}

/// Runs a model of a node with two buffered durations. The node's owner adds a third duration and flushes all three,
/// while `look` reads them.
fn flushing_while(
    look: impl Fn(&'static AtomicU64, &'static Latency, loom::thread::JoinHandle<()>) + Send + Sync + 'static,
) {
    let pool: &'static Latencies = leaked();
    let calls: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(2)));
    let latency = pool.make(0).unwrap();
    assert!(latency.buffer(1, 100) && latency.buffer(2, 100));
    modelled::check(Some(2), move || {
        let owner = modelled::spawn(move || {
            calls.store(3, Ordering::Relaxed);
            latency.flush(Some(100), pool);
        });
        look(calls, latency, owner);
    });
}

/// A histogram that is read during a flush contains each call once, either from the buffer or from its bucket.
#[test]
fn a_histogram_is_of_one_moment() {
    flushing_while(|calls, latency, owner| {
        let mut histogram = Histogram::default();
        let counted = latency.read(|| calls.load(Ordering::Acquire), || (0, 0), &mut histogram);
        assert!((2..=3).contains(&counted));
        assert!((2..=3).contains(&histogram.count()), "{counted}: {histogram:?}");
        owner.join().unwrap();
    });
}

/// If a reading misses calls because of a flush, the next reading includes them. So no epoch shows more ends than
/// begins, apart from one call that was open before.
#[test]
fn a_torn_look_shows_no_more_ends_than_begins() {
    flushing_while(|calls, latency, owner| {
        let mut histogram = Histogram::default();
        let counted = latency.read_within(1, || calls.load(Ordering::Acquire), || (0, 0), &mut histogram);
        let ended = histogram.count();
        owner.join().unwrap();
        let known = || (counted, ended);
        let calls = latency.read(|| calls.load(Ordering::Acquire), known, &mut histogram);
        assert_eq!(calls, 3);
        assert!(histogram.count() - ended <= 3 - counted + 1, "{counted} {ended}");
    });
}

/// If a reading counts a number, the stretches that it reads afterwards include this number, even while a new stretch
/// begins. The older stretch does not include numbers from the new one.
#[test]
#[ignore = "some ten seconds: .ci/nightly mutations"]
fn numbers_that_are_counted_are_in_their_stretches() {
    let pool: &'static Latencies = leaked();
    let nodes: &'static Nodes = leaked();
    let tree: &'static NumbersOfTree = leaked();
    let node = nodes.add(Some(&OUTER), None).unwrap();
    tree.make(node);
    let numbers = tree.of(node).unwrap();
    let give = |stretch, number, calls| {
        numbers.note_in(stretch, number, calls);
        numbers.hit(number, pool);
    };
    give(2, 100, 0);
    modelled::check(Some(1), move || {
        let owner = modelled::spawn(move || {
            give(4, 300, 1);
        });
        let mut histogram = Histogram::default();
        let counted = numbers.read(&mut histogram);
        assert!((1..=2).contains(&counted));
        let [newest, older, _] = numbers.stretches();
        let begun = newest.stretch == 4;
        assert!(counted < 2 || begun);
        let before = if begun { older } else { newest };
        assert_eq!(
            (before.stretch, before.first, before.min, before.max),
            (2, 0, 100, 100)
        );
        if begun {
            assert_eq!((newest.first, newest.min, newest.max), (1, 300, 300));
        }
        owner.join().unwrap();
    });
}

/// After a tree is reused, a reader finds no histogram counts and no amounts left from the tree's previous life.
#[test]
fn a_reader_finds_nothing_of_an_earlier_life() {
    let tree: &'static Tree = leaked();
    let open = || {
        assert!(tree.open(0, NO_LIMIT, 10, 10));
        tree.set_path(Path::Exact);
        tree.wants_latencies.store(1, Ordering::Relaxed);
    };
    let enter = || {
        let root = tree.take().unwrap();
        let child = tree.add_child(root, &OUTER, || true).unwrap();
        tree.put(root);
        child.latency.get().unwrap()
    };
    open();
    enter().flush(Some(100), &tree.latencies);
    tree.measures.make(1).unwrap().add([(Quantity::Polls, 5)]);
    open();
    modelled::check(Some(2), move || {
        let owner = modelled::spawn(move || _ = enter());
        if let Some(node) = tree.nodes.get(1).filter(|_| tree.nodes.len() > 1) {
            let (latency, made) = latency_of(node);
            assert_eq!(made, if latency.is_some() { 2 } else { 0 });
            assert_eq!(tree.measures.get(1).unwrap().read(), [0; QUANTITIES]);
        }
        owner.join().unwrap();
    });
}

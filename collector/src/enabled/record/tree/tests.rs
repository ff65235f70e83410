//! Tests for guessing the next child, for gaps between events, and for reusing a tree's memory. `tests/it/programs`
//! compares random programs with a model.

use super::*;
use crate::enabled::record::arena::zeros;
use crate::enabled::record::site::Site;

static A: Site = Site::named("a", "m", "f.rs", 1);
static B: Site = Site::named("b", "m", "f.rs", 2);

/// Makes an open tree, at tick 0.
pub(crate) fn opened(limit: u64, depth: u32, nodes: u32) -> Box<Tree> {
    let tree: Box<Tree> = Box::new(zeros());
    assert!(tree.open(0, limit, depth, nodes));
    tree
}

struct Walk {
    tree: Box<Tree>,
    now: u64,
}

impl Walk {
    fn new(limit: u64, depth: u32, nodes: u32) -> Self {
        Self {
            tree: opened(limit, depth, nodes),
            now: 0,
        }
    }

    /// Enters `site` the way a scope in exact mode does, by guessing the child. Adds to `wrong` if the guess was wrong.
    fn enter_by_guess(&mut self, site: &'static Site, wrong: &mut u32) -> &'static Node {
        let tree = &self.tree;
        let current = tree.current.get().unwrap();
        let child = tree.guessed_child(current, site).unwrap_or_else(|| {
            *wrong += 1;
            let likely = tree.likely_child(current, site);
            let known = likely.filter(|child| child.site.is(site) && child.parent.is(current));
            let child = known.or_else(|| tree.add_child(current, site, || true)).unwrap();
            tree.learn(current, child);
            child
        });
        self.now += 100;
        tree.mark();
        tree.begin(current, child, self.now, 1)
    }

    /// Enters `site`, `after` ticks after the last event.
    fn enter(&mut self, after: u64, site: &'static Site) -> &'static Node {
        self.now += after;
        let current = self.tree.take().unwrap();
        let known = self.tree.known_child(current, site);
        let child = known.or_else(|| self.tree.add_child(current, site, || true));
        self.tree.begin(current, child.unwrap(), self.now, 1)
    }

    fn exit(&mut self, after: u64, node: &'static Node) {
        self.now += after;
        assert!(self.tree.end_innermost(node, || self.now));
    }

    /// Returns the self ticks of all nodes, the root first.
    fn self_ticks(&self) -> Vec<u64> {
        let nodes = (0..self.tree.nodes.len()).map(|index| self.tree.nodes.get(index).unwrap());
        nodes
            .map(|node| node.self_ticks.load(Ordering::Relaxed))
            .collect()
    }
}

#[test]
fn a_gap_beyond_the_limit_is_not_charged() {
    let mut walk = Walk::new(1000, 10, 100);
    let a = walk.enter(1000, &A);
    walk.exit(1001, a);
    assert_eq!(walk.self_ticks(), [1000, 0]);
}

#[test]
fn time_that_is_left_out_is_in_no_call() {
    let mut walk = Walk::new(NO_LIMIT, 10, 100);
    let a = walk.enter(1, &A);
    let b = walk.enter(10, &B);
    walk.tree.leave_out(b, walk.now, 1000);
    walk.now += 1000;
    walk.exit(5, b);
    assert_eq!(b.lasted(walk.now), Some(5));
    walk.exit(2, a);
    assert_eq!(a.lasted(walk.now), Some(17));
    assert_eq!(walk.self_ticks(), [1, 12, 5]);
}

#[test]
fn children_that_take_turns_are_guessed() {
    for histograms in [true, false] {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        walk.tree
            .wants_latencies
            .store(histograms.into(), Ordering::Relaxed);
        let mut wrong = 0;
        for _ in 0..10 {
            wrong = 0;
            let a = walk.enter_by_guess(&A, &mut wrong);
            for site in [&B, &A, &B] {
                let child = walk.enter_by_guess(site, &mut wrong);
                walk.exit(100, child);
            }
            walk.exit(100, a);
            let b = walk.enter_by_guess(&B, &mut wrong);
            walk.exit(100, b);
        }
        // Without histograms, the guess is always the most recently entered child.
        assert_eq!(wrong, if histograms { 0 } else { 4 }, "histograms {histograms}");
        let counts = [10, 20, 10, 10];
        let calls = [1, 2, 3, 4].map(|index| walk.tree.nodes.get(index).unwrap());
        assert_eq!(calls.map(|node| node.calls.load(Ordering::Relaxed)), counts);
    }
}

#[test]
fn a_guess_from_an_earlier_life_is_no_child() {
    let mut walk = Walk::new(NO_LIMIT, 10, 100);
    let mut wrong = 0;
    for life in 1..=3 {
        walk.tree.wants_latencies.store(1, Ordering::Relaxed);
        for site in [&A, &B, &A] {
            let child = walk.enter_by_guess(site, &mut wrong);
            assert!(child.index() < walk.tree.nodes.len(), "the node is in this life");
            walk.exit(100, child);
        }
        assert_eq!((wrong, walk.tree.nodes.len()), (3 * life, 3));
        assert!(walk.tree.open(walk.now, NO_LIMIT, 10, 100));
    }
}

#[test]
fn a_guess_from_another_place_is_no_child() {
    let mut walk = Walk::new(NO_LIMIT, 10, 100);
    let a = walk.enter(1, &A);
    let inner = walk.enter(1, &B);
    walk.exit(1, inner);
    walk.exit(1, a);
    let root = walk.tree.current.get().unwrap();
    walk.tree.guess.set(Some(inner));
    assert!(walk.tree.guessed_child(root, &B).is_none());
    assert!(walk.tree.guessed_child(a, &B).is_some());
    assert!(walk.tree.guessed_child(a, &A).is_none());
}

#[test]
fn counters_do_not_take_the_place_of_the_scope_looked_at_first() {
    static COUNTERS: [Site; 2] = [
        Site::named("one", "m", "f.rs", 3).counting(),
        Site::named("other", "m", "f.rs", 4).counting(),
    ];
    let mut walk = Walk::new(NO_LIMIT, 10, 100);
    let root = walk.tree.current.get().unwrap();
    let count = |tree: &Tree, site: &'static Site| {
        let known = tree.find(root, site);
        let counter = known.or_else(|| tree.add_child(root, site, || true)).unwrap();
        counter.count(5);
        counter
    };
    for site in &COUNTERS {
        count(&walk.tree, site);
    }
    // Until a scope is entered, the guessed child is a counter.
    assert!(Tree::recent_child(root, &COUNTERS[0]).is_some());
    let a = walk.enter(1, &A);
    walk.exit(1, a);
    for site in &COUNTERS {
        let counter = count(&walk.tree, site);
        assert_eq!((counter.calls.load(Ordering::Relaxed), counter.sum()), (2, 10));
        assert_eq!(counter.self_ticks.load(Ordering::Relaxed), 0);
        assert!(Tree::recent_child(root, &A).is_some());
    }
}

#[test]
fn a_tree_that_was_large_serves_again() {
    let sites: Vec<&'static Site> = (0..3000)
        .map(|_| &*Box::leak(Box::new(Site::named("s", "m", "f.rs", 1))))
        .collect();
    let mut walk = Walk::new(NO_LIMIT, 10, 10_000);
    for life in 0..3 {
        assert_eq!(walk.tree.table.len(), FIRST_TABLE);
        for _ in 0..2 {
            for site in &sites[life * 10..] {
                let node = walk.enter(1, site);
                walk.exit(1, node);
            }
        }
        assert_eq!(walk.tree.nodes.len() as usize, 3001 - life * 10);
        let calls = |index| walk.tree.nodes.get(index).unwrap().calls.load(Ordering::Relaxed);
        assert!((1..walk.tree.nodes.len()).all(|index| calls(index) == 2));
        assert!(walk.tree.open(walk.now, NO_LIMIT, 10, 10_000));
    }
}

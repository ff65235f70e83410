//! Checks the sums of watched calls, using random programs.

use tickscope_format::snapshot::Quantity;

use super::*;
use crate::enabled::record::journal::{More, Record};
use crate::enabled::record::path_sums::COUNTS;
use crate::enabled::record::tree::NO_LIMIT;
use crate::enabled::record::tree::tests::opened;
use crate::enabled::record::untimed::xorshift;

static ROOT: Site = Site::named("root", "m", "f.rs", 1);
static OTHERS: [Site; 5] = [const { Site::named("other", "m", "f.rs", 2) }; 5];

/// A random program on one thread, which keeps its own count of what happens in watched calls.
struct Program {
    tree: Box<Tree>,
    now: std::cell::Cell<u64>,
    random: u64,
    /// Expected sums of typical and of slow calls, by node.
    expected: [Vec<[u64; COUNTS]>; 2],
    slow_calls: u64,
    /// The tick at which the watched call began, and what the tree had counted by then.
    before: Option<(u64, Vec<[u64; COUNTS]>)>,
    paused: u64,
    left: u32,
}

impl Program {
    fn below(&mut self, most: u64) -> u64 {
        self.random = xorshift(self.random);
        (self.random >> 11) % most
    }

    fn pass(&mut self) -> u64 {
        let ticks = self.below(1 << (self.random % 24));
        self.now.set(self.now.get() + ticks);
        self.now.get()
    }

    /// Returns what the tree has counted for each node.
    fn counted(&self) -> Vec<[u64; COUNTS]> {
        (0..self.tree.nodes.len())
            .map(|index| {
                let node = self.tree.nodes.get(index).unwrap();
                let of = |quantity| {
                    let measures = self.tree.measures.get(index);
                    measures.map_or(0, |measures| measures.of(quantity).load(Ordering::Relaxed))
                };
                [
                    node.calls.load(Ordering::Relaxed),
                    node.self_ticks.load(Ordering::Relaxed),
                    of(Quantity::Waiting),
                    of(Quantity::Ready),
                    of(Quantity::Allocations),
                    of(Quantity::AllocatedBytes),
                ]
            })
            .collect()
    }

    fn enter(&mut self, site: &'static Site) -> &'static Node {
        self.pass();
        let tree = &*self.tree;
        let current = tree.take().unwrap();
        let child = tree
            .known_child(current, site)
            .or_else(|| tree.add_child(current, site, || true))
            .unwrap();
        let is_root = site.watch().is_some() && self.before.is_none();
        let before = is_root.then(|| self.counted());
        if tree.is(Path::Watched) {
            tree.begin_watched(current, child, self.now.get(), 1);
        } else {
            tree.begin(current, child, self.now.get(), 1);
            if let Some(mut before) = before {
                // The time up to now belongs to the parent, but entering the root counts as a call inside the watched call.
                before.resize(tree.nodes.len() as usize, [0; COUNTS]);
                before[current.index() as usize] = self.counted()[current.index() as usize];
                self.before = Some((self.now.get(), before));
                self.paused = 0;
                tree.watch_call(child);
                assert!(tree.is(Path::Watched));
            }
        }
        child
    }

    fn exit(&mut self, node: &'static Node) {
        let now = self.pass();
        let is_root =
            node.site.get().is_some_and(|site| site.watch().is_some()) && self.tree.watching.root.is(node);
        let clock = || self.now.get();
        let ended = match self.tree.is(Path::Watched) {
            true => self.tree.end_watched(node, clock),
            false => self.tree.end_innermost(node, clock),
        };
        if !ended {
            self.tree.end_out_of_order(node, clock);
        }
        if is_root {
            let (began, before) = self.before.take().unwrap();
            let ticks = now - began - self.paused;
            let side = usize::from(ticks >= watch::get(3).unwrap().threshold());
            self.slow_calls += side as u64;
            let after = self.counted();
            let expected = &mut self.expected[side];
            expected.resize(after.len(), [0; COUNTS]);
            for (index, counts) in after.iter().enumerate() {
                let before = before.get(index).copied().unwrap_or_default();
                for (to, (now, then)) in expected[index].iter_mut().zip(counts.iter().zip(before)) {
                    *to += now - then;
                }
            }
        }
    }

    fn work(&mut self, depth: u32) {
        for _ in 0..self.below(6) {
            if depth > 12 || self.left == 0 {
                return;
            }
            self.left -= 1;
            let site = &OTHERS[self.below(5) as usize];
            match self.below(13) {
                0 => {
                    let root = self.enter(&ROOT);
                    self.work(depth + 1);
                    self.exit(root);
                }
                1 => {
                    let node = self.enter(site);
                    self.pass();
                    self.tree.pause(|| self.now.get());
                    let begin = self.now.get();
                    let end = self.pass();
                    self.tree.resume(end);
                    self.paused += end - begin;
                    self.exit(node);
                }
                2 => {
                    // Closes the two calls out of order.
                    let (outer, inner) = (self.enter(site), self.enter(&OTHERS[0]));
                    self.exit(outer);
                    self.exit(inner);
                }
                3 if depth > 1 => {
                    let _leaked = self.enter(site);
                    self.work(depth + 1);
                }
                4 => self
                    .tree
                    .note_value("step", &"x".repeat((self.left % 40) as usize)),
                5 => {
                    let amounts = [(Quantity::Allocations, 1), (Quantity::AllocatedBytes, 24)];
                    self.tree.measure(amounts, || Path::Fast);
                }
                6 => {
                    let node = self.enter(site);
                    self.now.set(self.now.get() + 1_000);
                    // Imitates a gap off the CPU.
                    let current = self.tree.take().unwrap();
                    self.tree
                        .measure_at(current, [(Quantity::Waiting, 600), (Quantity::Ready, 300)]);
                    self.tree.put(current);
                    self.exit(node);
                }
                7 if self.below(160) == 0 => {
                    for _ in 0..40_000 {
                        let node = self.enter(&OTHERS[1]);
                        self.exit(node);
                    }
                }
                _ => {
                    let node = self.enter(site);
                    self.work(depth + 1);
                    self.exit(node);
                }
            }
        }
    }
}

/// The sums of typical and slow calls add up exactly to what the tree has counted, in calls and in ticks. Set `PROGRAMS=100` in
/// the environment to run more programs.
#[test]
fn sums_are_those_of_the_tree_in_random_programs() {
    let of_slot = watch::get(3).unwrap();
    ROOT.set_watch(Some(3));
    let (mut discarded, mut overflows, mut kept) = (0, 0, 0);
    let programs = std::env::var("PROGRAMS").map_or(4, |number| number.parse().unwrap());
    for seed in 1..=programs {
        of_slot.begin(0);
        of_slot.begin(seed);
        let tree = opened(NO_LIMIT, 100, 10_000);
        tree.set_path(Path::Fast);
        let mut program = Program {
            tree,
            now: std::cell::Cell::new(1),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            expected: Default::default(),
            slow_calls: 0,
            before: None,
            paused: 0,
            left: 0,
        };
        for _ in 0..40 {
            let threshold = [1, 1 << 14, 1 << 22, u64::MAX][program.below(4) as usize];
            of_slot.set_threshold(threshold);
            program.left = 300;
            let outer = program.enter(&OTHERS[4]);
            let root = program.enter(&ROOT);
            program.work(1);
            program.exit(root);
            program.exit(outer);
            overflows += u32::from(program.tree.watching.journal.was_full());
            assert!(program.tree.is(Path::Fast) && program.before.is_none());
        }
        let sums = &program.tree.watching.sums[3];
        let slow_calls = of_slot.slow_calls.load(Ordering::Relaxed);
        assert_eq!(program.slow_calls, slow_calls, "{seed}");
        for index in 0..program.tree.nodes.len() {
            let node = program.tree.nodes.get(index).unwrap();
            let name = node.site.get().map(|site| site.describe().name);
            let read = sums
                .nodes
                .get(index)
                .map_or([[0; COUNTS]; 2], |sums| [sums.typical.read(), sums.slow.read()]);
            let expected = [0, 1].map(|side: usize| {
                let of_side: &Vec<_> = &program.expected[side];
                of_side.get(index as usize).copied().unwrap_or_default()
            });
            assert_eq!(read, expected, "seed {seed}, node {index} {name:?}");
        }
        discarded += of_slot.lost().discarded;
        of_slot.kept.read(seed, |_, _, call| {
            let copied = call.copied();
            let mut ticks = 0;
            let mut words = copied.words.iter().copied();
            while let Some(word) = words.next() {
                let (what, number) = match Record::of(word) {
                    Record::Event { ticks, .. } => (More::Stay, ticks),
                    Record::More { what, number, .. } => (what, number),
                };
                if what == More::Stay {
                    ticks += number;
                } else if what == More::Note {
                    words.by_ref().take(number as usize).for_each(drop);
                }
            }
            let facts = copied.facts;
            assert!(facts.missing > 0 || ticks == facts.ticks, "as long as it was");
            kept += 1;
        });
    }
    ROOT.set_watch(None);
    of_slot.begin(0);
    assert_eq!(discarded, 0);
    assert!(overflows > 1 && kept > 5 * programs, "{overflows} {kept}");
}

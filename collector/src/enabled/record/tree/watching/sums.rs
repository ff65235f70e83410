//! Sums up the records of watched calls by node, and keeps slow calls. The sums of a single call may be *pending* until
//! they are added to the sums of all typical calls or of all slow calls.

use super::Tree;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::platform::threads;
use crate::enabled::record::journal::{Kind, More, Record, node_of};
use crate::enabled::record::kept_calls::Facts;
use crate::enabled::record::node::Node;
use crate::enabled::record::path_sums::{PathSums, Sums, SumsOfWatch};
use crate::enabled::record::watch::{Lost, Watch};

/// Which sums the records are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Typical,
    Pending,
}

impl Tree {
    /// Adds the call in the journal to the sums of typical calls.
    pub(super) fn add_typical(&self, sums: &SumsOfWatch) {
        let journal = &self.watching.journal;
        if journal.was_full() {
            self.add_up_area();
            self.take_pending(sums, |sums| &sums.typical);
        } else {
            self.add_up(journal.area(), Side::Typical);
        }
    }

    /// Adds the call in the journal to the sums of slow calls, finds its cause, and may keep the whole call.
    pub(super) fn add_slow(&self, watch: &Watch, sums: &SumsOfWatch, root: &'static Node, ticks: u64) {
        let journal = &self.watching.journal;
        self.add_up_area();
        let cause = self.cause(sums, root, ticks, watch.threshold());
        let count = watch.slow_calls.fetch_add(1, Ordering::Relaxed) + 1;
        let random = self.next_random();
        let number = self.watching.number.load(Ordering::Relaxed);
        let is_kept = watch.kept.keep(number, ticks, count, random >> 32, |call| {
            let facts = Facts {
                ticks,
                began: self.watching.began.load(Ordering::Relaxed),
                tid: threads::thread_id(),
                name: threads::thread_name(),
                cause,
                missing: journal.missing(),
            };
            let touched = (0..self.watching.touched_count.load(Ordering::Relaxed)).map(|at| {
                let index = self.touched(at);
                let node = self.nodes.get(index);
                let parent = node.and_then(|node| node.parent.get()).map_or(0, Node::index);
                (index, parent, node.and_then(|node| node.site.get()))
            });
            call.write(&facts, journal.left(), touched);
        });
        if !is_kept {
            watch.lose(Lost::NotKept);
        }
        self.take_pending(sums, |sums| &sums.slow);
    }

    fn touched(&self, at: u32) -> u32 {
        self.watching
            .touched
            .get(at)
            .map_or(0, |index| index.load(Ordering::Relaxed))
    }

    /// Iterates over the nodes that have pending sums.
    pub(super) fn each_touched(&self, sums: &SumsOfWatch) -> impl Iterator<Item = (u32, &'static PathSums)> {
        let touched = 0..self.watching.touched_count.load(Ordering::Relaxed);
        let indices = touched.map(move |at| self.touched(at));
        indices.filter_map(move |index| Some((index, sums.nodes.get(index)?)))
    }

    fn take_pending(&self, sums: &SumsOfWatch, side: fn(&PathSums) -> &Sums) {
        for (_, of_node) in self.each_touched(sums) {
            side(of_node).take(&of_node.pending);
            of_node.is_touched.store(0, Ordering::Relaxed);
        }
        self.watching.touched_count.store(0, Ordering::Relaxed);
    }

    pub(super) fn forget_pending(&self) {
        if let Some((_, sums)) = self.watching.of_slot() {
            for (_, of_node) in self.each_touched(sums) {
                of_node.pending.clear();
                of_node.is_touched.store(0, Ordering::Relaxed);
            }
        }
        self.watching.touched_count.store(0, Ordering::Relaxed);
    }

    /// Adds the records in the journal's current area to the pending sums.
    pub(super) fn add_up_area(&self) {
        self.add_up(self.watching.journal.area(), Side::Pending);
    }

    /// Adds the records between two positions in the journal to the sums of `side`.
    fn add_up(&self, (begin, end): (u32, u32), side: Side) {
        let watching = &self.watching;
        let journal = &watching.journal;
        let Some((_, sums)) = watching.of_slot() else {
            return;
        };
        let mut before = watching.before.load(Ordering::Relaxed);
        let mut at = begin;
        while at < end {
            let word = journal.word(at);
            let node = node_of(word);
            at += 1;
            let Some(of_node) = sums.nodes.get(node).or_else(|| sums.nodes.make(node)) else {
                self.note_not_charged();
                continue;
            };
            let to = match side {
                Side::Typical => &of_node.typical,
                Side::Pending => {
                    if of_node.is_touched.load(Ordering::Relaxed) == 0 {
                        self.touch(of_node, node);
                    }
                    &of_node.pending
                }
            };
            match Record::of(word) {
                Record::Event { kind, ticks, .. } => {
                    add(&to.ticks, ticks);
                    add(&to.calls, u64::from(before == Kind::Enter as u64));
                    before = kind as u64;
                }
                Record::More { what, number, .. } => match what {
                    More::Stay => add(&to.ticks, number),
                    More::Waiting => add(&to.waiting, number),
                    More::Ready => add(&to.ready, number),
                    More::Allocation => {
                        add(&to.allocations, 1);
                        add(&to.allocated_bytes, number);
                    }
                    More::Note => at += number as u32,
                    More::Calls => add(&to.calls, number),
                    More::Allocations => add(&to.allocations, number),
                    More::Nodes => {}
                },
            }
        }
        watching.before.store(before, Ordering::Relaxed);
    }

    fn touch(&self, of_node: &PathSums, node: u32) {
        let count = &self.watching.touched_count;
        let at = count.load(Ordering::Relaxed);
        if let Some(place) = self.watching.touched.make(at) {
            place.store(node, Ordering::Relaxed);
            count.store(at + 1, Ordering::Relaxed);
            of_node.is_touched.store(1, Ordering::Relaxed);
            of_node.excess.store(0, Ordering::Relaxed);
            of_node.excess_waiting.store(0, Ordering::Relaxed);
            of_node.whole.store(0, Ordering::Relaxed);
        }
    }
}

//! Writes the events of the open watched call into the journal.

use tickscope_format::snapshot::Quantity;

use super::Tree;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::journal::{Kind, MORE_MAX, More, TICKS_MAX, event, more};
use crate::enabled::record::measures::Amounts;
use crate::enabled::record::node::Node;

impl Tree {
    /// Charges the time since the last event to `node`, and writes the event to the journal. Returns the result of
    /// [`Self::charge`].
    #[inline(always)]
    pub(crate) fn charge_noted(&self, node: &'static Node, kind: Kind, now: u64) -> Option<u64> {
        let before = node.self_ticks.load(Ordering::Relaxed);
        let charged = self.charge(node, now);
        let ticks = node.self_ticks.load(Ordering::Relaxed).wrapping_sub(before);
        self.note_event(node, kind, ticks);
        if charged.is_none() {
            self.note_not_charged();
        }
        charged
    }

    /// Writes an event to the journal, along with the ticks that were charged to `node` up to this event.
    #[inline(always)]
    pub(crate) fn note_event(&self, node: &'static Node, kind: Kind, ticks: u64) {
        let journal = &self.watching.journal;
        if ticks <= TICKS_MAX && journal.has_space(1) {
            journal.push(event(node.index(), kind, ticks));
        } else {
            self.note_event_rarely(node, kind, ticks);
        }
    }

    /// Handles a full journal, and durations that do not fit into one record.
    #[cold]
    #[inline(never)]
    fn note_event_rarely(&self, node: &'static Node, kind: Kind, mut ticks: u64) {
        while ticks > TICKS_MAX {
            self.note_more(node, More::Stay, MORE_MAX);
            ticks -= MORE_MAX;
        }
        self.make_space(1);
        self.watching.journal.push(event(node.index(), kind, ticks));
    }

    /// Writes a record other than an event to the journal. If the number does not fit into one record, it is split into several.
    #[cold]
    fn note_more(&self, node: &'static Node, what: More, mut number: u64) {
        loop {
            self.make_space(1);
            let part = number.min(MORE_MAX);
            self.watching.journal.push(more(node.index(), what, part));
            number -= part;
            if number == 0 {
                return;
            }
        }
    }

    /// Charges the time since the last event to `node`, while the thread stays in that node and no event happens. Returns the
    /// result of [`Self::charge`].
    pub(crate) fn charge_staying(&self, node: &'static Node, now: u64) -> Option<u64> {
        let before = node.self_ticks.load(Ordering::Relaxed);
        let charged = self.charge(node, now);
        if self.watching.is_open() {
            let ticks = node.self_ticks.load(Ordering::Relaxed).wrapping_sub(before);
            self.note_more(node, More::Stay, ticks);
        }
        charged
    }

    /// If a watched call is open, writes to the journal the amounts that were counted in `node`.
    #[cold]
    pub(crate) fn note_amounts<const N: usize>(&self, node: &'static Node, amounts: Amounts<N>) {
        if !self.watching.is_open() {
            return;
        }
        let of = |wanted: Quantity| {
            let found = amounts.iter().find(|(quantity, _)| *quantity == wanted);
            found.map_or(0, |&(_, amount)| amount)
        };
        for (quantity, what) in [(Quantity::Waiting, More::Waiting), (Quantity::Ready, More::Ready)] {
            if of(quantity) > 0 {
                self.note_more(node, what, of(quantity));
            }
        }
        let allocations = of(Quantity::Allocations);
        let mut bytes = of(Quantity::AllocatedBytes);
        for _ in 0..allocations {
            self.note_more(node, More::Allocation, bytes.min(MORE_MAX));
            bytes = 0;
        }
    }

    /// If a watched call is open, adds a key and a value from the program to the journal, before the next event.
    pub(crate) fn note_value(&self, key: &str, value: &str) {
        let Some(current) = self.take() else { return };
        if self.watching.is_open() {
            let count = 1 + key.len().div_ceil(8) + value.len().div_ceil(8);
            self.make_space(count as u32 + 1);
            let journal = &self.watching.journal;
            journal.push(more(current.index(), More::Note, count as u64));
            journal.push(key.len() as u64 | (value.len() as u64) << 32);
            for chunk in [key, value].iter().flat_map(|text| text.as_bytes().chunks(8)) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                journal.push(u64::from_le_bytes(word));
            }
        }
        self.put(current);
    }

    /// Moves on to the journal's next area if the current one has no space for `words` more words.
    pub(super) fn make_space(&self, words: u32) {
        let journal = &self.watching.journal;
        if journal.has_space(words) {
            return;
        }
        let node = self.watching.root.get().map_or(0, Node::index);
        while journal.has_space(1) {
            journal.push(more(node, More::Stay, 0));
        }
        self.add_up_area();
        journal.next_area();
    }

    /// Marks the open call as broken: some of its time is unknown, so it cannot be compared with other calls.
    #[cold]
    pub(super) fn note_not_charged(&self) {
        self.watching.broken.store(1, Ordering::Relaxed);
    }
}

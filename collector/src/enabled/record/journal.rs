//! The journal of a thread: the events of the watched call that is open, with one word for each event.
//!
//! The record of an event consists of the node that was *charged* (20 bits), the kind of the event (2 bits), and the charged
//! ticks (42 bits). So the records can be summed up without knowing parents or keeping a stack, and guards that were leaked or
//! closed out of order need no special case.
//!
//! The first half of the journal keeps the first records of the call. If there are more records than fit, the two remaining
//! quarters are overwritten in turn, so that they hold the newest records. Records are added to sums before they are overwritten.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::{Array, Ref, zeroed};
use crate::enabled::record::node::NODES_MAX;
use crate::enabled::record::site::Site;

/// Size of the journal in words. This is 512 KiB of address space for each thread with a watched call, but only the used part
/// takes up memory.
const WORDS: u32 = 1 << 16;
/// Number of words at the beginning of a call that are never overwritten.
pub(crate) const HEAD: u32 = WORDS / 2;
const QUARTER: u32 = WORDS / 4;

const KIND_AT: u32 = 42;
const NODE_AT: u32 = 44;
const MORE_AT: u32 = 39;

/// Maximum number of ticks in one record.
pub(crate) const TICKS_MAX: u64 = (1 << KIND_AT) - 1;

/// Largest `number` of a [`Record::More`].
pub(crate) const MORE_MAX: u64 = (1 << MORE_AT) - 1;

const _: () = assert!(1u64 << (64 - NODE_AT) == NODES_MAX as u64);

/// The kind of event that ends the time span of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    Exit = 0,
    Enter = 1,
    /// A scope is entered for another poll of a call that began earlier. This does not count a new call.
    GoOn = 2,
}

impl Kind {
    /// Returns the kind of event in which a scope is entered and counts as `calls` calls.
    #[inline(always)]
    pub(crate) fn of_beginning(calls: u64) -> Self {
        if calls == 0 { Self::GoOn } else { Self::Enter }
    }
}

/// Value of the kind bits in records that are not events.
const MORE: u64 = 3;

/// Meaning of a record that is not an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum More {
    /// Ticks that were charged without an event.
    Stay = 0,
    /// The part of the next record's ticks during which the thread was waiting.
    Waiting = 1,
    /// The part of the next record's ticks during which the thread was ready to run but had no CPU.
    Ready = 2,
    /// An allocation of `number` bytes.
    Allocation = 3,
    /// A value that the program noted. The next `number` words hold the lengths of the key and of the value, and then both
    /// strings.
    Note = 4,
    /// Only in a `CarriedCall`: the node indices in the following records refer to the call's next group of nodes, which has
    /// `number` nodes.
    Nodes = 5,
    /// Number of calls whose own records were replaced by sums.
    Calls = 6,
    /// Number of further allocations, whose bytes are included in the `Allocation` records that follow.
    Allocations = 7,
}

/// A decoded word of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Event { node: u32, kind: Kind, ticks: u64 },
    More { node: u32, what: More, number: u64 },
}

zeroed! {
    #[derive(Debug)]
    pub(crate) struct Journal {
        words: Array<AtomicU64>,
        /// Position of the next word.
        at: AtomicU32,
        /// End of the area that is being written, which is the first half or one of the two quarters after it.
        end: AtomicU32,
        /// Number of areas that have been filled so far.
        areas: AtomicU32,
    }
}

zeroed! {
    /// A node to which records refer, for readers without access to the tree: its index, its parent's index, and its site.
    #[derive(Debug)]
    pub(crate) struct NamedNode {
        index: AtomicU32,
        parent: AtomicU32,
        site: Ref<Site>,
    }
}

impl NamedNode {
    pub(crate) fn set(&self, (index, parent, site): (u32, u32, Option<&'static Site>)) {
        self.index.store(index, Ordering::Relaxed);
        self.parent.store(parent, Ordering::Relaxed);
        self.site.set(site);
    }

    pub(crate) fn get(&self) -> (u32, u32, Option<&'static Site>) {
        let [index, parent] = [&self.index, &self.parent].map(|index| index.load(Ordering::Relaxed));
        (index, parent, self.site.get())
    }
}

impl More {
    const ALL: [Self; 8] = [
        Self::Stay,
        Self::Waiting,
        Self::Ready,
        Self::Allocation,
        Self::Note,
        Self::Nodes,
        Self::Calls,
        Self::Allocations,
    ];
}

/// Encodes a [`Record::Event`].
#[inline(always)]
pub(crate) fn event(node: u32, kind: Kind, ticks: u64) -> u64 {
    u64::from(node) << NODE_AT | (kind as u64) << KIND_AT | ticks
}

/// Encodes a [`Record::More`].
pub(crate) fn more(node: u32, what: More, number: u64) -> u64 {
    u64::from(node) << NODE_AT | MORE << KIND_AT | (what as u64) << MORE_AT | number
}

/// Returns the index of the node that the record in a word charges.
pub(crate) fn node_of(word: u64) -> u32 {
    (word >> NODE_AT) as u32
}

/// Returns the word with its node replaced by `node`.
pub(crate) fn with_node(word: u64, node: u32) -> u64 {
    word & !(u64::MAX << NODE_AT) | u64::from(node) << NODE_AT
}

impl Record {
    #[inline(always)]
    pub(crate) fn of(word: u64) -> Self {
        let node = node_of(word);
        let kind = match word >> KIND_AT & 3 {
            0 => Kind::Exit,
            1 => Kind::Enter,
            2 => Kind::GoOn,
            _ => {
                return Self::More {
                    node,
                    what: More::ALL[(word >> MORE_AT & 7) as usize],
                    number: word & MORE_MAX,
                };
            }
        };
        Self::Event {
            node,
            kind,
            ticks: word & TICKS_MAX,
        }
    }
}

impl Journal {
    /// Empties the journal for a new call; returns false if there is no memory.
    pub(crate) fn begin(&self) -> bool {
        if self.words.len() == 0 && !self.words.allocate(WORDS) {
            return false;
        }
        self.at.store(0, Ordering::Relaxed);
        self.end.store(HEAD, Ordering::Relaxed);
        self.areas.store(0, Ordering::Relaxed);
        true
    }

    /// Returns whether this number of words still fits into the area that is being written.
    #[inline(always)]
    pub(crate) fn has_space(&self, words: u32) -> bool {
        self.end.load(Ordering::Relaxed) - self.at.load(Ordering::Relaxed) >= words
    }

    /// Adds a word. There must be space for it: see [`Self::has_space`].
    #[inline(always)]
    pub(crate) fn push(&self, word: u64) {
        let at = self.at.load(Ordering::Relaxed);
        if let Some(place) = self.words.get(at) {
            place.store(word, Ordering::Relaxed);
        }
        self.at.store(at + 1, Ordering::Relaxed);
    }

    /// Returns the range of the words written so far in the current area.
    pub(crate) fn area(&self) -> (u32, u32) {
        let end = self.end.load(Ordering::Relaxed);
        let begin = if end == HEAD { 0 } else { end - QUARTER };
        (begin, self.at.load(Ordering::Relaxed))
    }

    /// Moves on to the next area. This is the older of the two quarters, whose words will be overwritten.
    pub(crate) fn next_area(&self) {
        let end = self.end.load(Ordering::Relaxed);
        let next = if end == HEAD || end == WORDS {
            HEAD
        } else {
            HEAD + QUARTER
        };
        self.at.store(next, Ordering::Relaxed);
        self.end.store(next + QUARTER, Ordering::Relaxed);
        self.areas
            .store(self.areas.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Returns the number of words that were overwritten.
    pub(crate) fn missing(&self) -> u64 {
        // The first half and the quarter that was filled last are still there.
        let areas = u64::from(self.areas.load(Ordering::Relaxed));
        areas.saturating_sub(2) * u64::from(QUARTER)
    }

    /// Returns whether the call has filled at least one area.
    pub(crate) fn was_full(&self) -> bool {
        self.areas.load(Ordering::Relaxed) > 0
    }

    #[inline(always)]
    pub(crate) fn word(&self, at: u32) -> u64 {
        self.words.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Returns the call's words that have not been overwritten, in order.
    pub(crate) fn left(&self) -> impl ExactSizeIterator<Item = u64> {
        let (begin, at) = self.area();
        let other = if begin == HEAD { HEAD + QUARTER } else { HEAD };
        let parts = match self.areas.load(Ordering::Relaxed) {
            0 => [(0, at), (0, 0), (0, 0)],
            1 => [(0, HEAD), (begin, at), (0, 0)],
            _ => [(0, HEAD), (other, other + QUARTER), (begin, at)],
        };
        let count: u32 = parts.iter().map(|(begin, end)| end - begin).sum();
        (0..count).map(move |number| {
            let mut rest = number;
            let part = parts.iter().find_map(|&(begin, end)| {
                let at = begin + rest;
                rest = rest.saturating_sub(end - begin);
                (at < end).then_some(at)
            });
            part.map_or(0, |at| self.word(at))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;

    #[test]
    fn a_word_says_what_it_was_made_of() {
        for kind in [Kind::Exit, Kind::Enter, Kind::GoOn] {
            let (node, ticks) = (NODES_MAX - 1, TICKS_MAX);
            let word = with_node(event(0, kind, ticks), node);
            assert_eq!(Record::of(word), Record::Event { node, kind, ticks });
        }
        for what in More::ALL {
            let (node, number) = (7, MORE_MAX);
            let word = more(node, what, number);
            assert_eq!(Record::of(word), Record::More { node, what, number });
        }
    }

    #[test]
    fn of_many_words_the_first_and_the_newest_are_left() {
        let journal: Journal = zeros();
        for count in [
            0,
            5,
            HEAD,
            HEAD + 9,
            WORDS - 1,
            WORDS,
            WORDS + 1,
            3 * WORDS + 12_345,
        ] {
            assert!(journal.begin());
            for number in 0..count {
                if !journal.has_space(1) {
                    journal.next_area();
                }
                journal.push(number.into());
            }
            let words: Vec<u64> = journal.left().collect();
            let missing = journal.missing();
            assert_eq!(words.len() as u64 + missing, u64::from(count));
            let newest = words.len().saturating_sub(HEAD as usize) as u64;
            let expected = (0..u64::from(count.min(HEAD))).chain(u64::from(count) - newest..u64::from(count));
            assert!(words.iter().copied().eq(expected), "{count}");
            assert!(missing == 0 || newest >= u64::from(QUARTER));
        }
    }
}

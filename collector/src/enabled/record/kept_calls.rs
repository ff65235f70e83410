//! Slow calls of a watched function that are kept with all their events: the longest ones, and some others chosen at random.
//!
//! The program's threads write the calls, and the publisher reads them. Both hold a lock while they copy. A thread of the program
//! waits only briefly for the lock, because little is lost: a call that is not kept is still counted.

use tickscope_format::snapshot::CauseKind;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, spin_loop};
use crate::enabled::record::arena::{Array, zeroed};
use crate::enabled::record::journal::NamedNode;
use crate::enabled::record::site::Site;

/// How many of the longest calls are kept.
const LONGEST: usize = 8;

/// How many other calls are kept, chosen at random.
const RANDOM: usize = 4;

/// How many times a thread of the program checks whether the lock is free before it gives up. This takes a few microseconds in
/// all.
const LOOKS: u32 = 1000;

/// Minimum capacity, in words or nodes. It is generous, so that slightly longer calls need no new pages.
const LEAST: u32 = 512;

/// Value of [`KeptCall::cause`] for a call without a cause.
const NO_CAUSE: u64 = u64::MAX;

/// Number of the next kept call. No other access depends on its ordering, so it uses std's atomic even in loom models.
static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

zeroed! {
    /// The calls of one watch.
    #[derive(Debug)]
    pub(crate) struct KeptCalls {
        /// Nonzero while a thread is writing or reading.
        lock: AtomicU32,
        calls: [KeptCall; LONGEST + RANDOM],
    }
}

zeroed! {
    /// A call that is kept whole.
    #[derive(Debug)]
    pub(crate) struct KeptCall {
        /// Number of the watch that the call belongs to; 0 if no call is kept here.
        watch: AtomicU64,
        number: AtomicU64,
        ticks: AtomicU64,
        began: AtomicU64,
        tid: AtomicU32,
        name: [AtomicU64; 2],
        /// The node and the kind of the call's cause, or [`NO_CAUSE`].
        cause: AtomicU64,
        /// Number of words that were overwritten in the journal.
        missing: AtomicU64,
        words: Array<AtomicU64>,
        nodes: Array<NamedNode>,
        node_count: AtomicU32,
    }
}

/// Facts about a call, apart from its events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) ticks: u64,
    /// The tick at which the call began.
    pub(crate) began: u64,
    pub(crate) tid: u32,
    /// The name of the call's thread, according to the kernel.
    pub(crate) name: [u8; 16],
    pub(crate) cause: Option<(u32, CauseKind)>,
    /// Number of words that were overwritten in the journal, after its [`HEAD`](crate::enabled::record::journal::HEAD).
    pub(crate) missing: u64,
}

/// A kept call, copied for the publisher.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) facts: Facts,
    pub(crate) words: Vec<u64>,
    /// The nodes of the call, each as its index, the index of its parent, and its site.
    pub(crate) nodes: Vec<(u32, u32, &'static Site)>,
}

impl KeptCalls {
    /// Keeps a slow call of the watch with number `watch` if it is one of the longest, or if it is chosen at random. The call
    /// took `ticks`, and `count` is its number among the slow calls of the watch. Returns false if the call should have been
    /// kept but another thread held the lock.
    pub(crate) fn keep(
        &self,
        watch: u64,
        ticks: u64,
        count: u64,
        random: u64,
        write: impl FnOnce(&KeptCall),
    ) -> bool {
        if self.place(watch, ticks, count, random).is_none() {
            return true;
        }
        if !self.take_lock(LOOKS, spin_loop) {
            return false;
        }
        if let Some(call) = self.place(watch, ticks, count, random) {
            call.watch.store(0, Ordering::Relaxed);
            write(call);
            let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            call.number.store(number, Ordering::Relaxed);
            call.watch.store(watch, Ordering::Relaxed);
        }
        self.lock.store(0, Ordering::Release);
        true
    }

    /// Returns the place in which to keep a call, if the call is to be kept. Calls of earlier watches give up their places.
    fn place(&self, watch: u64, ticks: u64, count: u64, random: u64) -> Option<&KeptCall> {
        let (longest, by_chance) = self.calls.split_at(LONGEST);
        let key = |call: &&KeptCall| match call.watch.load(Ordering::Relaxed) == watch {
            false => 0,
            true => call.ticks.load(Ordering::Relaxed).saturating_add(1),
        };
        let shortest = longest.iter().min_by_key(key)?;
        let place = match key(&shortest) <= ticks {
            true => Some(shortest),
            // All slow calls that are not among the longest have the same chance of being kept (algorithm R, Vitter 1985).
            false => by_chance.get((random % count.max(1)) as usize),
        };
        // The watch of a call may end or start over just before the call is kept.
        place.filter(|call| call.watch.load(Ordering::Relaxed) <= watch)
    }

    /// Calls `read` for each kept call of the watch with number `watch`, with the call's number and whether it is one of the
    /// longest. Holds the lock all the while. Returns false if a thread of the program does not release the lock in time.
    pub(crate) fn read(&self, watch: u64, mut read: impl FnMut(u64, bool, &KeptCall)) -> bool {
        if !self.take_lock(LOOKS, std::thread::yield_now) {
            return false;
        }
        for (index, call) in self.calls.iter().enumerate() {
            if call.watch.load(Ordering::Relaxed) == watch {
                read(call.number.load(Ordering::Relaxed), index < LONGEST, call);
            }
        }
        self.lock.store(0, Ordering::Release);
        true
    }

    fn take_lock(&self, looks: u32, between: impl Fn()) -> bool {
        for _ in 0..looks {
            let taken = self
                .lock
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
            if taken.is_ok() {
                return true;
            }
            between();
        }
        false
    }
}

impl KeptCall {
    /// Writes a call. The caller must hold the lock. If there is no memory, the call is kept without its words and nodes.
    pub(crate) fn write(
        &self,
        facts: &Facts,
        words: impl ExactSizeIterator<Item = u64>,
        nodes: impl ExactSizeIterator<Item = (u32, u32, Option<&'static Site>)>,
    ) {
        self.ticks.store(facts.ticks, Ordering::Relaxed);
        self.began.store(facts.began, Ordering::Relaxed);
        self.tid.store(facts.tid, Ordering::Relaxed);
        for (word, bytes) in self.name.iter().zip(facts.name.as_chunks().0) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
        let cause = facts
            .cause
            .map_or(NO_CAUSE, |(node, kind)| u64::from(node) << 8 | kind as u64);
        self.cause.store(cause, Ordering::Relaxed);
        self.missing.store(facts.missing, Ordering::Relaxed);
        self.node_count.store(0, Ordering::Relaxed);
        let (word_count, node_count) = (words.len() as u32, nodes.len() as u32);
        if !with_space(&self.words, word_count) || !with_space(&self.nodes, node_count) {
            self.words.reuse(0);
            return;
        }
        for (index, word) in (0..).zip(words) {
            if let Some(place) = self.words.get(index) {
                place.store(word, Ordering::Relaxed);
            }
        }
        for (index, node) in (0..).zip(nodes) {
            if let Some(place) = self.nodes.get(index) {
                place.set(node);
            }
        }
        self.node_count.store(node_count, Ordering::Relaxed);
    }

    /// Returns a copy of the call. The caller must hold the lock.
    pub(crate) fn copied(&self) -> Copied {
        let mut name = [0; 16];
        for (bytes, word) in name.as_chunks_mut().0.iter_mut().zip(&self.name) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        let cause = match self.cause.load(Ordering::Relaxed) {
            NO_CAUSE => None,
            cause => CauseKind::ALL
                .get((cause & 0xff) as usize)
                .map(|&kind| ((cause >> 8) as u32, kind)),
        };
        let words = (0..self.words.len()).filter_map(|at| self.words.get(at));
        let nodes = (0..self.node_count.load(Ordering::Relaxed)).filter_map(|at| self.nodes.get(at));
        Copied {
            facts: Facts {
                ticks: self.ticks.load(Ordering::Relaxed),
                began: self.began.load(Ordering::Relaxed),
                tid: self.tid.load(Ordering::Relaxed),
                name,
                cause,
                missing: self.missing.load(Ordering::Relaxed),
            },
            words: words.map(|word| word.load(Ordering::Relaxed)).collect(),
            nodes: nodes
                .map(NamedNode::get)
                .filter_map(|(index, parent, site)| Some((index, parent, site?)))
                .collect(),
        }
    }
}

/// Sets the length of the array, allocating new pages if needed. Returns false if there is no memory.
fn with_space<T: crate::enabled::record::arena::FromZeros>(array: &Array<T>, length: u32) -> bool {
    array.reuse(length) || array.allocate(length.next_power_of_two().max(LEAST)) && array.reuse(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;

    fn facts(ticks: u64) -> Facts {
        Facts {
            ticks,
            began: 5,
            tid: 7,
            name: *b"worker\0\0\0\0\0\0\0\0\0\0",
            cause: Some((3, CauseKind::Waiting)),
            missing: 0,
        }
    }

    #[test]
    fn the_longest_calls_are_kept_and_some_others_by_chance() {
        let kept: KeptCalls = zeros();
        let mut random = 1u64;
        for count in 1..=10_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Distinct numbers below 10 007.
            let ticks = count * 7_919 % 10_007;
            let words = (0..ticks % 700).collect::<Vec<_>>().into_iter();
            assert!(kept.keep(1, ticks, count, random >> 33, |call| {
                call.write(&facts(ticks), words, std::iter::empty());
            }));
        }
        let (mut longest, mut others) = (Vec::new(), Vec::new());
        assert!(kept.read(1, |number, is_longest, call| {
            let copied = call.copied();
            assert_eq!(copied.words.len() as u64, copied.facts.ticks % 700);
            assert_eq!(copied.facts.cause, Some((3, CauseKind::Waiting)));
            let list = if is_longest { &mut longest } else { &mut others };
            list.push((copied.facts.ticks, number));
        }));
        longest.sort_unstable();
        let all: Vec<u64> = (1..=10_000u64).map(|count| count * 7_919 % 10_007).collect();
        let mut expected = all.clone();
        expected.sort_unstable();
        let ticks = |list: &[(u64, u64)]| list.iter().map(|call| call.0).collect::<Vec<_>>();
        assert_eq!(ticks(&longest), expected[expected.len() - LONGEST..]);
        assert_eq!(others.len(), RANDOM);
        assert!(others.iter().any(|call| call.0 < 9_000), "{others:?}");
    }

    #[test]
    fn a_call_that_finds_the_lock_taken_is_not_kept() {
        let kept: KeptCalls = zeros();
        assert!(kept.take_lock(1, || {}));
        assert!(!kept.keep(1, 9, 1, 0, |_| panic!("nothing is written")));
        assert!(!kept.read(1, |_, _, _| panic!("nothing is read")));
    }

    #[test]
    fn a_call_of_an_earlier_watch_is_not_read_and_takes_no_place_of_a_later_one() {
        let kept: KeptCalls = zeros();
        let keep = |watch, ticks| {
            kept.keep(watch, ticks, 1, 0, |call| {
                call.write(&facts(ticks), std::iter::empty(), std::iter::empty());
            })
        };
        let read = |watch| {
            let mut all = Vec::new();
            assert!(kept.read(watch, |_, _, call| all.push(call.copied().facts.ticks)));
            all
        };
        assert!(keep(1, 90) && keep(2, 5) && keep(1, 80));
        assert_eq!((read(2), read(3)), (vec![5], vec![]));
    }
}

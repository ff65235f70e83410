//! Numbers recorded by values and gauges: the smallest and the largest number and, for values, a histogram.
//!
//! Only the tree's thread writes here. A reset does not write any numbers, but begins a new *stretch* of time. Each execution
//! updates the extremes of the current stretch, so the extremes of an epoch follow from the extremes of its stretches. The time
//! during which a reset reads the threads is a stretch of its own, because it is unknown which of its executions the closing
//! snapshot has counted.

use tickscope_format::latency::{Histogram, value_bucket};

use crate::enabled::platform::sync::{self, AtomicU64, Ordering, add, fence};
use crate::enabled::record::arena::{Column, zeroed};
use crate::enabled::record::latency::{Latencies, NO_COUNTS, Octaves, fill};
use crate::enabled::record::node::Node;

/// Number of stretches kept for each node: one between two resets, and one for each of these resets.
pub(crate) const STRETCHES: usize = 3;

/// Number of slots for older stretches: readers use two of them, while the third may receive the next stretch.
const OLDER: usize = STRETCHES;

/// Sequence number of the current stretch: even between resets, odd while a reset reads the threads. No stretch has number 0.
static STRETCH: AtomicU64 = AtomicU64::new(2);

zeroed! {
    /// The numbers of one stretch.
    #[derive(Debug)]
    struct Stretch {
        /// Sequence number of the stretch; 0 if there is no stretch.
        number: AtomicU64,
        /// How often the node had been executed before this stretch.
        first: AtomicU64,
        min: AtomicU64,
        max: AtomicU64,
    }
}

zeroed! {
    /// The numbers of one value or gauge. Only its thread writes them.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Numbers {
        /// The stretch of the latest execution.
        newest: Stretch,
        /// Earlier stretches. The `n`th stretch copied here, counting from 0, is in slot `n % OLDER`.
        older: [Stretch; OLDER],
        /// While `newest` is stable, this is twice the number of stretches copied to `older` so far. While `newest` is being
        /// replaced, it is one less than that, and the last copy is the old `newest`.
        turning: AtomicU64,
        /// For a value: number of executions that are in no bucket, because there was no memory for it.
        missed: AtomicU64,
        /// For a gauge: the tick at which it was last set.
        pub(crate) set_tick: AtomicU64,
        /// The histogram of a value.
        octaves: Octaves,
    }
}

// The struct is smaller on 32-bit targets.
const _: () = assert!(size_of::<Numbers>() == 704 || cfg!(target_pointer_width = "32"));

zeroed! {
    /// The numbers of all values and gauges of a tree, in the order in which they were made.
    #[derive(Debug)]
    pub(crate) struct NumbersOfTree {
        places: Column<Numbers>,
        used: AtomicU64,
    }
}

/// A copy of the numbers of one stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Sequence number of the stretch; 0 if there is no stretch.
    pub(crate) stretch: u64,
    pub(crate) first: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

#[inline(always)]
pub(crate) fn stretch() -> u64 {
    // SYNC POINT: the stretch is loaded before numbers are recorded in it (pairs with `begin_stretch`). So a capture that ends
    // before a stretch begins has counted no number of this stretch.
    STRETCH.load(Ordering::Acquire)
}

/// Begins the next stretch. The caller must hold the capture lock.
pub(crate) fn begin_stretch() {
    // SYNC POINT: a reset reads the threads before the stretch after the reset begins (pairs with `stretch`).
    STRETCH.store(STRETCH.load(Ordering::Relaxed) + 1, Ordering::Release);
}

/// Maps a level to a number, preserving the order: a higher level has a higher number.
#[inline(always)]
pub(crate) fn of_level(level: i64) -> u64 {
    level.cast_unsigned() ^ 1 << 63
}

/// Maps a number back to its level.
pub(crate) fn level_of(number: u64) -> i64 {
    (number ^ 1 << 63).cast_signed()
}

impl Stretch {
    fn set(&self, seen: Seen) {
        self.number.store(seen.stretch, Ordering::Relaxed);
        self.first.store(seen.first, Ordering::Relaxed);
        self.min.store(seen.min, Ordering::Relaxed);
        self.max.store(seen.max, Ordering::Relaxed);
    }

    fn get(&self) -> Seen {
        Seen {
            stretch: self.number.load(Ordering::Relaxed),
            first: self.first.load(Ordering::Relaxed),
            min: self.min.load(Ordering::Relaxed),
            max: self.max.load(Ordering::Relaxed),
        }
    }
}

impl Numbers {
    /// Records the number of one execution. `calls` is the number of executions before it. Must be called while `current` is
    /// taken out of the tree.
    #[inline(always)]
    pub(crate) fn note(&self, number: u64, calls: u64) {
        self.note_in(stretch(), number, calls);
    }

    /// Records a number like [`Self::note`], but in the given stretch.
    #[inline(always)]
    pub(crate) fn note_in(&self, stretch: u64, number: u64, calls: u64) {
        let newest = &self.newest;
        if newest.number.load(Ordering::Relaxed) != stretch {
            return self.turn(Seen {
                stretch,
                first: calls,
                min: number,
                max: number,
            });
        }
        if number < newest.min.load(Ordering::Relaxed) {
            newest.min.store(number, Ordering::Relaxed);
        }
        if number > newest.max.load(Ordering::Relaxed) {
            newest.max.store(number, Ordering::Relaxed);
        }
    }

    /// Begins a new stretch, of which `newest` holds the first number.
    #[cold]
    #[inline(never)]
    fn turn(&self, newest: Seen) {
        let odd = self.keep_newest();
        self.newest.set(newest);
        self.turning.store(odd + 1, Ordering::Release);
    }

    /// Copies the newest stretch to the older ones, before it is overwritten. Returns the new value of `turning`, which is odd.
    fn keep_newest(&self) -> u64 {
        let turning = self.turning.load(Ordering::Relaxed);
        // Readers use only the two slots before this one.
        self.older[turning as usize / 2 % OLDER].set(self.newest.get());
        // SYNC POINT: the copy is stored before `turning` becomes odd, which marks the newest stretch as changing.
        self.turning.store(turning + 1, Ordering::Release);
        // SYNC POINT: `turning` is odd before the newest stretch changes.
        fence(Ordering::Release);
        turning + 1
    }

    /// Counts a number in its bucket. Must be called while `current` is taken out of the tree.
    #[inline(always)]
    pub(crate) fn hit(&self, number: u64, pool: &Latencies) {
        let bucket = value_bucket(number);
        match self.octaves.get_or_make(bucket, pool) {
            Some(octave) => octave.hit(bucket),
            None => add(&self.missed, 1),
        }
    }

    /// Reads the histogram of a value into `histogram`, and returns the number of executions. This number includes executions
    /// that are in no bucket because there was no memory.
    pub(crate) fn read(&self, histogram: &mut Histogram) -> u64 {
        let mut counts = NO_COUNTS;
        let present = self.octaves.read(histogram, &mut counts);
        histogram.max_ticks = 0;
        fill(histogram, present, &counts);
        histogram
            .count()
            .wrapping_add(self.missed.load(Ordering::Relaxed))
    }

    /// Reads the stretches, newest first. They include every number that an earlier read of the histogram has counted, even if
    /// the thread moves on to another stretch during this call.
    ///
    /// The caller must hold the capture lock, so that no reset begins a stretch during this call. The thread can then move on
    /// only to stretches that have already begun, so the loop ends after a few rounds.
    pub(crate) fn stretches(&self) -> [Seen; STRETCHES] {
        loop {
            let before = self.turning.load(Ordering::Acquire);
            let kept = before.div_ceil(2);
            let older = |back: u64| match kept.checked_sub(back) {
                Some(number) => self.older[number as usize % OLDER].get(),
                None => Seen::default(),
            };
            let seen = if before.is_multiple_of(2) {
                [self.newest.get(), older(1), older(2)]
            } else {
                [older(1), older(2), Seen::default()]
            };
            // SYNC POINT: the stretches are read before `turning` is loaded again.
            fence(Ordering::Acquire);
            if self.turning.load(Ordering::Relaxed) == before {
                return seen;
            }
            sync::spin_loop();
        }
    }

    /// Clears all numbers that an earlier thread has left here.
    fn clear(&self) {
        self.octaves.forget();
        self.newest.set(Seen::default());
        for word in [&self.turning, &self.missed, &self.set_tick] {
            word.store(0, Ordering::Relaxed);
        }
    }
}

impl NumbersOfTree {
    /// Gives a new node an empty entry for its numbers, if there is memory.
    pub(crate) fn make(&self, node: &Node) {
        let used = self.used.load(Ordering::Relaxed) as u32;
        if let Some(numbers) = self.places.make(used) {
            numbers.clear();
            self.used.store(u64::from(used) + 1, Ordering::Relaxed);
            node.set_numbers(used);
        }
    }

    /// Returns the numbers of a node; `None` if the node is neither a value nor a gauge, or there was no memory.
    #[inline(always)]
    pub(crate) fn of(&self, node: &Node) -> Option<&'static Numbers> {
        self.places.get(node.numbers()?)
    }

    /// Forgets the numbers of all nodes, before the tree is used again.
    pub(crate) fn clear(&self) {
        self.used.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;
    use crate::enabled::record::node::Nodes;

    #[test]
    fn numbers_are_found_in_their_buckets_and_memory_serves_again() {
        let (pool, tree, nodes): (Latencies, NumbersOfTree, Nodes) = (zeros(), zeros(), zeros());
        let mut histogram = Histogram::default();
        for _life in 0..3 {
            let node = nodes.add(None, None).unwrap();
            assert!(tree.of(node).is_none());
            tree.make(node);
            let numbers = tree.of(node).unwrap();
            assert_eq!(numbers.read(&mut histogram), 0);
            for (calls, number) in [7, 0, 1, 5_000, 1].into_iter().enumerate() {
                numbers.note(number, calls as u64);
                numbers.hit(number, &pool);
            }
            assert_eq!(numbers.read(&mut histogram), 5);
            assert_eq!(histogram.buckets[..2], [(0, 1), (1, 2)]);
            let seen = numbers.stretches();
            assert_eq!((seen[0].first, seen[0].min, seen[0].max), (0, 0, 5_000));
            assert_eq!(seen[1], Seen::default());
            nodes.clear();
            tree.clear();
            pool.clear();
        }
    }

    /// A thread may be preempted while it is beginning a stretch, and a reset may happen before the thread continues.
    #[test]
    fn stretches_are_read_while_another_begins() {
        let (tree, nodes): (NumbersOfTree, Nodes) = (zeros(), zeros());
        let node = nodes.add(None, None).unwrap();
        tree.make(node);
        let numbers = tree.of(node).unwrap();
        for stretch in 1..=7 {
            numbers.note_in(stretch, stretch, stretch);
            numbers.note_in(stretch, 100 + stretch, stretch);
        }
        let shown = |numbers: &Numbers| numbers.stretches().map(|seen| (seen.stretch, seen.min, seen.max));
        assert_eq!(shown(numbers), [(7, 7, 107), (6, 6, 106), (5, 5, 105)]);
        numbers.keep_newest();
        numbers.newest.set(Seen::default());
        assert_eq!(shown(numbers), [(7, 7, 107), (6, 6, 106), (0, 0, 0)]);
    }

    #[test]
    fn levels_in_order_are_numbers_in_order() {
        let levels = [i64::MIN, -2, -1, 0, 1, i64::MAX];
        assert!(levels.map(of_level).is_sorted());
        assert_eq!(levels.map(of_level).map(level_of), levels);
    }
}

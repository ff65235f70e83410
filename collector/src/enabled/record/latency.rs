//! The durations of a node's calls: a histogram, and the numbers that adaptive mode keeps for the node. Buckets are allocated an
//! octave at a time, when the first duration falls into that octave.
//!
//! Finding the bucket of a duration takes about 25 cycles, because each instruction depends on the one before. If each call did
//! this, every scope would take that much longer, because a clock read waits for earlier instructions. Instead, each call stores
//! its duration in a buffer, in the place that belongs to the call's number. If that place is taken, the call flushes the buffer:
//! it finds the buckets of all buffered durations, which the CPU can do in parallel. With thousands of nodes, a flush has to wait
//! for cache lines: two or three lines of the latency itself, and the counters of two or three octaves.

use tickscope_format::latency::{Histogram, OCTAVES, PER_OCTAVE, bucket_of, bucket_of_small};

use crate::enabled::platform::sync::{self, AtomicU64, Ordering, add, fence};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::node::{BUFFERED, FIRST_OCTAVE, Octave};
pub(crate) use crate::enabled::record::node::{Latency, Octaves};

/// The longest duration that is buffered, in ticks: some 20 microseconds. A longer call finds its bucket itself, which adds
/// less than a thousandth to its time.
const BUFFERED_MAX: u64 = u16::MAX as u64;

/// How many times a reader tries to read a histogram without it changing in the meantime.
const LOOKS: u32 = 20;

zeroed! {
    /// All latencies of a tree: one for each node, and the octaves in use.
    #[derive(Debug)]
    pub(crate) struct Latencies {
        nodes: Column<Latency>,
        octaves: Column<Octave>,
        /// Number of octaves in use.
        used: AtomicU64,
        /// Number of the tree's current life. Each thread that uses the tree starts a new life. Lives are numbered from 1, and
        /// this is 0 before the first life.
        life: AtomicU64,
    }
}

impl Latency {
    /// Buffers the duration of a call, in the place that belongs to the call's number. Returns false if the duration is 0 or too
    /// long, or if the place is taken.
    #[inline(always)]
    pub(crate) fn buffer(&self, call: u64, ticks: u64) -> bool {
        let place = &self.buffered[call as usize % BUFFERED];
        let buffered = ticks.wrapping_sub(1) < BUFFERED_MAX && place.load(Ordering::Relaxed) == 0;
        if buffered {
            place.store(ticks as u16, Ordering::Relaxed);
        }
        buffered
    }

    /// Counts the buffered durations, and the duration `more`, in their buckets. If `more` is too long to be buffered, the buffer
    /// is left as it is. Durations in an octave for which there is no memory are not counted.
    #[inline(never)]
    pub(crate) fn flush(&self, more: Option<u64>, pool: &Latencies) {
        self.flush_into(more, false, |bucket| self.octaves.get_or_make(bucket, pool));
    }

    /// Counts the duration of a call that [`Self::buffer`] did not take, and if it is short, the buffered durations. `lasted` is
    /// `None` if it is unknown. Makes no function call. Returns false, without having counted the duration, if it is 0, unknown,
    /// or in an octave that does not exist, or if its place in the buffer is still taken.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn flush_known(&self, call: u64, lasted: Option<u64>) -> bool {
        let known = |bucket| self.octaves.of(bucket).get();
        let Some(ticks) = lasted else { return false };
        let is_long = ticks > BUFFERED_MAX;
        if is_long && known(bucket_of(ticks)).is_none() {
            return false;
        }
        let all = self.flush_into(is_long.then_some(ticks), true, known);
        is_long || all && self.buffer(call, ticks)
    }

    /// Counts the duration `more` and, unless it is too long to be buffered, the buffered durations. `octave_of` returns the octave
    /// that contains a bucket. Durations without an octave stay in the buffer if `keeps` is true, and are discarded otherwise.
    /// Returns whether there were octaves for all durations that were taken from the buffer.
    #[inline(always)]
    fn flush_into(
        &self,
        more: Option<u64>,
        keeps: bool,
        octave_of: impl Fn(usize) -> Option<&'static Octave>,
    ) -> bool {
        let flushing = self.flushing.load(Ordering::Relaxed);
        self.flushing.store(flushing + 1, Ordering::Relaxed);
        // SYNC POINT: `flushing` becomes odd before any duration is moved.
        fence(Ordering::Release);
        let mut longest = self.max.load(Ordering::Relaxed).max(more.unwrap_or(0));
        let mut all = true;
        let is_long = more.is_some_and(|ticks| ticks > BUFFERED_MAX);
        let flushed = if is_long { &[][..] } else { &self.buffered };
        for place in flushed {
            let ticks = place.load(Ordering::Relaxed);
            if ticks == 0 {
                continue;
            }
            let bucket: usize = bucket_of_small(ticks.into()).into();
            let octave = octave_of(bucket);
            all &= octave.is_some();
            if keeps && octave.is_none() {
                continue;
            }
            place.store(0, Ordering::Relaxed);
            longest = longest.max(ticks.into());
            if let Some(octave) = octave {
                octave.hit(bucket);
            }
        }
        self.max.store(longest, Ordering::Relaxed);
        if let Some(bucket) = more.map(bucket_of)
            && let Some(octave) = octave_of(bucket)
        {
            octave.hit(bucket);
        }
        self.flushing.store(flushing + 2, Ordering::Release);
        all
    }

    /// Reads the counts into `histogram`, and returns the number of calls that had begun at that time. `calls` must read this
    /// number with `Acquire`. `known` returns the result of the previous reading, and the number of calls in the histogram of
    /// that reading.
    ///
    /// Sometimes the counts and the number of calls cannot be read at the same moment, because the thread is too busy or the
    /// reader is descheduled. The returned number then excludes calls that are missing from the histogram, and leaves them to the
    /// next reading. Otherwise they would end in an epoch that has not counted their beginnings.
    pub(crate) fn read(
        &self,
        calls: impl Fn() -> u64,
        known: impl FnOnce() -> (u64, u64),
        histogram: &mut Histogram,
    ) -> u64 {
        self.read_within(LOOKS, calls, known, histogram)
    }

    /// Reads like [`Self::read`], but makes at most `looks` attempts. `looks` must not be 0.
    pub(crate) fn read_within(
        &self,
        looks: u32,
        calls: impl Fn() -> u64,
        known: impl FnOnce() -> (u64, u64),
        histogram: &mut Histogram,
    ) -> u64 {
        let mut least = 0;
        let mut counted = 0;
        for _ in 0..looks {
            let before = self.flushing.load(Ordering::Acquire);
            least = calls();
            counted = self.look(&calls, histogram);
            // SYNC POINT: the histogram is read before `flushing` is read again.
            fence(Ordering::Acquire);
            let flushed = before.is_multiple_of(2) && self.flushing.load(Ordering::Relaxed) == before;
            if flushed && counted.wrapping_sub(least) <= 1 {
                return counted;
            }
            if !flushed {
                // A flush may have been moving durations while they were being read. The reader may have missed them, because
                // they were neither in the buffer nor in their buckets.
                least = least.saturating_sub(BUFFERED as u64);
            }
            sync::spin_loop();
        }
        let (known_calls, known_ended) = known();
        let ended = histogram.count().saturating_sub(known_ended);
        known_calls.saturating_add(ended).clamp(least, counted)
    }

    /// Returns how many times the histogram has been emptied. A later call of [`Self::read`] finds no counts from before the last
    /// of these times.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Acquire)
    }

    fn look(&self, calls: &impl Fn() -> u64, histogram: &mut Histogram) -> u64 {
        let mut counts = NO_COUNTS;
        let mut present = self.octaves.read(histogram, &mut counts);
        histogram.max_ticks = self.max.load(Ordering::Relaxed);
        // SYNC POINT: the buckets are read before the buffer.
        let buffered = self
            .buffered
            .each_ref()
            .map(|place| place.load(Ordering::Acquire));
        // `calls` returns the number of calls that have begun. It is called after the durations were read, so that there are
        // never more ended calls than begun ones.
        let calls = calls();
        for ticks in buffered {
            if ticks > 0 {
                let ticks = u64::from(ticks);
                let bucket = bucket_of(ticks);
                let at = bucket / PER_OCTAVE % OCTAVES;
                counts[at][bucket % PER_OCTAVE] += 1;
                present |= 1 << at;
                histogram.max_ticks = histogram.max_ticks.max(ticks);
            }
        }
        fill(histogram, present, &counts);
        calls
    }

    /// Empties the histogram. The octaves and the numbers of adaptive mode are kept.
    fn empty(&self) {
        self.max.store(0, Ordering::Relaxed);
        for place in &self.buffered {
            place.store(0, Ordering::Relaxed);
        }
        for octave in self.octaves.octaves.iter().filter_map(Ref::get) {
            octave.empty();
        }
    }

    /// Discards everything from an earlier life of the tree, including the octaves.
    fn forget(&self) {
        self.octaves.forget();
        self.next.set(None);
        for counter in [&self.timed, &self.timed_ticks, &self.rate] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

impl Octaves {
    #[inline(always)]
    fn of(&self, bucket: usize) -> &Ref<Octave> {
        &self.octaves[(bucket / PER_OCTAVE).wrapping_sub(FIRST_OCTAVE) % OCTAVES]
    }

    /// Returns the octave of a bucket, allocating it if needed. Returns `None` if there is no memory.
    #[inline(always)]
    pub(crate) fn get_or_make(&self, bucket: usize, pool: &Latencies) -> Option<&'static Octave> {
        self.of(bucket).get().or_else(|| self.make(bucket, pool))
    }

    #[cold]
    #[inline(never)]
    fn make(&self, bucket: usize, pool: &Latencies) -> Option<&'static Octave> {
        let octave = pool.octave()?;
        self.of(bucket).set_release(Some(octave));
        let at = bucket / PER_OCTAVE % OCTAVES;
        let present = self.present.load(Ordering::Relaxed);
        self.present.store(present | 1 << at, Ordering::Release);
        Some(octave)
    }

    /// Clears `histogram`, reserves space in it, and reads the counts of all buckets into `counts`, which must be zero. Returns a
    /// bit for each octave that exists. The counts are not returned, because a copy of these 4 KiB takes a microsecond.
    pub(crate) fn read(&self, histogram: &mut Histogram, counts: &mut Counts) -> u64 {
        // Allocate before reading anything, because the allocator itself may contain measured scopes.
        let octaves = self.present.load(Ordering::Relaxed).count_ones() as usize;
        histogram.buckets.clear();
        histogram.buckets.reserve((octaves + 2) * PER_OCTAVE);
        let present = self.present.load(Ordering::Acquire);
        for at in bits(present) {
            if let Some(octave) = self.of(at * PER_OCTAVE).get_acquire() {
                counts[at] = octave
                    .counts
                    .each_ref()
                    .map(|count| count.load(Ordering::Acquire));
            }
        }
        present
    }

    /// Discards the octaves of an earlier life.
    pub(crate) fn forget(&self) {
        self.octaves.iter().for_each(|octave| octave.set(None));
        self.present.store(0, Ordering::Relaxed);
    }
}

impl Octave {
    #[inline(always)]
    pub(crate) fn hit(&self, bucket: usize) {
        let count = &self.counts[bucket % PER_OCTAVE];
        // SYNC POINT: a duration is removed from the buffer before it is counted in its bucket, so that no reader counts it
        // twice.
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    fn empty(&self) {
        self.counts
            .iter()
            .for_each(|count| count.store(0, Ordering::Relaxed));
    }
}

/// The counts of all buckets, by octave.
pub(crate) type Counts = [[u64; PER_OCTAVE]; OCTAVES];

pub(crate) const NO_COUNTS: Counts = [[0; PER_OCTAVE]; OCTAVES];

/// Appends the buckets that are not empty to a histogram that has space for them.
pub(crate) fn fill(histogram: &mut Histogram, present: u64, counts: &Counts) {
    for at in bits(present) {
        // Which counts are zero is unpredictable, so the others are collected in a bit mask, without a branch for each count.
        let steps = counts[at].iter().rev();
        let filled = steps.fold(0, |filled, &count| filled << 1 | u64::from(count > 0));
        let bucket = |step| ((at * PER_OCTAVE + step) as u16, counts[at][step % PER_OCTAVE]);
        histogram.buckets.extend(bits(filled).map(bucket));
    }
}

/// Returns the positions of the set bits, starting with the lowest.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = word.checked_sub(1)? & word ^ word;
        word ^= lowest;
        Some(lowest.trailing_zeros() as usize)
    })
}

impl Latencies {
    /// Makes an empty latency for a node. Returns `None` if there is no memory.
    pub(crate) fn make(&self, index: u32) -> Option<&'static Latency> {
        let latency = self.nodes.make(index)?;
        // `flushing` stays odd until the end of this function, where it becomes even. It may be odd from the outset, if a thread
        // ended in the middle of a flush.
        let flushing = latency.flushing.load(Ordering::Relaxed) | 1;
        latency.flushing.store(flushing, Ordering::Relaxed);
        // SYNC POINT: `flushing` is odd before anything is emptied (pairs with the fence in `read_within`).
        fence(Ordering::Release);
        let life = self.life.load(Ordering::Relaxed);
        if latency.life.load(Ordering::Relaxed) != life {
            latency.forget();
            latency.life.store(life, Ordering::Relaxed);
        }
        latency.empty();
        // SYNC POINT: the latency is emptied before `made` changes (pairs with `of_this_life`).
        let made = latency.made.load(Ordering::Relaxed) + 1;
        latency.made.store(made, Ordering::Release);
        latency.flushing.store(flushing + 1, Ordering::Release);
        Some(latency)
    }

    /// Returns the latency of a node in the current life of the tree, and makes an empty one if needed. Returns `None` if there
    /// is no memory. Only the thread that uses the tree may call this.
    pub(crate) fn get_or_make(&self, index: u32) -> Option<&'static Latency> {
        match self.of_this_life(index) {
            Some(latency) => Some(latency),
            None => self.make(index),
        }
    }

    /// Returns a node's latency; `None` if no latency has been made for it in the current life of the tree.
    pub(crate) fn of_this_life(&self, index: u32) -> Option<&'static Latency> {
        let life = self.life.load(Ordering::Relaxed);
        // SYNC POINT: `made` is read before the contents of the latency (pairs with `make`).
        let latency = self.nodes.get(index)?;
        (latency.made() > 0 && latency.life.load(Ordering::Relaxed) == life).then_some(latency)
    }

    /// Starts the next life of the tree, in which all octaves are free again.
    pub(crate) fn clear(&self) {
        self.used.store(0, Ordering::Relaxed);
        add(&self.life, 1);
    }

    /// Takes a zeroed octave; `None` if there is no memory.
    fn octave(&self) -> Option<&'static Octave> {
        let used = self.used.load(Ordering::Relaxed);
        let octave = self.octaves.make(u32::try_from(used).ok()?)?;
        self.used.store(used + 1, Ordering::Relaxed);
        octave.empty();
        Some(octave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;

    #[test]
    fn durations_are_found_in_their_buckets_and_memory_serves_again() {
        let pool: Latencies = zeros();
        let mut histogram = Histogram::default();
        for _life in 0..3 {
            let latency = pool.make(5).unwrap();
            for call in 1..=97 {
                let ticks = [1, 100, 100, 5000][call as usize % 4];
                if !latency.buffer(call, ticks) {
                    latency.flush(Some(ticks), &pool);
                }
                latency.read(|| 0, || (0, 0), &mut histogram);
                assert_eq!(histogram.count(), call);
            }
            assert_eq!(histogram.max(), Some((5000, true)));
            assert!(histogram.buckets.contains(&(bucket_of(100) as u16, 49)));
            assert_eq!(pool.used.load(Ordering::Relaxed), 3);
            // Making the latency again in the same life, as when histograms are switched off and on, empties it and loses no
            // octave.
            let again = pool.make(5).unwrap();
            again.read(|| 0, || (0, 0), &mut histogram);
            assert!(histogram.is_empty());
            again.flush(Some(100), &pool);
            assert_eq!(pool.used.load(Ordering::Relaxed), 3);
            pool.clear();
        }
    }

    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    #[test]
    fn without_a_function_call_only_octaves_that_exist_are_counted() {
        let pool: Latencies = zeros();
        let latency = pool.make(0).unwrap();
        let long = BUFFERED_MAX + 1;
        assert!(!latency.flush_known(1, Some(long)) && !latency.flush_known(1, None));
        latency.flush(Some(long), &pool);
        assert!(latency.flush_known(1, Some(long + 9)));
        // The octave of this duration is missing, so it stays in the buffer, and the next one finds no place.
        assert!(latency.buffer(1, 100) && !latency.buffer(1, 100) && !latency.flush_known(1, Some(100)));
        assert!(latency.flush_known(2, Some(long)));
        assert!(!latency.buffer(1, 100), "a long call leaves the buffer as it is");
        let mut histogram = Histogram::default();
        latency.read(|| 4, || (0, 0), &mut histogram);
        assert_eq!((histogram.count(), histogram.max()), (4, Some((long + 9, true))));
    }

    #[test]
    fn each_octave_has_a_place_of_its_own() {
        let pool: Latencies = zeros();
        let latency = pool.make(0).unwrap();
        // A call exactly as long as the limit is buffered; longer calls are not buffered.
        assert!(
            latency.buffer(1, BUFFERED_MAX) && !latency.buffer(2, BUFFERED_MAX + 1) && !latency.buffer(3, 0)
        );
        for octave in 0..OCTAVES - 1 {
            latency.flush(Some(1 << octave), &pool);
        }
        let mut histogram = Histogram::default();
        latency.read(|| 0, || (0, 0), &mut histogram);
        let octaves: Vec<_> = histogram
            .buckets
            .iter()
            .map(|&(bucket, _)| usize::from(bucket) / PER_OCTAVE)
            .collect();
        let mut expected: Vec<_> = (0..OCTAVES - 1).collect();
        expected.insert(15, 15);
        assert_eq!(octaves, expected);
        assert_eq!(pool.used.load(Ordering::Relaxed), OCTAVES as u64 - 1);
    }

    #[test]
    fn a_thread_that_ends_during_a_flush_leaves_the_next_life_readable() {
        let pool: Latencies = zeros();
        let latency = pool.make(0).unwrap();
        latency.flushing.store(7, Ordering::Relaxed);
        pool.clear();
        let latency = pool.make(0).unwrap();
        assert!(latency.flushing.load(Ordering::Relaxed).is_multiple_of(2));
        latency.flush(Some(100), &pool);
        let mut histogram = Histogram::default();
        latency.read(|| 1, || (0, 0), &mut histogram);
        assert_eq!(histogram.count(), 1);
    }
}

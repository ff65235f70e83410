//! The durations of a node's calls: a histogram, and the numbers that adaptive mode keeps for the node. An octave of buckets is
//! allocated at its first hit.
//!
//! Finding the bucket of a duration takes about 25 cycles, because each instruction depends on the one before. If each call did
//! this, every scope would take these cycles longer, because a clock read waits for earlier instructions. Instead, a call stores
//! its duration in a buffer. If the call's place in the buffer is taken, the call flushes the buffer: it finds the buckets of all
//! buffered durations, which the CPU does in parallel. With thousands of nodes, a flush waits for cache lines: two of the
//! latency, and the counters of two or three octaves.

use tickscope_format::latency::{Histogram, OCTAVES, PER_OCTAVE, bucket_of, bucket_of_small};

use crate::enabled::platform::sync::{self, AtomicU64, Ordering, add, fence};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::node::{BUFFERED, FIRST_OCTAVE, Octave};
pub(crate) use crate::enabled::record::node::{Latency, Octaves};

/// The longest duration that is buffered, in ticks: some 20 microseconds. For a longer call, a flush takes only a thousandth of
/// the call's time.
const BUFFERED_MAX: u64 = u16::MAX as u64;

/// A reader tries at most this often to read a histogram that does not change meanwhile.
const LOOKS: u32 = 20;

zeroed! {
    /// All latencies of a tree: one for each node, and the octaves in use.
    #[derive(Debug)]
    pub(crate) struct Latencies {
        nodes: Column<Latency>,
        octaves: Column<Octave>,
        /// Number of octaves in use.
        used: AtomicU64,
        /// Number of the tree's current life, which is its use by one thread. Lives are counted from 1; 0 before the first.
        life: AtomicU64,
    }
}

impl Latency {
    /// Buffers the duration of a call, in the place for the call's number. Returns false if the duration is 0 or too long, or if
    /// the place is taken.
    #[inline(always)]
    pub(crate) fn buffer(&self, call: u64, ticks: u64) -> bool {
        let place = &self.buffered[call as usize % BUFFERED];
        let buffered = ticks.wrapping_sub(1) < BUFFERED_MAX && place.load(Ordering::Relaxed) == 0;
        if buffered {
            place.store(ticks as u16, Ordering::Relaxed);
        }
        buffered
    }

    /// Counts the buffered durations, and the duration `more`, in their buckets. If there is no memory for an octave, its
    /// durations are counted in no bucket.
    #[inline(never)]
    pub(crate) fn flush(&self, more: Option<u64>, pool: &Latencies) {
        self.flush_into(more, false, |bucket| self.octaves.get_or_make(bucket, pool));
    }

    /// Counts buffered durations in their buckets, except those whose octaves do not exist: they stay in the buffer. Makes no
    /// function call. Returns whether all octaves exist.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn flush_known(&self) -> bool {
        self.flush_into(None, true, |bucket| self.octaves.of(bucket).get())
    }

    /// Counts durations in the octaves that `octave_of` returns for their buckets. Returns whether `octave_of` has found all
    /// octaves. If `keeps` is true, durations without an octave stay in the buffer.
    #[inline(always)]
    fn flush_into(
        &self,
        more: Option<u64>,
        keeps: bool,
        octave_of: impl Fn(usize) -> Option<&'static Octave>,
    ) -> bool {
        let flushing = self.flushing.load(Ordering::Relaxed);
        self.flushing.store(flushing + 1, Ordering::Relaxed);
        // SYNC POINT: `flushing` is odd before any duration moves.
        fence(Ordering::Release);
        let mut longest = self.max.load(Ordering::Relaxed).max(more.unwrap_or(0));
        let mut all = true;
        for place in &self.buffered {
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

    /// Reads the counts into `histogram`, and returns the number of calls at that time. `calls` must read this number with
    /// `Acquire`. `known` returns the result of the last reading, and the number of calls in its histogram.
    ///
    /// Sometimes counts and number cannot be read at one moment, because the thread is too busy or the reader is descheduled. The
    /// returned number then leaves out calls that the histogram missed: they belong to the next reading. Otherwise they would end
    /// in an epoch that has not counted their beginnings.
    pub(crate) fn read(
        &self,
        calls: impl Fn() -> u64,
        known: impl FnOnce() -> (u64, u64),
        histogram: &mut Histogram,
    ) -> u64 {
        self.read_within(LOOKS, calls, known, histogram)
    }

    /// Reads like [`Self::read`], with at most `looks` tries. `looks` must not be 0.
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
            // SYNC POINT: the histogram before the second load of `flushing`.
            fence(Ordering::Acquire);
            let flushed = before.is_multiple_of(2) && self.flushing.load(Ordering::Relaxed) == before;
            if flushed && counted.wrapping_sub(least) <= 1 {
                return counted;
            }
            if !flushed {
                // The reader may have missed calls that a flush was moving: they may be neither in the buffer nor in their
                // buckets.
                least = least.saturating_sub(BUFFERED as u64);
            }
            sync::spin_loop();
        }
        let (known_calls, known_ended) = known();
        let ended = histogram.count().saturating_sub(known_ended);
        known_calls.saturating_add(ended).clamp(least, counted)
    }

    /// Returns how often the histogram was emptied. If this is called before [`Self::read`], `read` finds no counts from before
    /// the last of these times.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Acquire)
    }

    fn look(&self, calls: &impl Fn() -> u64, histogram: &mut Histogram) -> u64 {
        let (mut present, mut counts) = self.octaves.read(histogram);
        histogram.max_ticks = self.max.load(Ordering::Relaxed);
        // SYNC POINT: the buckets are read before the buffer.
        let buffered = self
            .buffered
            .each_ref()
            .map(|place| place.load(Ordering::Acquire));
        // `calls` counts begun calls. It is read after the durations, so that no more calls end than begin.
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

    /// Empties the histogram. The octaves and the numbers of adaptive mode stay.
    fn empty(&self) {
        self.max.store(0, Ordering::Relaxed);
        for place in &self.buffered {
            place.store(0, Ordering::Relaxed);
        }
        for octave in self.octaves.octaves.iter().filter_map(Ref::get) {
            octave.empty();
        }
    }

    /// Forgets everything of an earlier life, including the octaves.
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

    /// Returns the octave of a bucket, which is made if needed; `None` if there is no memory.
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

    /// Empties a histogram and makes space in it. Returns a bit for each octave that exists, and the counts of all buckets.
    pub(crate) fn read(&self, histogram: &mut Histogram) -> (u64, Counts) {
        // This allocates before it reads, because the allocator itself may be measured.
        let octaves = self.present.load(Ordering::Relaxed).count_ones() as usize;
        histogram.buckets.clear();
        histogram.buckets.reserve((octaves + 2) * PER_OCTAVE);
        let mut counts = [[0u64; PER_OCTAVE]; OCTAVES];
        let present = self.present.load(Ordering::Acquire);
        for at in bits(present) {
            if let Some(octave) = self.of(at * PER_OCTAVE).get_acquire() {
                counts[at] = octave
                    .counts
                    .each_ref()
                    .map(|count| count.load(Ordering::Acquire));
            }
        }
        (present, counts)
    }

    /// Forgets the octaves of an earlier life.
    pub(crate) fn forget(&self) {
        self.octaves.iter().for_each(|octave| octave.set(None));
        self.present.store(0, Ordering::Relaxed);
    }
}

impl Octave {
    #[inline(always)]
    pub(crate) fn hit(&self, bucket: usize) {
        let count = &self.counts[bucket % PER_OCTAVE];
        // SYNC POINT: a call is removed from the buffer before it is in its bucket, so that no reader counts it twice.
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

/// Appends the buckets that are not empty to a histogram that has space for them.
pub(crate) fn fill(histogram: &mut Histogram, present: u64, counts: &Counts) {
    for at in bits(present) {
        // It is unpredictable which counts are zero, so one branch handles all eight counts.
        let steps = counts[at].iter().rev();
        let filled = steps.fold(0, |filled, &count| filled << 1 | u64::from(count > 0));
        let bucket = |step| ((at * PER_OCTAVE + step) as u16, counts[at][step % PER_OCTAVE]);
        histogram.buckets.extend(bits(filled).map(bucket));
    }
}

/// Returns the positions of the set bits, from the lowest on.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = word.checked_sub(1)? & word ^ word;
        word ^= lowest;
        Some(lowest.trailing_zeros() as usize)
    })
}

impl Latencies {
    /// Returns an empty latency for a node; `None` if there is no memory.
    pub(crate) fn make(&self, index: u32) -> Option<&'static Latency> {
        let latency = self.nodes.make(index)?;
        // `flushing` is odd until the end of this function, and even afterwards. It may be odd already if a thread
        // ended during a flush.
        let flushing = latency.flushing.load(Ordering::Relaxed) | 1;
        latency.flushing.store(flushing, Ordering::Relaxed);
        // SYNC POINT: `flushing` is odd before anything is emptied.
        fence(Ordering::Release);
        let life = self.life.load(Ordering::Relaxed);
        if latency.life.load(Ordering::Relaxed) != life {
            latency.forget();
            latency.life.store(life, Ordering::Relaxed);
        }
        latency.empty();
        // SYNC POINT: the latency is empty before `made` changes.
        let made = latency.made.load(Ordering::Relaxed) + 1;
        latency.made.store(made, Ordering::Release);
        latency.flushing.store(flushing + 1, Ordering::Release);
        Some(latency)
    }

    /// Returns the latency of a node in this life of the tree, and makes an empty one if needed. Returns `None` if there is no
    /// memory. Only the thread of the tree may call this.
    pub(crate) fn get_or_make(&self, index: u32) -> Option<&'static Latency> {
        match self.of_this_life(index) {
            Some(latency) => Some(latency),
            None => self.make(index),
        }
    }

    /// Returns a node's latency; `None` if the latency was not made in this life of the tree.
    pub(crate) fn of_this_life(&self, index: u32) -> Option<&'static Latency> {
        let life = self.life.load(Ordering::Relaxed);
        // SYNC POINT: `made` is read before the contents of the latency (meets `make`).
        let latency = self.nodes.get(index)?;
        (latency.made() > 0 && latency.life.load(Ordering::Relaxed) == life).then_some(latency)
    }

    /// Begins another life of the tree, in which all octaves can be used again.
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
            // Histograms were switched off and on again in the same life. The histogram is empty, and no octave is lost.
            let again = pool.make(5).unwrap();
            again.read(|| 0, || (0, 0), &mut histogram);
            assert!(histogram.is_empty());
            again.flush(Some(100), &pool);
            assert_eq!(pool.used.load(Ordering::Relaxed), 3);
            pool.clear();
        }
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

//! Finds out how much of a gap between two events the thread spent off its CPU, and why: it *waited* for something, or it was
//! *ready* while another thread had the CPU.
//!
//! Gaps up to [`LEAST_NS`] are handled on the fast path of events and are not examined. A longer gap is examined when it ends; of
//! many short ones only some are (`short_gaps`).
//! Usually a word that the kernel clears at each context switch shows, within a few nanoseconds, that the thread stayed on its
//! CPU. Otherwise the thread's clocks are read: the wall time since the last reading, minus the CPU time, was spent off the CPU.
//! The part of this time that cannot have been spent in the short gaps before this gap is assigned to this gap. The rest is
//! counted as *unplaced*, so that waiting, ready and unplaced time add up to the wall time minus the CPU time.

use std::sync::OnceLock;

use crate::enabled::platform::off_cpu::{self, Clocks, NO_FILE, Slices, Switches};
use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::zeroed;
use crate::enabled::record::short_gaps::ShortGaps;

/// Shortest gap that is examined, in ns, if the kernel provides a word that shows whether the thread stayed on its CPU.
const LEAST_NS: u64 = 10_000;

/// Shortest gap that is examined, in ns, if each examination needs a system call to read a clock.
const LEAST_NS_WITHOUT_WORD: u64 = 50_000;

/// Length in ticks above which gaps are examined, as long as the duration of a tick is not known: about 10 us of a time stamp
/// counter.
pub(crate) const FIRST_LIMIT: u64 = 1 << 15;

/// Off-CPU time up to this limit may be nothing more than the cost and inaccuracy of the readings.
pub(crate) const NOISE_NS: u64 = 2_000;

/// Gaps up to this many times the shortest one that is examined are *short*.
pub(crate) const SHORT_LIMITS: u64 = 10;

/// The measured clock rate is accurate to one part in this many.
pub(crate) const RATE_PARTS: u64 = 20_000;

/// If a thread stays on its CPU, its clocks are read again after this many times the shortest gap that is examined. This is
/// usually about a second.
pub(crate) const DRIFT_LIMITS: u64 = 100_000;

/// In ns: how long the first measurement of the rate is used, and how long each later, more accurate measurement is used.
const RATE_SOON_NS: u64 = 5_000_000;
const RATE_LONG_NS: u64 = 200_000_000;

/// The clock of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockInUse {
    /// Returns the number of ticks per nanosecond, or `None` if it is too early to know. Does not block.
    pub(crate) ticks_per_ns: fn() -> Option<f64>,
    pub(crate) now: fn() -> u64,
}

static CLOCK: OnceLock<ClockInUse> = OnceLock::new();

#[cfg(test)]
thread_local! {
    /// The clock that a test on this thread uses, independent of the clocks of other tests.
    pub(crate) static OF_TEST: std::cell::Cell<Option<ClockInUse>> = const { std::cell::Cell::new(None) };
}

/// Ticks per nanosecond, as the bits of an `f64`; 0 while unknown. All threads use the same clock. No other access depends on the
/// ordering of this atomic or of `NEXT_RATE_NS`, so both are std's atomics even in model-checked builds.
static RATE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Time of the monotonic clock, in ns, after which the rate is measured again.
static NEXT_RATE_NS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Sets the clock, which stays the same for the life of the process.
pub(crate) fn set_clock(clock: ClockInUse) {
    let _ = CLOCK.set(clock);
}

/// Reads the clock; 0 if no clock is set.
pub(crate) fn now() -> u64 {
    #[cfg(test)]
    if let Some(clock) = OF_TEST.get() {
        return (clock.now)();
    }
    CLOCK.get().map_or(0, |clock| (clock.now)())
}

/// Returns the number of ticks per nanosecond. The measurement becomes more accurate over time, so it is repeated occasionally.
pub(crate) fn ticks_per_ns(wall_ns: u64) -> Option<f64> {
    #[cfg(test)]
    if let Some(clock) = OF_TEST.get() {
        return (clock.ticks_per_ns)();
    }
    let next = NEXT_RATE_NS.load(Ordering::Relaxed);
    let known = Some(f64::from_bits(RATE.load(Ordering::Relaxed))).filter(|&rate| rate > 0.0);
    if known.is_some() && wall_ns < next {
        return known;
    }
    let rate = CLOCK.get().and_then(|clock| (clock.ticks_per_ns)())?;
    RATE.store(rate.to_bits(), Ordering::Relaxed);
    let again = if known.is_some() {
        RATE_LONG_NS
    } else {
        RATE_SOON_NS
    };
    NEXT_RATE_NS.store(wall_ns.saturating_add(again), Ordering::Relaxed);
    Some(rate)
}

zeroed! {
    /// State for measuring the time that a thread spends off its CPU. Only the thread itself writes this; captures read
    /// it to split a gap that is still open.
    #[derive(Debug)]
    pub(crate) struct Waits {
        /// Not 0 if gaps are examined.
        pub(crate) wanted: AtomicU32,
        /// The descriptor of the thread's `schedstat`, as an [`off_cpu::File`].
        pub(crate) file: AtomicU32,
        /// The tick at which the clocks were last read; 0 before the first reading.
        pub(crate) read_tick: AtomicU64,
        pub(crate) read_wall_ns: AtomicU64,
        pub(crate) read_cpu_ns: AtomicU64,
        /// The ready time at the last reading of `schedstat`, plus 1; 0 if `schedstat` was not read.
        pub(crate) ready_ns: AtomicU64,
        /// How often the thread had lost its CPU at the last reading: according to `schedstat` if it was read, otherwise
        /// according to `getrusage`.
        switches: AtomicU64,
        preempted: AtomicU64,
        /// The thread is known to have stayed on its CPU from the last reading until this tick, except in skipped gaps.
        pub(crate) sure_tick: AtomicU64,
        /// Off-CPU time since the last reading that was assigned early, before its gap had ended, or that skipped gaps probably had.
        pub(crate) early_ns: AtomicU64,
        /// Ticks off the CPU that could not be assigned to a node.
        pub(crate) unplaced: AtomicU64,
        pub(crate) short: ShortGaps,
    }
}

/// Time off the CPU, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Off {
    /// Part that belongs to the gap.
    pub(crate) placed: u64,
    /// Part of `placed` in which the thread was ready but had no CPU.
    pub(crate) ready: u64,
}

/// Assigns a part of `all`, the off-CPU time since the last reading, to a gap of `gap_ns`. Since that reading, the short gaps
/// before this gap took `short_ns` in total, the thread lost its CPU `switches` times, and it was ready for `ready_ns`.
pub(crate) fn place(
    all: u64,
    ready_ns: u64,
    switches: u64,
    gap_ns: u64,
    short_ns: u64,
    least_ns: u64,
) -> Off {
    // One of the switches was in this gap. Each of the others can explain a wait no longer than the longest short gap.
    let before = short_ns.min(switches.saturating_sub(1).saturating_mul(least_ns));
    let placed = if switches == 0 {
        0
    } else {
        all.saturating_sub(before).min(gap_ns)
    };
    Off {
        placed,
        ready: ready_ns.min(placed),
    }
}

impl Waits {
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0
    }

    /// Returns whether the short gap that has ended is skipped. If so, assigns to it the time that the thread probably was off its
    /// CPU.
    #[inline(always)]
    pub(crate) fn skips_short_gap(&self) -> bool {
        let skips = self.short.skips();
        if skips {
            off_cpu::mark();
            add(&self.early_ns, self.short.mean_ns());
        }
        skips
    }

    /// Returns the wall time and CPU time that have passed between the last reading and `now`.
    pub(crate) fn since_reading(&self, now: Clocks) -> Clocks {
        let since = |now: u64, then: &AtomicU64| now.saturating_sub(then.load(Ordering::Relaxed));
        Clocks {
            wall_ns: since(now.wall_ns, &self.read_wall_ns),
            cpu_ns: since(now.cpu_ns, &self.read_cpu_ns),
        }
    }

    /// Returns how much time the thread has spent off its CPU since the last reading, except for time that has already been
    /// assigned.
    pub(crate) fn off_ns(&self, since: Clocks) -> u64 {
        since
            .off_ns()
            .saturating_sub(self.early_ns.load(Ordering::Relaxed))
    }

    /// Returns by how much more time was already assigned than the thread has spent off its CPU since the last reading.
    pub(crate) fn too_much_ns(&self, since: Clocks) -> u64 {
        self.early_ns
            .load(Ordering::Relaxed)
            .saturating_sub(since.off_ns())
    }

    /// Starts counting context switches from now. `cpu_ns` is the thread's CPU time.
    pub(crate) fn store_switches(&self, cpu_ns: u64) {
        // `schedstat` is opened only once the thread has been off its CPU, so it is not opened here.
        let is_open = ![0, NO_FILE].contains(&self.file.load(Ordering::Relaxed));
        match is_open.then(|| self.slices(cpu_ns)).flatten() {
            Some(slices) => self.store_slices(slices),
            None => self.store_usage(off_cpu::switches()),
        }
    }

    fn slices(&self, cpu_ns: u64) -> Option<Slices> {
        let mut file = self.file.load(Ordering::Relaxed);
        let slices = off_cpu::slices(&mut file, cpu_ns);
        self.file.store(file, Ordering::Relaxed);
        slices
    }

    fn store_slices(&self, now: Slices) {
        self.switches.store(now.count, Ordering::Relaxed);
        self.ready_ns
            .store(now.ready_ns.saturating_add(1), Ordering::Relaxed);
    }

    fn store_usage(&self, now: Switches) {
        self.switches.store(now.all, Ordering::Relaxed);
        self.preempted.store(now.preempted, Ordering::Relaxed);
        self.ready_ns.store(0, Ordering::Relaxed);
    }

    /// Leaves one switch, and up to `later_ns` of ready time, to be counted at the next reading. Returns the remaining switches
    /// and ready time. If there was only one switch, it is both left and returned, because the later time may have been an
    /// interrupt.
    pub(crate) fn leave_for_later(&self, later_ns: u64, (switches, ready_ns): (u64, u64)) -> (u64, u64) {
        let all = self.switches.load(Ordering::Relaxed);
        self.switches.store(all.saturating_sub(1), Ordering::Relaxed);
        let left = ready_ns.min(later_ns);
        let plus_one = self.ready_ns.load(Ordering::Relaxed);
        if plus_one > left {
            self.ready_ns.store(plus_one - left, Ordering::Relaxed);
        }
        (switches.saturating_sub(1).max(switches.min(1)), ready_ns - left)
    }

    pub(crate) fn store(&self, tick: u64, clocks: Clocks) {
        self.read_tick.store(tick.max(1), Ordering::Relaxed);
        self.read_wall_ns.store(clocks.wall_ns, Ordering::Relaxed);
        self.read_cpu_ns.store(clocks.cpu_ns, Ordering::Relaxed);
        self.sure_tick.store(tick, Ordering::Relaxed);
        self.early_ns.store(0, Ordering::Relaxed);
        self.short.read();
    }

    /// Returns how many times the thread has lost its CPU since the last reading, and for how long it was ready but had no CPU.
    /// `all_ns` is the total time that it was off its CPU.
    pub(crate) fn switched(&self, cpu_ns: u64, all_ns: u64) -> (u64, u64) {
        let [switches, preempted] =
            [&self.switches, &self.preempted].map(|count| count.load(Ordering::Relaxed));
        let before = self.ready_ns.load(Ordering::Relaxed).checked_sub(1);
        let slices = self.slices(cpu_ns);
        if let (Some(now), Some(before)) = (slices, before) {
            self.store_slices(now);
            return (
                now.count.saturating_sub(switches),
                now.ready_ns.saturating_sub(before),
            );
        }
        // `schedstat` was not read both now and at the last reading, so the switches are taken from `getrusage`.
        let usage = off_cpu::switches();
        match slices {
            Some(now) => self.store_slices(now),
            None => self.store_usage(usage),
        }
        if before.is_some() {
            // The last reading was from `schedstat`. It cannot be compared with a reading from `getrusage`.
            return (1, 0);
        }
        let all = usage.all.saturating_sub(switches);
        // The thread counts as ready only if it could have kept running at every one of the switches.
        let was_ready = usage.preempted.saturating_sub(preempted) == all;
        (all, if was_ready { all_ns } else { 0 })
    }
}

/// Returns the shortest gap that is examined on this machine, in ns.
pub(crate) fn least_ns() -> u64 {
    if off_cpu::has_word() {
        LEAST_NS
    } else {
        LEAST_NS_WITHOUT_WORD
    }
}

/// Returns the shortest gap that is examined, in ticks, at a rate of `rate` ticks per nanosecond.
pub(crate) fn least_ticks(rate: f64) -> u64 {
    (least_ns() as f64 * rate) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEAST: u64 = 10_000;

    #[test]
    fn one_switch_belongs_to_the_gap_and_several_may_have_been_before() {
        let placed = |switches, short| place(50_000, 0, switches, 60_000, short, LEAST).placed;
        assert_eq!(placed(1, 1_000_000), 50_000);
        // The two other switches can hide at most two short waits.
        assert_eq!(placed(3, 1_000_000), 30_000);
        assert_eq!(placed(3, 5_000), 45_000, "no longer than there were short gaps");
        assert_eq!(placed(0, 0), 0, "a machine that took its time from all of us");
        let off = place(50_000, 20_000, 1, 60_000, 0, LEAST);
        assert_eq!((off.placed, off.ready), (50_000, 20_000));
    }

    proptest! {
        #[test]
        fn nothing_is_placed_twice_or_beyond_the_gap(
            all in 0u64..1_000_000,
            ready in 0u64..1_000_000,
            switches in 0u64..20,
            gap in 0u64..1_000_000,
            short in 0u64..1_000_000,
        ) {
            let off = place(all, ready, switches, gap, short, LEAST);
            prop_assert!(off.ready <= off.placed && off.placed <= gap && off.placed <= all);
        }
    }
}

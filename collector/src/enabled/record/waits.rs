//! Which part of a gap between two events the thread was off its CPU, and why: it *waited* for something, or it was *ready*
//! and another thread had the CPU.
//!
//! Gaps up to [`LEAST_NS`] take the fast path of events and are not looked at. A longer one is, at its end. Mostly the
//! kernel's word says that the thread stayed on its CPU, for a few nanoseconds; otherwise the thread's clocks are read, and
//! all time since the last reading that is not CPU time was off the CPU. It belongs to this gap as far as it cannot have
//! been in the short gaps before. What may have been there is counted as *unplaced*, so that waiting, ready and unplaced
//! together are the wall time less the CPU time.

use crate::enabled::platform::off_cpu::{self, Clocks, Scheduled};
use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::zeroed;

/// The shortest gap that is looked at, where the kernel tells whether the thread stayed on its CPU.
const LEAST_NS: u64 = 10_000;

/// The same where each look reads a clock by a system call.
const LEAST_NS_WITHOUT_WORD: u64 = 50_000;

/// The first limit in ticks, before their length is known: some 10 us of a time stamp counter.
pub(crate) const FIRST_LIMIT: u64 = 1 << 15;

/// Less than this is the cost and the error of the readings.
pub(crate) const NOISE_NS: u64 = 2_000;

/// The length of a tick is taken from readings that are at least so far apart, and may then be wrong by so much.
const RATE_LEAST_NS: u64 = 100_000;
const RATE_ERROR: f64 = 0.005;

/// Readings so far apart are nearly exact.
const RATE_GOOD_NS: u64 = 10_000_000;

/// Ticks a nanosecond, as the bits of an `f64`; 0 while unknown. All threads have the same clock. It orders nothing, so
/// models use std's atomic.
static RATE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Returns the length of a nanosecond in ticks, if it is known.
pub(crate) fn ticks_per_ns() -> Option<f64> {
    Some(f64::from_bits(RATE.load(Ordering::Relaxed))).filter(|&rate| rate > 0.0)
}

/// Learns from ticks that passed within `wall_ns`, and returns the rate. A thread that lost its CPU between the two readings
/// has seen too much time, so a higher rate is a better one; within the error of short readings a longer one is.
pub(crate) fn learn_rate(ticks: u64, wall_ns: u64) -> Option<f64> {
    let known = ticks_per_ns();
    if wall_ns < RATE_LEAST_NS {
        return known;
    }
    let now = ticks as f64 / wall_ns as f64;
    let is_better = known.is_none_or(|known| {
        now > known * (1.0 + RATE_ERROR) || wall_ns >= RATE_GOOD_NS && now > known * (1.0 - RATE_ERROR)
    });
    if is_better {
        RATE.store(now.to_bits(), Ordering::Relaxed);
        return Some(now);
    }
    known
}

zeroed! {
    /// What a thread knows of its time off the CPU. Only the thread writes it; captures read it to split an open gap.
    #[derive(Debug)]
    pub(crate) struct Waits {
        /// Not 0 if gaps are looked at.
        pub(crate) wanted: AtomicU32,
        /// The descriptor of the scheduler's file.
        pub(crate) file: AtomicU32,
        /// The tick of the last reading; 0 before the first.
        pub(crate) read_tick: AtomicU64,
        pub(crate) read_wall_ns: AtomicU64,
        pub(crate) read_cpu_ns: AtomicU64,
        /// The scheduler's counts at the last reading of them: ready time plus 1, or 0 before the first; and slices.
        pub(crate) ready_ns: AtomicU64,
        slices: AtomicU64,
        preempted: AtomicU64,
        /// Until here no wait is missing: the thread had stayed on its CPU since the last reading.
        pub(crate) sure_tick: AtomicU64,
        /// Of the time since the last reading, what was placed before its gap had ended.
        pub(crate) early_ns: AtomicU64,
        /// Ticks off the CPU that belong to no node.
        pub(crate) unplaced: AtomicU64,
    }
}

/// Time off the CPU, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Off {
    /// All of it.
    pub(crate) all: u64,
    /// What belongs to the gap.
    pub(crate) placed: u64,
    /// Of that, the time without a CPU although the thread was ready.
    pub(crate) ready: u64,
}

/// Places time off the CPU in a gap of `gap_ns`, before which short gaps took `short_ns` since the last reading. `ready_ns`
/// and `slices` are what the scheduler has counted since then; without `slices` every short gap may have had a wait.
pub(crate) fn place(
    all: u64,
    ready_ns: u64,
    slices: Option<u64>,
    gap_ns: u64,
    short_ns: u64,
    least_ns: u64,
) -> Off {
    // A short gap has no longer wait than itself, and one of the slices ended with this gap's wait.
    let before = match slices {
        Some(0 | 1) => 0,
        Some(slices) => short_ns.min((slices - 1).saturating_mul(least_ns)),
        None => short_ns,
    };
    let placed = if slices == Some(0) {
        0
    } else {
        all.saturating_sub(before).min(gap_ns)
    };
    Off {
        all,
        placed,
        ready: ready_ns.min(placed),
    }
}

impl Waits {
    pub(crate) const fn new() -> Self {
        Self {
            wanted: AtomicU32::new(0),
            file: AtomicU32::new(0),
            read_tick: AtomicU64::new(0),
            read_wall_ns: AtomicU64::new(0),
            read_cpu_ns: AtomicU64::new(0),
            ready_ns: AtomicU64::new(0),
            slices: AtomicU64::new(0),
            preempted: AtomicU64::new(0),
            sure_tick: AtomicU64::new(0),
            early_ns: AtomicU64::new(0),
            unplaced: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0
    }

    /// Returns the ticks that were spent off the CPU in gaps too short to be looked at.
    pub(crate) fn unplaced(&self) -> u64 {
        self.unplaced.load(Ordering::Relaxed)
    }

    pub(crate) fn store(&self, tick: u64, clocks: Clocks) {
        self.read_tick.store(tick.max(1), Ordering::Relaxed);
        self.read_wall_ns.store(clocks.wall_ns, Ordering::Relaxed);
        self.read_cpu_ns.store(clocks.cpu_ns, Ordering::Relaxed);
        self.sure_tick.store(tick, Ordering::Relaxed);
        self.early_ns.store(0, Ordering::Relaxed);
    }

    /// Returns what the scheduler has counted since the last time: ready time if it is known, and slices.
    pub(crate) fn scheduled(&self, cpu_ns: u64, all_ns: u64) -> (u64, Option<u64>) {
        let mut file = self.file.load(Ordering::Relaxed);
        let now = off_cpu::scheduled(&mut file, cpu_ns);
        self.file.store(file, Ordering::Relaxed);
        let first = self.ready_ns.load(Ordering::Relaxed) == 0;
        let before = Scheduled {
            ready_ns: self.ready_ns.load(Ordering::Relaxed).checked_sub(1),
            slices: self.slices.load(Ordering::Relaxed),
            preempted: self.preempted.load(Ordering::Relaxed),
        };
        self.ready_ns
            .store(now.ready_ns.unwrap_or(0).saturating_add(1), Ordering::Relaxed);
        self.slices.store(now.slices, Ordering::Relaxed);
        self.preempted.store(now.preempted, Ordering::Relaxed);
        if first {
            return (0, None);
        }
        let slices = now.slices.saturating_sub(before.slices);
        let ready = match (now.ready_ns, before.ready_ns) {
            (Some(now), Some(before)) => now.saturating_sub(before),
            // The thread lost its CPU each time although it could have run.
            _ if now.preempted.saturating_sub(before.preempted) == slices => all_ns,
            _ => 0,
        };
        (ready, Some(slices))
    }
}

/// The shortest gap that is looked at on this machine.
pub(crate) fn least_ns() -> u64 {
    if off_cpu::has_word() {
        LEAST_NS
    } else {
        LEAST_NS_WITHOUT_WORD
    }
}

/// The same in ticks, of which so many are a nanosecond.
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
        let placed = |slices, short| place(50_000, 0, slices, 60_000, short, LEAST).placed;
        assert_eq!(placed(Some(1), 1_000_000), 50_000);
        // Two more switches hide at most two short waits.
        assert_eq!(placed(Some(3), 1_000_000), 30_000);
        assert_eq!(
            placed(Some(3), 5_000),
            45_000,
            "no longer than there were short gaps"
        );
        assert_eq!(placed(None, 15_000), 35_000);
        assert_eq!(placed(None, 1_000_000), 0);
        assert_eq!(
            placed(Some(0), 0),
            0,
            "a machine that took its time from all of us"
        );
        let off = place(50_000, 20_000, Some(1), 60_000, 0, LEAST);
        assert_eq!((off.placed, off.ready), (50_000, 20_000));
    }

    proptest! {
        #[test]
        fn nothing_is_placed_twice_or_beyond_the_gap(
            all in 0u64..1_000_000,
            ready in 0u64..1_000_000,
            slices in prop::option::of(0u64..20),
            gap in 0u64..1_000_000,
            short in 0u64..1_000_000,
        ) {
            let off = place(all, ready, slices, gap, short, LEAST);
            prop_assert!(off.ready <= off.placed && off.placed <= gap && off.placed <= off.all);
        }
    }
}

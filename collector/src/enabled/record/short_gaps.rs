//! Chooses which short gaps are examined, in threads in which this would otherwise take too much CPU time.
//!
//! In such a thread only one in several short gaps is examined, and fewer of them the more time this has taken so far. It is
//! chosen at random, and its time off the CPU counts for all of them. The clocks must tell of this gap alone, so they are also
//! read at the end of the short gap before it. A skipped gap is assumed to have the mean time off the CPU of the examined ones.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::zeroed;

/// Examining gaps takes too much if it has taken more than `DEAR_NS`, and beyond that more than 1/`DEAR_PART` of the thread's CPU
/// time. Then one in N short gaps is examined. N is 1 at this limit, grows by [`STEEP`] for each further 1/`DEAR_PART` of the CPU
/// time, and is at most [`MOST`].
const DEAR_NS: u64 = 1_000_000;
const DEAR_PART: u64 = 200;
const STEEP: u64 = 64;
const MOST: u64 = 32;

zeroed! {
    /// The short gaps of a thread. Only the thread itself uses this.
    #[derive(Debug)]
    pub(crate) struct ShortGaps {
        /// How many short gaps remain before the one that is examined next.
        left: AtomicU32,
        /// How many gaps the one that is examined next stands for; 0 means 1.
        weight: AtomicU32,
        /// Number of short gaps since the clocks were last read.
        skipped: AtomicU64,
        /// Mean time off the CPU in a short gap.
        mean_ns: AtomicU64,
        /// CPU time that examining gaps has taken.
        looked_ns: AtomicU64,
        /// By how much skipped gaps were taken to be longer than all time off the CPU, so far.
        owed_ns: AtomicU64,
    }
}

impl ShortGaps {
    /// Begins anew with a new thread.
    pub(crate) fn begin(&self) {
        self.left.store(0, Ordering::Relaxed);
        self.weight.store(0, Ordering::Relaxed);
        for number in [&self.skipped, &self.mean_ns, &self.looked_ns, &self.owed_ns] {
            number.store(0, Ordering::Relaxed);
        }
    }

    /// Returns whether the short gap that has ended is skipped.
    #[inline(always)]
    pub(crate) fn skips(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        if left <= 1 {
            return false;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        add(&self.skipped, 1);
        true
    }

    /// Returns how many gaps the short gap that has ended, and is not skipped, stands for. Returns 0 if the clocks only have to be
    /// read, because the next short gap will be examined.
    pub(crate) fn weight(&self) -> u64 {
        if self.left.swap(0, Ordering::Relaxed) > 0 {
            add(&self.skipped, 1);
            return 0;
        }
        self.weight.load(Ordering::Relaxed).max(1).into()
    }

    /// Returns the time that the thread probably was off its CPU in a skipped gap.
    #[inline(always)]
    pub(crate) fn mean_ns(&self) -> u64 {
        self.mean_ns.load(Ordering::Relaxed)
    }

    /// Notes that the clocks were read.
    pub(crate) fn read(&self) {
        self.skipped.store(0, Ordering::Relaxed);
    }

    /// Returns the context switches and the ready time of an examined gap: those since the last reading, without the skipped gaps.
    /// The thread was off its CPU for `all_ns` in the examined gap and for `skipped_ns` in the skipped ones.
    pub(crate) fn leave_out(
        &self,
        (switches, ready_ns): (u64, u64),
        all_ns: u64,
        skipped_ns: u64,
    ) -> (u64, u64) {
        let own = switches.saturating_sub(self.skipped.load(Ordering::Relaxed));
        let share = all_ns as f64 / all_ns.saturating_add(skipped_ns).max(1) as f64;
        (own.max(switches.min(1)), (ready_ns as f64 * share) as u64)
    }

    /// Returns `unplaced_ns`, time off the CPU that belongs to no gap, after taking from it what skipped gaps were given too much.
    /// `too_much_ns` is what they were given too much since the last reading.
    pub(crate) fn after_debts(&self, unplaced_ns: u64, too_much_ns: u64) -> u64 {
        let owed = self.owed_ns.load(Ordering::Relaxed).saturating_add(too_much_ns);
        let paid = owed.min(unplaced_ns);
        self.owed_ns.store(owed - paid, Ordering::Relaxed);
        unplaced_ns - paid
    }

    /// Notes that examining a gap, or reading the clocks, has taken `ns`.
    pub(crate) fn looked(&self, ns: u64) {
        add(&self.looked_ns, ns);
    }

    /// Notes that the thread was off its CPU for `off_ns` in the short gap that was examined, and chooses the next one. `cpu_ns`
    /// is the thread's CPU time.
    pub(crate) fn examined(&self, off_ns: u64, cpu_ns: u64, random: u64) {
        let mean_ns = self.mean_ns.load(Ordering::Relaxed);
        let mean_ns = if mean_ns == 0 {
            off_ns
        } else {
            (7 * mean_ns + off_ns) / 8
        };
        self.mean_ns.store(mean_ns, Ordering::Relaxed);
        let dear_ns = self.looked_ns.load(Ordering::Relaxed).saturating_sub(DEAR_NS);
        let parts = (STEEP * DEAR_PART).saturating_mul(dear_ns) / cpu_ns.max(1);
        let every = (1 + parts.saturating_sub(STEEP)).min(MOST);
        self.weight.store(every as u32, Ordering::Relaxed);
        // Uniform, and on average one less than `every`.
        let left = ((random >> 32) * (2 * every - 1)) >> 32;
        self.left.store(left as u32, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;
    use crate::enabled::record::untimed::xorshift;

    /// Ends a short gap. Returns its weight, or `None` if it is skipped.
    fn end(gaps: &ShortGaps) -> Option<u64> {
        (!gaps.skips()).then(|| gaps.weight())
    }

    #[test]
    fn while_looks_are_cheap_each_gap_is_examined() {
        let gaps: Box<ShortGaps> = Box::new(zeros());
        for _ in 0..500 {
            assert_eq!(end(&gaps), Some(1));
            gaps.looked(DEAR_NS / 500);
            gaps.examined(9_000, 0, u64::MAX);
        }
    }

    #[test]
    fn examined_gaps_stand_for_all_and_each_has_its_beginning_read() {
        let gaps: Box<ShortGaps> = Box::new(zeros());
        gaps.looked(2 * DEAR_NS);
        let (mut sum, mut looks, mut random) = (0, 0, 1);
        let mut before = Some(0);
        for gap in 0..200_000_u64 {
            let weight = end(&gaps);
            if let Some(weight) = weight.filter(|&weight| weight > 0) {
                assert_ne!(before, None);
                random = xorshift(random);
                let off_ns = 10_000 + gap % 2 * 20_000;
                gaps.examined(off_ns, 0, random.wrapping_mul(0x2545_f491_4f6c_dd1d));
                sum += weight * off_ns;
            }
            looks += u64::from(weight.is_some());
            before = weight;
        }
        assert!((3_900_000_000..4_100_000_000).contains(&sum), "{sum}");
        assert!((11_500..13_500).contains(&looks), "{looks}");
        // The thread has used enough CPU time since then, so all gaps are examined again.
        while end(&gaps).is_none_or(|weight| weight == 0) {}
        gaps.examined(0, 2 * DEAR_NS * DEAR_PART, u64::MAX);
        assert_eq!(end(&gaps), Some(1));
    }

    #[test]
    fn the_more_time_looks_have_taken_the_fewer_there_are() {
        let gaps: Box<ShortGaps> = Box::new(zeros());
        gaps.looked(2 * DEAR_NS);
        let weight = |cpu_ns| {
            gaps.examined(9_000, cpu_ns, 0);
            end(&gaps)
        };
        let one_part = DEAR_NS * DEAR_PART;
        assert_eq!(weight(one_part), Some(1));
        assert_eq!(weight(one_part * 64 / 74), Some(11));
        assert_eq!(weight(one_part / 2), Some(32));
    }

    #[test]
    fn skipped_gaps_are_left_out_of_the_next_reading() {
        let gaps: Box<ShortGaps> = Box::new(zeros());
        gaps.looked(2 * DEAR_NS);
        gaps.examined(8_000, 0, u64::MAX);
        assert_eq!(gaps.mean_ns(), 8_000);
        for _ in 0..3 {
            assert_eq!(end(&gaps), None);
        }
        assert_eq!(gaps.leave_out((4, 10_000), 8_000, 24_000), (1, 2_500));
        assert_eq!(gaps.leave_out((2, 0), 0, 24_000), (1, 0));
        gaps.read();
        assert_eq!(gaps.leave_out((4, 10_000), 8_000, 0), (4, 10_000));
        assert_eq!(gaps.after_debts(5_000, 7_000), 0);
        assert_eq!(gaps.after_debts(3_000, 0), 1_000);
        assert_eq!(gaps.after_debts(3_000, 0), 3_000);
    }
}

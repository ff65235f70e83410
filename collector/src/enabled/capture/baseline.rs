//! The counters of a tree and their baselines, by node index, and the arithmetic that resets apply to them.

use tickscope_format::snapshot::{Lifetime, Quantity};

use crate::enabled::capture::epochs::Epochs;
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::capture::ranges::Ranges;
use crate::enabled::capture::waits_in::WaitsIn;
use crate::enabled::record::measures::QUANTITIES;

/// The counters of a node, or their change since a reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) ticks: u64,
    /// Calls that were timed in adaptive mode.
    pub(crate) timed: u64,
    /// The sum, if the node is a counter.
    pub(crate) sum: u64,
    /// In adaptive mode: the ticks that sampling attributes to this node.
    pub(crate) found: u64,
}

/// What a node has measured besides calls and time, indexed by the code of the quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured(pub(crate) [u64; QUANTITIES]);

/// Amounts of a node that never decrease. A reset stores them as the baseline.
pub(crate) trait Amounts: Copy + Default + PartialEq {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Returns the larger of the two values of each amount. Captures use it so that no amount falls below its baseline.
    fn at_least(self, other: Self) -> Self;
}

/// The counters of all nodes, their baselines, and the baselines that were in use before the last reset. A missing value is
/// zero. Index 0 is the root, which counts the time outside of all scopes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    counts: Epochs<Vec<Counts>>,
    measured: Epochs<Vec<Measured>>,
    /// Histograms of call durations, and of the numbers that values have recorded.
    pub(crate) histograms: Histograms,
    /// The smallest and largest numbers that values and gauges have recorded.
    pub(crate) ranges: Ranges,
    /// How often the thread was found waiting in each system call.
    pub(crate) waits_in: WaitsIn,
    /// Histograms of how long calls of futures took.
    pub(crate) async_histograms: Histograms,
    /// In adaptive mode: ticks that were charged to the root, although they belong to rows. `handed_past` counts them
    /// up to the last reset, `handed_undo` up to the reset before that, and `handed_now` since the last reset.
    handed_past: u64,
    handed_undo: u64,
    handed_now: u64,
    /// CPU time in nanoseconds; `None` if it is not known.
    cpu: Epochs<Option<u64>>,
}

impl Counts {
    fn with(self, other: Self, both: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            calls: both(self.calls, other.calls),
            ticks: both(self.ticks, other.ticks),
            timed: both(self.timed, other.timed),
            sum: both(self.sum, other.sum),
            found: both(self.found, other.found),
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        self == Self::default()
    }
}

impl Amounts for Counts {
    fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    fn minus(self, other: Self) -> Self {
        Self {
            // A sum may have wrapped around.
            sum: self.sum.wrapping_sub(other.sum),
            ..self.with(other, u64::saturating_sub)
        }
    }

    fn at_least(self, other: Self) -> Self {
        Self {
            // A sum is read in one load, so it shrinks only when it wraps around.
            sum: self.sum,
            ..self.with(other, u64::max)
        }
    }
}

impl Measured {
    /// Returns the ticks that the thread spent waiting, and those that it spent ready but without a CPU.
    pub(crate) fn off_cpu(self) -> [u64; 2] {
        [Quantity::Waiting, Quantity::Ready].map(|quantity| self.0[quantity.code() as usize])
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.get(Quantity::Waiting)
    }

    pub(crate) fn add_waiting(&mut self, ticks: u64) {
        self.set(Quantity::Waiting, self.waiting().saturating_add(ticks));
    }

    fn get(&self, quantity: Quantity) -> u64 {
        self.0[quantity.code() as usize]
    }

    pub(crate) fn set(&mut self, quantity: Quantity, value: u64) {
        self.0[quantity.code() as usize] = value;
    }

    /// Sets the counts for calls of a future. Until `set_in_flight` is called, [`Quantity::InFlight`] holds the number of calls
    /// that have begun.
    pub(crate) fn set_calls_of_future(&mut self, begun: u64, ended: u64, cancelled: u64, vanished: u64) {
        self.set(Quantity::InFlight, begun);
        self.set(Quantity::FutureEnds, ended);
        self.set(Quantity::FutureCancels, cancelled);
        self.set(Quantity::FutureVanished, vanished);
    }

    /// Computes the number of a future's calls that are in flight. `whole` has the counts before the baseline is
    /// subtracted.
    fn set_in_flight(&mut self, whole: Self) {
        let begun = whole.get(Quantity::InFlight);
        let ends = [
            Quantity::FutureEnds,
            Quantity::FutureCancels,
            Quantity::FutureVanished,
        ];
        let over: u64 = ends.into_iter().map(|end| whole.get(end)).sum();
        self.set(Quantity::InFlight, begun.saturating_sub(over));
        self.set(Quantity::EndedElsewhere, over.saturating_sub(begun));
    }

    fn with(self, other: Self, both: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| both(self.0[at], other.0[at])))
    }
}

impl Amounts for Measured {
    fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    #[inline]
    fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    fn at_least(self, other: Self) -> Self {
        self.with(other, u64::max)
    }
}

fn at<T: Amounts>(column: &[T], index: usize) -> T {
    column.get(index).copied().unwrap_or_default()
}

fn raise<T: Amounts>(column: &mut Vec<T>, index: usize, by: T) {
    if by == T::default() {
        return;
    }
    if column.len() <= index {
        column.resize(index + 1, T::default());
    }
    column[index] = column[index].plus(by);
}

impl<T: Amounts> Epochs<Vec<T>> {
    /// Stores the current amounts, raised to their baselines where they are lower. They can be lower because the last
    /// reset may have seen a few ticks that the thread then charged to another node.
    fn show(&mut self, present: &[T]) {
        self.current.clear();
        let present = present.iter().enumerate();
        self.current
            .extend(present.map(|(index, amounts)| amounts.at_least(at(&self.base, index))));
    }

    /// Returns the amounts of a node since the reset.
    fn shown(&self, index: usize) -> T {
        at(&self.current, index).minus(at(&self.base, index))
    }

    fn absorb_node(&mut self, index: usize, other: &Self, from: usize) {
        self.absorb(other, |column, other| raise(column, index, at(other, from)));
    }
}

impl Baseline {
    /// Stores the current counters, raised to their baselines where they are lower.
    pub(crate) fn show(&mut self, counts: &[Counts], measured: &[Measured], cpu_ns: Option<u64>) {
        self.counts.show(counts);
        self.measured.show(measured);
        self.cpu.current = cpu_ns.or(self.cpu.current);
    }

    /// Returns the counters of a node since the reset.
    pub(crate) fn shown(&self, index: usize) -> Counts {
        self.counts.shown(index)
    }

    /// Returns what a node has measured since the reset, besides calls and time. Most programs measure nothing else, so
    /// that case is fast.
    pub(crate) fn measured(&self, index: usize) -> Measured {
        let Some(&whole) = self.measured.current.get(index) else {
            return Measured::default();
        };
        let mut shown = whole.minus(at(&self.measured.base, index));
        // The number of calls in flight is a level, so the reset does not lower it.
        shown.set_in_flight(whole);
        shown
    }

    /// Counts a call of a node as vanished, because its end was not seen.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn count_vanished(&mut self, index: usize) {
        let mut one = Measured::default();
        one.set(Quantity::FutureVanished, 1);
        raise(&mut self.measured.current, index, one);
    }

    /// Returns whether a node has nothing to show since the reset. A gauge that was set has a level to show. A node whose call
    /// has ended has a duration to show, even if the call began before the reset and was charged no ticks since then.
    pub(crate) fn is_bare(&self, index: usize) -> bool {
        self.shown(index).is_zero()
            && self.measured(index) == Measured::default()
            && self.histograms.shown(index).is_none()
            && !self.ranges.has_level(index)
            && self.async_histograms.shown(index).is_none()
    }

    /// Returns the CPU time since the reset in nanoseconds, if it is known.
    pub(crate) fn cpu_shown(&self) -> Option<u64> {
        let base = self.cpu.base.unwrap_or(0);
        self.cpu.current.map(|cpu| cpu.saturating_sub(base))
    }

    /// Sets how many of the root's ticks in the current epoch belong to rows.
    pub(crate) fn hand(&mut self, ticks: u64) {
        self.handed_now = ticks;
    }

    /// Adds all calls and ticks that were ever counted in rows. The root does not count as a row.
    pub(crate) fn add_lifetime(&self, lifetime: &mut Lifetime) {
        lifetime.ticks = lifetime
            .ticks
            .wrapping_add(self.handed_past)
            .wrapping_add(self.handed_now);
        for counts in self.counts.current.iter().skip(1) {
            lifetime.calls = lifetime.calls.wrapping_add(counts.calls);
            lifetime.ticks = lifetime.ticks.wrapping_add(counts.ticks);
        }
    }

    /// Begins a new epoch, which shows nothing that was counted before.
    pub(crate) fn reset(&mut self) {
        self.counts.reset();
        self.measured.reset();
        self.histograms.reset();
        self.ranges.reset();
        self.waits_in.reset();
        self.async_histograms.reset();
        self.handed_undo = self.handed_past;
        self.handed_past += std::mem::take(&mut self.handed_now);
        self.cpu.reset();
    }

    /// Returns to the epoch before the last reset.
    pub(crate) fn undo(&mut self) {
        self.counts.undo();
        self.measured.undo();
        self.histograms.undo();
        self.ranges.undo();
        self.waits_in.undo();
        self.async_histograms.undo();
        self.handed_past = self.handed_undo;
        self.cpu.undo();
    }

    /// Adds all columns of node `from` of `other` to node `index` of this baseline.
    pub(crate) fn absorb(&mut self, index: usize, other: &Self, from: usize) {
        self.absorb_amounts(index, other, from);
        self.histograms.absorb(index, &other.histograms, from);
        self.ranges.absorb(index, &other.ranges, from);
    }

    /// Adds columns like [`Self::absorb`], but leaves out `histograms` and `ranges`, because the nodes are of different kinds.
    pub(crate) fn absorb_amounts(&mut self, index: usize, other: &Self, from: usize) {
        self.counts.absorb_node(index, &other.counts, from);
        self.measured.absorb_node(index, &other.measured, from);
        self.waits_in.absorb(index as u32, &other.waits_in, from as u32);
        self.async_histograms.absorb(index, &other.async_histograms, from);
    }

    /// Adds those amounts of another baseline that are kept per thread and not per node.
    pub(crate) fn absorb_thread(&mut self, other: &Self) {
        self.handed_past += other.handed_past;
        self.handed_undo += other.handed_undo;
        self.cpu.absorb(&other.cpu, |cpu, other| {
            if let Some(other) = other {
                *cpu = Some(cpu.unwrap_or(0) + other);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticks(ticks: u64) -> Counts {
        Counts {
            calls: 1,
            ticks,
            sum: ticks / 2,
            ..Counts::default()
        }
    }

    #[test]
    fn a_reset_shows_zero_and_an_undo_all_again() {
        let mut baseline = Baseline::default();
        baseline.show(&[ticks(5), ticks(100)], &[], Some(50));
        baseline.reset();
        assert!(baseline.shown(1).is_zero());
        baseline.show(&[ticks(5), ticks(130)], &[], Some(70));
        assert_eq!((baseline.shown(1).ticks, baseline.cpu_shown()), (30, Some(20)));
        baseline.undo();
        assert_eq!((baseline.shown(1).ticks, baseline.cpu_shown()), (130, Some(70)));
    }

    #[test]
    fn a_sum_that_began_again_beyond_64_bits_goes_on_after_resets() {
        let counted = |sum| Counts {
            calls: 1,
            sum,
            ..Counts::default()
        };
        let mut baseline = Baseline::default();
        baseline.show(&[counted(0), counted(u64::MAX)], &[], None);
        assert_eq!(baseline.shown(1).sum, u64::MAX);
        baseline.reset();
        baseline.show(&[counted(0), counted(4)], &[], None);
        assert_eq!(baseline.shown(1).sum, 5);
        let mut merged = Baseline::default();
        merged.absorb(1, &baseline, 1);
        merged.absorb(1, &baseline, 1);
        assert_eq!(merged.shown(1).sum, 10);
        baseline.undo();
        assert_eq!(baseline.shown(1).sum, 4);
    }

    proptest! {
        /// The epochs add up to the lifetime, even if a counter sometimes goes down a little between captures.
        #[test]
        fn epochs_add_up_to_the_lifetime(
            captures in proptest::collection::vec((proptest::collection::vec(0u64..1000, 1..6), any::<bool>()), 1..40),
        ) {
            let mut baseline = Baseline::default();
            let mut closed = 0;
            let mut columns = [0u64; 6];
            for (steps, reset) in captures {
                for (column, step) in columns.iter_mut().zip(steps) {
                    // The value mostly grows and sometimes shrinks a little, as in torn captures.
                    *column = (*column + step).saturating_sub(step / 100);
                }
                let counts: Vec<Counts> = columns.iter().map(|&value| ticks(value)).collect();
                baseline.show(&counts, &[], None);
                let shown: u64 = (1..counts.len()).map(|index| baseline.shown(index).ticks).sum();
                let mut lifetime = Lifetime::default();
                baseline.add_lifetime(&mut lifetime);
                prop_assert_eq!(closed + shown, lifetime.ticks);
                if reset {
                    baseline.reset();
                    closed += shown;
                }
            }
        }
    }
}

//! The calls of the *unit* of a thread: a function whose calls are, by chance, measured as usual or with clocks off, to find out
//! what the clock costs.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, fence};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::node::Node;

zeroed! {
    /// The call of the unit that is open in a thread, and the sums of those before it. Only the thread writes it.
    #[derive(Debug)]
    pub(crate) struct UnitCalls {
        /// The node of the open call, until its guard is dropped.
        open: Ref<Node>,
        /// How the open call is measured: [`NOT`], [`CLOCKED`] or [`UNCLOCKED`].
        kind: AtomicU32,
        /// The [`Path`](super::tree::Path) before it.
        pub(crate) outside: AtomicU32,
        /// The measurement that the sums belong to.
        number: AtomicU64,
        /// The thread's CPU time when the call began, in nanoseconds.
        pub(crate) cpu_began: AtomicU64,
        /// By node: the calls before this one.
        pub(crate) calls_before: Column<AtomicU64>,
        /// How many nodes have such a number.
        pub(crate) nodes_before: AtomicU32,
        /// By node: the ticks that the node gets of this call, plus 1 where it belongs to the unit.
        pub(crate) shares: Column<AtomicU64>,
        /// The CPU time of the first call of a pair, 0 if the next call is the first.
        first_ns: AtomicU64,
        /// Whether that was with clocks off.
        first_unclocked: AtomicU32,
        /// Numbers that are not equal while the sums are written.
        begun: AtomicU64,
        ended: AtomicU64,
        /// See [`PairSums`].
        sums: [AtomicU64; SUMS],
    }
}

const NOT: u32 = 0;
const CLOCKED: u32 = 1;
const UNCLOCKED: u32 = 2;

const SUMS: usize = 6;

/// How a call of the unit is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clocks {
    On,
    Off,
}

/// Sums over pairs of calls: one as usual, of `x` nanoseconds, and one with clocks off, of `y`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PairSums {
    pub(crate) pairs: f64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) xx: f64,
    pub(crate) yy: f64,
    pub(crate) xy: f64,
}

impl PairSums {
    fn of(numbers: [f64; SUMS]) -> Self {
        let [pairs, x, y, xx, yy, xy] = numbers;
        Self {
            pairs,
            x,
            y,
            xx,
            yy,
            xy,
        }
    }

    fn numbers(self) -> [f64; SUMS] {
        [self.pairs, self.x, self.y, self.xx, self.yy, self.xy]
    }

    /// Adds other pairs.
    pub(crate) fn add(&mut self, other: Self) {
        let (mine, others) = (self.numbers(), other.numbers());
        *self = Self::of(std::array::from_fn(|at| mine[at] + others[at]));
    }

    /// Adds a pair.
    pub(crate) fn add_pair(&mut self, x: f64, y: f64) {
        self.add(Self::of([1.0, x, y, x * x, y * y, x * y]));
    }

    /// Returns the mean of the calls as usual, that of the others, and the 95 % interval of their ratio: the delta method for a ratio of two
    /// means of pairs, with the quantile of Student's distribution for as many. `None` with fewer than three pairs.
    pub(crate) fn ratio(&self) -> Option<Ratio> {
        let n = self.pairs;
        if n < 3.0 || self.y <= 0.0 {
            return None;
        }
        let (x, y) = (self.x / n, self.y / n);
        let ratio = x / y;
        let spread = |sum: f64, a: f64, b: f64| (sum - n * a * b) / (n - 1.0);
        let variance = spread(self.xx, x, x) - 2.0 * ratio * spread(self.xy, x, y)
            + ratio * ratio * spread(self.yy, y, y);
        let half = (1.96 + 2.4 / (n - 1.0)) * (variance.max(0.0) / n).sqrt() / y;
        Some(Ratio {
            x,
            y,
            low: (ratio - half).max(0.0),
            high: ratio + half,
        })
    }
}

/// What pairs say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl UnitCalls {
    pub(crate) const fn new() -> Self {
        Self {
            open: Ref::none(),
            kind: AtomicU32::new(NOT),
            outside: AtomicU32::new(0),
            number: AtomicU64::new(0),
            cpu_began: AtomicU64::new(0),
            calls_before: Column::new(),
            nodes_before: AtomicU32::new(0),
            shares: Column::new(),
            first_ns: AtomicU64::new(0),
            first_unclocked: AtomicU32::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            sums: [const { AtomicU64::new(0) }; SUMS],
        }
    }

    /// Forgets all, for another life of the tree.
    pub(crate) fn clear(&self) {
        self.close();
        self.number.store(0, Ordering::Relaxed);
    }

    /// Returns the node of the open call.
    #[inline(always)]
    pub(crate) fn open(&self) -> Option<&'static Node> {
        self.open.get()
    }

    /// Returns whether the open call is of this node.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn is_of(&self, node: &'static Node) -> bool {
        self.open.is(node)
    }

    /// Returns how the open call is measured, if it is.
    pub(crate) fn clocks(&self) -> Option<Clocks> {
        match self.kind.load(Ordering::Relaxed) {
            CLOCKED => Some(Clocks::On),
            UNCLOCKED => Some(Clocks::Off),
            _ => None,
        }
    }

    /// Returns whether a call with clocks off is open, for another thread.
    pub(crate) fn is_unclocked(&self) -> bool {
        self.kind.load(Ordering::Acquire) == UNCLOCKED
    }

    /// Opens a call.
    pub(crate) fn begin(&self, node: &'static Node, clocks: Clocks) {
        self.open.set(Some(node));
        let kind = match clocks {
            Clocks::On => CLOCKED,
            Clocks::Off => UNCLOCKED,
        };
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// The open call, if one is measured, is none that counts, and neither is the first of its pair.
    pub(crate) fn discard(&self) {
        if self.clocks().is_some() {
            self.kind.store(NOT, Ordering::Relaxed);
            self.first_ns.store(0, Ordering::Relaxed);
        }
    }

    /// The open call ends; how it is measured is still known.
    pub(crate) fn leave(&self) {
        self.open.set(None);
    }

    /// No call is open.
    pub(crate) fn close(&self) {
        self.discard();
        self.open.set(None);
    }

    /// Begins anew if the sums belong to another measurement.
    pub(crate) fn belong_to(&self, number: u64) {
        if self.number.load(Ordering::Relaxed) != number {
            self.first_ns.store(0, Ordering::Relaxed);
            self.write(PairSums::default());
            self.number.store(number, Ordering::Release);
        }
    }

    /// Decides how the next call is measured: the first of a pair by chance, the second in the other way.
    pub(crate) fn next(&self, random: u64) -> Clocks {
        let off = match self.first_ns.load(Ordering::Relaxed) {
            0 => random >> 63 != 0,
            _ => self.first_unclocked.load(Ordering::Relaxed) == 0,
        };
        if off { Clocks::Off } else { Clocks::On }
    }

    /// Notes what a call took that has ended, and closes it.
    pub(crate) fn end(&self, clocks: Clocks, ns: u64) {
        let ns = ns.max(1);
        let first = self.first_ns.load(Ordering::Relaxed);
        let is_same = (self.first_unclocked.load(Ordering::Relaxed) != 0) == (clocks == Clocks::Off);
        // A signal handler may have had a call of the same kind.
        if first == 0 || is_same {
            self.first_ns.store(ns, Ordering::Relaxed);
            self.first_unclocked
                .store(u32::from(clocks == Clocks::Off), Ordering::Relaxed);
        } else {
            self.first_ns.store(0, Ordering::Relaxed);
            let (x, y) = match clocks {
                Clocks::On => (ns, first),
                Clocks::Off => (first, ns),
            };
            let mut sums = self.own();
            sums.add_pair(x as f64, y as f64);
            self.write(sums);
        }
        self.kind.store(NOT, Ordering::Relaxed);
        self.open.set(None);
    }

    /// Takes the first call of a pair whose other one will not come, because the thread has ended: how it was measured, and its nanoseconds.
    pub(crate) fn take_single(&self, number: u64) -> Option<(Clocks, u64)> {
        if self.number.load(Ordering::Relaxed) != number {
            return None;
        }
        let clocks = match self.first_unclocked.load(Ordering::Relaxed) {
            0 => Clocks::On,
            _ => Clocks::Off,
        };
        let ns = self.first_ns.load(Ordering::Relaxed);
        self.first_ns.store(0, Ordering::Relaxed);
        (ns > 0).then_some((clocks, ns))
    }

    fn own(&self) -> PairSums {
        PairSums::of(std::array::from_fn(|at| {
            f64::from_bits(self.sums[at].load(Ordering::Relaxed))
        }))
    }

    fn write(&self, sums: PairSums) {
        let turn = self.begun.load(Ordering::Relaxed) + 1;
        self.begun.store(turn, Ordering::Relaxed);
        // SYNC POINT: begun before sums.
        fence(Ordering::Release);
        for (to, number) in self.sums.iter().zip(sums.numbers()) {
            to.store(number.to_bits(), Ordering::Relaxed);
        }
        // SYNC POINT: sums before ended.
        self.ended.store(turn, Ordering::Release);
    }

    /// Returns the sums of a measurement, for another thread; `None` while they are written, or if there are none.
    pub(crate) fn read(&self, number: u64) -> Option<PairSums> {
        if self.number.load(Ordering::Acquire) != number {
            return None;
        }
        let ended = self.ended.load(Ordering::Acquire);
        let sums = self.own();
        fence(Ordering::Acquire);
        (self.begun.load(Ordering::Relaxed) == ended).then_some(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::node::UNIT_GUARD;

    #[test]
    fn calls_come_in_pairs_of_both_kinds() {
        let unit = UnitCalls::new();
        unit.belong_to(1);
        let mut expected = PairSums::default();
        for (random, x, y) in [(0, 30, 20), (u64::MAX, 50, 40)] {
            let first = unit.next(random);
            let other = match first {
                Clocks::On => Clocks::Off,
                Clocks::Off => Clocks::On,
            };
            for clocks in [first, other] {
                assert_eq!(unit.next(random), clocks);
                unit.begin(&UNIT_GUARD, clocks);
                unit.end(clocks, if clocks == Clocks::On { x } else { y });
            }
            expected.add_pair(x as f64, y as f64);
        }
        assert_eq!(unit.read(1), Some(expected));
        assert_eq!(unit.read(2), None);
        // A call that does not count takes the other one of its pair with it.
        unit.begin(&UNIT_GUARD, Clocks::On);
        unit.end(Clocks::On, 70);
        unit.begin(&UNIT_GUARD, Clocks::Off);
        unit.discard();
        unit.close();
        assert_eq!(unit.read(1), Some(expected));
        assert_eq!(unit.next(u64::MAX), Clocks::Off, "by chance again");
        // What ends no call leaves the first of a pair as it is.
        unit.begin(&UNIT_GUARD, Clocks::Off);
        unit.end(Clocks::Off, 70);
        unit.discard();
        assert_eq!(unit.next(u64::MAX), Clocks::On);
        assert_eq!(unit.take_single(1), Some((Clocks::Off, 70)));
        unit.belong_to(2);
        assert_eq!(unit.read(2), Some(PairSums::default()));
    }

    /// In 19 of 20 measurements, the interval contains the ratio that is true: here of calls whose work varies, some of which take
    /// three times as long.
    #[test]
    fn the_interval_contains_the_true_ratio() {
        let mut state = 7_u64;
        let mut random = || {
            state = crate::enabled::record::untimed::xorshift(state);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for pairs in [20, 100, 1000] {
            let mut inside = 0;
            for _ in 0..1000 {
                let mut sums = PairSums::default();
                for _ in 0..pairs {
                    let mut work = || {
                        let usual = 1000.0 * (0.8 + 0.4 * random());
                        if random() < 0.05 { usual * 3.0 } else { usual }
                    };
                    let (x, y) = (work() * 1.3, work());
                    sums.add_pair(x, y);
                }
                let ratio = sums.ratio().unwrap();
                inside += usize::from(ratio.low <= 1.3 && 1.3 <= ratio.high);
            }
            assert!(inside >= 930, "{pairs} pairs: {inside} of 1000");
        }
    }
}

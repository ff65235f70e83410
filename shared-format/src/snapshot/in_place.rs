//! What measuring does to the program, as measured in the program itself.

use std::fmt;

use bincode::{Decode, Encode};

use crate::snapshot::Mode;

/// So many pairs of calls at least say something.
pub const PAIRS_LEAST: u64 = 20;

/// The code of a program with scopes is laid out otherwise than without, which no measurement in the program sees. With all scopes off,
/// 32 cases of the benchmark took from 3.3 ns a scope less to 3.5 ns more than their plain copies.
const LAYOUT_NS: f64 = 3.5;

/// Of the time for which samples find a thread in an event, the program may need so much for itself, as the CPU does both at once.
const OVERLAP: f64 = 0.5;

/// The instructions of a scope that stand in the program itself, which samples take for the program: 1.8, 2.4 and 4.7 ns by samples of perf
/// in three real programs of the benchmark, in adaptive mode.
const UNSEEN_NS: f64 = 4.7;

/// By how many times the calibrated upper bound scopes that only count may make a program faster or slower.
const COUNTED_LESS: f64 = 2.0;
const COUNTED_MORE: f64 = 3.5;

/// So many samples at least say something of what a scope costs.
const SAMPLES_LEAST: u64 = 100;

/// What the clock does to one function that repeats, the *unit*. By chance, a call of it is measured as usual or with clocks off: its
/// scopes are then only counted. The CPU time of both kinds of calls is compared, in pairs of calls that follow each other in a
/// thread.
///
/// The interval of the slowdown is that of a ratio of two means of pairs (the delta method), at 95 %.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct InPlace {
    /// How far this has come.
    pub state: InPlaceState,
    /// The unit, with its module: `game::frame`; empty before one is chosen.
    pub unit: String,
    /// How scopes were measured.
    pub mode: Mode,
    /// Pairs of calls: in each, one with clocks on and one with clocks off.
    pub pairs: u64,
    /// The mean CPU time of a call of the unit as usual, in nanoseconds.
    pub measured_ns: f64,
    /// The same with clocks off.
    pub unclocked_ns: f64,
    /// The bounds of [`slowdown`](Self::slowdown), at 95 %.
    pub low: f64,
    /// The upper one.
    pub high: f64,
    /// Scopes in a call of the unit, on average.
    pub scopes: f64,
    /// The bounds of what it costs to count a scope without a clock, in nanoseconds, as calibrated.
    pub counted_low_ns: f64,
    /// The upper one.
    pub counted_high_ns: f64,
    /// How long it has been measured, in nanoseconds.
    pub for_ns: u64,
}

/// What samples saw of measuring: how often they found a thread in an event, as the beginning or the end of a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct SeenCost {
    /// So many samples found a thread in an event.
    pub looks: u64,
    /// The time for which they stand, in nanoseconds.
    pub ns: f64,
}

/// How far the measurement has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum InPlaceState {
    /// It looks for a function that repeats.
    #[default]
    Choosing,
    /// Calls are measured.
    Measuring,
    /// It is over.
    Done,
    /// It is over without a result: no function repeats, or none that was asked for.
    NothingRepeats,
    /// It is over without a result: this mode reads no clock.
    NoClocks,
}

/// What a scope costs, in nanoseconds.
///
/// The lower bound of a measurement may be negative: the compiler lays out code with scopes otherwise, which may make a program
/// faster by more than scopes cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScopeCost {
    /// The lower bound.
    pub low_ns: f64,
    /// The most likely cost.
    pub middle_ns: f64,
    /// The upper bound.
    pub high_ns: f64,
}

impl fmt::Display for ScopeCost {
    /// Writes `12.0 to 14.0 ns`, or `at most 8.1 ns` where nothing is known of the least.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low_ns, high_ns, .. } = self;
        if *low_ns > 0.0 {
            write!(f, "{low_ns:.1} to {high_ns:.1} ns")
        } else {
            write!(f, "at most {high_ns:.1} ns")
        }
    }
}

impl SeenCost {
    /// Returns the cost of each of so many scopes, if `samples` were taken in `since_ns` nanoseconds; `None` if they are too few. The bounds
    /// are those of a Poisson distribution, at 95 %. They allow for what scopes do to the layout of the code, for what the CPU does at once,
    /// and for instructions that samples do not see.
    pub(crate) fn scope_cost(self, samples: u64, since_ns: u64, calls: u64) -> Option<ScopeCost> {
        if samples < SAMPLES_LEAST || calls == 0 {
            return None;
        }
        let looks = self.looks as f64;
        // Looks are further apart while a program does little.
        let look_ns = if self.looks > 0 {
            self.ns / looks
        } else {
            since_ns as f64 / samples as f64
        } / calls as f64;
        Some(ScopeCost {
            low_ns: (looks - 2.0 * looks.sqrt()).max(0.0) * look_ns * OVERLAP - LAYOUT_NS,
            middle_ns: looks * look_ns,
            high_ns: (looks + 2.0 * (looks + 1.0).sqrt() + 1.0) * look_ns + UNSEEN_NS + LAYOUT_NS,
        })
    }

    /// Adds what others saw.
    pub fn add(&mut self, other: Self) {
        self.looks = self.looks.saturating_add(other.looks);
        self.ns += other.ns;
    }

    /// Returns what was seen since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            looks: self.looks.saturating_sub(earlier.looks),
            ns: (self.ns - earlier.ns).max(0.0),
        }
    }

    /// Returns whether its number is that of a measurement.
    pub(crate) fn is_sound(self) -> bool {
        self.ns.is_finite() && self.ns >= 0.0
    }
}

impl InPlaceState {
    /// Returns whether nothing more comes.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Choosing | Self::Measuring)
    }
}

impl InPlace {
    /// Returns the time of the unit as usual over its time with clocks off, once enough pairs are known.
    pub fn slowdown(&self) -> Option<f64> {
        (self.pairs >= PAIRS_LEAST && self.unclocked_ns > 0.0).then(|| self.measured_ns / self.unclocked_ns)
    }

    /// Returns what a scope in the unit costs, counting included, once that is known. Counting overlaps with the program's own work or keeps
    /// the CPU from doing some of that at once, and scopes in the code change how the compiler lays it out: in the cases of the benchmark,
    /// scopes that only count took from twice the calibrated upper bound *less* to 2.9 times *more* than the plain program. The bounds
    /// here allow for that.
    pub fn scope_cost(&self) -> Option<ScopeCost> {
        let slowdown = self.slowdown().filter(|_| self.scopes >= 1.0)?;
        let of = |slowdown: f64| ((slowdown - 1.0) * self.unclocked_ns / self.scopes).max(0.0);
        Some(ScopeCost {
            low_ns: of(self.low) - COUNTED_LESS * self.counted_high_ns,
            middle_ns: of(slowdown) + (self.counted_low_ns + self.counted_high_ns) / 2.0,
            high_ns: of(self.high) + COUNTED_MORE * self.counted_high_ns,
        })
    }

    /// Returns whether all numbers are those of a measurement.
    pub(crate) fn is_sound(&self) -> bool {
        [
            self.measured_ns,
            self.unclocked_ns,
            self.low,
            self.high,
            self.scopes,
            self.counted_low_ns,
            self.counted_high_ns,
        ]
        .iter()
        .all(|number| number.is_finite() && *number >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_costs_the_looks_that_found_a_thread_in_one() {
        // 25 of 1 000 looks in a second, 1 000 000 scopes: 25 ns each, give or take two times 5 looks, and what no look sees.
        let seen = |looks, samples, calls| {
            let ns = looks as f64 * 1e6;
            SeenCost { looks, ns }.scope_cost(samples, 1_000_000_000, calls)
        };
        let cost = seen(25, 1000, 1_000_000).unwrap();
        assert!((cost.middle_ns - 25.0).abs() < 1e-9 && (cost.low_ns - (7.5 - LAYOUT_NS)).abs() < 1e-9);
        let more = UNSEEN_NS + LAYOUT_NS;
        assert!((35.0 + more..38.0 + more).contains(&cost.high_ns), "{cost:?}");
        // That none did says that it costs little, and not nothing.
        let none = seen(0, 1000, 1_000_000).unwrap();
        assert_eq!(
            (none.low_ns, none.middle_ns, none.high_ns),
            (-LAYOUT_NS, 0.0, 3.0 + more)
        );
        assert_eq!(seen(25, 99, 1_000_000), None);
        assert_eq!(seen(0, 1000, 0), None);
    }

    #[test]
    fn a_scope_costs_what_the_clocks_add_and_what_counting_takes() {
        let mut in_place = InPlace {
            pairs: PAIRS_LEAST,
            measured_ns: 1300.0,
            unclocked_ns: 1000.0,
            low: 1.25,
            high: 1.375,
            scopes: 10.0,
            counted_low_ns: 2.0,
            counted_high_ns: 4.0,
            ..InPlace::default()
        };
        assert_eq!(in_place.slowdown(), Some(1.3));
        let cost = in_place.scope_cost().unwrap();
        assert_eq!((cost.low_ns, cost.high_ns), (17.0, 51.5));
        assert!((cost.middle_ns - 33.0).abs() < 1e-9);
        in_place.pairs -= 1;
        assert_eq!((in_place.slowdown(), in_place.scope_cost()), (None, None));
    }
}

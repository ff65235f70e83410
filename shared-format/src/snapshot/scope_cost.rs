//! The cost of a scope, as estimated from samples in the running program.

use std::fmt;

use bincode::{Decode, Encode};

/// How many nanoseconds a scope may cost or save because it changes the layout of the code, which no measurement inside
/// the program can see. With all scopes off, 32 cases of the benchmark took between 3.3 ns less and 3.5 ns more per
/// scope than copies of the same code without scopes.
const LAYOUT_NS: f64 = 3.5;

/// Share of the time in events that may really be the program's own work, because the CPU executes both in parallel.
const OVERLAP: f64 = 0.5;

/// Cost, in nanoseconds, of the instructions that a scope adds to the program's own code. Samples attribute it to the
/// program. According to `perf`, it was 1.8, 2.4 and 4.7 ns in three real programs of the benchmark, in adaptive mode.
const UNSEEN_NS: f64 = 4.7;

/// Minimum number of samples needed to estimate the cost of a scope.
const SAMPLES_LEAST: u64 = 100;

/// Samples that found a thread in the middle of an event, such as the beginning or the end of a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct SeenCost {
    /// Number of samples that found a thread in the middle of an event.
    pub looks: u64,
    /// Time that these samples stand for, in nanoseconds.
    pub ns: f64,
}

/// Cost of a scope, in nanoseconds.
///
/// A measured lower bound may be negative: scopes change how the compiler lays out the code, and this may save more
/// time than the scopes cost.
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
    /// Writes `12.0 to 14.0 ns`, or `at most 8.1 ns` if the lower bound is 0 or less.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low_ns, high_ns, .. } = self;
        match *low_ns > 0.0 {
            true => write!(f, "{low_ns:.1} to {high_ns:.1} ns"),
            false => write!(f, "at most {high_ns:.1} ns"),
        }
    }
}

impl SeenCost {
    /// Returns the cost of one scope, given that there were `calls` scopes, and that `samples` samples were taken in
    /// `since_ns` nanoseconds. Returns `None` if there are too few samples or no calls. The bounds enclose a 95 %
    /// confidence interval of a Poisson distribution. They are widened to allow for the changed layout of the code, for
    /// work that the CPU does in parallel, and for instructions that samples do not see.
    pub(crate) fn scope_cost(self, samples: u64, since_ns: u64, calls: u64) -> Option<ScopeCost> {
        if samples < SAMPLES_LEAST || calls == 0 {
            return None;
        }
        let looks = self.looks as f64;
        // The mean over all samples is only a fallback, because samples are less frequent while a program does little.
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

    /// Returns the sum of `self` and `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            looks: self.looks.saturating_add(other.looks),
            ns: self.ns + other.ns,
        }
    }

    /// Returns only the samples that were taken after `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            looks: self.looks.saturating_sub(earlier.looks),
            ns: (self.ns - earlier.ns).max(0.0),
        }
    }

    /// Returns whether the time is finite and not negative.
    pub(crate) fn is_sound(self) -> bool {
        self.ns.is_finite() && self.ns >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_costs_the_looks_that_found_a_thread_in_one() {
        // 25 of the 1,000 samples that were taken in a second found a thread in an event. With 1,000,000 scopes, this
        // makes 25 ns per scope. According to the Poisson distribution, 15 to 37 such samples are plausible. The lower
        // bound is halved because of overlap. The effect of the code layout widens both bounds, and the instructions
        // that samples do not see raise the upper bound.
        let seen = |looks, samples, calls| {
            let ns = looks as f64 * 1e6;
            SeenCost { looks, ns }.scope_cost(samples, 1_000_000_000, calls)
        };
        let cost = seen(25, 1000, 1_000_000).unwrap();
        assert!((cost.middle_ns - 25.0).abs() < 1e-9 && (cost.low_ns - (7.5 - LAYOUT_NS)).abs() < 1e-9);
        let more = UNSEEN_NS + LAYOUT_NS;
        assert!((35.0 + more..38.0 + more).contains(&cost.high_ns), "{cost:?}");
        // If no sample found a thread in an event, the most likely cost is 0, but the upper bound is not.
        let none = seen(0, 1000, 1_000_000).unwrap();
        let got = (none.low_ns, none.middle_ns, none.high_ns);
        assert_eq!(got, (-LAYOUT_NS, 0.0, 3.0 + more));
        assert_eq!(seen(25, 99, 1_000_000), None);
        assert_eq!(seen(0, 1000, 0), None);
    }
}

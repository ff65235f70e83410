//! Standard errors of estimated times and live bytes. The errors of nodes are combined for rows and functions.

use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Estimate, Quantity, Snapshot, Values};

/// Uncertainty of the times (or other values) of a node, a row or a function. Nodes are timed independently, so the error of a
/// sum is the square root of the sum of squared errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uncertainty {
    /// Number of calls that were timed.
    pub timed: u64,
    /// Standard error of the self time, in ticks.
    pub self_error: f64,
    /// Standard error of the total time, in ticks.
    pub total_error: f64,
    /// Whether the self time is an estimate. Its error may be unknown.
    pub self_estimated: bool,
    /// An estimate is rough if its standard error is larger than this fraction of the estimate.
    pub total_estimated: bool,
}

/// An estimate is rough if its standard error is above this share of the estimate.
const ROUGH: f64 = 0.05;

/// Percentiles are rough if fewer calls than this were timed.
const TIMED_ENOUGH: u64 = 1_000;

impl Uncertainty {
    /// Returns a copy in which only rough times count as estimates. These are the times that screens and reports mark. A time is
    /// rough if its standard error is unknown or greater than 5 % of the time.
    pub fn rough(self, self_ticks: u64, total_ticks: u64) -> Self {
        let is_rough = |error: f64, ticks: u64| error <= 0.0 || error > ROUGH * ticks as f64;
        Self {
            self_estimated: self.self_estimated && is_rough(self.self_error, self_ticks),
            total_estimated: self.total_estimated && is_rough(self.total_error, total_ticks),
            ..self
        }
    }

    /// Returns whether only some of these calls were timed. The longest call may then be longer than the longest timed call.
    pub fn is_timed_in_part(&self, calls: u64) -> bool {
        self.timed < calls
    }

    /// Returns whether so few of these calls were timed that their percentiles are rough.
    pub fn has_rough_percentiles(&self, calls: u64) -> bool {
        self.is_timed_in_part(calls) && self.timed < TIMED_ENOUGH
    }

    /// Adds the timed calls and the self-time error of another uncertainty.
    pub(super) fn add_self(&mut self, other: &Self) {
        self.timed = self.timed.saturating_add(other.timed);
        self.self_error = self.self_error.hypot(other.self_error);
        self.self_estimated |= other.self_estimated;
    }

    /// Adds the total-time error of another uncertainty.
    pub(super) fn add_total(&mut self, other: &Self) {
        self.total_error = self.total_error.hypot(other.total_error);
        self.total_estimated |= other.total_estimated;
    }

    /// Returns the uncertainty of a sum of total times, given the uncertainty of each.
    pub fn of_totals(several: impl Iterator<Item = Self>) -> Self {
        several.fold(Self::default(), |mut sum, one| {
            sum.add_total(&one);
            sum
        })
    }

    /// Returns the uncertainty, or `None` if no time is an estimate.
    pub fn if_estimated(self) -> Option<Self> {
        (self.self_estimated || self.total_estimated).then_some(self)
    }
}

/// Returns the uncertainty of every node; empty if all values are exact. If the values are counts, only the nodes in the
/// snapshot's list of estimates are uncertain.
///
/// A total may be exact although the times below it are estimates: in adaptive mode, a parent distributes the time of untimed
/// calls among its children.
pub fn uncertainties(snapshot: &Snapshot) -> Vec<Uncertainty> {
    let sampled = snapshot.capture.mode.is_sampling() && snapshot.values != Values::Counts;
    if snapshot.estimates.is_empty() && !sampled {
        return Vec::new();
    }
    let calls = &snapshot.nodes.calls;
    let mut uncertainties: Vec<Uncertainty> = calls
        .iter()
        .map(|&calls| Uncertainty {
            timed: if sampled { 0 } else { calls },
            self_estimated: sampled,
            total_estimated: sampled,
            ..Uncertainty::default()
        })
        .collect();
    for estimate in &snapshot.estimates {
        let row = estimate.node.index();
        let untimed = sampled || estimate.timed < calls[row];
        uncertainties[row] = Uncertainty {
            timed: estimate.timed,
            self_error: estimate.self_error as f64,
            total_error: estimate.total_error as f64,
            self_estimated: untimed || estimate.self_error > 0,
            total_estimated: untimed || estimate.total_error > 0,
        };
    }
    // Counters have no time, so they have no uncertainty.
    for count in &snapshot.counts {
        uncertainties[count.node.index()] = Uncertainty::default();
    }
    uncertainties
}

/// Returns the errors of the live bytes, which are estimated from sampled blocks. A node whose total has no variance is left out:
/// all of its blocks are known, so its live bytes are exact.
pub(super) fn of_live_bytes(snapshot: &Snapshot) -> Vec<Estimate> {
    let rows = snapshot.nodes.len();
    let variances = snapshot.measures.dense(Quantity::LiveVariance, rows);
    let error = |variance: u64| (variance as f64).sqrt().round() as u64;
    let totals = snapshot.nodes.totals(&variances);
    variances
        .iter()
        .zip(totals)
        .zip(0..)
        .filter(|&((_, total), _)| total > 0)
        .map(|((&own, total), row)| Estimate {
            node: NodeId(row),
            // Only blocks are sampled; all calls were counted.
            timed: snapshot.nodes.calls[row as usize],
            self_error: error(own),
            total_error: error(total),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Mode;
    use tickscope_testkit::fixture::{self, estimate};

    use super::*;

    #[test]
    fn an_estimate_is_rough_if_its_error_is_unknown_or_more_than_a_twentieth_of_it() {
        let of = |self_error: f64, total_error: f64| Uncertainty {
            timed: 10,
            self_error,
            total_error,
            self_estimated: true,
            total_estimated: true,
        };
        let rough = |of: Uncertainty| {
            let rough = of.rough(100, 1000);
            (rough.self_estimated, rough.total_estimated)
        };
        assert_eq!(rough(of(5.0, 51.0)), (false, true));
        assert_eq!(rough(of(0.0, 50.0)), (true, false), "an unknown error");
        assert!(of(1.0, 1.0).rough(0, 0).self_estimated, "no sample fell into it");
        assert_eq!(rough(Uncertainty::default()), (false, false));
    }

    #[test]
    fn percentiles_of_a_thousand_timed_calls_are_not_rough() {
        let of = |timed| Uncertainty {
            timed,
            ..Uncertainty::default()
        };
        assert!(of(999).has_rough_percentiles(1000) && !of(1000).has_rough_percentiles(5000));
        assert!(!of(10).has_rough_percentiles(10) && of(1000).is_timed_in_part(5000));
    }

    fn flags(snapshot: &Snapshot) -> Vec<(bool, bool)> {
        uncertainties(snapshot)
            .iter()
            .map(|uncertainty| (uncertainty.self_estimated, uncertainty.total_estimated))
            .collect()
    }

    #[test]
    fn what_was_not_timed_or_sampled_is_an_estimate_and_what_a_parent_gives_to_its_children_is_not() {
        let mut snapshot = fixture::two_threads();
        assert_eq!(uncertainties(&snapshot), []);
        // Row 0 has 1 call, row 1 has 400 and row 2 has 100. All were timed except in row 2, where only 7 were.
        snapshot.estimates = vec![estimate(1, 400, 40, 0), estimate(2, 7, 40, 40)];
        let (exact, own, both) = ((false, false), (true, false), (true, true));
        assert_eq!(flags(&snapshot)[..4], [exact, own, both, exact]);
        let all = uncertainties(&snapshot);
        let timed: Vec<u64> = all.iter().map(|of| of.timed).collect();
        assert_eq!(timed[..4], [1, 400, 7, 1]);
        snapshot.estimates = vec![estimate(2, 1, 0, 0)];
        assert_eq!(flags(&snapshot)[2], both, "its error is not known");
        snapshot.estimates.clear();
        snapshot.capture.mode = Mode::Sampled;
        assert_eq!(flags(&snapshot), [both; 7]);
    }
}

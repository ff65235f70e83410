//! How far times are estimates: the standard errors of rows and functions, combined from those of nodes.

use crate::ids::NO_PARENT;
use crate::snapshot::Snapshot;

/// How far the times of a node, a row or a function are estimates. Those of several together are the root of the
/// sum of squares: nodes are timed independently.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Calls that were timed.
    pub timed: u64,
    /// Standard error of the self time, in ticks.
    pub self_error: f64,
    /// Standard error of the total time, in ticks.
    pub total_error: f64,
    /// Whether the self time is an estimate; one without a known error may be.
    pub self_estimated: bool,
    /// Whether the total time is one: the node itself or something below it is.
    pub total_estimated: bool,
}

// === impl Spread ===

impl Spread {
    /// Every call was timed.
    fn exact(calls: u64) -> Self {
        Self {
            timed: calls,
            ..Self::default()
        }
    }

    /// Adds what belongs to the self time of another.
    pub(super) fn add_self(&mut self, other: &Self) {
        self.timed = self.timed.saturating_add(other.timed);
        self.self_error = self.self_error.hypot(other.self_error);
        self.self_estimated |= other.self_estimated;
    }

    /// Adds what belongs to the total time of another.
    pub(super) fn add_total(&mut self, other: &Self) {
        self.total_error = self.total_error.hypot(other.total_error);
        self.total_estimated |= other.total_estimated;
    }

    /// Itself, where any time is an estimate.
    pub(super) fn if_estimated(self) -> Option<Self> {
        (self.self_estimated || self.total_estimated).then_some(self)
    }
}

/// The spread of every node; empty where all times are exact.
pub fn spreads(snapshot: &Snapshot) -> Vec<Spread> {
    if snapshot.estimates.is_empty() {
        return Vec::new();
    }
    let nodes = &snapshot.nodes;
    let mut spreads: Vec<Spread> = nodes.calls.iter().map(|&calls| Spread::exact(calls)).collect();
    let mut stated = vec![false; spreads.len()];
    for estimate in &snapshot.estimates {
        let row = estimate.node.index();
        let Some(spread) = spreads.get_mut(row) else {
            continue;
        };
        *spread = Spread {
            timed: estimate.timed,
            self_error: estimate.self_error as f64,
            total_error: estimate.total_error as f64,
            self_estimated: estimate.timed < nodes.calls[row] || estimate.self_error > 0,
            total_estimated: true,
        };
        stated[row] = true;
    }
    // A total above an estimate is one; where its error was not stated, it comes from below.
    for row in (0..spreads.len()).rev() {
        let (below, parent) = (spreads[row], nodes.parent[row]);
        if parent == NO_PARENT || !below.total_estimated {
            continue;
        }
        let parent = parent as usize;
        spreads[parent].total_estimated = true;
        if !stated[parent] {
            spreads[parent].total_error = spreads[parent].total_error.hypot(below.total_error);
        }
    }
    spreads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::ids::NodeId;
    use crate::snapshot::Estimate;

    fn estimate(row: u32, timed: u64, self_error: u64, total_error: u64) -> Estimate {
        Estimate {
            node: NodeId(row),
            timed,
            self_error,
            total_error,
        }
    }

    #[test]
    fn exact_times_have_none() {
        assert_eq!(spreads(&fixture::two_threads()), []);
    }

    #[test]
    fn totals_above_an_estimate_are_estimates() {
        let mut snapshot = fixture::two_threads();
        snapshot.estimates = vec![estimate(1, 400, 0, 50), estimate(2, 7, 40, 40)];
        let spreads = spreads(&snapshot);
        let flags: Vec<_> = spreads
            .iter()
            .map(|spread| (spread.self_estimated, spread.total_estimated))
            .collect();
        assert_eq!(
            flags[..4],
            [(false, true), (false, true), (true, true), (false, false)]
        );
        assert_eq!(spreads[1].total_error, 50.0, "as stated");
        assert_eq!(spreads[0].total_error, 50.0, "from below");
        assert_eq!((spreads[2].timed, spreads[3].timed), (7, 1));
    }
}

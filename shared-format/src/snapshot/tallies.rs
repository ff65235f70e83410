//! The rows without time in a snapshot: counters, values and gauges.

use super::{Count, GaugeRow, Snapshot, Tally, ValueRow};
use crate::ids::{NodeId, ThreadId};

impl Snapshot {
    /// Returns the sum of a counter, or `None` if the row is not a counter.
    pub fn sum_of(&self, node: NodeId) -> Option<u64> {
        let at = self.counts.binary_search_by_key(&node, |count| count.node);
        at.ok().map(|at| self.counts[at].sum)
    }

    /// Returns the number of calls since the reset, without the calls of counters, which never read the clock.
    pub fn scope_calls(&self) -> u64 {
        let all = self.counts.iter();
        let counted = all.map(|count| self.nodes.calls[count.node.index()]);
        self.calls() - counted.sum::<u64>()
    }

    /// Returns the number of calls of one thread since the reset, without the calls of counters.
    pub fn scope_calls_of(&self, thread: ThreadId) -> u64 {
        let rows = self.rows_of(thread);
        let first = self
            .counts
            .partition_point(|count| count.node.index() < rows.start);
        let counted = self.counts[first..]
            .iter()
            .map(|count| count.node.index())
            .take_while(|&row| row < rows.end)
            .map(|row| self.nodes.calls[row]);
        let counted: u64 = counted.sum();
        self.nodes.calls[rows].iter().sum::<u64>() - counted
    }

    /// Returns, for each row, the sum if the row is a counter, and `None` otherwise.
    pub fn sums(&self) -> Vec<Option<u64>> {
        let mut sums = vec![None; self.nodes.len()];
        for count in &self.counts {
            sums[count.node.index()] = Some(count.sum);
        }
        sums
    }

    /// Returns, for each row, the tally if the row has no time, and `None` otherwise.
    pub fn tallies(&self) -> Vec<Option<Tally>> {
        let mut tallies = vec![None; self.nodes.len()];
        for (row, tally) in self.tally_cells() {
            tallies[row as usize] = Some(tally);
        }
        tallies
    }

    /// Adds the tally of a row that has no time. Rows must be added in ascending order.
    pub fn push_tally(&mut self, node: NodeId, tally: Tally) {
        self.counts.push(Count {
            node,
            sum: tally.sum(),
        });
        match tally {
            Tally::Value { range, .. } => self.value_rows.push(ValueRow { node, range }),
            Tally::Gauge { level } => self.gauge_rows.push(GaugeRow { node, level }),
            Tally::Counter { .. } | Tally::Nothing => {}
        }
    }

    /// Removes all tallies, which makes all rows scopes.
    pub fn clear_tallies(&mut self) {
        self.counts.clear();
        self.value_rows.clear();
        self.gauge_rows.clear();
    }

    /// Returns whether a row is a value.
    pub fn is_value(&self, node: NodeId) -> bool {
        self.value_rows
            .binary_search_by_key(&node, |row| row.node)
            .is_ok()
    }

    /// Returns whether a row is a gauge.
    pub fn is_gauge(&self, node: NodeId) -> bool {
        self.gauge_rows
            .binary_search_by_key(&node, |row| row.node)
            .is_ok()
    }

    /// Returns the rows without time, with their tallies.
    pub fn tally_cells(&self) -> impl Iterator<Item = (u32, Tally)> {
        let mut values = self.value_rows.iter().peekable();
        let mut gauges = self.gauge_rows.iter().peekable();
        self.counts.iter().map(move |&Count { node, sum }| {
            let tally = if let Some(&ValueRow { range, .. }) = values.next_if(|row| row.node == node) {
                Tally::Value { sum, range }
            } else if let Some(&GaugeRow { level, .. }) = gauges.next_if(|row| row.node == node) {
                Tally::Gauge { level }
            } else {
                Tally::Counter { sum }
            };
            (node.0, tally)
        })
    }
}

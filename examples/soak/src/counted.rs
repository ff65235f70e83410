//! What a record counts beside calls and time, over all rows; and what must hold of each of them.

use anyhow::ensure;
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Quantity, live_error};

use crate::account::{self, ATTEMPTED, COUNTED, Numbers, has_all_calls};
use crate::load::LARGEST_BLOCK;
use crate::soak::Tally;

/// Calls that are in flight now, also those from before a reset. All else was counted since the reset.
pub(crate) const IN_FLIGHT: &str = "in flight";

/// The numbers of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted(pub(crate) Numbers);

/// Returns the sum of a number over the rows of sites with such a name.
fn sum(snapshot: &Snapshot, is_meant: impl Fn(&str) -> bool, number: impl Fn(u32) -> u64) -> u64 {
    let rows = (0..).zip(&snapshot.nodes.site);
    let meant = rows.filter(|&(_, &site)| is_meant(&snapshot.sites[site as usize].name));
    meant.map(|(row, _)| number(row)).sum()
}

impl Counted {
    /// Returns what a snapshot counts.
    ///
    /// # Errors
    /// What cannot be.
    pub(crate) fn of(snapshot: &Snapshot) -> anyhow::Result<Self> {
        check(snapshot)?;
        let (sums, row_calls) = (snapshot.sums(), &snapshot.nodes.calls);
        let calls = |is_meant: fn(&str) -> bool| sum(snapshot, is_meant, |row| row_calls[row as usize]);
        let all = |quantity| sum(snapshot, |_| true, |row| snapshot.measures.of_row(quantity, row));
        let churned = |quantity| {
            let of_row = |row| snapshot.measures.of_row(quantity, row);
            sum(snapshot, |name| name == "churn", of_row)
        };
        let values: fn(&str) -> bool = |name| name == "small blocks";
        let value_sum = sum(snapshot, values, |row| sums[row as usize].unwrap_or(0));
        let futures: fn(&str) -> bool = |name| ["request", "answer"].contains(&name);
        let waits = calls(|name| name.starts_with('['));
        let in_flight = all(Quantity::InFlight).wrapping_sub(all(Quantity::EndedElsewhere));
        let numbers = [
            ("calls", snapshot.calls() - waits),
            ("waits", waits),
            ("started", calls(futures)),
            ("ended", all(Quantity::FutureEnds)),
            ("cancelled", all(Quantity::FutureCancels)),
            (IN_FLIGHT, in_flight),
            ("values", calls(values)),
            ("sum of values", value_sum),
            ("churned", churned(Quantity::Allocations)),
            ("churned bytes", churned(Quantity::AllocatedBytes)),
            ("churned and freed", churned(Quantity::Frees)),
            ("churned and freed bytes", churned(Quantity::FreedBytes)),
            ("allocations", all(Quantity::Allocations)),
            ("frees", all(Quantity::Frees)),
            ("polls", all(Quantity::Polls)),
        ];
        Ok(Self(account::numbers(&numbers)))
    }

    fn number(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Returns both together. The calls in flight are those of `later`.
    pub(crate) fn and(&self, mut later: Self) -> Self {
        for (name, number) in later.0.iter_mut().filter(|(name, _)| *name != IN_FLIGHT) {
            *number += self.number(name);
        }
        later
    }

    /// Checks all that was ever counted, as of two records.
    ///
    /// # Errors
    /// What cannot be.
    pub(crate) fn follows(&self, before: &Self) -> anyhow::Result<()> {
        let has_shrunk = |(name, number): (&String, &i64)| name != IN_FLIGHT && *number < before.number(name);
        let any = self.0.iter().any(has_shrunk);
        ensure!(!any, "less was counted than before: {self:?} after {before:?}");
        let over = ["ended", "cancelled", IN_FLIGHT].map(|name| self.number(name));
        let adds_up = self.number("started") == over.iter().sum::<i64>();
        ensure!(adds_up, "started is not ended + cancelled + in flight: {self:?}");
        Ok(())
    }

    /// Checks all that was ever counted against the load's own account.
    ///
    /// # Errors
    /// What differs.
    pub(crate) fn is_that_of(&self, account: &Numbers) -> anyhow::Result<()> {
        has_all_calls(account)?;
        for (name, number) in account {
            let is_of_records = ![ATTEMPTED, COUNTED].contains(&name.as_str());
            let differs = is_of_records && self.0.get(name) != Some(number);
            ensure!(
                !differs,
                "{name}: the load did {account:?}, records have {self:?}"
            );
        }
        Ok(())
    }
}

/// Checks that self and children are the total of each measure, and that no row waits longer than there was time.
fn check(snapshot: &Snapshot) -> anyhow::Result<()> {
    for measure in Measure::measured(snapshot) {
        let seen = measure.of(snapshot);
        let tree = CallTree::build(&seen, |_| true);
        let tops = tree.top().iter().map(|&row| tree.rows[row as usize].total_ticks);
        let (totals, all) = (tops.sum::<u64>(), seen.nodes.self_ticks.iter().sum::<u64>());
        ensure!(totals == all, "{measure:?}: totals are {totals}, all rows {all}");
    }
    for (row, &ticks) in (0..).zip(&snapshot.nodes.self_ticks) {
        let of_row = |quantity| snapshot.measures.of_row(quantity, row);
        let off = of_row(Quantity::Waiting) + of_row(Quantity::Ready);
        let name = &snapshot.site_of(NodeId(row)).name;
        ensure!(off <= ticks, "{name}: {off} ticks off the CPU of {ticks}");
    }
    for row in &snapshot.value_rows {
        let calls = snapshot.nodes.calls[row.node.index()];
        let numbers = snapshot.latencies.of(row.node.0).count();
        ensure!(
            calls == numbers,
            "a value has {calls} calls and {numbers} numbers"
        );
    }
    Ok(())
}

/// Compares the bytes that the load has by its own account, once it says so, with those of its row. These may be off by their
/// error, and in one record of twenty by more.
///
/// # Errors
/// They are off by more than four times their error.
pub(crate) fn check_live(snapshot: &Snapshot, tally: &Tally) -> anyhow::Result<()> {
    let levels = snapshot.tally_cells().filter_map(|(_, tally)| tally.level());
    let Some(level) = levels.last() else {
        return Ok(());
    };
    let of = |quantity| {
        let of_row = |row| snapshot.measures.of_row(quantity, row);
        sum(snapshot, |name| name == "hoard", of_row)
    };
    let (live, error) = (of(Quantity::LiveBytes), live_error(of(Quantity::LiveVariance)));
    // Between a block and the level that includes it may be a record.
    let off = u64::try_from(level.last)?
        .abs_diff(live)
        .saturating_sub(LARGEST_BLOCK);
    tally.live.all.add(1);
    tally.live.wrong.add(u64::from(off > error));
    ensure!(
        off <= 4 * error,
        "{live} bytes are live +- {error}, wrong by {off}"
    );
    Ok(())
}

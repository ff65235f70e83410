//! What a record counts beside calls and time, over all rows; and what must hold of each of them.

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Quantity, Tally, live_error};

use crate::account::Account;
use crate::load::{LARGEST_BLOCK, SMALL_BLOCK};

/// What was counted since the reset, and how many calls are in flight, also those from before a reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// All calls, and those that are waits for locks.
    pub(crate) calls: u64,
    pub(crate) contended: u64,
    /// Calls of futures.
    pub(crate) started: u64,
    pub(crate) ended: u64,
    pub(crate) cancelled: u64,
    pub(crate) in_flight: i64,
    pub(crate) values: u64,
    pub(crate) value_sum: u64,
    /// Allocations of small blocks, their bytes, and both when they are freed.
    pub(crate) churned: [u64; 4],
    /// Allocations and frees of all rows, and polls.
    pub(crate) others: [u64; 3],
}

/// The bytes that the load has by its own account, and those of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    level: u64,
    live: u64,
    error: u64,
}

/// Rows by the name of their sites.
fn named<'a>(snapshot: &'a Snapshot, is_meant: impl Fn(&str) -> bool) -> impl Iterator<Item = u32> + 'a {
    let meant: Vec<bool> = snapshot.sites.iter().map(|site| is_meant(&site.name)).collect();
    let rows = snapshot.nodes.site.iter().zip(0..);
    rows.filter_map(move |(&site, row)| meant[site as usize].then_some(row))
}

impl Counted {
    /// Returns what a snapshot counts.
    ///
    /// # Errors
    /// What cannot be.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Self, String> {
        check(snapshot)?;
        let calls = |row: u32| snapshot.nodes.calls[row as usize];
        let rows = 0..snapshot.nodes.len() as u32;
        let sum = |quantity: Quantity| -> u64 {
            let column = snapshot.measures.of(quantity);
            column.map_or(0, |column| column.rows.iter().map(|(_, value)| value).sum())
        };
        let churn: Vec<u32> = named(snapshot, |name| name == "churn").collect();
        let churned = [
            Quantity::Allocations,
            Quantity::AllocatedBytes,
            Quantity::Frees,
            Quantity::FreedBytes,
        ]
        .map(|quantity| {
            churn
                .iter()
                .map(|&row| snapshot.measures.of_row(quantity, row))
                .sum()
        });
        let sums = snapshot.sums();
        let values: Vec<u32> = named(snapshot, |name| name == "small blocks").collect();
        Ok(Self {
            calls: rows.map(calls).sum(),
            contended: named(snapshot, |name| name.starts_with('[')).map(calls).sum(),
            started: named(snapshot, |name| name == "request" || name == "answer")
                .map(calls)
                .sum(),
            ended: sum(Quantity::FutureEnds),
            cancelled: sum(Quantity::FutureCancels),
            in_flight: sum(Quantity::InFlight).cast_signed() - sum(Quantity::EndedElsewhere).cast_signed(),
            values: values.iter().copied().map(calls).sum(),
            value_sum: values.iter().flat_map(|&row| sums[row as usize]).sum(),
            churned,
            others: [Quantity::Allocations, Quantity::Frees, Quantity::Polls].map(sum),
        })
    }

    /// Returns both together. The calls in flight are those of `other`, which is the later one.
    pub(crate) fn and(self, other: &Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            contended: self.contended + other.contended,
            started: self.started + other.started,
            ended: self.ended + other.ended,
            cancelled: self.cancelled + other.cancelled,
            in_flight: other.in_flight,
            values: self.values + other.values,
            value_sum: self.value_sum + other.value_sum,
            churned: std::array::from_fn(|at| self.churned[at] + other.churned[at]),
            others: std::array::from_fn(|at| self.others[at] + other.others[at]),
        }
    }

    fn growing(&self) -> [u64; 14] {
        let [made, bytes, frees, freed] = self.churned;
        let [allocations, all_frees, polls] = self.others;
        [
            self.calls,
            self.contended,
            self.started,
            self.ended,
            self.cancelled,
            self.values,
            self.value_sum,
            made,
            bytes,
            frees,
            freed,
            allocations,
            all_frees,
            polls,
        ]
    }

    /// Checks all that was ever counted, as of two records.
    ///
    /// # Errors
    /// What cannot be.
    pub(crate) fn follows(&self, before: &Self) -> Result<(), String> {
        if self
            .growing()
            .iter()
            .zip(before.growing())
            .any(|(&now, before)| now < before)
        {
            return Err(format!("less was counted than before: {self:?} after {before:?}"));
        }
        let over = (self.ended + self.cancelled).cast_signed();
        if self.started.cast_signed() != over + self.in_flight {
            return Err(format!("started is not ended + cancelled + in flight: {self:?}"));
        }
        Ok(())
    }

    /// Checks all that was ever counted against the load's own account.
    ///
    /// # Errors
    /// What differs.
    pub(crate) fn is_that_of(&self, account: &Account) -> Result<(), String> {
        let blocks = [account.churned, account.churned * SMALL_BLOCK as u64];
        let own = (
            [account.started, account.ended, account.cancelled],
            [account.values, account.value_sum],
            [blocks, blocks].concat(),
            account.made,
        );
        let found = (
            [self.started, self.ended, self.cancelled],
            [self.values, self.value_sum],
            self.churned.to_vec(),
            self.calls - self.contended,
        );
        if own != found || !account.has_all_calls() || self.in_flight != 0 {
            return Err(format!("the program did {account:?}, records have {self:?}"));
        }
        Ok(())
    }
}

/// Checks that self and children are the total of each measure, and that no row waits longer than there was time.
fn check(snapshot: &Snapshot) -> Result<(), String> {
    for measure in Measure::measured(snapshot) {
        let seen = measure.of(snapshot);
        let tree = CallTree::build(&seen, |_| true);
        let tops = tree.top().iter().map(|&row| tree.rows[row as usize].total_ticks);
        let (totals, all) = (tops.sum::<u64>(), seen.nodes.self_ticks.iter().sum::<u64>());
        if totals != all {
            return Err(format!(
                "{measure:?}: totals are {totals}, all rows together {all}"
            ));
        }
    }
    for (row, &ticks) in (0..).zip(&snapshot.nodes.self_ticks) {
        let off =
            [Quantity::Waiting, Quantity::Ready].map(|quantity| snapshot.measures.of_row(quantity, row));
        if off[0] + off[1] > ticks {
            let name = &snapshot.site_of(NodeId(row)).name;
            return Err(format!("{name}: {off:?} ticks off the CPU of {ticks}"));
        }
    }
    for row in &snapshot.value_rows {
        let (calls, numbers) = (
            snapshot.nodes.calls[row.node.index()],
            snapshot.latencies.of(row.node.0).count(),
        );
        if calls != numbers {
            return Err(format!("a value has {calls} calls and {numbers} numbers"));
        }
    }
    Ok(())
}

impl Held {
    /// Returns what the load holds, once it says so.
    pub(crate) fn of(snapshot: &Snapshot) -> Option<Self> {
        let tallies = snapshot.tallies();
        let levels = named(snapshot, |name| name == "held bytes");
        let level = levels
            .flat_map(|row| tallies[row as usize])
            .find_map(Tally::level)?;
        let rows: Vec<u32> = named(snapshot, |name| name == "hoard").collect();
        let sum = |quantity: Quantity| -> u64 {
            rows.iter()
                .map(|&row| snapshot.measures.of_row(quantity, row))
                .sum()
        };
        Some(Self {
            level: u64::try_from(level.last).ok()?,
            live: sum(Quantity::LiveBytes),
            error: live_error(sum(Quantity::LiveVariance)),
        })
    }

    /// Returns whether what is live is as near to the truth as so many times its error. Between a block and the level that
    /// includes it may be a record.
    pub(crate) fn is_within(&self, times: u64) -> bool {
        self.level.abs_diff(self.live) <= times * self.error + LARGEST_BLOCK
    }
}

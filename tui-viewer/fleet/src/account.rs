//! Counts of a program over all its runs, and the choice of functions that get a Prometheus series.
//!
//! A function that has a series keeps it, so that no series ends when ranks change, only to begin again later. A series that
//! starts late begins at 0, and the function's earlier counts stay in the series `other`. So no exported number ever decreases.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tickscope_analysis::groups;
use tickscope_analysis::inclusive_time::inclusive_times;
use tickscope_command::console::printable;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Quantity, Sites, Tally};

use crate::amounts::{Amounts, Kind, Octaves};
use crate::run_sums::RunSums;

/// Maximum number of series of each kind, as a multiple of [`AccountOptions::top`]. It is more than 1, because ranks
/// change, and no series is removed.
const MOST_TIMES: usize = 4;

/// What functions are ranked by: their time, and their calls if the times are equal.
type Weight = (u64, u64);

/// Returns whether one weight exceeds another by more than a quarter. Without this margin, functions that take nearly
/// the same time would overtake each other again and again, until all of them had series.
fn is_clearly_more((time, calls): Weight, (other_time, other_calls): Weight) -> bool {
    let more = |this: u64, other: u64| u128::from(this) * 4 > u128::from(other) * 5;
    if time.max(other_time) > 0 {
        more(time, other_time)
    } else {
        more(calls, other_calls)
    }
}

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum ItemKind {
    /// A function or a named scope; with `grouped`, a group instead of its members.
    Function,
    /// A counter or a value.
    Counter,
    /// The time inside a group.
    Group,
}

/// Options for counting functions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AccountOptions {
    /// Number of a program's functions that get series. A function that later overtakes one of these by more than a
    /// quarter gets a series as well.
    pub(crate) top: usize,
    /// Whether a group is counted instead of its members.
    pub(crate) grouped: bool,
    /// Whether latencies are counted.
    pub(crate) latency: bool,
}

/// A function, a counter or a group of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    /// Full name of the item.
    pub(crate) name: String,
    /// Counts over all runs.
    sum: Amounts,
    /// Counts from before the item's series began, which the series does not contain; `None` if the item has no series.
    base: Option<Amounts>,
}

impl Item {
    /// Returns the counts that the item's series shows; `None` if the item has no series.
    pub(crate) fn exported(&self) -> Option<Amounts> {
        let mut shown = self.sum.clone();
        shown.subtract(self.base.as_ref()?);
        Some(shown)
    }
}

/// Current state of a program's processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Now {
    /// Number of running processes.
    pub(crate) running: u64,
    /// Upper bound of the cost of measuring, as a share of scope time, in the running process where this share is largest.
    pub(crate) cost_ratio: Option<f64>,
    /// Each running process has a newest record. This is the oldest capture time among these records, in nanoseconds
    /// since the Unix epoch.
    pub(crate) oldest_unix_ns: Option<u64>,
}

/// Counts of a program over all its runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    items: Vec<Item>,
    #[serde(skip)]
    known: HashMap<(ItemKind, String), usize>,
    #[serde(skip)]
    series: [usize; 3],
    /// Current state of the program's processes.
    #[serde(skip)]
    pub(crate) now: Now,
    /// Number of resets without a closing record. The last counts before such a reset are not included.
    pub(crate) unclosed: u64,
    /// Whether any run counted waiting separately from work.
    pub(crate) has_waiting: bool,
    /// Whether any run counted allocations.
    pub(crate) has_allocations: bool,
}

/// The items that a run's sites belong to, and the edges of the run's latency buckets. Both are reused for each record.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunNames {
    sites: Sites,
    /// For each site, the index of the function item and of the counter item that it belongs to.
    of_site: Vec<[Option<usize>; 2]>,
    octaves: Option<Octaves>,
}

impl RunNames {
    /// Returns a `RunNames` without items, with bucket edges for a clock of this rate.
    pub(crate) fn of_clock(ticks_per_second: Option<f64>) -> Self {
        Self {
            octaves: ticks_per_second.map(Octaves::of_clock),
            ..Self::default()
        }
    }

    /// Returns the rate of the clock for which the bucket edges were computed, in ticks per second.
    pub(crate) fn ticks_per_second(&self) -> Option<f64> {
        self.octaves.as_ref().map(Octaves::ticks_per_second)
    }
}

impl Account {
    /// Restores the fields that are not saved in the state file.
    pub(crate) fn restore(&mut self) {
        for (index, item) in self.items.iter().enumerate() {
            self.known.insert((item.kind, item.name.clone()), index);
            self.series[item.kind as usize] += usize::from(item.base.is_some());
        }
    }

    /// Adds those counts of a record that no earlier record of the same run had.
    pub(crate) fn take(
        &mut self,
        snapshot: &Snapshot,
        run: &mut RunSums,
        names: &mut RunNames,
        options: &AccountOptions,
    ) {
        if names.of_site.len() != snapshot.sites.len() || names.sites != snapshot.sites {
            names.sites = snapshot.sites.clone();
            names.of_site = vec![[None; 2]; snapshot.sites.len()];
        }
        let mut now = self.rows_by_item(snapshot, names, options);
        self.put_groups(snapshot, &mut now);
        self.give_series(&now, options);
        if options.latency {
            self.put_latencies(snapshot, names, &mut now);
        }
        self.has_waiting |= snapshot.waits;
        self.has_allocations |= snapshot.measures.of(Quantity::AllocatedBytes).is_some();
        let unclosed = run.unclosed;
        let items = &mut self.items;
        run.take(&snapshot.capture, now, |index, more| items[index].sum.add(more));
        self.unclosed += run.unclosed - unclosed;
    }

    /// Returns the items of a kind, in the order in which they were first seen.
    pub(crate) fn items(&self, kind: ItemKind) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.kind == kind)
    }

    /// Returns the counts that no series contains: all counts of functions without a series, and the counts of other
    /// functions from the time before their series began. Returns `None` if the program has no function.
    pub(crate) fn other(&self) -> Option<Amounts> {
        let mut other = None;
        for item in self.items(ItemKind::Function) {
            let rest = item.base.as_ref().unwrap_or(&item.sum);
            other.get_or_insert_with(Amounts::default).add(rest);
        }
        other
    }

    /// Returns the number of functions, counters and groups without a series.
    pub(crate) fn without_series(&self) -> usize {
        self.items.iter().filter(|item| item.base.is_none()).count()
    }

    fn item(&mut self, kind: ItemKind, name: String) -> usize {
        let items = &mut self.items;
        *self.known.entry((kind, name)).or_insert_with_key(|(kind, name)| {
            items.push(Item {
                kind: *kind,
                name: name.clone(),
                sum: Amounts::default(),
                base: None,
            });
            items.len() - 1
        })
    }

    fn rows_by_item(
        &mut self,
        snapshot: &Snapshot,
        names: &mut RunNames,
        options: &AccountOptions,
    ) -> Vec<Amounts> {
        let tallies = snapshot.tallies();
        let mut now = vec![Amounts::default(); self.items.len()];
        // Ticks are summed before they are converted, so that the result is rounded only once.
        let mut ticks: Vec<[u64; 2]> = Vec::new();
        for (row, tally) in tallies.iter().enumerate() {
            // A gauge has a level, which cannot be added up.
            if matches!(tally, Some(Tally::Gauge { .. })) {
                continue;
            }
            let site = snapshot.nodes.site[row] as usize;
            let place = names.of_site[site][usize::from(tally.is_some())];
            let index = place.unwrap_or_else(|| {
                let kind = tally.map_or(ItemKind::Function, |_| ItemKind::Counter);
                let index = self.item(kind, name_of(snapshot, site, kind, options));
                names.of_site[site][usize::from(tally.is_some())] = Some(index);
                index
            });
            if now.len() <= index {
                now.resize(index + 1, Amounts::default());
            }
            if ticks.len() <= index {
                ticks.resize(index + 1, [0; 2]);
            }
            now[index].put(Kind::Calls, snapshot.nodes.calls[row]);
            let Some(tally) = tally else {
                let of = |quantity| snapshot.measures.of_row(quantity, row as u32);
                let [time, waiting] = &mut ticks[index];
                *time = time.saturating_add(snapshot.nodes.self_ticks[row]);
                *waiting = waiting.saturating_add(of(Quantity::Waiting));
                now[index].put(Kind::Allocated, of(Quantity::AllocatedBytes));
                continue;
            };
            now[index].put(Kind::Sum, tally.sum());
        }
        for (now, [time, waiting]) in now.iter_mut().zip(ticks) {
            now.put(Kind::Time, snapshot.nanos(time));
            now.put(Kind::Waiting, snapshot.nanos(waiting));
        }
        now
    }

    fn put_groups(&mut self, snapshot: &Snapshot, now: &mut Vec<Amounts>) {
        let (groups, of_site) = groups::names(snapshot);
        if groups.is_empty() {
            return;
        }
        let items: Vec<usize> = groups
            .iter()
            .map(|name| self.item(ItemKind::Group, label(name)))
            .collect();
        now.resize(self.items.len().max(now.len()), Amounts::default());
        for sums in inclusive_times(snapshot, &of_site) {
            for (group, sum) in sums {
                now[items[group as usize]].put(Kind::Time, sum.total_ns);
                now[items[group as usize]].put(Kind::Calls, sum.outermost_calls);
            }
        }
    }

    /// Gives series to the highest-ranked functions that have none yet, and to counters and groups, up to a limit for each kind.
    fn give_series(&mut self, now: &[Amounts], options: &AccountOptions) {
        let most = options.top.saturating_mul(MOST_TIMES);
        let in_series = &mut self.series;
        let mut give = |item: &mut Item| {
            let series = &mut in_series[item.kind as usize];
            if item.base.is_none() && *series < most {
                item.base = Some(item.sum.clone());
                *series += 1;
            }
        };
        let mut ranks: Vec<(Reverse<Weight>, usize)> = Vec::new();
        for (index, item) in self.items.iter_mut().enumerate() {
            if item.kind != ItemKind::Function {
                give(item);
                continue;
            }
            let of = |kind| {
                let more = now.get(index).map_or(0, |now| now.get(kind));
                item.sum.get(kind).max(more)
            };
            ranks.push((Reverse((of(Kind::Time), of(Kind::Calls))), index));
        }
        ranks.sort_unstable();
        let shown = ranks
            .iter()
            .filter(|(_, index)| self.items[*index].base.is_some());
        let least = shown
            .map(|(Reverse(weight), _)| *weight)
            .nth(options.top.saturating_sub(1));
        for (Reverse(weight), index) in ranks.into_iter().take(options.top) {
            if least.is_none_or(|least| is_clearly_more(weight, least)) {
                give(&mut self.items[index]);
            }
        }
    }

    fn put_latencies(&self, snapshot: &Snapshot, names: &mut RunNames, now: &mut [Amounts]) {
        let rate = snapshot.clock.ticks_per_second;
        let octaves = match &mut names.octaves {
            Some(octaves) if !octaves.is_of_another_clock(rate) => octaves,
            octaves => octaves.insert(Octaves::of_clock(rate)),
        };
        for (row, latencies) in snapshot.call_latencies() {
            let site = snapshot.nodes.site[row as usize] as usize;
            let of_site = names.of_site.get(site).and_then(|of| of[0]);
            let Some(index) = of_site.filter(|&index| self.items[index].base.is_some()) else {
                continue;
            };
            // Leaves out the histograms of values, which contain numbers instead of durations.
            if snapshot
                .counts
                .binary_search_by_key(&row, |count| count.node.0)
                .is_err()
            {
                now[index].put_latencies(&latencies.of(row), octaves);
            }
        }
    }
}

/// Maximum number of characters in a name.
const NAME_MOST: usize = 512;

/// Turns a text into a name for a label. Characters that move the cursor or reverse the direction of text are escaped,
/// and a long name is truncated. Items whose names become equal are merged.
pub(crate) fn label(text: &str) -> String {
    printable(text).chars().take(NAME_MOST).collect()
}

/// Returns the name of a site's series. The name `other` is changed to `other()`, because the series `other` is for all
/// functions without a series.
fn name_of(snapshot: &Snapshot, site: usize, kind: ItemKind, options: &AccountOptions) -> String {
    let site = &snapshot.sites[site];
    let name = match options.grouped && kind == ItemKind::Function && !site.group.is_empty() {
        true => format!("[{}]", site.group),
        false => site.path(),
    };
    match name.as_str() {
        "other" => "other()".to_owned(),
        _ => label(&name),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs::any_snapshot;

    use super::*;

    const OPTIONS: AccountOptions = AccountOptions {
        top: 2,
        grouped: false,
        latency: true,
    };

    fn totals(account: &Account) -> (u64, u64) {
        let exported = account.items(ItemKind::Function).filter_map(Item::exported);
        exported
            .chain(account.other())
            .fold((0, 0), |(calls, time), amounts| {
                (calls + amounts.get(Kind::Calls), time + amounts.get(Kind::Time))
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Checks that the series and `other` together contain all counts, and that no series ever decreases, whichever
        /// functions come and go from run to run.
        #[test]
        fn series_and_other_are_all_and_none_falls(snapshots in prop::collection::vec(any_snapshot(), 1..12)) {
            let mut account = Account::default();
            let mut before: HashMap<String, u64> = HashMap::new();
            let mut calls = 0;
            for mut snapshot in snapshots {
                // Each snapshot is a separate run.
                snapshot.nodes.calls.iter_mut().for_each(|calls| *calls %= 1 << 40);
                account.take(&snapshot, &mut RunSums::default(), &mut RunNames::default(), &OPTIONS);
                calls += snapshot.scope_calls();
                prop_assert_eq!(totals(&account).0, calls);
                let exported = account.items(ItemKind::Function).filter_map(|item| Some((item.name.clone(), item.exported()?)));
                let other = account.other().map(|other| ("other".to_owned(), other));
                let mut now = HashMap::new();
                for (name, amounts) in exported.chain(other) {
                    now.insert(name, amounts.get(Kind::Calls));
                }
                for (name, was) in &before {
                    prop_assert!(now.get(name).is_some_and(|now| now >= was), "{} fell from {}", name, was);
                }
                prop_assert!(now.len() <= OPTIONS.top * MOST_TIMES + 1);
                before = now;
            }
        }
    }

    #[test]
    fn a_function_that_comes_later_begins_at_nothing() {
        let mut account = Account::default();
        let (mut run, mut names) = (RunSums::default(), RunNames::default());
        let mut snapshot = fixture::two_threads();
        snapshot.capture.seq = 1;
        let options = AccountOptions { top: 1, ..OPTIONS };
        account.take(&snapshot, &mut run, &mut names, &options);
        let first: Vec<String> = account
            .items(ItemKind::Function)
            .filter(|item| item.base.is_some())
            .map(|item| item.name.clone())
            .collect();
        assert_eq!(first.len(), 1);
        let (calls, time) = totals(&account);
        let other = account.other().unwrap().get(Kind::Calls);
        // From here on, another function takes most of the time.
        let row = (0..snapshot.nodes.len())
            .find(|&row| snapshot.sites[snapshot.nodes.site[row] as usize].path() != first[0])
            .unwrap();
        snapshot.capture.seq = 2;
        snapshot.nodes.self_ticks[row] += 1_000_000_000;
        snapshot.nodes.calls[row] += 7;
        account.take(&snapshot, &mut run, &mut names, &options);
        let later = account
            .items(ItemKind::Function)
            .filter(|item| item.base.is_some());
        let later: Vec<&Item> = later.filter(|item| item.name != first[0]).collect();
        assert_eq!(later[0].exported().unwrap().get(Kind::Calls), 7);
        assert_eq!(account.other().unwrap().get(Kind::Calls), other);
        assert_eq!(
            totals(&account),
            (calls + 7, time + snapshot.nanos(1_000_000_000))
        );
    }

    #[test]
    fn functions_of_nearly_the_same_time_do_not_all_get_series_while_they_change_places() {
        let mut account = Account::default();
        let (mut run, mut names) = (RunSums::default(), RunNames::default());
        let mut snapshot = fixture::two_threads();
        let options = AccountOptions { top: 1, ..OPTIONS };
        let series = |account: &Account| {
            let items = account.items(ItemKind::Function);
            items.filter(|item| item.base.is_some()).count()
        };
        let rows = 0..snapshot.nodes.len();
        for round in 0..20 {
            snapshot.capture.seq += 1;
            for row in rows.clone() {
                // Each function is ahead in turn, but by less than a quarter.
                let ahead = if (row + round) % rows.len() == 0 { 200 } else { 0 };
                snapshot.nodes.self_ticks[row] = 1_000_000 * (round as u64 + 10) * (1_000 + ahead);
            }
            account.take(&snapshot, &mut run, &mut names, &options);
            assert_eq!(series(&account), 1, "{round}");
        }
    }
}

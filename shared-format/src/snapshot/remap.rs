//! Moves rows to other indices, either to extract a part of a snapshot or to combine several snapshots into one.
//!
//! The snapshots that rows are taken from are called *parts*, and the snapshot that receives them is called the *sum*.
//! The code that rebuilds a snapshot decides on the shape of the new tree and on the new index of each row. The data of
//! the rows is moved only in this module. The last column says what `tickscope-analysis` does with the data in a
//! window, which is the difference between a later and an earlier snapshot.
//!
//! | data | if several rows are combined | if a row has no entry | in a window |
//! |---|---|---|---|
//! | calls, self ticks, ticks outside any scope | added up, in ticks of the sum | 0 | subtracted |
//! | CPU time of threads | added up | unknown, and adds nothing | subtracted if both are known |
//! | open calls, current state of threads | taken from the parts with [`When::Now`] | nothing is open, state unknown | taken from the later snapshot |
//! | `errors` | added up | 0 | subtracted |
//! | `counts` | added up; removed from rows that are a scope in any part, that have rows below them, or that stand for whole subtrees | the row is a scope | subtracted |
//! | `value_rows` | bounds over all parts | the row is not a value | bounds that follow from the subtracted histograms |
//! | `gauge_rows` | the level that was set last, bounds over all parts | the row is not a gauge | the later level, bounds since the earlier snapshot |
//! | `estimates` | untimed calls added up; errors added up as squares and rounded once | all calls were timed | untimed calls subtracted; errors subtracted as squares |
//! | `latencies` | added up, after counts from a different clock have been moved to the right buckets; histograms of values only in rows of values; removed from rows that stand for whole subtrees | no call has ended, or histograms were not kept | subtracted; removed if the earlier snapshot has no histograms |
//! | `measures` | added up, times in ticks of the sum; levels taken from the parts with [`When::Now`] | 0 | subtracted; levels of the later snapshot |
//! | `waits_in` | samples added up for each system call | 0 | subtracted |
//! | `lines` | samples added up for each place; modules matched by path and build id | 0 | subtracted at the same place, and any remainder from other places in the row |
//! | everything else | set by the caller, for which [`Snapshot::facts`] returns the data of one part | | taken from the later snapshot, but time, samples and watches are subtracted |

use std::collections::{HashMap, HashSet};

use super::{
    Column, Estimate, Functions, LineSample, Measures, Module, NO_MODULE, NodeErrors, OpenFrame, Quantity,
    SampledIn, Snapshot, Tally, WaitsIn, both,
};
use crate::ids::{NO_PARENT, NodeId, SiteId};
use crate::latency::Latencies;

/// If the rates of two clocks differ by less than this share, counts in histograms stay in their buckets. Such a small
/// difference may be a measurement error.
pub const SAME_RATE: f64 = 0.001;

/// The new index of each row and each thread, by old index. [`NO_PARENT`] means that the row or thread is left out.
#[derive(Clone, Debug, Default)]
pub struct RowMap {
    /// The new index of each row.
    pub rows: Vec<u32>,
    /// The new index of each thread.
    pub threads: Vec<u32>,
    /// Site of the new rows that stand for whole subtrees. These rows have no latencies and are neither counters nor
    /// values, because such data of different functions cannot be added up.
    pub sums: Option<SiteId>,
}

/// When a part was captured, relative to the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the same moment as the sum. Levels, open calls and thread states are taken from this part.
    Now,
    /// Earlier than the sum. Only the counts of this part are used.
    Before,
    /// Before the clock was restarted, so ticks of this part cannot be compared with ticks of the sum.
    BeforeItsClock,
}

/// A snapshot that is one part of a sum.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Snapshot with the counts.
    pub snapshot: &'a Snapshot,
    /// Measurements besides calls and time. Usually the `measures` of the snapshot.
    pub measures: &'a Measures,
    /// Where the rows and threads of the snapshot go in the sum.
    pub map: RowMap,
    /// Number of ticks of the sum's clock per tick of the part's clock.
    pub ratio: f64,
    /// When the part was captured, relative to the sum.
    pub when: When,
}

impl RowMap {
    /// Returns a map that leaves out all rows and threads of a snapshot.
    pub fn nowhere(snapshot: &Snapshot) -> Self {
        Self {
            rows: vec![NO_PARENT; snapshot.nodes.len()],
            threads: vec![NO_PARENT; snapshot.threads.len()],
            sums: None,
        }
    }
}

impl<'a> Part<'a> {
    /// Returns a part that was captured at the same moment as the sum and with the same clock.
    pub fn now(snapshot: &'a Snapshot, map: RowMap) -> Self {
        Self {
            snapshot,
            measures: &snapshot.measures,
            map,
            ratio: 1.0,
            when: When::Now,
        }
    }

    fn row(&self, row: u32) -> Option<u32> {
        Some(self.map.rows[row as usize]).filter(|&to| to != NO_PARENT)
    }

    fn thread(&self, thread: u32) -> Option<u32> {
        Some(self.map.threads[thread as usize]).filter(|&to| to != NO_PARENT)
    }

    fn scaled(&self, ticks: u64) -> u64 {
        scaled(ticks, self.ratio)
    }

    /// Returns the latencies with new row indices, or `None` if that is not enough because histograms change, or
    /// because rows with latencies are left out, combined or reordered.
    fn moved_latencies(&self, latencies: &Latencies) -> Option<Latencies> {
        let keeps_all = self.ratio == 1.0 && self.map.sums.is_none() && self.snapshot.value_rows.is_empty();
        let row = latencies.row.iter().map_while(|&row| self.row(row));
        let row: Vec<u32> = row.collect();
        let is_in_order = row.len() == latencies.row.len() && row.is_sorted_by(|a, b| a < b);
        (keeps_all && is_in_order).then(|| Latencies {
            row,
            end: latencies.end.clone(),
            packed: latencies.packed.clone(),
        })
    }

    /// Converts a point in time from the part's clock to the sum's clock. `captured` is when the sum was captured, by
    /// the sum's clock. The time between `tick` and the capture stays the same.
    fn moment(&self, tick: u64, captured: u64) -> u64 {
        let own = self.snapshot.capture.tick;
        if own == captured && self.ratio == 1.0 {
            return tick;
        }
        captured.saturating_sub(self.scaled(own.saturating_sub(tick)))
    }
}

/// Converts ticks to another clock. One tick corresponds to `ratio` ticks of that clock.
pub fn scaled(ticks: u64, ratio: f64) -> u64 {
    match ratio == 1.0 {
        true => ticks,
        false => (ticks as f64 * ratio).round() as u64,
    }
}

/// Sorts cells by key, and combines cells with the same key.
pub fn together<K: Ord + Copy, T: Copy>(mut cells: Vec<(K, T)>, add: impl Fn(T, T) -> T) -> Vec<(K, T)> {
    if !cells.is_sorted_by_key(|cell| cell.0) {
        cells.sort_by_key(|cell| cell.0);
    }
    cells.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = add(kept.1, next.1);
        }
        same
    });
    cells
}

impl Snapshot {
    /// Returns a copy of the snapshot without threads, rows, and everything that belongs to rows.
    #[must_use]
    pub fn facts(&self) -> Self {
        // All fields are listed, so that a new field does not compile until it is handled here.
        let Self {
            process,
            clock,
            capture,
            lifetime,
            threads: _,
            sites,
            nodes: _,
            errors: _,
            measuring,
            latencies: _,
            async_latencies: _,
            tasks,
            estimates: _,
            counts: _,
            value_rows: _,
            gauge_rows: _,
            measures: _,
            waits,
            waits_in: _,
            functions,
            was_off,
            watches,
            lines,
            drains_ns,
            seen_cost,
            window,
            values,
        } = self;
        Self {
            process: process.clone(),
            clock: clock.clone(),
            capture: capture.clone(),
            lifetime: *lifetime,
            sites: sites.clone(),
            measuring: measuring.clone(),
            tasks: tasks.clone(),
            waits: *waits,
            functions: functions.clone(),
            was_off: was_off.clone(),
            watches: watches.clone(),
            lines: lines.without_samples(),
            drains_ns: *drains_ns,
            seen_cost: *seen_cost,
            window: *window,
            values: *values,
            ..Self::default()
        }
    }

    /// Adds the rows and threads of the parts to this snapshot, whose rows and threads must not have any counts yet.
    ///
    /// # Panics
    /// If a row or a thread is mapped to an index that does not exist.
    pub fn gather(&mut self, parts: &[Part<'_>]) {
        for part in parts {
            let of = &part.snapshot.nodes;
            for ((&to, &calls), &ticks) in part.map.rows.iter().zip(&of.calls).zip(&of.self_ticks) {
                if to != NO_PARENT {
                    let to = to as usize;
                    self.nodes.calls[to] = self.nodes.calls[to].saturating_add(calls);
                    self.nodes.self_ticks[to] = self.nodes.self_ticks[to].saturating_add(part.scaled(ticks));
                }
            }
        }
        self.gather_threads(parts);
        let errors = parts.iter().flat_map(|part| {
            let errors = part.snapshot.errors.iter();
            errors.filter_map(|error| Some((part.row(error.node.0)?, error.count)))
        });
        let errors = together(errors.collect(), u64::saturating_add).into_iter();
        self.errors = errors
            .map(|(row, count)| NodeErrors {
                node: NodeId(row),
                count,
            })
            .collect();
        self.gather_tallies(parts);
        self.gather_estimates(parts);
        self.latencies = self.gathered_latencies(parts, |snapshot| &snapshot.latencies);
        self.async_latencies = self.gathered_latencies(parts, |snapshot| &snapshot.async_latencies);
        self.gather_measures(parts);
        let samples = parts.iter().flat_map(|part| {
            let samples = part.snapshot.waits_in.samples();
            samples.filter_map(|(row, call, count)| Some((part.row(row)?, call, count)))
        });
        let present = parts.iter().filter(|part| part.when == When::Now);
        let now = present.flat_map(|part| {
            let now = part.snapshot.waits_in.now();
            now.filter_map(|(thread, now)| Some((part.thread(thread)?, now)))
        });
        self.waits_in = WaitsIn::new(samples, now);
        self.gather_lines(parts);
    }

    /// Returns whether a row of the sum stands for whole subtrees of a part.
    fn is_sum(&self, part: &Part<'_>, row: u32) -> bool {
        Some(SiteId(self.nodes.site[row as usize])) == part.map.sums
    }

    fn gather_threads(&mut self, parts: &[Part<'_>]) {
        for part in parts {
            for (index, thread) in (0..).zip(&part.snapshot.threads) {
                let Some(to) = part.thread(index) else { continue };
                let mut open = Vec::new();
                if part.when == When::Now {
                    let frames = thread.open.iter().filter_map(|frame| {
                        let row = part.row(frame.node.0).filter(|&row| !self.is_sum(part, row))?;
                        let began_tick = match frame.began_tick {
                            0 => 0,
                            began => part.moment(began, self.capture.tick).max(1),
                        };
                        Some(OpenFrame {
                            node: NodeId(row),
                            began_tick,
                        })
                    });
                    open = frames.collect();
                }
                let to = &mut self.threads[to as usize];
                to.outside_ticks = to.outside_ticks.saturating_add(part.scaled(thread.outside_ticks));
                to.cpu_ns = both(to.cpu_ns, thread.cpu_ns, u64::saturating_add);
                to.open.append(&mut open);
            }
        }
    }

    /// Combines the tallies of all parts. A row that is a scope in any part, or that has rows below it, becomes a
    /// scope. Tallies of different kinds are combined into a counter.
    fn gather_tallies(&mut self, parts: &[Part<'_>]) {
        if parts.iter().all(|part| part.snapshot.counts.is_empty()) {
            return;
        }
        let mut is_scope = self.nodes.has_rows_below();
        for part in parts {
            let mut counts = part.snapshot.counts.iter().map(|count| count.node.0).peekable();
            for (row, &to) in (0..).zip(&part.map.rows) {
                let is_counter = counts.next_if_eq(&row).is_some();
                if to != NO_PARENT && (!is_counter || self.is_sum(part, to)) {
                    is_scope[to as usize] = true;
                }
            }
        }
        let captured = self.capture.tick;
        let cells = parts.iter().flat_map(|part| {
            let tallies = part.snapshot.tally_cells();
            tallies.filter_map(move |(row, tally)| {
                let tally = match part.when {
                    When::BeforeItsClock => tally.set_before_all(),
                    _ if part.ratio == 1.0 => tally,
                    When::Now | When::Before => tally.set_at(|tick| part.moment(tick, captured)),
                };
                Some((part.row(row)?, tally))
            })
        });
        let cells = cells.filter(|&(row, _)| !is_scope[row as usize]);
        let cells = together(cells.collect(), Tally::and);
        for (row, tally) in cells {
            self.push_tally(NodeId(row), tally);
        }
    }

    /// Combines the errors of all parts. Since the times are independent, the squares of their errors are added up, and
    /// the result is rounded only once. In a row without an estimate, all calls were timed.
    fn gather_estimates(&mut self, parts: &[Part<'_>]) {
        let is_sum = |part: &Part<'_>, row| self.is_sum(part, row);
        let cells = parts.iter().flat_map(|part| {
            let of = part.snapshot;
            let square = |error: u64| (error as f64 * part.ratio).powi(2);
            of.estimates.iter().filter_map(move |estimate| {
                let old = estimate.node.index();
                let row = part.row(estimate.node.0)?;
                let untimed = of.nodes.calls[old].saturating_sub(estimate.timed);
                let total = square(estimate.total_error);
                if !is_sum(part, row) {
                    return Some((row, (untimed, square(estimate.self_error), total)));
                }
                // If a single row replaces a subtree, the subtree's total becomes the self time of that row.
                let above = part.map.rows.get(of.nodes.parent[old] as usize);
                (above != Some(&row)).then_some((row, (untimed, total, total)))
            })
        });
        let cells = together(cells.collect(), |a: (u64, f64, f64), b| {
            (a.0.saturating_add(b.0), a.1 + b.1, a.2 + b.2)
        });
        let root = |square: f64| square.sqrt().round() as u64;
        let calls = &self.nodes.calls;
        let estimates = cells.into_iter().map(|(row, (untimed, own, total))| Estimate {
            node: NodeId(row),
            timed: calls[row as usize].saturating_sub(untimed),
            self_error: root(own),
            total_error: root(total),
        });
        self.estimates = estimates.collect();
    }

    fn gathered_latencies(&self, parts: &[Part<'_>], of: fn(&Self) -> &Latencies) -> Latencies {
        if let [part] = parts
            && let Some(moved) = part.moved_latencies(of(part.snapshot))
        {
            return moved;
        }
        // Each cell consists of the new row, the part, and the index of the histogram in that part.
        let mut cells: Vec<(u32, u32, u32)> = Vec::new();
        for (at, part) in (0..).zip(parts) {
            let has_values = !part.snapshot.value_rows.is_empty();
            let rows = (0..).zip(&of(part.snapshot).row);
            cells.extend(rows.filter_map(|(index, &old)| {
                let row = part.row(old).filter(|&row| !self.is_sum(part, row))?;
                // The histogram of a value counts numbers instead of ticks, so it is added only to rows that are
                // values.
                let fits = !has_values || !part.snapshot.is_value(NodeId(old)) || self.is_value(NodeId(row));
                fits.then_some((row, at, index))
            }));
        }
        if !cells.is_sorted() {
            cells.sort_unstable();
        }
        let all = parts.iter().map(|part| of(part.snapshot).packed.len()).sum();
        let mut out = Latencies::default();
        out.packed.reserve(all);
        out.row.reserve(cells.len());
        out.end.reserve(cells.len());
        for same in cells.chunk_by(|a, b| a.0 == b.0) {
            let row = same[0].0;
            let is_value = !self.value_rows.is_empty() && self.is_value(NodeId(row));
            let is_kept = |part: &Part<'_>| (part.ratio - 1.0).abs() < SAME_RATE || is_value;
            let mut histograms = same.iter().map(|&(_, at, index)| {
                let part = &parts[at as usize];
                (part, of(part.snapshot), index as usize)
            });
            let moved = |(part, from, index): (&Part<'_>, &Latencies, usize)| match is_kept(part) {
                true => from.at(index),
                false => from.at(index).at_rate(part.ratio),
            };
            match (same.len(), histograms.next()) {
                (1, Some((part, from, index))) if is_kept(part) => out.push_bytes(row, from.bytes_at(index)),
                (_, Some(first)) => {
                    let mut sum = moved(first);
                    histograms.for_each(|next| sum.add(&moved(next)));
                    out.push(row, &sum);
                }
                (_, None) => {}
            }
        }
        out
    }

    fn gather_measures(&mut self, parts: &[Part<'_>]) {
        for quantity in Quantity::ALL {
            let columns: Vec<(&Part<'_>, &Column)> = parts
                .iter()
                .filter(|part| part.when == When::Now || !quantity.is_level())
                .filter_map(|part| Some((part, part.measures.of(quantity)?)))
                .collect();
            let scaled = |part: &Part<'_>, value| match quantity.is_time() {
                true => part.scaled(value),
                false => value,
            };
            let of = |values: fn(&Column) -> &Vec<(u32, u64)>, place: fn(&Part<'_>, u32) -> Option<u32>| {
                let most = columns.iter().map(|(_, column)| values(column).len()).sum();
                let mut cells = Vec::with_capacity(most);
                for &(part, column) in &columns {
                    let moved = |&(at, value)| Some((place(part, at)?, scaled(part, value)));
                    cells.extend(values(column).iter().filter_map(moved));
                }
                cells.retain(|&(_, value)| value > 0);
                together(cells, u64::saturating_add)
            };
            let rows = of(|column| &column.rows, |part, row| part.row(row));
            let outside = of(|column| &column.outside, |part, thread| part.thread(thread));
            self.measures.set(quantity, Column { rows, outside });
        }
    }

    fn gather_lines(&mut self, parts: &[Part<'_>]) {
        let mut samples = Vec::new();
        let mut known: HashMap<Module, u32> = self.lines.modules.iter().cloned().zip(0..).collect();
        for part in parts {
            let lines = &part.snapshot.lines;
            let modules = lines.modules.iter().map(|module| {
                *known.entry(module.clone()).or_insert_with(|| {
                    self.lines.modules.push(module.clone());
                    self.lines.modules.len() as u32 - 1
                })
            });
            let modules: Vec<u32> = modules.collect();
            samples.extend(lines.samples.iter().filter_map(|&sample| {
                let inside = match sample.inside {
                    SampledIn::Row(row) => SampledIn::Row(part.row(row)?),
                    SampledIn::Thread(thread) => SampledIn::Thread(part.thread(thread)?),
                    SampledIn::Measuring => SampledIn::Measuring,
                };
                let module = modules.get(sample.module as usize).copied();
                Some(LineSample {
                    inside,
                    module: module.unwrap_or(NO_MODULE),
                    ..sample
                })
            }));
            self.lines.lost.add(lines.lost);
        }
        self.lines.set(samples);
    }

    /// Renumbers the sites in all data except the rows. `sites` maps the old index of each site to the new one.
    pub fn move_sites(&mut self, sites: &[u32]) {
        let moved = |site: &mut SiteId| site.0 = sites[site.index()];
        self.measuring.off_sites.iter_mut().for_each(moved);
        self.was_off.iter_mut().for_each(moved);
        self.settle_off_sites();
        if let Some(Functions { over_budget, .. }) = &mut self.functions {
            over_budget.iter_mut().for_each(|over| moved(&mut over.site));
            let mut seen = HashSet::new();
            over_budget.retain(|over| seen.insert(over.site));
        }
        let paths = self.watches.iter_mut().flat_map(|watch| &mut watch.paths);
        paths.for_each(|path| moved(&mut path.site));
        self.tasks.paths.iter_mut().for_each(|path| moved(&mut path.site));
    }
}

#[cfg(test)]
mod tests;

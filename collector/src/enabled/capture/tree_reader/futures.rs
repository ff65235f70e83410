//! Reads how many calls of each future have ended. The counters of the future's node do not include this.

use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::Quantity;

use super::changed::Changed;
use crate::enabled::capture::baseline::{Counts, Measured};
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::site::{self, Site};
use crate::enabled::record::tree::Tree;

/// Maximum number of attempts to read a future's finished and cancelled calls at the same moment.
const LOOKS: u32 = 20;

/// The rows of futures.
#[derive(Debug, Default)]
pub(super) struct Futures {
    rows: Vec<u32>,
    /// Value of [`site::late_futures`] when the rows were found: the number of sites that were recognized as sites of
    /// futures only after they were in use.
    late: u32,
    /// For each row, the calls that had ended at the last reading.
    over: Vec<Over>,
    changed: Changed,
}

/// Counts of the calls of a future that have ended.
#[derive(Clone, Copy, Debug, Default)]
struct Over {
    all: u64,
    cancelled: u64,
    /// Calls whose end was not seen. They are not included in `all`.
    vanished: u64,
}

fn site_of(tree: &'static Tree, row: u32) -> Option<&'static Site> {
    tree.nodes.get(row).and_then(|node| node.site.get())
}

impl Futures {
    /// Finds the rows of futures among the first `length` rows. The first `known` rows have already been searched.
    pub(super) fn find(&mut self, tree: &'static Tree, known: u32, length: u32) {
        let late = site::late_futures();
        let first = if self.late == late { known } else { 0 };
        if first == 0 {
            self.rows.clear();
        }
        self.late = late;
        let is_future = |&row: &u32| site_of(tree, row).is_some_and(Site::is_future);
        self.rows.extend((first..length).filter(is_future));
    }

    /// Returns whether the tree has no rows of futures.
    pub(super) fn are_none(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reads the ended calls in a tree of `length` rows. The caller must read the rest of the tree afterwards, so that
    /// a thread never shows more calls that have ended than calls that have begun. `histogram` is a scratch buffer.
    pub(super) fn read(
        &mut self,
        tree: &'static Tree,
        length: usize,
        histograms: &mut Histograms,
        histogram: &mut Histogram,
    ) {
        if self.are_none() {
            return;
        }
        self.over.resize(length, Over::default());
        self.changed.resize(length);
        for &row in &self.rows {
            let index = row as usize;
            let over = &mut self.over[index];
            let Some(measures) = tree.measures.get(row) else {
                continue;
            };
            let of = |quantity| measures.of(quantity).load(Ordering::Acquire);
            over.vanished = of(Quantity::FutureVanished);
            let ended = || of(Quantity::FutureEnds).wrapping_add(of(Quantity::FutureCancels));
            let (known, now) = (over.all, ended());
            if !self.changed.look(index, now != known) {
                continue;
            }
            let latency = tree.async_latencies.of_this_life(row);
            for _ in 0..LOOKS {
                over.cancelled = of(Quantity::FutureCancels);
                let before = || (known, histograms.ended(index));
                over.all = match latency {
                    Some(latency) => latency.read(ended, before, histogram),
                    None => ended(),
                };
                if of(Quantity::FutureCancels) == over.cancelled {
                    break;
                }
            }
            if let Some(latency) = latency {
                histograms.set(index, histogram, latency.made());
            }
            // A thread counts a call before it adds the call to a bucket, so the histogram may lack calls.
            if latency.is_none() || histogram.count() != over.all {
                self.changed.again(index);
            }
        }
    }

    /// Stores the counts of ended calls in the measured quantities of their rows.
    pub(super) fn add(&self, tree: &'static Tree, counts: &[Counts], measured: &mut Vec<Measured>) {
        if self.are_none() {
            return;
        }
        measured.resize(counts.len(), Measured::default());
        for &row in &self.rows {
            let index = row as usize;
            let over = self.over.get(index).copied().unwrap_or_default();
            let calls = counts[index].calls;
            let begun = match site_of(tree, row) {
                Some(site) if site.is_late_future() => calls.wrapping_sub(tree.calls_left_out(row, calls)),
                _ => calls,
            };
            measured[index].set_calls_of_future(
                begun,
                over.all.saturating_sub(over.cancelled),
                over.cancelled,
                over.vanished,
            );
        }
    }
}

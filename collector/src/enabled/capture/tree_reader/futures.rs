//! Reads the ended calls of futures, which the counters of their nodes do not include.

use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::Quantity;

use super::changed::Changed;
use crate::enabled::capture::baseline::{Counts, Measured};
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::site::{self, Site};
use crate::enabled::record::tree::Tree;

/// Number of tries to read a future's finished calls and its cancelled calls at the same moment.
const LOOKS: u32 = 20;

/// The rows of futures.
#[derive(Debug, Default)]
pub(super) struct Futures {
    rows: Vec<u32>,
    /// Value of [`site::late_futures`] when the rows were found: the number of sites that were recognized late as
    /// futures.
    late: u32,
    /// By row: calls that were over at the last reading.
    over: Vec<Over>,
    changed: Changed,
}

/// Calls of a future that are over.
#[derive(Clone, Copy, Debug, Default)]
struct Over {
    all: u64,
    cancelled: u64,
    /// Calls whose end was not seen. `all` excludes them.
    vanished: u64,
}

fn site_of(tree: &'static Tree, row: u32) -> Option<&'static Site> {
    tree.nodes.get(row).and_then(|node| node.site.get())
}

impl Futures {
    /// Finds the rows of futures among the first `length` rows. The first `known` rows were searched before.
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

    /// Returns whether there are no rows of futures.
    pub(super) fn are_none(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reads the ended calls in a tree of `length` rows. The caller reads the tree afterwards, so that the ended calls
    /// of a thread never outnumber the begun calls. `histogram` is a buffer.
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
            // The thread counts a call before it puts the call into its bucket, so the histogram may lack calls.
            if latency.is_none() || histogram.count() != over.all {
                self.changed.again(index);
            }
        }
    }

    /// Adds the ended calls to the other amounts of their rows.
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

//! The nodes of the document: one line each.

use serde::Serialize;

use crate::ids::{NodeId, ThreadId};
use crate::latency::Histogram;
use crate::profile::spread::{Spread, spreads};
use crate::snapshot::Snapshot;

#[derive(Serialize)]
pub(in crate::render) struct Node<'a> {
    /// The row: unique within one snapshot.
    pub(in crate::render) id: u32,
    pub(in crate::render) parent: Option<u32>,
    pub(in crate::render) thread: u32,
    pub(in crate::render) name: &'a str,
    pub(in crate::render) module: &'a str,
    pub(in crate::render) file: &'a str,
    pub(in crate::render) line: u32,
    pub(in crate::render) calls: u64,
    /// What it has added up; only of a counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::render) sum: Option<u64>,
    pub(in crate::render) total_ns: u64,
    pub(in crate::render) self_ns: u64,
    pub(in crate::render) total_ticks: u64,
    pub(in crate::render) self_ticks: u64,
    pub(in crate::render) open: bool,
    pub(in crate::render) errors: u64,
    #[serde(flatten)]
    pub(in crate::render) latency: Latency,
    #[serde(flatten)]
    pub(in crate::render) estimate: Estimate,
}

/// How long finished calls took, callees included; null where none has finished, or histograms are off.
#[derive(Serialize)]
pub(in crate::render) struct Latency {
    /// The middle of a bucket, within 6.3 %.
    pub(in crate::render) p50_ns: Option<u64>,
    pub(in crate::render) p90_ns: Option<u64>,
    pub(in crate::render) p99_ns: Option<u64>,
    pub(in crate::render) p999_ns: Option<u64>,
    /// The longest; where it is not exact, no call took longer.
    pub(in crate::render) max_ns: Option<u64>,
    pub(in crate::render) max_exact: Option<bool>,
}

/// How far the times are estimates.
#[derive(Serialize)]
pub(in crate::render) struct Estimate {
    pub(in crate::render) estimated: bool,
    /// Standard errors; null where the time is exact.
    pub(in crate::render) self_error_ns: Option<u64>,
    pub(in crate::render) total_error_ns: Option<u64>,
    pub(in crate::render) timed_calls: u64,
}

// === impl Latency ===

impl Latency {
    fn of(snapshot: &Snapshot, histogram: &Histogram) -> Self {
        let quantile = |share: f64| histogram.quantile(share).map(|ticks| snapshot.nanos(ticks));
        let max = histogram.max();
        Self {
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: max.map(|(ticks, _)| snapshot.nanos(ticks)),
            max_exact: max.map(|(_, exact)| exact),
        }
    }
}

// === impl Estimate ===

impl Estimate {
    fn of(snapshot: &Snapshot, spread: Option<&Spread>, timeable: u64) -> Self {
        let ns = |ticks: f64| snapshot.nanos(ticks.round() as u64);
        let own = spread.filter(|spread| spread.self_estimated);
        let total = spread.filter(|spread| spread.total_estimated);
        Self {
            estimated: own.is_some() || total.is_some(),
            self_error_ns: own.map(|spread| ns(spread.self_error)),
            total_error_ns: total.map(|spread| ns(spread.total_error)),
            timed_calls: spread.map_or(timeable, |spread| spread.timed),
        }
    }
}

/// By thread, and within it as the snapshot has them: parents before children.
pub(in crate::render) fn nodes(snapshot: &Snapshot) -> Vec<Node<'_>> {
    let columns = &snapshot.nodes;
    let self_ns = snapshot.self_nanos();
    let total_ns = columns.totals(&self_ns);
    let total_ticks = columns.totals(&columns.self_ticks);
    let mut open = vec![false; columns.len()];
    for frame in snapshot.threads.iter().flat_map(|thread| &thread.open) {
        if let Some(open) = open.get_mut(frame.node.index()) {
            *open = true;
        }
    }
    let mut errors = vec![0u64; columns.len()];
    for error in &snapshot.errors {
        if let Some(errors) = errors.get_mut(error.node.index()) {
            *errors = errors.saturating_add(error.count);
        }
    }
    let spreads = spreads(snapshot);
    let sums = snapshot.sums();
    let threads = 0..snapshot.threads.len() as u32;
    threads
        .flat_map(|thread| snapshot.rows_of(ThreadId(thread)).map(move |row| (thread, row)))
        .map(|(thread, row)| {
            let id = NodeId(row as u32);
            let site = snapshot.site_of(id);
            Node {
                id: id.0,
                parent: columns.parent_of(id).map(|parent| parent.0),
                thread,
                name: &site.name,
                module: &site.module,
                file: &site.file,
                line: site.line,
                calls: columns.calls[row],
                sum: sums[row],
                total_ns: total_ns[row],
                self_ns: self_ns[row],
                total_ticks: total_ticks[row],
                self_ticks: columns.self_ticks[row],
                open: open[row],
                errors: errors[row],
                latency: Latency::of(snapshot, &snapshot.latencies.of(id.0)),
                estimate: Estimate::of(
                    snapshot,
                    spreads.get(row),
                    sums[row].map_or(columns.calls[row], |_| 0),
                ),
            }
        })
        .collect()
}

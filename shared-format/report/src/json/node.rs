//! The nodes in the JSON document.

use serde::Serialize;
use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::uncertainty::{Uncertainty, uncertainties};
use tickscope_analysis::waits_in::{self, CallSamples};
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Quantity, Snapshot, Tally};

use super::futures::{self, Futures};
use super::measures::{Measures, Members};
use super::tally::{Gauge, Value};
use crate::quotient::Quotient;

#[derive(Serialize)]
pub(super) struct Node<'a> {
    /// Index of the node's row, which is unique within a snapshot.
    id: u32,
    parent: Option<u32>,
    thread: u32,
    pub(super) name: &'a str,
    module: &'a str,
    file: &'a str,
    line: u32,
    calls: Quotient,
    /// Sum of a counter or a value; left out for other nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<Quotient>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gauge: Option<Gauge>,
    total_ns: Quotient,
    self_ns: Quotient,
    total_ticks: Quotient,
    self_ticks: Quotient,
    /// Whether no call was counted and none is open, so that the time comes from samples alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) sampled: bool,
    open: bool,
    errors: u64,
    #[serde(flatten)]
    latency: Latency,
    #[serde(flatten)]
    estimate: Estimate,
    /// Id of the node's site.
    site: u32,
    #[serde(flatten)]
    measures: Members,
    /// System calls in which threads waited directly in this node, most frequent first; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits_in: Vec<WaitsIn>,
    /// How the calls of a future began and ended; left out for other nodes. For a future, the latencies above are
    /// durations of single polls.
    #[serde(skip_serializing_if = "Option::is_none")]
    futures: Option<Futures>,
}

/// A system call, and how many samples found a thread waiting in it.
#[derive(Serialize)]
pub(super) struct WaitsIn {
    call: String,
    samples: u64,
    share: f64,
}

/// Durations of finished calls, including their callees; null if no call has finished or histograms are off.
#[derive(Serialize)]
pub(super) struct Latency {
    /// Percentiles. Each is the midpoint of a histogram bucket and differs from the true value by at most 6.3 %.
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    /// Longest call. If it is not exact, it is an upper bound.
    max_ns: Option<u64>,
    max_exact: Option<bool>,
}

/// How uncertain the times of a node are.
#[derive(Serialize)]
pub(super) struct Estimate {
    estimated: bool,
    /// Standard errors of self and total time; null if the time is exact.
    self_error_ns: Option<Quotient>,
    total_error_ns: Option<Quotient>,
    /// Standard error of the working time, which is the self time minus waits; left out if the working time was not estimated
    /// from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    working_error_ns: Option<Quotient>,
    timed_calls: Quotient,
}

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

impl Estimate {
    fn of(
        snapshot: &Snapshot,
        uncertainty: Option<&Uncertainty>,
        working: Option<&Uncertainty>,
        timeable: u64,
        per: Option<&PerCall>,
    ) -> Self {
        let ns = |ticks: f64| Quotient::of(snapshot.nanos(ticks.round() as u64), per);
        let own = uncertainty.filter(|uncertainty| uncertainty.self_estimated);
        let total = uncertainty.filter(|uncertainty| uncertainty.total_estimated);
        Self {
            estimated: own.is_some() || total.is_some(),
            self_error_ns: own.map(|uncertainty| ns(uncertainty.self_error)),
            total_error_ns: total.map(|uncertainty| ns(uncertainty.total_error)),
            working_error_ns: working
                .filter(|working| working.self_estimated)
                .map(|working| ns(working.self_error)),
            timed_calls: Quotient::of(uncertainty.map_or(timeable, |uncertainty| uncertainty.timed), per),
        }
    }
}

/// Returns the nodes in the order of the snapshot: one thread after the other, parents before children. With `per`, times and
/// calls are divided by the number of calls of that function.
pub(super) fn nodes<'a>(snapshot: &'a Snapshot, per: Option<&'a PerCall>) -> Vec<Node<'a>> {
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
    let working = match snapshot.waits && !snapshot.lines.samples.is_empty() {
        true => uncertainties(&Measure::Working.of(snapshot)),
        false => Vec::new(),
    };
    let uncertainties = uncertainties(snapshot);
    let tallies = snapshot.tallies();
    let measures = Measures::new(snapshot, per);
    let mut futures = futures::of_nodes(snapshot, &total_ns, per);
    let threads = 0..snapshot.threads.len() as u32;
    threads
        .flat_map(|thread| snapshot.rows_of(ThreadId(thread)).map(move |row| (thread, row)))
        .map(|(thread, row)| {
            let id = NodeId(row as u32);
            let site = snapshot.site_of(id);
            let tally = tallies[row];
            let histogram = snapshot.latencies.of(id.0);
            // The histogram of a value is one of its numbers, not of latencies.
            let (latencies, numbers) = match tally {
                Some(Tally::Value { .. }) => (Histogram::default(), histogram),
                _ => (histogram, Histogram::default()),
            };
            Node {
                id: id.0,
                parent: columns.parent_of(id).map(|parent| parent.0),
                thread,
                name: &site.name,
                module: &site.module,
                file: &site.file,
                line: site.line,
                calls: Quotient::of(columns.calls[row], per),
                sum: tally
                    .filter(|tally| !tally.is_gauge())
                    .map(|tally| Quotient::of(tally.sum(), per)),
                value: tally.and_then(|tally| Value::of(tally, columns.calls[row], &numbers, per)),
                gauge: tally.and_then(Gauge::of),
                total_ns: Quotient::of(total_ns[row], per),
                self_ns: Quotient::of(self_ns[row], per),
                total_ticks: Quotient::of(total_ticks[row], per),
                self_ticks: Quotient::of(columns.self_ticks[row], per),
                sampled: columns.calls[row] == 0
                    && snapshot.measures.of_row(Quantity::Sampled, id.0) > 0
                    && !open[row],
                open: open[row],
                errors: errors[row],
                latency: Latency::of(snapshot, &latencies),
                estimate: Estimate::of(
                    snapshot,
                    uncertainties.get(row),
                    working.get(row),
                    tally.map_or(columns.calls[row], |_| 0),
                    per,
                ),
                site: columns.site[row],
                measures: measures.of_row(row),
                waits_in: waits_in::in_node(snapshot, id)
                    .into_iter()
                    .map(|CallSamples { call, samples, share }| WaitsIn { call, samples, share })
                    .collect(),
                futures: futures.remove(&id.0),
            }
        })
        .collect()
}

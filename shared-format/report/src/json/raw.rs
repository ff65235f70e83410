//! Measurements that only some nodes have, in the units in which they are stored: latencies and estimates.

use serde::Serialize;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Snapshot;

/// Histogram of the finished calls of a node, in ticks.
#[derive(Serialize)]
pub(super) struct Histogram {
    node: u32,
    /// Longest call if it is known exactly, else 0.
    max_ticks: u64,
    /// Index of each bucket, and the number of calls in it.
    buckets: Vec<(u16, u64)>,
}

/// How uncertain the times of a node are, in ticks.
#[derive(Serialize)]
pub(super) struct Estimate {
    node: u32,
    timed: u64,
    self_error_ticks: u64,
    total_error_ticks: u64,
}

pub(super) fn latencies(snapshot: &Snapshot) -> Vec<Histogram> {
    let latencies = &snapshot.latencies;
    let histogram = |&node: &u32| {
        let histogram = latencies.of(node);
        Histogram {
            node,
            max_ticks: histogram.max_ticks,
            buckets: histogram.buckets,
        }
    };
    // The histogram of a value is one of its numbers, not of latencies.
    let rows = latencies
        .row
        .iter()
        .filter(|&&row| !snapshot.is_value(NodeId(row)));
    rows.map(histogram).collect()
}

pub(super) fn estimates(snapshot: &Snapshot) -> Vec<Estimate> {
    let estimates = snapshot.estimates.iter();
    estimates
        .map(|estimate| Estimate {
            node: estimate.node.0,
            timed: estimate.timed,
            self_error_ticks: estimate.self_error,
            total_error_ticks: estimate.total_error,
        })
        .collect()
}

/// Returns the value, or 0 for NaN and infinities, which JSON does not have.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

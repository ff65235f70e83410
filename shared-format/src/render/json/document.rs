//! The JSON document as structs: the order of fields is the order of members.

use serde::Serialize;

use super::groups::{Group, groups};
use super::node::{Node, nodes};
use super::sites::{Rule, Site, rules, sites};
use crate::render::ProcessState;
use crate::snapshot::{CaptureKind, Snapshot};

/// The version of this document.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    tickscope: u32,
    process: Process<'a>,
    clock: Clock<'a>,
    mode: &'static str,
    cost: Cost,
    reset_epoch: u64,
    since_reset_ns: u64,
    seq: u64,
    interval_ns: u64,
    dropped: u64,
    unbalanced: u64,
    lifetime: Lifetime,
    threads: Vec<Thread<'a>>,
    nodes: Vec<Node<'a>>,
    kind: &'static str,
    unix_ns: u64,
    withdraws: Option<u64>,
    viewers: u32,
    pruned: u64,
    warnings: &'a [String],
    histograms: bool,
    /// 0 unless sampled.
    sampling_hz: f64,
    samples: u64,
    /// Whether what measuring costs at least was taken off the times.
    compensated: bool,
    sites: Vec<Site<'a>>,
    rules: Vec<Rule<'a>>,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Process<'a> {
    name: &'a str,
    pid: u32,
    state: &'static str,
    started_unix_ns: u64,
    uptime_ns: u64,
}

#[derive(Serialize)]
struct Clock<'a> {
    source: &'static str,
    ticks_per_second: f64,
    reason: &'a str,
    errors: u64,
    epoch: u32,
}

#[derive(Serialize)]
struct Cost {
    lower_ns: f64,
    upper_ns: f64,
    share_lower: f64,
    share_upper: f64,
    publisher_share: f64,
}

#[derive(Serialize)]
struct Lifetime {
    calls: u64,
    ticks: u64,
}

#[derive(Serialize)]
struct Thread<'a> {
    id: u32,
    name: &'a str,
    tid: u32,
    state: &'static str,
    count: u64,
    cpu_ns: Option<u64>,
    outside_ns: u64,
    /// Ids of nodes, outermost first.
    open: Vec<u32>,
}

/// JSON has no NaN and no infinity.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn kind(kind: CaptureKind) -> &'static str {
    match kind {
        CaptureKind::Periodic => "periodic",
        CaptureKind::Closing => "closing",
        CaptureKind::Final => "final",
    }
}

// === impl Document ===

impl<'a> Document<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, state: ProcessState) -> Self {
        let Snapshot {
            process,
            clock,
            capture,
            lifetime,
            measuring,
            ..
        } = snapshot;
        Self {
            tickscope: VERSION,
            process: Process {
                name: &process.name,
                pid: process.pid,
                state: state.as_str(),
                started_unix_ns: process.started_unix_ns,
                uptime_ns: process.uptime_ns,
            },
            clock: Clock {
                source: clock.source.as_str(),
                ticks_per_second: finite(clock.ticks_per_second),
                reason: &clock.reason,
                errors: clock.errors,
                epoch: clock.epoch,
            },
            mode: capture.mode.as_str(),
            cost: cost(snapshot),
            reset_epoch: capture.reset_epoch,
            since_reset_ns: capture.since_reset_ns,
            seq: capture.seq,
            interval_ns: capture.interval_ns,
            dropped: capture.dropped,
            unbalanced: capture.unbalanced,
            lifetime: Lifetime {
                calls: lifetime.calls,
                ticks: lifetime.ticks,
            },
            threads: threads(snapshot),
            nodes: nodes(snapshot),
            kind: kind(capture.kind),
            unix_ns: capture.unix_ns,
            withdraws: capture.withdraws,
            viewers: capture.viewers,
            pruned: capture.pruned,
            warnings: &process.warnings,
            histograms: measuring.histograms,
            sampling_hz: finite(measuring.sampling_hz),
            samples: measuring.samples,
            compensated: false,
            sites: sites(snapshot),
            rules: rules(snapshot),
            groups: groups(snapshot),
        }
    }

    /// The compensated view of a snapshot; what measuring costs is a share of what was measured.
    pub(super) fn compensated(less: &'a Snapshot, raw: &Snapshot, state: ProcessState) -> Self {
        Self {
            cost: cost(raw),
            compensated: true,
            ..Self::new(less, state)
        }
    }
}

fn cost(snapshot: &Snapshot) -> Cost {
    let cost = &snapshot.capture.cost;
    let (share_lower, share_upper) = snapshot.cost_share();
    Cost {
        lower_ns: finite(cost.lower_ns),
        upper_ns: finite(cost.upper_ns),
        share_lower: finite(share_lower),
        share_upper: finite(share_upper),
        publisher_share: finite(cost.publisher_share),
    }
}

fn threads(snapshot: &Snapshot) -> Vec<Thread<'_>> {
    let threads = snapshot.threads.iter().enumerate();
    threads
        .map(|(index, thread)| Thread {
            id: index as u32,
            name: &thread.name,
            tid: thread.tid,
            state: thread.state.as_str(),
            count: thread.count,
            cpu_ns: thread.cpu_ns,
            outside_ns: snapshot.nanos(thread.outside_ticks),
            open: thread.open.iter().map(|frame| frame.node.0).collect(),
        })
        .collect()
}

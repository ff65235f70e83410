//! The JSON document as structs: the order of fields is the order of members.

use serde::Serialize;

use crate::ids::{NodeId, ThreadId};
use crate::render::ProcessState;
use crate::snapshot::{CaptureKind, Snapshot};

/// The version of this document.
const VERSION: u32 = 1;

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

#[derive(Serialize)]
struct Node<'a> {
    /// The row: unique within one snapshot.
    id: u32,
    parent: Option<u32>,
    thread: u32,
    name: &'a str,
    module: &'a str,
    file: &'a str,
    line: u32,
    calls: u64,
    total_ns: u64,
    self_ns: u64,
    total_ticks: u64,
    self_ticks: u64,
    open: bool,
    errors: u64,
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
            ..
        } = snapshot;
        let (share_lower, share_upper) = snapshot.cost_share();
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
            cost: Cost {
                lower_ns: finite(capture.cost.lower_ns),
                upper_ns: finite(capture.cost.upper_ns),
                share_lower: finite(share_lower),
                share_upper: finite(share_upper),
                publisher_share: finite(capture.cost.publisher_share),
            },
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
        }
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

/// By thread, and within it as the snapshot has them: parents before children.
fn nodes(snapshot: &Snapshot) -> Vec<Node<'_>> {
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
                total_ns: total_ns[row],
                self_ns: self_ns[row],
                total_ticks: total_ticks[row],
                self_ticks: columns.self_ticks[row],
                open: open[row],
                errors: errors[row],
            }
        })
        .collect()
}

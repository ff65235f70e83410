//! A JSON document back as the snapshot that it was made of.
//!
//! Of what can be derived (totals, nanoseconds, percentiles, names of nodes) nothing is read. State and share of
//! measuring's cost are not the snapshot's.

mod why;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document::VERSION;
use super::raw;
use crate::codec;
use crate::error::FormatError;
use crate::ids::{NO_PARENT, NodeId, SiteId};
use crate::latency::{BUCKETS, Histogram, Latencies};
use crate::snapshot::{
    CaptureFacts, CaptureKind, ClockFacts, ClockSource, Cost, Count, Lifetime, Measuring, Mode, NodeErrors,
    Nodes, OpenFrame, Process, Rule, Site, Snapshot, Thread, ThreadState,
};

/// What every document of this version has; what came later has a default.
#[derive(Deserialize)]
struct Document {
    tickscope: u32,
    process: ProcessIn,
    clock: ClockIn,
    mode: String,
    cost: CostIn,
    reset_epoch: u64,
    since_reset_ns: u64,
    seq: u64,
    interval_ns: u64,
    dropped: u64,
    unbalanced: u64,
    lifetime: LifetimeIn,
    threads: Vec<ThreadIn>,
    nodes: Vec<NodeIn>,
    kind: String,
    unix_ns: u64,
    withdraws: Option<u64>,
    viewers: u32,
    pruned: u64,
    warnings: Vec<String>,
    histograms: bool,
    sampling_hz: f64,
    samples: u64,
    compensated: bool,
    sites: Vec<SiteIn>,
    rules: Vec<RuleIn>,
    window: bool,
    tick: u64,
    per: Option<IgnoredAny>,
    other_sites: Vec<SiteIn>,
    latencies: Vec<raw::Histogram>,
    estimates: Vec<raw::Estimate>,
}

#[derive(Deserialize)]
struct ProcessIn {
    name: String,
    pid: u32,
    started_unix_ns: u64,
    uptime_ns: u64,
}

#[derive(Deserialize)]
struct ClockIn {
    source: String,
    ticks_per_second: f64,
    reason: String,
    errors: u64,
    epoch: u32,
}

#[derive(Deserialize)]
struct CostIn {
    lower_ns: f64,
    upper_ns: f64,
    publisher_share: f64,
    publisher_cpu_ns: u64,
}

#[derive(Deserialize)]
struct LifetimeIn {
    calls: u64,
    ticks: u64,
}

#[derive(Deserialize)]
struct ThreadIn {
    id: u32,
    name: String,
    tid: u32,
    state: String,
    count: u64,
    cpu_ns: Option<u64>,
    open: Vec<u32>,
    outside_ticks: u64,
    began_ticks: Vec<u64>,
}

#[derive(Deserialize)]
struct NodeIn {
    id: u32,
    parent: Option<u32>,
    thread: u32,
    calls: u64,
    self_ticks: u64,
    errors: u64,
    site: u32,
    #[serde(default)]
    sum: Option<u64>,
}

#[derive(Deserialize)]
struct SiteIn {
    name: String,
    module: String,
    #[serde(default)]
    file: String,
    line: u32,
    group: String,
    off: bool,
    id: u32,
}

#[derive(Deserialize)]
struct RuleIn {
    pattern: String,
    off: bool,
}

/// The snapshot that a document holds, as it was measured.
///
/// # Errors
/// What is there instead of one that this build can read.
pub fn snapshot_of(text: &str) -> Result<Snapshot, FormatError> {
    let document: Document = serde_json::from_str(text).map_err(|error| why::not_read(text, &error))?;
    if document.tickscope != VERSION {
        return Err(why::other_version(document.tickscope));
    }
    if document.compensated {
        return Err(why::compensated());
    }
    if document.per.is_some() {
        return Err(why::per_call());
    }
    let snapshot = document.snapshot()?;
    codec::check(&snapshot)?;
    Ok(snapshot)
}

fn wrong(place: impl Into<String>, found: impl ToString, wanted: impl Into<String>) -> FormatError {
    FormatError::Document {
        place: place.into(),
        found: found.to_string(),
        wanted: wanted.into(),
    }
}

/// The one of all that is called so.
fn named<T: Copy>(
    place: &str,
    name: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<T, FormatError> {
    let found = all.iter().copied().find(|&one| name_of(one) == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&one| name_of(one)).collect();
        wrong(
            place,
            format!("\"{}\"", name.escape_debug()),
            format!("one of {}", names.join(", ")),
        )
    })
}

// === impl Document ===

impl Document {
    fn snapshot(self) -> Result<Snapshot, FormatError> {
        const SOURCES: [ClockSource; 4] = [
            ClockSource::Tsc,
            ClockSource::TscOrdered,
            ClockSource::Monotonic,
            ClockSource::Custom,
        ];
        const KINDS: [CaptureKind; 3] = [CaptureKind::Periodic, CaptureKind::Closing, CaptureKind::Final];
        let (sites, off_sites) = sites(self.sites.into_iter().chain(self.other_sites).collect())?;
        let rows = rows_of_threads(&self.nodes, self.threads.len())?;
        let threads = self.threads.into_iter().zip(rows).enumerate();
        let threads = threads.map(|(index, (thread, rows))| thread.thread(index, rows));
        let errors = self.nodes.iter().filter(|node| node.errors > 0);
        Ok(Snapshot {
            process: Process {
                name: self.process.name,
                pid: self.process.pid,
                started_unix_ns: self.process.started_unix_ns,
                uptime_ns: self.process.uptime_ns,
                warnings: self.warnings,
            },
            clock: ClockFacts {
                source: named(
                    "clock's source",
                    &self.clock.source,
                    &SOURCES,
                    ClockSource::as_str,
                )?,
                ticks_per_second: self.clock.ticks_per_second,
                reason: self.clock.reason,
                errors: self.clock.errors,
                epoch: self.clock.epoch,
            },
            capture: CaptureFacts {
                mode: named("mode", &self.mode, &Mode::ALL, Mode::as_str)?,
                kind: named("kind", &self.kind, &KINDS, CaptureKind::as_str)?,
                seq: self.seq,
                tick: self.tick,
                unix_ns: self.unix_ns,
                interval_ns: self.interval_ns,
                reset_epoch: self.reset_epoch,
                since_reset_ns: self.since_reset_ns,
                withdraws: self.withdraws,
                pruned: self.pruned,
                dropped: self.dropped,
                unbalanced: self.unbalanced,
                cost: Cost {
                    lower_ns: self.cost.lower_ns,
                    upper_ns: self.cost.upper_ns,
                    publisher_cpu_ns: self.cost.publisher_cpu_ns,
                    publisher_share: self.cost.publisher_share,
                },
                viewers: self.viewers,
            },
            lifetime: Lifetime {
                calls: self.lifetime.calls,
                ticks: self.lifetime.ticks,
            },
            threads: threads.collect::<Result<_, _>>()?,
            sites: sites.into(),
            errors: errors
                .map(|node| NodeErrors {
                    node: NodeId(node.id),
                    count: node.errors,
                })
                .collect(),
            counts: counts(&self.nodes),
            nodes: nodes(&self.nodes)?,
            measuring: Measuring {
                histograms: self.histograms,
                sampling_hz: self.sampling_hz,
                samples: self.samples,
                rules: self
                    .rules
                    .into_iter()
                    .map(|RuleIn { pattern, off }| Rule { pattern, off })
                    .collect(),
                off_sites,
            },
            latencies: latencies(self.latencies)?,
            estimates: self.estimates.into_iter().map(Into::into).collect(),
            window: self.window,
        })
    }
}

/// The sites by their ids, and which of them are off.
fn sites(list: Vec<SiteIn>) -> Result<(Vec<Site>, Vec<SiteId>), FormatError> {
    let count = list.len();
    let mut sites: BTreeMap<u32, Site> = BTreeMap::new();
    let mut off_sites = Vec::new();
    for site in list {
        let place = || format!("site {}", site.id);
        if site.id as usize >= count {
            return Err(wrong(
                place(),
                "that id",
                format!("ids below {count}, the number of sites"),
            ));
        }
        if site.off {
            off_sites.push(SiteId(site.id));
        }
        let place = place();
        let before = sites.insert(
            site.id,
            Site {
                name: site.name,
                module: site.module,
                file: site.file,
                line: site.line,
                group: site.group,
            },
        );
        if before.is_some() {
            return Err(wrong(place, "it twice", "each id once"));
        }
    }
    off_sites.sort();
    // As many ids as sites, all different and all below their number: none is left out.
    Ok((sites.into_values().collect(), off_sites))
}

/// The rows of each thread, side by side in the order of the threads.
fn rows_of_threads(nodes: &[NodeIn], threads: usize) -> Result<Vec<(u32, u32)>, FormatError> {
    let mut rows = vec![(0, 0); threads];
    let mut thread = 0;
    for (row, node) in (0..).zip(nodes) {
        if node.thread as usize >= threads || node.thread < thread {
            return Err(wrong(
                format!("node {row}"),
                format!("thread {}", node.thread),
                format!("{thread} or a later one of {threads} threads"),
            ));
        }
        thread = node.thread;
        rows[thread as usize].1 += 1;
    }
    let mut next = 0;
    for (first, count) in &mut rows {
        *first = next;
        next += *count;
    }
    Ok(rows)
}

fn nodes(list: &[NodeIn]) -> Result<Nodes, FormatError> {
    let mut nodes = Nodes::default();
    nodes.reserve(list.len());
    for (row, node) in (0..).zip(list) {
        if node.id != row {
            return Err(wrong(
                format!("node {row}"),
                format!("id {}", node.id),
                row.to_string(),
            ));
        }
        if node.parent == Some(NO_PARENT) {
            return Err(wrong(format!("node {row}"), "that parent", "a row, or null"));
        }
        nodes.push(
            node.parent.map(NodeId),
            SiteId(node.site),
            node.calls,
            node.self_ticks,
        );
    }
    Ok(nodes)
}

fn counts(nodes: &[NodeIn]) -> Vec<Count> {
    let counts = nodes.iter().filter_map(|node| {
        let sum = node.sum?;
        let node = NodeId(node.id);
        Some(Count { node, sum })
    });
    counts.collect()
}

fn latencies(list: Vec<raw::Histogram>) -> Result<Latencies, FormatError> {
    let mut latencies = Latencies::default();
    for raw::Histogram {
        node,
        max_ticks,
        buckets,
    } in list
    {
        let rises = buckets.is_sorted_by(|a, b| a.0 < b.0);
        let exists = |&(bucket, count): &(u16, u64)| usize::from(bucket) < BUCKETS && count > 0;
        if buckets.is_empty() || !rises || !buckets.iter().all(exists) {
            return Err(wrong(
                format!("latencies of node {node}"),
                "buckets that are none",
                format!("some that rise below {BUCKETS}, each with a count above 0"),
            ));
        }
        latencies.push(node, &Histogram { buckets, max_ticks });
    }
    Ok(latencies)
}

// === impl ThreadIn ===

impl ThreadIn {
    fn thread(self, index: usize, (first_row, rows): (u32, u32)) -> Result<Thread, FormatError> {
        const STATES: [ThreadState; 4] = [
            ThreadState::Running,
            ThreadState::Idle,
            ThreadState::Paused,
            ThreadState::Finished,
        ];
        let place = format!("thread {index}");
        if self.id as usize != index {
            return Err(wrong(place, format!("id {}", self.id), index.to_string()));
        }
        if self.open.len() != self.began_ticks.len() {
            return Err(wrong(
                place,
                format!("{} began_ticks", self.began_ticks.len()),
                format!("{}, one for each open scope", self.open.len()),
            ));
        }
        let open = self.open.into_iter().zip(self.began_ticks);
        Ok(Thread {
            name: self.name,
            tid: self.tid,
            state: named(
                &format!("{place}'s state"),
                &self.state,
                &STATES,
                ThreadState::as_str,
            )?,
            count: self.count,
            cpu_ns: self.cpu_ns,
            outside_ticks: self.outside_ticks,
            first_row,
            rows,
            open: open
                .map(|(node, began_tick)| OpenFrame {
                    node: NodeId(node),
                    began_tick,
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests;

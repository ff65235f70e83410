//! The structs that are serialized as the JSON document. The order of the fields is the order of the members.

use serde::{Serialize, Serializer};
use tickscope_analysis::per_call::PerCall;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::{Losses, Now, Snapshot};

use super::futures::{Task, tasks};
use super::groups::{Group, groups};
use super::layout::VERSION;
use super::lines::{Lines, lines};
use super::measures::{Measures, Members};
use super::node::{Node, nodes};
use super::raw::{Estimate, Histogram, estimates, finite, latencies};
use super::sites::{OtherSite, Rule, Site, other_sites, rules, sites};
use crate::quotient::Quotient;
use crate::{Extent, ProcessState};

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
    #[serde(flatten)]
    losses: Counters,
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
    /// Samples per second; 0 except in sampled mode.
    sampling_hz: f64,
    samples: u64,
    sites: Vec<Site<'a>>,
    rules: Vec<Rule<'a>>,
    groups: Vec<Group>,
    /// Whether the snapshot is a window, which means that its numbers cover only the last `since_reset_ns` rather than the whole
    /// time since the reset.
    window: bool,
    /// Functions in focus, outermost first; empty for the whole program.
    focus: &'a [String],
    tick: u64,
    /// The function whose number of calls is the divisor of times and calls; null if they are not divided.
    per: Option<Per<'a>>,
    other_sites: Vec<OtherSite<'a>>,
    latencies: Vec<Histogram>,
    estimates: Vec<Estimate>,
    /// Calls of futures in flight, by logical path; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<Task>,
    /// Functions with sleds; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<Functions<'a>>,
    /// Samples of the program counter; left out if sampling was never on.
    #[serde(flatten)]
    lines: Option<Lines<'a>>,
}

/// See [`tickscope_format::snapshot::Functions`].
#[derive(Serialize)]
struct Functions<'a> {
    known: u32,
    on: u32,
    returned: u64,
    unwound: u64,
    elsewhere: u64,
    vanished: u64,
    fixed: bool,
    budget: f64,
    cost_share: f64,
    call_ns: f64,
    over_budget: Vec<OverBudget<'a>>,
    choice: Choice<'a>,
}

/// See [`tickscope_format::snapshot::FunctionChoice`].
#[derive(Serialize)]
struct Choice<'a> {
    every: bool,
    only: &'a [String],
    not: &'a [String],
}

#[derive(Serialize)]
struct OverBudget<'a> {
    module: &'a str,
    name: &'a str,
    mean_ns: f64,
    cost_share: f64,
    learned: bool,
}

/// Loss counters, each as a member with the counter's name.
struct Counters(Losses);

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|loss| (loss.name, loss.value)))
    }
}

/// The function whose number of calls is the divisor of the document's numbers. The numbers in this struct itself are not
/// divided.
#[derive(Serialize)]
struct Per<'a> {
    name: &'a str,
    calls: u64,
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
    drains_ns: Option<f64>,
}

#[derive(Serialize)]
struct Cost {
    lower_ns: f64,
    upper_ns: f64,
    share_lower: f64,
    share_upper: f64,
    publisher_share: f64,
    publisher_cpu_ns: u64,
    own_low_ns: f64,
    own_high_ns: f64,
    drains_ns: Option<f64>,
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
    cpu_ns: Option<Quotient>,
    outside_ns: Quotient,
    /// Ids of open nodes, outermost first.
    open: Vec<u32>,
    outside_ticks: Quotient,
    /// For each open node: when its call began, in ticks of the program's clock; 0 if that was not measured.
    began_ticks: Vec<u64>,
    #[serde(flatten)]
    measures: Members,
    /// What the thread is doing: "running", "ready" or "waiting". If it is waiting, `now_in` has the system call. Left out if
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now_in: Option<&'a str>,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        per: Option<&'a PerCall>,
        state: ProcessState,
        extent: &'a Extent,
        addresses: &Addresses,
    ) -> Self {
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
                drains_ns: snapshot.drains_ns.map(finite),
            },
            mode: capture.mode.as_str(),
            cost: cost(snapshot),
            reset_epoch: capture.reset_epoch,
            since_reset_ns: capture.since_reset_ns,
            seq: capture.seq,
            interval_ns: capture.interval_ns,
            losses: Counters(capture.losses),
            lifetime: Lifetime {
                calls: lifetime.calls,
                ticks: lifetime.ticks,
            },
            threads: threads(snapshot, per),
            nodes: nodes(snapshot, per),
            kind: capture.kind.as_str(),
            unix_ns: capture.unix_ns,
            withdraws: capture.withdraws,
            viewers: capture.viewers,
            pruned: capture.pruned,
            warnings: &process.warnings,
            histograms: measuring.histograms,
            sampling_hz: finite(measuring.sampling_hz),
            samples: measuring.samples,
            sites: sites(snapshot, per),
            rules: rules(snapshot),
            groups: groups(snapshot, per),
            tick: capture.tick,
            per: per.map(|per| Per {
                name: &per.name,
                calls: per.calls,
            }),
            other_sites: other_sites(snapshot),
            latencies: latencies(snapshot),
            estimates: estimates(snapshot),
            tasks: tasks(snapshot),
            functions: snapshot.functions.as_ref().map(|functions| Functions {
                known: functions.known,
                on: functions.on,
                returned: functions.returned,
                unwound: functions.unwound,
                elsewhere: functions.elsewhere,
                vanished: functions.vanished,
                fixed: functions.fixed,
                budget: finite(functions.budget),
                cost_share: finite(functions.cost_share),
                call_ns: finite(functions.call_ns),
                over_budget: over_budget(snapshot),
                choice: Choice {
                    every: functions.choice.every,
                    only: &functions.choice.only,
                    not: &functions.choice.not,
                },
            }),
            window: snapshot.window,
            lines: lines(snapshot, addresses),
            focus: &extent.focus,
        }
    }
}

fn over_budget(snapshot: &Snapshot) -> Vec<OverBudget<'_>> {
    let named = snapshot.over_budget().iter().filter_map(|over| {
        let site = snapshot.sites.get(over.site.index())?;
        Some(OverBudget {
            module: &site.module,
            name: &site.name,
            mean_ns: finite(over.mean_ns),
            cost_share: finite(over.cost_share),
            learned: over.learned,
        })
    });
    named.collect()
}

fn cost(snapshot: &Snapshot) -> Cost {
    let cost = &snapshot.capture.cost;
    let (share_lower, share_upper) = snapshot.cost_share();
    // JSON has no infinity and no NaN, so a cost that is not finite is written as 0, and so is its share.
    let share = |share: f64, of: f64| if of.is_finite() { finite(share) } else { 0.0 };
    Cost {
        lower_ns: finite(cost.lower_ns),
        upper_ns: finite(cost.upper_ns),
        share_lower: share(share_lower, cost.lower_ns),
        share_upper: share(share_upper, cost.upper_ns),
        publisher_share: finite(cost.publisher_share),
        publisher_cpu_ns: cost.publisher_cpu_ns,
        own_low_ns: finite(snapshot.own_cost().low_ns),
        own_high_ns: finite(snapshot.own_cost().high_ns),
        drains_ns: snapshot.drains_ns.map(finite),
    }
}

fn threads<'a>(snapshot: &'a Snapshot, per: Option<&'a PerCall>) -> Vec<Thread<'a>> {
    let measures = Measures::new(snapshot, per);
    let threads = snapshot.threads.iter().enumerate();
    threads
        .map(|(index, thread)| Thread {
            id: index as u32,
            name: &thread.name,
            tid: thread.tid,
            state: thread.state.as_str(),
            count: thread.count,
            cpu_ns: thread.cpu_ns.map(|ns| Quotient::of(ns, per)),
            outside_ns: Quotient::of(snapshot.nanos(thread.outside_ticks), per),
            open: thread.open.iter().map(|frame| frame.node.0).collect(),
            outside_ticks: Quotient::of(thread.outside_ticks, per),
            began_ticks: thread.open.iter().map(|frame| frame.began_tick).collect(),
            measures: measures.outside(index as u32),
            now: snapshot.waits_in.now_of(index as u32).map(|now| now.word()),
            now_in: snapshot.waits_in.now_of(index as u32).and_then(Now::call),
        })
        .collect()
}

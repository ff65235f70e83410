//! The data for the page's scripts: the columns of the snapshot as JSON. The JSON is written by hand, so that the collector's
//! feature `report` needs no JSON library.
//!
//! Short names and the texts at the top of the page are already computed here, in the same way as for the text report. There is
//! one self time per node, in nanoseconds. The scripts merge threads and compute totals.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use tickscope_analysis::functions::Functions;
use tickscope_analysis::groups::{self, GroupRow};
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_analysis::uncertainty::uncertainties;
use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{Level, Quantity, Snapshot, Values};

use super::json::{end, join, list, member, strings};
use super::{slow, timeline};
use crate::escape::{Json, visible};
use crate::form_options::FormOptions;
use crate::label::{labels, place};
use crate::{ProcessState, clock, extent, memory_bound, number, text};

/// The cost of measuring is reported as a doubt if it is at least this share of the time in scopes.
const DEAR_SHARE: f64 = 0.1;

pub(super) fn write(out: &mut String, snapshot: &Snapshot, options: &FormOptions) {
    out.push('{');
    facts(out, snapshot, options);
    functions(out, snapshot);
    threads(out, snapshot);
    nodes(out, snapshot);
    latencies(out, snapshot);
    futures(out, snapshot);
    sampled(out, snapshot);
    list(out, "estimates", estimated(snapshot).iter());
    counters(out, snapshot);
    measures(out, snapshot);
    off_cpu(out, snapshot);
    waits_in(out, snapshot);
    slow::write(out, snapshot, options);
    if let Some(slots) = options.slots.as_deref() {
        timeline::write(out, snapshot, slots);
    }
    let by = Measure::measured(snapshot).position(|measure| measure == options.text.by);
    member(out, "by", by.unwrap_or(0));
    let chosen = options
        .text
        .thread
        .filter(|thread| thread.index() < snapshot.threads.len());
    member(
        out,
        "thread",
        chosen.map_or_else(|| "null".into(), |t| t.0.to_string()),
    );
    end(out);
    out.push('\n');
}

fn facts(out: &mut String, snapshot: &Snapshot, options: &FormOptions) {
    let Snapshot {
        process,
        capture,
        clock,
        ..
    } = snapshot;
    let (lower, upper) = snapshot.cost_share();
    let focus = options.text.extent.focus_words().unwrap_or_default();
    let texts = [
        ("program", visible(&process.name, false).into_owned()),
        ("state", options.text.state.explained().to_string()),
        ("taken", clock::utc(capture.unix_ns)),
        ("span", extent::name(snapshot).to_string()),
        ("since_reset", options.text.extent.length(snapshot)),
        ("focus", visible(&focus, false).into_owned()),
        ("mode", capture.mode.as_str().to_string()),
        ("cost_lower", number::percent(lower)),
        ("cost_upper", number::percent(upper)),
    ];
    for (name, text) in texts {
        member(out, name, Json(&text));
    }
    for (name, value) in [
        ("doubtful_below_ns", snapshot.doubtful_below_ns()),
        ("ticks_per_second", clock.ticks_per_second),
    ] {
        member(out, name, if value.is_finite() { value } else { 0.0 });
    }
    member(out, "pid", process.pid);
    member(out, "since_reset_ns", capture.since_reset_ns);
    // JavaScript dates have a resolution of one millisecond.
    member(out, "unix_ms", capture.unix_ns / 1_000_000);
    let (per_name, per_calls) = match &options.text.per {
        Some(per) => (visible(&per.name, false), per.calls.to_string()),
        None => ("".into(), "null".into()),
    };
    member(out, "per_name", Json(&per_name));
    member(out, "per_calls", per_calls);
    member(out, "histograms", snapshot.measuring.histograms);
    strings(out, "doubts", doubts(snapshot, options).iter());
    let facts = text::facts(snapshot, &options.of_page_text());
    let pairs = facts
        .iter()
        .map(|(name, text)| format!("[{},{}]", Json(name), Json(text)));
    list(out, "facts", pairs);
}

/// Returns the reasons why numbers could be wrong, one sentence each.
fn doubts(snapshot: &Snapshot, options: &FormOptions) -> Vec<String> {
    let Snapshot {
        process,
        capture,
        clock,
        ..
    } = snapshot;
    let mut doubts: Vec<String> = process
        .warnings
        .iter()
        .map(|warning| visible(warning, false).into_owned())
        .collect();
    if let ProcessState::Crashed | ProcessState::Stale = options.text.state {
        doubts.push(format!("the program is {}", options.text.state.explained()));
    }
    let (_, upper) = snapshot.cost_share();
    if upper >= DEAR_SHARE {
        let most = number::percent(upper);
        doubts.push(format!("measuring itself is up to {most} of all time in scopes"));
    }
    doubts.extend(memory_bound::doubt(snapshot, capture.mode).map(str::to_string));
    if clock.errors > 0 {
        doubts.push(format!(
            "{} clock errors: these gaps were not charged",
            clock.errors
        ));
    }
    let losses = capture.losses.iter().filter(|loss| loss.value > 0);
    doubts.extend(losses.map(|loss| format!("{} {}", loss.value, loss.explanation)));
    if capture.pruned > 0 {
        doubts.push(format!(
            "{} rows are summed up in rows called (pruned)",
            capture.pruned
        ));
    }
    doubts
}

/// Appends several lists with one element per function: short name; full name (empty if it is the same); file and line, with a
/// long path shortened; file and line with the whole path (empty if that is the same); rank of the short name in alphabetical
/// order.
fn functions(out: &mut String, snapshot: &Snapshot) {
    let functions = Functions::of(snapshot);
    let labels = labels(&functions, false);
    let mut by_name: Vec<usize> = (0..labels.len()).collect();
    by_name.sort_by_key(|&at| (&labels[at], at));
    let mut rank = vec![0; labels.len()];
    by_name
        .iter()
        .enumerate()
        .for_each(|(at, &function)| rank[function] = at);
    strings(out, "label", labels.iter());
    let all = || functions.list.iter().zip(&labels);
    let names = all().map(|(function, label)| {
        let name = visible(&function.full_name(), false).into_owned();
        if name == *label { String::new() } else { name }
    });
    strings(out, "name", names);
    let short = |file: &str, line: u32| place(file, line, false);
    strings(
        out,
        "place",
        functions.list.iter().map(|f| short(&f.file, f.line)),
    );
    let whole = functions.list.iter().map(|f| {
        let whole = format!("{}:{}", visible(&f.file, false), f.line);
        if f.line == 0 || short(&f.file, f.line) == whole {
            String::new()
        } else {
            whole
        }
    });
    strings(out, "whole_place", whole);
    list(out, "rank", rank.iter());
    if functions.list.iter().any(|function| !function.group.is_empty()) {
        groups(out, snapshot, &functions, &labels);
    }
    list(
        out,
        "function_of_site",
        functions.of_site.iter().map(|function| function.0),
    );
}

/// Appends a text about the group of each function, which is empty if the function has no group. Then appends the cells of each
/// group's table row: name, calls, total time, self time, and members.
fn groups(out: &mut String, snapshot: &Snapshot, functions: &Functions, labels: &[String]) {
    let rows = groups::groups(snapshot, |_| true);
    let time = |row: &GroupRow, ns: u64| {
        let about = if row.sum.is_rough() { "~" } else { "" };
        format!("{about}{}", number::duration(ns))
    };
    let told = |group: &str| {
        let name = visible(group, false);
        let Some(row) = rows.iter().find(|row| row.name == group) else {
            return format!("in group {name}");
        };
        format!(
            "in group {name}: {} inside its outermost members, {} calls, in all threads",
            time(row, row.sum.total_ns),
            number::count(row.sum.calls),
        )
    };
    let all = functions
        .list
        .iter()
        .map(|function| match function.group.as_str() {
            "" => String::new(),
            group => told(group),
        });
    strings(out, "group", all);
    let lines = rows.iter().map(|row| {
        let members = row.members.iter().map(|id| labels[id.index()].as_str());
        let texts = [
            visible(&row.name, false).into_owned(),
            number::count(row.sum.calls),
            time(row, row.sum.total_ns),
            time(row, row.sum.self_ns),
            members.collect::<Vec<_>>().join(", "),
        ];
        format!("[{}]", texts.map(|text| Json(&text).to_string()).join(","))
    });
    list(out, "group_rows", lines);
}

fn threads(out: &mut String, snapshot: &Snapshot) {
    let threads = &snapshot.threads;
    strings(
        out,
        "thread_name",
        threads.iter().map(|t| visible(&t.name, false)),
    );
    strings(out, "thread_state", threads.iter().map(|t| t.state.as_str()));
    list(out, "thread_tid", threads.iter().map(|t| t.tid));
    list(out, "thread_count", threads.iter().map(|t| t.count));
    list(out, "thread_rows", threads.iter().map(|t| t.rows));
    let outside = threads.iter().map(|t| snapshot.value(t.outside_ticks));
    list(out, "thread_outside_ns", outside);
    let cpu = threads.iter().map(|t| t.cpu_ns);
    list(
        out,
        "thread_cpu_ns",
        cpu.map(|ns| ns.map_or_else(|| "null".into(), |ns| ns.to_string())),
    );
    // What each thread was doing in its newest sample: the system call in which it waited, or a word for its state.
    let now = (0u32..).zip(threads).map(|(thread, _)| {
        let now = snapshot.waits_in.now_of(thread);
        now.map_or("", |now| now.call().unwrap_or(now.word()))
    });
    strings(out, "thread_now", now);
    let open = threads.iter().flat_map(|t| &t.open).map(|frame| frame.node.0);
    list(out, "open", open);
}

/// Appends the nodes. A node's parent is stored as the distance between their rows, which is usually small; 0 means that there is
/// no parent.
fn nodes(out: &mut String, snapshot: &Snapshot) {
    let nodes = &snapshot.nodes;
    let up = (0u32..).zip(&nodes.parent).map(|(row, &parent)| match parent {
        NO_PARENT => 0,
        parent => row - parent,
    });
    list(out, "up", up);
    list(out, "site", nodes.site.iter());
    list(out, "calls", nodes.calls.iter());
    list(out, "self_ns", snapshot.self_nanos().iter());
    let errors = snapshot.errors.iter();
    list(
        out,
        "errors",
        errors.map(|error| format!("[{},{}]", error.node.0, error.count)),
    );
}

/// Appends for each node with a histogram: the node; its longest call in ticks or its largest number (0 if not known exactly);
/// then the index and the count of each bucket that is not empty.
fn latencies(out: &mut String, snapshot: &Snapshot) {
    let texts = snapshot.call_latencies().map(|(row, latencies)| {
        let histogram = latencies.of(row);
        let mut text = format!("[{row},{}", histogram.max_ticks);
        for (bucket, count) in &histogram.buckets {
            let _ = write!(text, ",{bucket},{count}");
        }
        text.push(']');
        text
    });
    list(out, "latencies", texts);
}

/// Appends for each node of a future: the node, the number of calls that ended or were cancelled, and the sum of their wall times
/// in nanoseconds.
fn futures(out: &mut String, snapshot: &Snapshot) {
    let measures = &snapshot.measures;
    let polled = [Quantity::Polls, Quantity::FutureTime].into_iter();
    let columns = polled.filter_map(|quantity| measures.of(quantity));
    let rows: BTreeSet<u32> = columns
        .flat_map(|column| &column.rows)
        .map(|&(row, _)| row)
        .collect();
    if rows.is_empty() {
        return;
    }
    let futures = rows.into_iter().map(|row| {
        let of_row = |quantity| measures.of_row(quantity, row);
        let over = of_row(Quantity::FutureEnds) + of_row(Quantity::FutureCancels);
        format!("[{row},{over},{}]", snapshot.nanos(of_row(Quantity::FutureTime)))
    });
    list(out, "futures", futures);
}

/// Appends for each node that has time known only from samples: the node, and this time in nanoseconds, at least 1.
fn sampled(out: &mut String, snapshot: &Snapshot) {
    if let Some(column) = snapshot.measures.of(Quantity::Sampled) {
        let rows = column.rows.iter();
        list(
            out,
            "sampled",
            rows.map(|&(row, ticks)| format!("[{row},{}]", snapshot.nanos(ticks).max(1))),
        );
    }
}

/// Returns for each node with estimated times: the node; flags (1: self time is estimated, 2: total time is estimated); the
/// number of timed calls; the standard errors of self and total time in ticks.
fn estimated(snapshot: &Snapshot) -> Vec<String> {
    let rows = uncertainties(snapshot).into_iter().enumerate();
    rows.filter_map(|(row, uncertainty)| {
        let uncertainty = uncertainty.if_estimated()?;
        let which = u8::from(uncertainty.self_estimated) + 2 * u8::from(uncertainty.total_estimated);
        Some(format!(
            "[{row},{which},{},{},{}]",
            uncertainty.timed, uncertainty.self_error, uncertainty.total_error
        ))
    })
    .collect()
}

/// Appends the node and the sum of each counter, value and gauge. Then appends the ranges of values and gauges, if there are any.
fn counters(out: &mut String, snapshot: &Snapshot) {
    if !snapshot.counts.is_empty() {
        let sums = snapshot.counts.iter();
        let sums = sums.map(|count| format!("[{},{}]", count.node.0, count.sum));
        list(out, "counters", sums);
    }
    // A range consists of the node, the smallest and the largest number or level, and two flags that tell whether each of these
    // is exact. For a gauge, its current level and the tick at which it was set follow. If no number or level is known, there is
    // only the node.
    let exact = |min: bool, max: bool| format!("{},{}", u8::from(min), u8::from(max));
    if !snapshot.value_rows.is_empty() {
        let ranges = snapshot.value_rows.iter().map(|row| match row.range {
            Some(range) => {
                let exact = exact(range.min_exact, range.max_exact);
                format!("[{},{},{},{exact}]", row.node.0, range.min, range.max)
            }
            None => format!("[{}]", row.node.0),
        });
        list(out, "values", ranges);
    }
    if !snapshot.gauge_rows.is_empty() {
        let levels = snapshot.gauge_rows.iter().map(|row| match row.level {
            Some(Level {
                last,
                set_tick,
                range,
            }) => {
                let exact = exact(range.min_exact, range.max_exact);
                format!(
                    "[{},{},{},{exact},{last},{set_tick}]",
                    row.node.0, range.min, range.max
                )
            }
            None => format!("[{}]", row.node.0),
        });
        list(out, "gauges", levels);
    }
}

/// Appends the measures, time first: name, the words that follow a sum in a sentence, unit. A measure other than time also has
/// its value for each node, and for each thread outside any scope. If it is a count, the nodes whose counts are estimated follow.
fn measures(out: &mut String, snapshot: &Snapshot) {
    let texts = Measure::measured(snapshot).map(|measure| {
        let dimension = match measure.dimension() {
            Dimension::Time => "time",
            Dimension::Count => "count",
            Dimension::Bytes => "bytes",
        };
        let names = [measure.name(), measure.summed(), dimension].map(|text| Json(text).to_string());
        let mut text = format!("[{}", names.join(","));
        if measure != Measure::Time {
            let by = measure.of(snapshot);
            let outside: Vec<u64> = by.threads.iter().map(|t| by.value(t.outside_ticks)).collect();
            for values in [by.self_nanos(), outside] {
                text.push_str(",[");
                join(&mut text, values.iter());
                text.push(']');
            }
            let estimated = match by.values {
                Values::Counts => estimated(&by),
                Values::Time | Values::PartOfTime => Vec::new(),
            };
            if !estimated.is_empty() {
                let _ = write!(text, ",[{}]", estimated.join(","));
            }
        }
        text.push(']');
        text
    });
    list(out, "measures", texts);
}

/// Appends the names of the system calls in which threads waited. Then appends for each pair of a node and a system call with
/// samples: the node, the index of the call's name, and the number of samples.
fn waits_in(out: &mut String, snapshot: &Snapshot) {
    let names: BTreeSet<&str> = snapshot.waits_in.samples().map(|(_, call, _)| call).collect();
    if names.is_empty() {
        return;
    }
    let names: Vec<&str> = names.into_iter().collect();
    strings(out, "waiting_calls", names.iter());
    let samples = snapshot.waits_in.samples().map(|(row, call, samples)| {
        let call = names.binary_search(&call).unwrap_or_default();
        format!("[{row},{call},{samples}]")
    });
    list(out, "waits_in", samples);
}

/// If reports have columns for time off the CPU, appends this fact and whether these times were measured (in sampled mode, the
/// columns are there but empty). Then appends for each node that was off the CPU: the node, its waiting time and its ready time
/// in nanoseconds.
fn off_cpu(out: &mut String, snapshot: &Snapshot) {
    if !snapshot.has_wait_columns() {
        return;
    }
    member(out, "wait_columns", true);
    member(out, "waits", snapshot.waits);
    let mut parts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    for (which, quantity) in [Quantity::Waiting, Quantity::Ready].into_iter().enumerate() {
        let column = snapshot.measures.of(quantity);
        for &(row, ticks) in column.iter().flat_map(|column| &column.rows) {
            parts.entry(row).or_default()[which] = snapshot.nanos(ticks);
        }
    }
    let parts = parts.iter();
    list(
        out,
        "off_cpu",
        parts.map(|(row, [waiting, ready])| format!("[{row},{waiting},{ready}]")),
    );
}

//! The functions with the highest values of a measure, as JSON.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use std::cmp::Reverse;

use serde::Serialize;
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::hotspots::{HotRow, hot};
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_format::snapshot::Snapshot;

use super::{Length, Program, Subject, cut, place};
use crate::budget::off_for_the_budget;
use crate::json::{VERSION, written};

#[derive(Serialize)]
struct Document<'a> {
    tickscope: u32,
    program: Program,
    mode: &'static str,
    by: &'static str,
    /// Unit of `self`, `total`, `error` and `whole`.
    unit: &'static str,
    /// Whether any value in the document is an estimate.
    estimated: bool,
    /// Time since the reset, or length of the window, in nanoseconds.
    over_ns: u64,
    when: Option<&'a str>,
    /// Sum of the self values of all functions. Shares are relative to this sum.
    whole: u64,
    shown: usize,
    total: usize,
    functions: Vec<Row>,
    notes: Vec<String>,
    next: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(rename = "self")]
    own: u64,
    share: f64,
    total: u64,
    calls: u64,
    /// Standard error of `self`: null if it is an estimate with an unknown error, left out if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Option<u64>>,
    /// Whether the calls are so short that the cost of measuring distorts their times.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    doubtful: bool,
    /// Whether the function is known only from samples. Then `calls` is 0.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sampled: bool,
}

/// Returns the answer as a JSON document that ends in a newline.
pub fn json(subject: &Subject<'_>, by: Measure, length: Length) -> String {
    let shown = by.of(subject.snapshot);
    let tree = CallTree::build(&shown, |_| true);
    let mut rows = hot(&tree);
    rows.retain(|row| row.tally.is_none());
    let name = |row: &HotRow| tree.functions.get(row.function).full_name();
    rows.sort_by_cached_key(|row| (Reverse(row.self_ns), Reverse(row.total_ns), name(row)));
    let document = |count: usize| {
        let listed = &rows[..count];
        let document = Document {
            tickscope: VERSION,
            program: Program::of(subject.snapshot, subject.state),
            mode: subject.snapshot.capture.mode.as_str(),
            by: by.name(),
            unit: unit(by),
            estimated: listed.iter().any(|row| row.uncertainty.is_some()),
            over_ns: subject.snapshot.capture.since_reset_ns,
            when: subject.when,
            whole: tree.measured_ns(),
            shown: listed.len(),
            total: rows.len(),
            functions: listed.iter().map(|row| self::row(row, &tree, &shown)).collect(),
            notes: notes(subject, rows.is_empty()),
            next: next(subject, by, rows.first().map(name), rows.len() > listed.len()),
        };
        written(&document, listed.len())
    };
    length.of(rows.len(), document)
}

fn row(row: &HotRow, tree: &CallTree, shown: &Snapshot) -> Row {
    let function = tree.functions.get(row.function);
    let own = row.uncertainty.filter(|uncertainty| uncertainty.self_estimated);
    let whole = tree.measured_ns();
    Row {
        function: cut(&function.full_name()),
        at: place(&function.file, function.line),
        own: row.self_ns,
        share: share(row.self_ns, whole),
        total: row.total_ns,
        calls: row.calls,
        error: own.map(|own| (own.self_error > 0.0).then(|| shown.value(own.self_error.round() as u64))),
        doubtful: shown.is_doubtful(row.sampled.counted_ns(row.total_ns), row.calls),
        sampled: row.sampled.is_all(row.calls),
    }
}

/// Returns the unit in which the values of this measure are given.
pub(crate) fn unit(by: Measure) -> &'static str {
    match by.dimension() {
        Dimension::Time => "ns",
        Dimension::Bytes => "bytes",
        Dimension::Count => by.name(),
    }
}

/// Returns `part` as a share of `whole`, rounded to four decimal places.
fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => (part as f64 / whole as f64 * 1e4).round() / 1e4,
    }
}

fn notes(subject: &Subject<'_>, is_empty: bool) -> Vec<String> {
    let snapshot = subject.snapshot;
    let mut notes = subject.notes.to_vec();
    if is_empty {
        notes.push("no scope has been entered yet".into());
    }
    notes.extend(off_for_the_budget(snapshot).map(|off| format!("functions: {off}")));
    if snapshot.capture.losses.dropped > 0 {
        notes.push("some calls were over a limit of the program: counts are not complete".into());
    }
    if snapshot.capture.pruned > 0 {
        notes.push("the program has too many rows: some are summed up as (pruned)".into());
    }
    notes
}

fn next(subject: &Subject<'_>, by: Measure, first: Option<String>, has_more: bool) -> Vec<String> {
    let next = subject.next;
    let more = format!("tickscope top 100 TARGET --by {} --json", by.name());
    let all = has_more.then(|| next.all(&more)).flatten();
    [
        first.and_then(|first| next.why(&first)),
        next.keep(),
        next.compare(),
        all,
    ]
    .into_iter()
    .flatten()
    .collect()
}

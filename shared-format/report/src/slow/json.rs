//! The answer as JSON. All `_ns` of causes and rows are means per call of the watched function.

use serde::Serialize;
use tickscope_analysis::slow;
use tickscope_format::snapshot::Exemplar;

use super::answer::Answer;
use crate::json::written;
use crate::names::full_names;

#[derive(Serialize)]
struct Document {
    function: String,
    calls: u64,
    slow_calls: u64,
    threshold_ns: Option<u64>,
    typical_ns: Option<f64>,
    slow_ns: Option<f64>,
    causes: Vec<Cause>,
    rows: Vec<Row>,
    exemplars: Vec<Call>,
}

#[derive(Serialize)]
struct Cause {
    path: String,
    slow_calls: u64,
    difference_ns: f64,
    kind: &'static str,
    typical_path_calls: Option<f64>,
    slow_path_calls: f64,
    /// The number of the call that shows it.
    exemplar: Option<u64>,
}

#[derive(Serialize)]
struct Row {
    path: String,
    typical_ns: Option<f64>,
    slow_ns: Option<f64>,
    difference_ns: Option<f64>,
    typical_path_calls: Option<f64>,
    slow_path_calls: Option<f64>,
    waiting_difference_ns: Option<f64>,
    ready_difference_ns: Option<f64>,
}

/// A slow call that is kept whole.
#[derive(Serialize)]
struct Call {
    number: u64,
    /// Otherwise it was chosen at random.
    is_longest: bool,
    began_unix_ns: u64,
    ns: u64,
    thread: String,
    tid: u32,
    path: Option<String>,
    kind: Option<&'static str>,
    notes: Vec<Noted>,
}

#[derive(Serialize)]
struct Noted {
    key: String,
    value: String,
}

/// Returns the answer as a JSON document, ending in a newline.
pub fn json(answer: &Answer<'_>) -> String {
    let names = full_names(&answer.functions, |name| name.replace(';', ":"));
    let path = |path: u32| {
        let lineage = slow::lineage(answer.watch, path);
        let sites = lineage
            .iter()
            .filter_map(|&path| answer.watch.paths.get(path as usize));
        let names = sites.map(|path| names[answer.functions.of_site[path.site.index()].index()].as_str());
        names.collect::<Vec<_>>().join(";")
    };
    let slow = &answer.slow;
    let document = Document {
        function: answer.watch.function.clone(),
        calls: slow.calls(),
        slow_calls: slow.slow_calls,
        threshold_ns: slow.threshold_ns,
        typical_ns: slow.typical_ns.map(tenths),
        slow_ns: slow.slow_ns.map(tenths),
        causes: slow
            .causes
            .iter()
            .map(|cause| Cause {
                path: path(cause.path),
                slow_calls: cause.slow_calls,
                difference_ns: tenths(cause.difference_ns),
                kind: cause.kind.as_str(),
                typical_path_calls: cause.typical_path_calls.map(thousandths),
                slow_path_calls: thousandths(cause.slow_path_calls),
                exemplar: cause.exemplar,
            })
            .collect(),
        rows: slow
            .rows
            .iter()
            .map(|row| Row {
                path: path(row.path),
                typical_ns: row.typical.map(|means| tenths(means.ns)),
                slow_ns: row.slow.map(|means| tenths(means.ns)),
                difference_ns: row.difference_ns().map(tenths),
                typical_path_calls: row.typical.map(|means| thousandths(means.calls)),
                slow_path_calls: row.slow.map(|means| thousandths(means.calls)),
                waiting_difference_ns: row.difference(|means| means.waiting_ns).map(tenths),
                ready_difference_ns: row.difference(|means| means.ready_ns).map(tenths),
            })
            .collect(),
        exemplars: answer
            .exemplars()
            .into_iter()
            .map(|one| call(answer, one, &path))
            .collect(),
    };
    written(&document, slow.rows.len() + answer.watch.exemplars.len())
}

fn call(answer: &Answer<'_>, exemplar: &Exemplar, path: &impl Fn(u32) -> String) -> Call {
    let notes = exemplar.trace.iter().flat_map(|trace| {
        trace.notes.iter().map(|note| Noted {
            key: trace.keys.get(note.key as usize).cloned().unwrap_or_default(),
            value: note.value.clone(),
        })
    });
    Call {
        number: exemplar.number,
        is_longest: exemplar.is_longest,
        began_unix_ns: exemplar.began_unix_ns,
        ns: answer.snapshot.nanos(exemplar.ticks),
        thread: exemplar.thread.clone(),
        tid: exemplar.tid,
        path: exemplar.cause.map(|cause| path(cause.0)),
        kind: exemplar.cause.map(|cause| cause.1.as_str()),
        notes: notes.collect(),
    }
}

/// A clock tells no more.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

fn thousandths(calls: f64) -> f64 {
    (calls * 1e3).round() / 1e3
}

//! The answer as JSON. In causes and rows, all members whose names end in `_ns` are means per call of the watched function.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use serde::Serialize;
use tickscope_analysis::slow;
use tickscope_format::snapshot::Exemplar;

use super::answer::Answer;
use crate::brief::{BYTES_MAX, Next, cut, shell_word};
use crate::json::written;
use crate::names::full_names;

/// Maximum numbers of rows, causes and slow calls in a short answer.
const ROWS: usize = 10;
const CAUSES: usize = 5;
const CALLS: usize = 3;

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
    /// Unit of all members that end in `_ns`.
    unit: &'static str,
    /// Always false, because each call of a watched function is timed.
    estimated: bool,
    shown: Counts,
    total: Counts,
    doubt: Option<String>,
    next: Vec<String>,
}

/// Number of elements in each list.
#[derive(Clone, Copy, Serialize)]
struct Counts {
    causes: usize,
    rows: usize,
    exemplars: usize,
}

#[derive(Serialize)]
struct Cause {
    path: String,
    slow_calls: u64,
    difference_ns: f64,
    kind: &'static str,
    typical_path_calls: Option<f64>,
    slow_path_calls: f64,
    /// The `number` of the longest kept slow call with this cause.
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

/// A slow call that was kept with its trace.
#[derive(Serialize)]
struct Call {
    number: u64,
    /// Whether the call was kept as one of the longest. Otherwise it was kept as a random sample.
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

/// Returns the complete answer as a JSON document that ends in a newline.
pub fn json(answer: &Answer<'_>, next: &Next) -> String {
    document(answer, next, total(answer), false)
}

/// Returns the answer as a JSON document of at most [`BYTES_MAX`] bytes. It has the same members as the complete answer, but only
/// the first causes, rows and slow calls, and long paths are cut in the middle.
pub fn brief(answer: &Answer<'_>, next: &Next) -> String {
    let total = total(answer);
    let mut shown = Counts {
        causes: total.causes.min(CAUSES),
        rows: total.rows.min(ROWS),
        exemplars: total.exemplars.min(CALLS),
    };
    loop {
        let text = document(answer, next, shown, true);
        // Rows are removed first, then slow calls, then causes, which are the most useful part.
        let longest = if shown.rows > 1 {
            &mut shown.rows
        } else if shown.exemplars > 0 {
            &mut shown.exemplars
        } else if shown.rows > 0 {
            &mut shown.rows
        } else {
            &mut shown.causes
        };
        if text.len() <= BYTES_MAX || *longest == 0 {
            return text;
        }
        *longest -= 1;
    }
}

fn total(answer: &Answer<'_>) -> Counts {
    Counts {
        causes: answer.slow.causes.len(),
        rows: answer.slow.rows.len(),
        exemplars: answer.exemplars().len(),
    }
}

fn document(answer: &Answer<'_>, next: &Next, shown: Counts, is_brief: bool) -> String {
    let names = full_names(&answer.functions, |name| name.replace(';', ":"));
    let path = |path: u32| {
        let lineage = slow::lineage(answer.watch, path);
        let sites = lineage
            .iter()
            .filter_map(|&path| answer.watch.paths.get(path as usize));
        let names = sites.map(|path| names[answer.functions.of_site[path.site.index()].index()].as_str());
        let path = names.collect::<Vec<_>>().join(";");
        if is_brief { cut(&path) } else { path }
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
            .take(shown.causes)
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
            .take(shown.rows)
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
            .take(shown.exemplars)
            .map(|one| call(answer, one, &path, is_brief))
            .collect(),
        unit: "ns",
        estimated: false,
        shown,
        total: total(answer),
        doubt: answer.doubt(),
        next: next_of(answer, next, is_brief),
    };
    written(&document, shown.rows + shown.exemplars)
}

fn next_of(answer: &Answer<'_>, next: &Next, is_brief: bool) -> Vec<String> {
    let function = shell_word(&answer.watch.function);
    let all = is_brief.then(|| next.all(&format!("tickscope why {function} TARGET -f json")));
    let call = (!answer.exemplars().is_empty())
        .then(|| next.all(&format!("tickscope why {function} TARGET -f trace > slow.json")));
    let more = all.flatten().into_iter().chain(call.flatten());
    more.chain([next.top()]).collect()
}

fn call(answer: &Answer<'_>, exemplar: &Exemplar, path: &impl Fn(u32) -> String, is_brief: bool) -> Call {
    let text = |text: &str| if is_brief { cut(text) } else { text.to_owned() };
    let notes = exemplar.trace.iter().flat_map(|trace| {
        trace.notes.iter().map(|note| Noted {
            key: trace
                .keys
                .get(note.key as usize)
                .map(|key| text(key))
                .unwrap_or_default(),
            value: text(&note.value),
        })
    });
    Call {
        number: exemplar.number,
        is_longest: exemplar.is_longest,
        began_unix_ns: exemplar.began_unix_ns,
        ns: answer.snapshot.nanos(exemplar.ticks),
        thread: text(&exemplar.thread),
        tid: exemplar.tid,
        path: exemplar.cause.map(|cause| path(cause.0)),
        kind: exemplar.cause.map(|cause| cause.1.as_str()),
        notes: notes.collect(),
    }
}

/// Rounds to tenths of a nanosecond. No clock is more precise.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

fn thousandths(calls: f64) -> f64 {
    (calls * 1e3).round() / 1e3
}

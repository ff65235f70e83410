//! The comparison as JSON: every function and every path, changed or not.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use std::collections::BTreeMap;

use serde::Serialize;
use tickscope_analysis::compare::diff::{Change, Diff, Presence, Quantity};
use tickscope_analysis::compare::gate::{Judged, Verdict};

use super::{Comparison, Run};

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    per: Option<&'a str>,
    /// Null if there are no gates.
    passed: Option<bool>,
    gates: Vec<Gate<'a>>,
    notes: Vec<String>,
    before: Vec<RunOf<'a>>,
    after: Vec<RunOf<'a>>,
    whole: Row,
    functions: Vec<Function<'a>>,
    paths: Vec<Path>,
}

#[derive(Serialize)]
struct RunOf<'a> {
    target: &'a str,
    program: &'a str,
    mode: &'static str,
    per_calls: u64,
    length_ns: u64,
    /// Which part of a recording this is, in words; null for all of it.
    part: Option<&'a str>,
}

#[derive(Serialize)]
struct Gate<'a> {
    condition: String,
    passed: bool,
    judged: usize,
    failures: Vec<FailureOf<'a>>,
}

#[derive(Serialize)]
struct FailureOf<'a> {
    /// Null for the whole program.
    function: Option<usize>,
    module: Option<&'a str>,
    name: Option<&'a str>,
    before: f64,
    after: f64,
    chance: Option<f64>,
}

#[derive(Serialize)]
struct Function<'a> {
    id: usize,
    module: &'a str,
    name: &'a str,
    #[serde(flatten)]
    row: Row,
}

#[derive(Serialize)]
struct Path {
    id: usize,
    parent: Option<u32>,
    function: usize,
    #[serde(flatten)]
    row: Row,
}

#[derive(Serialize)]
struct Row {
    presence: &'static str,
    calls: Sides,
    calls_exact: bool,
    calls_per_run: bool,
    total_ns: Sides,
    total_estimated: bool,
    self_ns: Sides,
    self_estimated: bool,
    times_per_run: bool,
    /// Null if the row is no counter.
    sum: Option<Sides>,
    #[serde(flatten)]
    measures: BTreeMap<&'static str, Sides>,
    /// Null if no run has latencies of calls.
    p99_ns: Option<Sides>,
    max_ns: Option<Sides>,
}

/// The values before and after, and the change. On a side without latencies, the value is null.
#[derive(Serialize)]
struct Sides {
    before: Option<f64>,
    after: Option<f64>,
    change: Option<f64>,
}

/// Returns the comparison as JSON text that ends in a newline. The same snapshots always give the same text.
pub fn report(comparison: &Comparison<'_>) -> String {
    let diff = comparison.diff;
    let functions = diff.functions.list.iter().enumerate();
    let document = Document {
        format: "tickscope-diff",
        version: 1,
        per: comparison.per,
        passed: (!comparison.verdicts.is_empty()).then(|| !comparison.is_failed()),
        gates: comparison
            .verdicts
            .iter()
            .map(|verdict| gate(comparison, verdict))
            .collect(),
        notes: comparison
            .doubts
            .iter()
            .cloned()
            .chain(comparison.about_lengths())
            .collect(),
        before: runs_of(comparison.runs.0, &diff.per_calls.0),
        after: runs_of(comparison.runs.1, &diff.per_calls.1),
        whole: row(comparison, |diff| &diff.whole),
        functions: functions
            .map(|(id, function)| Function {
                id,
                module: &function.module,
                name: &function.name,
                row: row(comparison, |diff| &diff.by_function[id]),
            })
            .collect(),
        paths: diff
            .paths
            .iter()
            .enumerate()
            .map(|(id, path)| Path {
                id,
                parent: path.parent,
                function: path.function.index(),
                row: row(comparison, |diff| &diff.paths[id].change),
            })
            .collect(),
    };
    crate::json::written(&document, diff.paths.len() + diff.by_function.len())
}

fn runs_of<'a>(runs: &'a [Run], per: &[u64]) -> Vec<RunOf<'a>> {
    let runs = runs.iter().zip(per).map(|(run, &per_calls)| RunOf {
        target: &run.target,
        program: &run.program,
        mode: run.mode.as_str(),
        per_calls,
        length_ns: run.length_ns,
        part: run.part.as_deref(),
    });
    runs.collect()
}

fn gate<'a>(comparison: &'a Comparison<'_>, verdict: &Verdict) -> Gate<'a> {
    let failures = verdict.failures.iter().map(|failure| {
        let id = match failure.of {
            Judged::Whole => None,
            Judged::Function(id) => Some(id),
        };
        let function = id.map(|id| comparison.diff.functions.get(id));
        FailureOf {
            function: id.map(|id| id.index()),
            module: function.map(|function| function.module.as_str()),
            name: function.map(|function| function.name.as_str()),
            before: failure.before,
            after: failure.after,
            chance: failure.chance,
        }
    });
    Gate {
        condition: verdict.condition.to_string(),
        passed: verdict.is_passed(),
        judged: verdict.judged,
        failures: failures.collect(),
    }
}

impl Sides {
    fn of(change: &Change, what: Quantity) -> Self {
        Self {
            before: Some(change.before.get(what)),
            after: Some(change.after.get(what)),
            change: Some(change.of(what)),
        }
    }

    fn of_latency(change: &Change, what: Quantity) -> Option<Self> {
        let (before, after) = (change.before.latency(what), change.after.latency(what));
        before.or(after)?;
        Some(Self {
            before,
            after,
            change: before.zip(after).map(|(before, after)| after - before),
        })
    }
}

/// Returns a row with its times and its values in the other measures.
fn row<'a>(comparison: &'a Comparison<'_>, of: impl Fn(&'a Diff) -> &'a Change) -> Row {
    let change = of(comparison.diff);
    let sides = |what| Sides::of(change, what);
    let measures = comparison.measures.iter().filter_map(|diff| {
        let quantity = diff.measure.quantity()?;
        Some([
            (quantity.name(), Sides::of(of(diff), Quantity::SelfTime)),
            (quantity.total_name(), Sides::of(of(diff), Quantity::Total)),
        ])
    });
    Row {
        presence: match change.presence {
            Presence::Both => "both",
            Presence::New => "new",
            Presence::Gone => "gone",
        },
        calls: sides(Quantity::Calls),
        calls_exact: change.calls_exact,
        calls_per_run: change.calls_per_run,
        total_ns: sides(Quantity::Total),
        total_estimated: change.total_estimated,
        self_ns: sides(Quantity::SelfTime),
        self_estimated: change.self_estimated,
        times_per_run: change.times_per_run,
        sum: (change.is_counter && !change.is_gauge).then(|| sides(Quantity::Sum)),
        measures: measures.flatten().collect(),
        p99_ns: Sides::of_latency(change, Quantity::P99),
        max_ns: Sides::of_latency(change, Quantity::Max),
    }
}

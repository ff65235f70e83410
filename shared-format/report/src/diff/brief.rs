//! A comparison as a short JSON document for scripts and agents. It has the functions that changed most.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use serde::Serialize;
use tickscope_analysis::compare::diff::{Change, Presence, Quantity};

use super::{Comparison, rows};
use crate::brief::{Length, Next, cut, top};
use crate::json::{VERSION, written};

#[derive(Serialize)]
struct Document<'a> {
    tickscope: u32,
    before: Vec<RunOf>,
    after: Vec<RunOf>,
    per: Option<&'a str>,
    by: &'static str,
    /// Unit of `total` and `self`.
    unit: &'static str,
    /// Whether any time in the document is an estimate. For calls, see `calls_exact`.
    estimated: bool,
    whole: Row,
    shown: usize,
    total: usize,
    functions: Vec<Row>,
    notes: Vec<String>,
    next: Vec<String>,
}

#[derive(Serialize)]
struct RunOf {
    target: String,
    program: String,
    mode: &'static str,
}

#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence: Option<&'static str>,
    /// Number of calls, before and after. The other arrays are in the same order.
    calls: [f64; 2],
    #[serde(rename = "self")]
    own: [f64; 2],
    total: [f64; 2],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    estimated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    calls_vary: bool,
}

/// Returns the answer as a JSON document that ends in a newline.
pub fn json(comparison: &Comparison<'_>, next: &Next, length: Length) -> String {
    let diff = comparison.diff;
    let (changed, _) = rows::functions(comparison);
    let runs = |runs: &[super::Run]| -> Vec<RunOf> {
        let runs = runs.iter().take(super::RUNS_NAMED).map(|run| RunOf {
            target: cut(&run.target),
            program: cut(&run.program),
            mode: run.mode.as_str(),
        });
        runs.collect()
    };
    let document = |count: usize| {
        let listed = &changed[..count];
        let functions: Vec<Row> = listed
            .iter()
            .map(|&index| Row {
                function: Some(cut(&diff.functions.list[index].full_name())),
                ..row(&diff.by_function[index])
            })
            .collect();
        let whole = row(&diff.whole);
        let document = Document {
            tickscope: VERSION,
            before: runs(comparison.runs.0),
            after: runs(comparison.runs.1),
            per: comparison.per,
            by: diff.measure.name(),
            unit: top::unit(diff.measure),
            estimated: whole.estimated || functions.iter().any(|row| row.estimated),
            whole,
            shown: listed.len(),
            total: changed.len(),
            functions,
            notes: comparison.doubts.iter().map(|doubt| note(doubt)).collect(),
            next: vec![next.top()],
        };
        written(&document, listed.len())
    };
    length.of(changed.len(), document)
}

fn row(change: &Change) -> Row {
    let sides = |what: Quantity| [change.before.get(what), change.after.get(what)].map(rounded);
    Row {
        function: None,
        presence: match change.presence {
            Presence::Both => None,
            Presence::New => Some("new"),
            Presence::Gone => Some("gone"),
        },
        calls: sides(Quantity::Calls),
        own: sides(Quantity::SelfTime),
        total: sides(Quantity::Total),
        estimated: change.self_estimated || change.total_estimated,
        calls_vary: !change.calls_exact,
    }
}

/// Rounds to three decimal places. Numbers per call of a scope would otherwise have long fractions.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// Cuts a sentence to 200 characters, which are about two lines.
fn note(text: &str) -> String {
    text.chars().take(200).collect()
}

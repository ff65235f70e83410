//! The result of waiting for a condition, as JSON.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use serde::Serialize;
use tickscope_analysis::trigger::{Absence, Condition, Metric, Verdict};

use super::{Program, Subject, cut, fitted};
use crate::json::{VERSION, written};

/// Result of waiting for a condition.
#[derive(Clone, Copy, Debug)]
pub struct Waited<'a> {
    /// The condition.
    pub condition: &'a Condition,
    /// The verdict on the last window.
    pub verdict: &'a Verdict,
    /// Why the waiting ended.
    pub outcome: Outcome,
    /// How long the command waited, in nanoseconds.
    pub waited_ns: u64,
    /// Length of the last window for which the condition was evaluated, in nanoseconds.
    pub over_ns: u64,
}

/// Why waiting for a condition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The condition became true.
    True,
    /// The time limit passed first.
    Timeout,
    /// The program ended first.
    Ended,
}

impl Outcome {
    /// Returns the word for the outcome: `true`, `timeout` or `ended`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Timeout => "timeout",
            Self::Ended => "ended",
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    tickscope: u32,
    program: Program,
    condition: String,
    outcome: &'static str,
    waited_ns: u64,
    /// Length of the last window for which the condition was evaluated, in nanoseconds.
    over_ns: u64,
    /// Whether any value may be an estimate. Numbers of calls are always exact.
    estimated: bool,
    shown: usize,
    total: usize,
    findings: Vec<Row>,
    notes: &'a [String],
    next: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    comparison: String,
    function: String,
    /// Null if the value is missing; `why` then has the reason.
    value: Option<f64>,
    /// Unit of `value` and `threshold`.
    unit: &'static str,
    threshold: f64,
    is_true: bool,
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// Returns the answer as a JSON document that ends in a newline.
pub fn json(subject: &Subject<'_>, waited: &Waited<'_>) -> String {
    let condition = waited.condition;
    let comparisons = condition.any_of.iter().flatten();
    let findings = waited.verdict.findings.iter().flatten();
    let all: Vec<_> = comparisons.zip(findings).collect();
    let has_times = all
        .iter()
        .any(|(comparison, _)| !matches!(comparison.metric, Metric::Calls | Metric::InFlight));
    let document = |count: usize| {
        let rows = all.iter().take(count).map(|(comparison, finding)| Row {
            comparison: cut(&comparison.to_string()),
            function: cut(&finding.function),
            value: finding.value.ok().map(|value| (value * 1e3).round() / 1e3),
            unit: match comparison.unit.name() {
                "" => "count",
                unit => unit,
            },
            threshold: comparison.threshold,
            is_true: finding.is_true,
            calls: finding.calls,
            why: finding.value.err().map(|absence| match absence {
                Absence::Unmet => "no function of this name was met yet",
                Absence::NoCalls => "no call that could be measured",
                Absence::NotMeasured(why) => why,
            }),
        });
        let document = Document {
            tickscope: VERSION,
            program: Program::of(subject.snapshot, subject.state),
            condition: cut(&condition.to_string()),
            outcome: waited.outcome.as_str(),
            waited_ns: waited.waited_ns,
            over_ns: waited.over_ns,
            estimated: has_times && subject.snapshot.capture.mode.has_estimated_times(),
            shown: count.min(all.len()),
            total: all.len(),
            findings: rows.collect(),
            notes: subject.notes,
            next: [Some(subject.next.top()), subject.next.keep()]
                .into_iter()
                .flatten()
                .collect(),
        };
        written(&document, count)
    };
    fitted(all.len(), document)
}

//! What was found of a condition, as JSON.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use serde::Serialize;
use tickscope_analysis::trigger::{Absence, Condition, Verdict};

use super::{Program, Subject, cut, fitted};
use crate::json::{VERSION, written};

/// What has become of waiting for a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is true.
    True,
    /// It was not true when the time was over.
    Timeout,
    /// It was not true when the program ended.
    Ended,
}

impl Outcome {
    /// Returns its word: `true`, `timeout`, `ended`.
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
    /// The time that the condition was judged over.
    over_ns: u64,
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
    /// Null where there is none; `why` says why.
    value: Option<f64>,
    /// Of `value` and `threshold`.
    unit: &'static str,
    threshold: f64,
    is_true: bool,
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// Returns the answer as a JSON document, ending in a newline.
pub fn json(
    subject: &Subject<'_>,
    condition: &Condition,
    verdict: &Verdict,
    outcome: Outcome,
    waited_ns: u64,
) -> String {
    let comparisons = condition.any_of.iter().flatten();
    let all: Vec<_> = comparisons.zip(verdict.findings.iter().flatten()).collect();
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
            outcome: outcome.as_str(),
            waited_ns,
            over_ns: subject.snapshot.capture.since_reset_ns,
            estimated: subject.snapshot.capture.mode.has_estimated_times(),
            shown: count.min(all.len()),
            total: all.len(),
            findings: rows.collect(),
            notes: subject.notes,
            next: vec![subject.next.top(), subject.next.compare()],
        };
        written(&document, count)
    };
    fitted(all.len(), document)
}

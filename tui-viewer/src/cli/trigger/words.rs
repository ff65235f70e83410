//! Describes in words what a trigger found.

use std::time::Duration;

use tickscope_analysis::trigger::{Absence, Comparison, Condition, Finding, Unit};
use tickscope_command::similar::similar;
use tickscope_format::Snapshot;
use tickscope_programs::clock_time::{nanos, seconds};
use tickscope_report::number;

use crate::cli::trigger::recent::{Judgement, NoWindow};

/// Describes all comparisons that made the condition true: `p99(app::handle) = 63.1ms > 50ms in the last 5.0 s (104
/// calls)`.
pub(super) fn fired(condition: &Condition, judgement: &Judgement) -> String {
    let decisive: Vec<(&Comparison, &Finding)> = judgement.verdict.decisive(condition).collect();
    let parts: Vec<String> = decisive
        .iter()
        .map(|(comparison, finding)| {
            let threshold = &comparison.threshold_text;
            let value = value(comparison, &finding.function, finding);
            format!("{value} {} {threshold}", comparison.sign)
        })
        .collect();
    let calls = match decisive[..] {
        [(_, finding)] => format!(" ({})", counted(finding.calls)),
        _ => String::new(),
    };
    let window = seconds(judgement.window_ns);
    format!("{} in the last {window}{calls}", parts.join(" and "))
}

/// Describes the latest values of all comparisons, with function names as the user typed them: `p99(handle) = 12.1ms,
/// calls(handle) = 210/s`.
pub(super) fn found(
    condition: &Condition,
    judgement: &Result<Judgement, NoWindow>,
    over: Duration,
) -> String {
    match judgement {
        Err(NoWindow::TooShort { ns }) => {
            format!("{} of the first {}", seconds(*ns), seconds(nanos(over)))
        }
        Err(NoWindow::Gap) => "not judged: a reset lies in the window, and its record is missing".into(),
        Err(NoWindow::Unreadable(why)) => format!("not judged: {why}"),
        Ok(judgement) => {
            let comparisons = condition.any_of.iter().flatten();
            let findings = judgement.verdict.findings.iter().flatten();
            let parts = comparisons
                .zip(findings)
                .map(|(one, finding)| value(one, one.function.as_str(), finding));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// If the value of a comparison cannot be measured, returns a message that says why. Only the first such comparison is
/// reported.
pub(super) fn unmeasured(condition: &Condition, judgement: &Judgement) -> Option<String> {
    let comparisons = condition.any_of.iter().flatten();
    let findings = judgement.verdict.findings.iter().flatten();
    let doubt = |(comparison, finding): (&Comparison, &Finding)| match finding.value {
        Err(Absence::NotMeasured(why)) => Some(format!("{}({}): {why}", comparison.metric, finding.function)),
        Err(Absence::Unmet | Absence::NoCalls) | Ok(_) => None,
    };
    comparisons.zip(findings).find_map(doubt)
}

/// Returns a message about the first function that has not been called yet, and suggests a similar name.
pub(crate) fn unmet(condition: &Condition, newest: &Snapshot) -> Option<String> {
    let pattern = condition.unmet(newest)?.function;
    let pattern = pattern.as_str();
    let meant = similar(pattern, newest);
    Some(format!(
        "no function that matches {pattern} was met yet{meant}; waiting for it"
    ))
}

/// Describes a value: `p99(app::handle) = 63.1ms`.
pub(crate) fn value(comparison: &Comparison, function: &str, finding: &Finding) -> String {
    let what = format!("{}({function})", comparison.metric);
    match finding.value {
        Ok(value) => format!("{what} = {}", number_of(value, comparison.unit)),
        Err(Absence::NoCalls) => format!("{what}: no calls"),
        Err(Absence::Unmet) => format!("{what}: not met yet"),
        Err(Absence::NotMeasured(_)) => format!("{what}: not measured"),
    }
}

fn number_of(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => number::duration(value.round() as u64),
        Unit::Percent => number::percent(value / 100.0),
        Unit::PerSecond => format!("{}/s", number::quotient((value * 1e3).round() as u64, 1_000)),
        Unit::Count => number::count(value.round() as u64),
    }
}

fn counted(calls: u64) -> String {
    match calls {
        1 => "1 call".into(),
        calls => format!("{} calls", number::count(calls)),
    }
}

//! What the rows of counters, values and gauges show instead of times.

use tickscope_analysis::call_tree::Figures;
use tickscope_format::snapshot::Tally;
use tickscope_report::{number, tally};

use crate::app::data::Data;
use crate::app::row::{Portion, What};
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::unit::{UNKNOWN, calls, counted, quotient};

/// Returns the text of a cell in a row that has no times. The column for the `main` portion of time shows the sum or
/// the level instead, and the column for the other portion shows the smallest number.
pub(crate) fn text(
    canvas: &Canvas<'_>,
    data: &Data,
    what: What,
    of: Tally,
    main: Portion,
    value: Value,
) -> String {
    let text = match value {
        Value::Share(portion) if portion == main && of.is_gauge() => Some(tally::LEVEL.to_string()),
        Value::Share(portion) if portion == main => Some(canvas.glyphs.sum.to_string()),
        Value::Time(portion) if portion == main => Some(self::main(data, of)),
        Value::Time(_) => tally::least(of, canvas.ascii),
        Value::Mean => tally::mean(of, data.figures(what).calls),
        Value::Quantile(percent) => tally::quantile(of, data.latency(what), f64::from(percent) / 100.0),
        Value::Longest => tally::most(of, canvas.ascii),
        Value::Calls | Value::CallsOf => calls(data, data.figures(what).calls),
        Value::Share(_) | Value::TimeOf(_) | Value::CpuTime(_) | Value::OffCpu(_) => None,
    };
    text.unwrap_or_else(|| UNKNOWN.to_string())
}

/// Formats the level of a gauge, or the sum of a counter or a value. If numbers are shown per call, the sum is divided
/// accordingly.
pub(crate) fn main(data: &Data, of: Tally) -> String {
    tally::main(of, |all| counted(data, all)).unwrap_or_else(|| UNKNOWN.to_string())
}

/// Formats a number of calls or a sum, followed by its rate per second unless numbers are shown per call.
pub(crate) fn often(data: &Data, count: u64) -> String {
    let seconds = data.snapshot.capture.since_reset_ns as f64 / 1e9;
    let rate = (count as f64 / seconds).round();
    match rate >= 1.0 && data.per_calls.is_none() {
        true => format!("{}  {}/s", counted(data, count), number::count(rate as u64)),
        false => counted(data, count),
    }
}

/// Returns the facts that the pane shows:
///
/// - for a counter, its sum and its calls, both with their rates per second, and the sum per call;
/// - for a value, its sum and its calls, and the mean, the smallest and the largest number;
/// - for a gauge, its current, lowest and highest level, and how often it was set.
pub(crate) fn facts(
    canvas: &Canvas<'_>,
    data: &Data,
    figures: Figures,
    of: Tally,
) -> Vec<(&'static str, String)> {
    let calls = often(data, figures.calls);
    let least = tally::smallest(of, canvas.ascii);
    let most = tally::most(of, canvas.ascii);
    if of.is_gauge() {
        let mut facts = vec![("level", main(data, of))];
        facts.extend(least.map(|least| ("lowest", least)));
        facts.extend(most.map(|most| ("highest", most)));
        facts.push(("set", calls));
        return facts;
    }
    let mut facts = vec![("sum", often(data, of.sum())), ("calls", calls)];
    if of.is_value() {
        facts.extend(tally::mean(of, figures.calls).map(|mean| ("mean", mean)));
        facts.extend(least.map(|least| ("min", least)));
        facts.extend(most.map(|most| ("max", most)));
    } else if figures.calls > 0 {
        facts.push(("each", quotient(of.sum(), figures.calls)));
    }
    facts
}

/// Returns the explanation that is shown in place of latencies.
pub(crate) fn no_latencies(of: Tally) -> &'static str {
    if of.is_gauge() {
        "a level, which stays until it is set again"
    } else {
        "counted without a clock, so it has no time"
    }
}

/// Describes a counter's row as it was at the reference moment of the comparison.
pub(crate) fn then(canvas: &Canvas<'_>, data: &Data, what: What, of: Tally) -> String {
    let cell = |value| text(canvas, data, what, of, Portion::Total, value);
    let mut text = format!(
        "{} {}  calls {}",
        cell(Value::Share(Portion::Total)),
        cell(Value::Time(Portion::Total)),
        cell(Value::Calls)
    );
    if of.is_value() {
        text += &format!("  mean {}  max {}", cell(Value::Mean), cell(Value::Longest));
    }
    text
}

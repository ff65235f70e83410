//! Counters, values and gauges: cells in place of the times of a scope.

use tickscope_analysis::call_tree::Figures;
use tickscope_format::snapshot::Tally;
use tickscope_report::{number, tally};

use crate::app::columns::spec::{Portion, Value};
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::unit::{calls, quotient};

/// Content of a column for a row that has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterCell {
    /// The sign that the row is a sum or a level, and no time.
    Sign,
    /// The sum, or the level.
    Main,
    /// The smallest number or the lowest level.
    Least,
    /// The mean of the numbers of a value.
    Mean,
    /// The number that this percentage of all numbers did not exceed.
    Quantile(u8),
    /// The largest number or the highest level.
    Most,
    /// The calls, as of a scope.
    Calls,
    /// Nothing, because the row has no time.
    Nothing,
}

impl CounterCell {
    /// Returns the content of a column: the sum in place of the time that matters most in the view, and the smallest
    /// number in place of the other time.
    pub(super) fn of(view: View, value: Value) -> Self {
        let main = match view {
            View::Hot => Portion::Own,
            View::Tree
            | View::Function
            | View::Threads
            | View::Flame
            | View::Sites
            | View::Tasks
            | View::Slow
            | View::Timeline => Portion::Total,
        };
        match value {
            Value::Share(portion) if portion == main => Self::Sign,
            Value::Time(portion) if portion == main => Self::Main,
            Value::Time(_) => Self::Least,
            Value::Calls | Value::CallsOf => Self::Calls,
            Value::Mean => Self::Mean,
            Value::Quantile(percent) => Self::Quantile(percent),
            Value::Longest => Self::Most,
            Value::Share(_) | Value::TimeOf(_) | Value::CpuTime(_) | Value::OffCpu(_) | Value::Drawn => {
                Self::Nothing
            }
        }
    }
}

/// Returns the text of a cell.
pub(super) fn text(canvas: &Canvas<'_>, data: &Data, what: What, of: Tally, cell: CounterCell) -> String {
    let text = match cell {
        CounterCell::Sign if of.is_gauge() => Some(tally::LEVEL.to_string()),
        CounterCell::Sign => Some(canvas.glyphs.sum.to_string()),
        CounterCell::Main => Some(main(data, of)),
        CounterCell::Least => tally::least(of, canvas.ascii),
        CounterCell::Mean => tally::mean(of, data.figures(what).calls),
        CounterCell::Quantile(percent) => tally::quantile(of, data.latency(what), f64::from(percent) / 100.0),
        CounterCell::Most => tally::most(of, canvas.ascii),
        CounterCell::Calls => calls(data, data.figures(what).calls),
        CounterCell::Nothing => None,
    };
    text.unwrap_or_else(|| UNKNOWN.to_string())
}

/// Formats a sum, whole or per call of the function that numbers are per call of, or a level.
pub(super) fn main(data: &Data, of: Tally) -> String {
    tally::main(of, |all| sum(data, all)).unwrap_or_else(|| UNKNOWN.to_string())
}

fn sum(data: &Data, sum: u64) -> String {
    calls(data, sum).unwrap_or_else(|| UNKNOWN.to_string())
}

/// Returns the facts of the pane: of a counter its sum and calls, each also per second, and the mean per call; of a value also
/// its smallest and largest number; of a gauge its level, the lowest and the highest, and how often it was set.
pub(super) fn facts(
    canvas: &Canvas<'_>,
    data: &Data,
    figures: Figures,
    of: Tally,
) -> Vec<(&'static str, String)> {
    let seconds = data.snapshot.capture.since_reset_ns as f64 / 1e9;
    let often = |count: u64| {
        let rate = (count as f64 / seconds).round();
        match rate >= 1.0 && data.per_calls.is_none() {
            true => format!("{}  {}/s", sum(data, count), number::count(rate as u64)),
            false => sum(data, count),
        }
    };
    let calls = often(figures.calls);
    let least = tally::smallest(of, canvas.ascii);
    let most = tally::most(of, canvas.ascii);
    if of.is_gauge() {
        let ends = least.map(|least| ("lowest", least));
        let mut facts = vec![("level", main(data, of))];
        facts.extend(ends);
        facts.extend(most.map(|most| ("highest", most)));
        facts.push(("set", calls));
        return facts;
    }
    let mut facts = vec![("sum", often(of.sum())), ("calls", calls)];
    if of.is_value() {
        facts.extend(tally::mean(of, figures.calls).map(|mean| ("mean", mean)));
        facts.extend(least.map(|least| ("min", least)));
        facts.extend(most.map(|most| ("max", most)));
    } else if figures.calls > 0 {
        facts.push(("each", quotient(of.sum(), figures.calls)));
    }
    facts
}

/// Returns the words in place of latencies.
pub(super) fn no_latencies(of: Tally) -> &'static str {
    if of.is_gauge() {
        "a level, which stays until it is set again"
    } else {
        "counted without a clock, so it has no time"
    }
}

/// Describes the same row at another moment.
pub(super) fn then(canvas: &Canvas<'_>, data: &Data, what: What, of: Tally) -> String {
    let cell = |cell| text(canvas, data, what, of, cell);
    let mut text = format!(
        "{} {}  calls {}",
        cell(CounterCell::Sign),
        cell(CounterCell::Main),
        cell(CounterCell::Calls)
    );
    if of.is_value() {
        text += &format!(
            "  mean {}  max {}",
            cell(CounterCell::Mean),
            cell(CounterCell::Most)
        );
    }
    text
}

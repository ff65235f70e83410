//! Counters: what stands where a scope has times.

use tickscope_report::number;

use crate::app::columns::spec::{Portion, Value};
use crate::app::data::Data;
use crate::app::figures::Figures;
use crate::app::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::unit::{calls, quotient};

/// What a column says of a counter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterCell {
    /// The sign that what follows is a sum, and no time.
    Sign,
    /// What was added up.
    Sum,
    /// The same as of a scope.
    Calls,
    /// A time, which it has not.
    Nothing,
}

impl CounterCell {
    /// The part in a column: the sum stands where the view has the time that matters most.
    pub(super) fn of(view: View, value: Value) -> Self {
        let main = match view {
            View::Hot => Portion::Own,
            View::Tree | View::Function | View::Threads | View::Flame | View::Sites => Portion::Total,
        };
        match value {
            Value::Share(portion) if portion == main => Self::Sign,
            Value::Time(portion) if portion == main => Self::Sum,
            Value::Calls | Value::CallsOf => Self::Calls,
            Value::Share(_)
            | Value::Time(_)
            | Value::Mean
            | Value::Quantile(_)
            | Value::Longest
            | Value::TimeOf(_)
            | Value::CpuTime(_)
            | Value::OffCpu(_)
            | Value::Drawn => Self::Nothing,
        }
    }
}

/// A sum as it is shown: all, or so much per call of what numbers are per call of.
pub(super) fn sum(data: &Data, sum: u64) -> String {
    calls(data, sum).unwrap_or_else(|| UNKNOWN.to_string())
}

/// What the pane says of a counter: its sum and its calls, each a second, and how much each call added.
pub(super) fn facts(data: &Data, figures: Figures, all: u64) -> Vec<(&'static str, String)> {
    let seconds = data.snapshot.capture.since_reset_ns as f64 / 1e9;
    let often = |count: u64| {
        let rate = (count as f64 / seconds).round();
        match rate >= 1.0 && data.per_calls.is_none() {
            true => format!("{}  {}/s", sum(data, count), number::count(rate as u64)),
            false => sum(data, count),
        }
    };
    let mut facts = vec![("sum", often(all)), ("calls", often(figures.calls))];
    if figures.calls > 0 {
        facts.push(("each", quotient(all, figures.calls)));
    }
    facts
}

/// In place of latencies.
pub(super) const NO_LATENCIES: &str = "counted without a clock, so it has no time";

/// The same row at another moment.
pub(super) fn then(canvas: &Canvas<'_>, data: &Data, figures: Figures, all: u64) -> String {
    format!(
        "{} {}  calls {}",
        canvas.glyphs.sum,
        sum(data, all),
        sum(data, figures.calls)
    )
}

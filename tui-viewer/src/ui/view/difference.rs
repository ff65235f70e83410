//! The change of a row's numbers from a reference moment to now, shown as a sign and a number so that it is clear
//! without colours.

use tickscope_report::number;

use crate::app::data::Data;
use crate::app::row::{Portion, What};
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::counter;
use crate::ui::view::place::gap;
use crate::ui::view::unit::{
    self, ABOUT, UNKNOWN, clock_ticks, counts, has_rough_percentiles, quotient, rounded, ticks, ticks_of,
};

/// Text for no change.
const SAME: &str = "0";

/// Maximum width of a number without its sign, because columns are six cells wide.
const LONGEST_SIGNED: usize = 5;

/// Change of a column's value from the reference moment to now, or the value itself at one of the two moments.
enum Change {
    /// A time in nanoseconds.
    Time(i128),
    /// A count.
    Count(i128),
    /// A count per call, in hundredths.
    Hundredths(i128),
    /// A share or a difference between shares, as a fraction: 0.01 is one percentage point.
    Points(f64),
    /// The value exists only now.
    New,
    /// The value existed only at the reference moment.
    Gone,
    Unknown,
}

impl Change {
    /// Returns the difference between the values at two moments.
    fn minus(&self, then: &Self) -> Self {
        match (self, then) {
            (Self::Time(a), Self::Time(b)) => Self::Time(a - b),
            (Self::Count(a), Self::Count(b)) => Self::Count(a - b),
            (Self::Hundredths(a), Self::Hundredths(b)) => Self::Hundredths(a - b),
            (Self::Points(a), Self::Points(b)) => Self::Points(a - b),
            (_, _) => Self::Unknown,
        }
    }
}

/// Formats the change of a number in a column: its current value minus its value at the reference moment. The text
/// takes no more space than the number itself would.
pub(crate) fn text(canvas: &Canvas<'_>, app: &App, now: &Data, what: What, value: Value) -> String {
    let there = now.counterpart(what);
    let tally = now.figures(what).tally;
    let main = app.views.current.about().main;
    let adds_up = match value {
        Value::Mean | Value::Quantile(_) | Value::Longest => false,
        Value::Time(portion) => tally.is_none() || portion == main,
        Value::Share(_) | Value::Calls | Value::CallsOf => true,
        Value::TimeOf(_) | Value::OffCpu(_) | Value::CpuTime(_) => true,
    };
    if let Some(tally) = tally
        && !value.is_count()
        && (tally.is_gauge() || (adds_up && !matches!(value, Value::Time(_))))
    {
        // The difference between two levels means little, so a gauge shows its current level.
        return counter::text(canvas, now, what, tally, main, value);
    }
    let then = there.and_then(|(then, what)| amount(app, then, what, value));
    let change = match (amount(app, now, what, value), then) {
        (_, _) if matches!(value, Value::OffCpu(_)) && !now.snapshot.waits => Change::Unknown,
        (Some(now), Some(then)) => now.minus(&then),
        // A row that did not exist at the reference moment had no time and no calls then.
        (Some(now), None) if adds_up && there.is_none() => now,
        (Some(_), None) if !adds_up => Change::New,
        (None, Some(_)) if !adds_up && is_gone(now, what) => Change::Gone,
        (_, _) => Change::Unknown,
    };
    let is_about = |data: &Data, what: What| {
        let rough = unit::rough(data, what);
        match value {
            Value::Share(Portion::Total) | Value::Time(Portion::Total) | Value::Mean => rough.total_estimated,
            Value::Share(Portion::Own) | Value::Time(Portion::Own) => rough.self_estimated,
            Value::Quantile(_) | Value::Longest => has_rough_percentiles(data, what),
            Value::Calls | Value::CallsOf => false,
            Value::TimeOf(_) | Value::OffCpu(_) | Value::CpuTime(_) => false,
        }
    };
    let about = is_about(now, what) || there.is_some_and(|(then, what)| is_about(then, what));
    let tight = gap(app.list_cells()) == 1;
    written(canvas, tight, &change, about && tally.is_none())
}

/// Returns the value of a column at one moment, in the unit that the screen shows.
fn amount(app: &App, data: &Data, what: What, value: Value) -> Option<Change> {
    let figures = data.figures(what);
    let (counts, in_ticks) = (counts(app), app.query.in_ticks);
    let count = |n: u64| match data.per_calls {
        None => Some(Change::Count(n.into())),
        Some(_) => per_call(data, n, 100).map(Change::Hundredths),
    };
    let time = |ns: u64, ticks: u64, in_ticks: bool| match in_ticks {
        true => count(ticks),
        false => per_call(data, ns, 1).map(Change::Time),
    };
    // Latencies are times even if the chosen measure is not time.
    let latency = |ticks: u64| match in_ticks {
        true => Change::Count(ticks.into()),
        false => Change::Time(data.snapshot.nanos(ticks).into()),
    };
    let (total_ticks, self_ticks) = ticks(data, what);
    if let Some(tally) = figures.tally {
        let range = || tally.range().filter(|_| tally.is_value());
        return match value {
            Value::Calls | Value::CallsOf => count(figures.calls),
            Value::Time(portion) if portion == app.views.current.about().main => count(tally.sum()),
            Value::Time(_) => range().map(|range| Change::Count(range.min.into())),
            Value::Longest => range().map(|range| Change::Count(range.max.into())),
            Value::Mean if tally.is_value() => {
                let mean = (i128::from(tally.sum()) * 100).checked_div(figures.calls.into());
                mean.map(Change::Hundredths)
            }
            Value::Quantile(percent) if tally.is_value() => {
                let number = tally.quantile(data.latency(what), f64::from(percent) / 100.0);
                number.map(|number| Change::Count(number.into()))
            }
            Value::Mean | Value::Quantile(_) | Value::Share(_) => None,
            Value::TimeOf(_) | Value::OffCpu(_) | Value::CpuTime(_) => None,
        };
    }
    match value {
        Value::Share(Portion::Total) => Some(Change::Points(app.shares(data, what).0)),
        Value::Share(Portion::Own) => Some(Change::Points(app.shares(data, what).1)),
        Value::Time(Portion::Total) => time(figures.total_ns, total_ticks, counts),
        Value::Time(Portion::Own) => time(figures.self_ns, self_ticks, counts),
        Value::Calls if what.is_outside() => None,
        Value::Calls | Value::CallsOf => count(figures.calls),
        Value::Mean => figures.avg_ns().map(|ns| match counts {
            true => {
                let (ticks, of_calls) = figures.avg_ticks(total_ticks);
                Change::Count(rounded(ticks, of_calls).into())
            }
            false => Change::Time(ns.into()),
        }),
        Value::Quantile(percent) => {
            let ticks = data.latency(what).quantile(f64::from(percent) / 100.0);
            ticks.map(latency)
        }
        Value::Longest => data.latency(what).max().map(|(ticks, _)| latency(ticks)),
        Value::OffCpu(part) => {
            let ns = part(figures.total_off);
            time(ns, clock_ticks(data, ns), in_ticks)
        }
        Value::TimeOf(read) => {
            let ns = read(data, what);
            time(ns, ticks_of(data, ns), in_ticks || counts)
        }
        Value::CpuTime(read) => {
            let ns = read(data, what)?;
            time(ns, clock_ticks(data, ns), in_ticks)
        }
    }
}

/// Returns `n * parts`, divided by the number of calls if numbers are shown per call. Returns `None` if there are no
/// calls.
fn per_call(data: &Data, n: u64, parts: u128) -> Option<i128> {
    let n = u128::from(n) * parts;
    let each = match data.per_calls.map(u128::from) {
        None => n,
        Some(0) => return None,
        Some(calls) => (n + calls / 2) / calls,
    };
    i128::try_from(each).ok()
}

/// Returns whether the row has no calls, no open calls, and no measured time.
fn is_gone(data: &Data, what: What) -> bool {
    let figures = data.figures(what);
    figures.calls == 0 && figures.open == 0 && figures.total_ns == 0
}

fn written(canvas: &Canvas<'_>, tight: bool, change: &Change, about: bool) -> String {
    let size = |n: i128| u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX);
    match *change {
        Change::Time(0) | Change::Count(0) | Change::Hundredths(0) => SAME.to_string(),
        Change::Points(points) if (points * 1_000.0).round() == 0.0 => SAME.to_string(),
        Change::Points(points) => format!("{:+.1}", points * 100.0),
        Change::Count(n) => format!("{}{}", sign(n > 0), number::count(size(n))),
        Change::Hundredths(n) => format!("{}{}", sign(n > 0), quotient(size(n), 100)),
        Change::Time(ns) => {
            let mut text = in_seconds(size(ns)).unwrap_or_else(|| canvas.duration(size(ns)));
            // A long number is shortened to two digits if its sign would be all that separates it from the next column,
            // or to make room for the mark of an estimate.
            if width(&text) > LONGEST_SIGNED && (tight || about) {
                text = canvas.rough(size(ns));
                // Of the two units in a text such as `39m58s` or `12d23h`, only the larger one fits.
                if width(&text) > LONGEST_SIGNED {
                    let end = text.find(char::is_alphabetic).map_or(text.len(), |at| at + 1);
                    text.truncate(end);
                }
            }
            let text = format!("{}{text}", sign(ns > 0));
            match about && !tight && width(&text) <= LONGEST_SIGNED + 1 {
                true => format!("{ABOUT}{text}"),
                false => text,
            }
        }
        Change::New => "new".to_string(),
        Change::Gone => "gone".to_string(),
        Change::Unknown => UNKNOWN.to_string(),
    }
}

/// Formats a change of 100 s to 9 999 s in seconds, not minutes, so that it is easily compared with the changes around
/// it. Returns `None` for other changes.
fn in_seconds(ns: u64) -> Option<String> {
    let seconds = (ns + 500_000_000) / 1_000_000_000;
    (100..10_000).contains(&seconds).then(|| format!("{seconds}s"))
}

fn sign(more: bool) -> char {
    if more { '+' } else { '-' }
}

/// Returns the relative change of the mean time per call: 0.09 means 9 % longer. Returns `None` unless the function was
/// called at both moments.
fn change_of_avg(now: (&Data, What), then: (&Data, What)) -> Option<f64> {
    let mean = |(data, what): (&Data, What)| {
        let (calls, ns) = data.figures(what).counted();
        (calls > 0 && ns > 0).then(|| ns as f64 / calls as f64)
    };
    Some(mean(now)? / mean(then)? - 1.0)
}

/// Formats the change of the mean time per call, such as `▲ +9%`. Also returns the look of the text.
pub(crate) fn of_avg(canvas: &Canvas<'_>, data: &Data, what: What, cells: u16) -> (String, Meaning) {
    let then = data.counterpart(what);
    let calls = data.figures(what).calls;
    let change = then.and_then(|then| change_of_avg((data, what), then));
    let then = then.map_or(0, |(then, there)| then.figures(there).calls);
    let Some(change) = change else {
        let word = match (calls, then) {
            (1.., 0) => "new",
            (0, 1..) if is_gone(data, what) => "gone",
            _ => UNKNOWN,
        };
        return (word.to_string(), Meaning::Quiet);
    };
    let percent = (change * 100.0).round();
    if percent == 0.0 {
        return ("= 0%".to_string(), Meaning::Quiet);
    }
    let (mark, meaning) = match change {
        0.25.. => (canvas.glyphs.rises, Meaning::Hottest),
        0.0.. => (canvas.glyphs.rises, Meaning::Warm),
        _ => (canvas.glyphs.falls, Meaning::Good),
    };
    let (gap, most) = if cells < 8 { ("", 99.0) } else { (" ", 9_999.0) };
    let number = match percent > most {
        true => format!(">{most:.0}%"),
        false => format!("{percent:+.0}%"),
    };
    let mut text = format!("{mark}{gap}{number}");
    if width(&text) > usize::from(cells) {
        // Only `-100%` can be too long, because no decrease is larger. It is shown as `-99`.
        text = format!("{mark}{:+.0}", percent.max(-99.0));
    }
    (text, meaning)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    use super::*;
    use crate::cli::args::look::ThemeKind;

    fn with_canvas<T>(then: impl FnOnce(&Canvas<'_>) -> T) -> T {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 1, 1));
        then(&Canvas::new(&mut buffer, ThemeKind::Sixteen, false))
    }

    #[test]
    fn changes_have_signs() {
        with_canvas(|canvas| {
            let text = |change: Change| written(canvas, false, &change, false);
            assert_eq!(text(Change::Time(1_230_000_000)), "+1.23s");
            assert_eq!(text(Change::Time(-410)), "-410ns");
            assert_eq!(text(Change::Time(0)), "0");
            for (seconds, told) in [(99, "-99.0s"), (220, "-220s"), (402, "-402s"), (9_999, "-9999s")] {
                assert_eq!(text(Change::Time(-1_000_000_000 * seconds)), told);
            }
            assert_eq!(text(Change::Time(10_000_000_000_000)), "+2h47m");
            assert_eq!(text(Change::Count(1_234)), "+1.23k");
            assert_eq!(text(Change::Hundredths(-27)), "-0.27");
            assert_eq!(text(Change::Points(-0.0421)), "-4.2");
            assert_eq!(text(Change::Points(0.000_1)), "0");
            assert_eq!(written(canvas, true, &Change::Time(-22_149), true), "-22µs");
            assert_eq!(written(canvas, false, &Change::Time(-22_149), true), "~-22µs");
        });
    }

    proptest! {
        #[test]
        fn a_change_is_never_longer_than_its_column(ns in any::<i64>(), shift in 0u32..63, about: bool, tight: bool) {
            let n = i128::from(ns >> shift);
            with_canvas(|canvas| {
                let cells = |change: &Change| width(&written(canvas, tight, change, about));
                let most = if tight { 6 } else { 7 };
                prop_assert!(cells(&Change::Time(n)) <= most);
                prop_assert!(cells(&Change::Count(n)) <= 6);
                prop_assert!(cells(&Change::Hundredths(n)) <= 6);
                prop_assert!(cells(&Change::Points(ns as f64 / i64::MAX as f64)) <= 6);
                Ok(())
            })?;
        }
    }
}

//! Change of a row between two moments: a sign and a number, so that no colour is needed.

use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::snapshot::Tally;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::data::change_of_avg;
use crate::app::figures::{Portion, What};
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::counter;
use crate::ui::view::counter::CounterCell;
use crate::ui::view::marks::{ABOUT, UNKNOWN, has_rough_percentiles};
use crate::ui::view::place::gap;
use crate::ui::view::unit::{self, clock_ticks, counts, quotient, rounded, ticks, ticks_of};

/// Text for no change.
const SAME: &str = "0";

/// Cells of a number that leave one of its column's six for the sign.
const LONGEST_SIGNED: usize = 5;

/// Change of a column's value between two moments.
enum Change {
    /// Difference in nanoseconds, and in counts.
    Time(i128),
    Count(i128),
    /// A count per call, in hundredths.
    Hundredths(i128),
    /// Difference of shares, in hundredths of the whole.
    Points(f64),
    /// There is a value only now, or only then.
    New,
    Gone,
    Unknown,
}

/// Formats the change of a column of numbers, now minus then; it is as long as the numbers themselves. `there` is the row then.
pub(crate) fn text(
    canvas: &Canvas<'_>,
    app: &App,
    now: &Data,
    what: What,
    there: Option<(&Data, What)>,
    value: Value,
) -> String {
    let change = |read: &dyn Fn(&Data, What) -> u64, parts: u128| {
        // A row that was missing then had nothing.
        let was = there.map_or(Some(0), |(then, what)| per_call(then, read(then, what), parts));
        Some(per_call(now, read(now, what), parts)? - was?)
    };
    let count = |read: &dyn Fn(&Data, What) -> u64| match now.per_calls {
        None => change(read, 1).map_or(Change::Unknown, Change::Count),
        Some(_) => change(read, 100).map_or(Change::Unknown, Change::Hundredths),
    };
    let adds_up = |read: &dyn Fn(&Data, What) -> u64, in_ticks: bool| match in_ticks {
        true => count(read),
        false => change(read, 1).map_or(Change::Unknown, Change::Time),
    };
    let time = |in_ns: fn(&Data, What) -> u64, in_ticks: fn(&Data, What) -> u64| match counts(app) {
        true => adds_up(&in_ticks, true),
        false => adds_up(&in_ns, false),
    };
    if let Some(tally) = now.figures(what).tally {
        let cell = CounterCell::of(app.views.current, value);
        let change = match cell {
            // Levels are not subtracted: the current level is shown.
            CounterCell::Sign | CounterCell::Nothing => None,
            CounterCell::Calls => Some(count(&|data: &Data, what| data.figures(what).calls)),
            _ if tally.is_gauge() => None,
            CounterCell::Main => Some(count(&|data: &Data, what| {
                data.figures(what).tally.map_or(0, Tally::sum)
            })),
            CounterCell::Mean | CounterCell::Least | CounterCell::Quantile(_) | CounterCell::Most => {
                let then = there.and_then(|(then, what)| number_of_value(then, what, cell));
                Some(match (number_of_value(now, what, cell), then) {
                    (Some(a), Some(b)) if cell == CounterCell::Mean => Change::Hundredths(a - b),
                    (Some(a), Some(b)) => Change::Count(a - b),
                    (Some(_), None) => Change::New,
                    (None, Some(_)) if is_gone(now, what) => Change::Gone,
                    (None, _) => Change::Unknown,
                })
            }
        };
        return match change {
            Some(change) => written(canvas, gap(app.list_cells()) == 1, &change, false),
            None => counter::text(canvas, now, what, tally, cell),
        };
    }
    let (share, share_then) = (
        app.shares(now, what),
        there.map_or((0.0, 0.0), |(then, what)| app.shares(then, what)),
    );
    let of_now = unit::rough(now, what);
    let of_then = there.map_or_else(Uncertainty::default, |(then, what)| unit::rough(then, what));
    let total_about = of_now.total_estimated || of_then.total_estimated;
    let self_about = of_now.self_estimated || of_then.self_estimated;
    let latency_about = has_rough_percentiles(now, what)
        || there.is_some_and(|(then, what)| has_rough_percentiles(then, what));
    let gone = is_gone(now, what);
    let of_both = |now: Option<u64>, then: Option<u64>, counts: bool| match (now, then) {
        (Some(a), Some(b)) if counts => Change::Count(i128::from(a) - i128::from(b)),
        (Some(a), Some(b)) => Change::Time(i128::from(a) - i128::from(b)),
        (Some(_), None) => Change::New,
        (None, Some(_)) if gone => Change::Gone,
        (None, Some(_)) | (None, None) => Change::Unknown,
    };
    let of_calls = |read: fn(&Data, What, bool) -> Option<u64>, counts: bool| {
        let then = there.and_then(|(then, what)| read(then, what, counts));
        of_both(read(now, what, counts), then, counts)
    };
    // Latencies are times under every measure.
    let in_ticks = app.query.in_ticks;
    let (change, about) = match value {
        Value::Share(Portion::Total) => (Change::Points(share.0 - share_then.0), total_about),
        Value::Share(Portion::Own) => (Change::Points(share.1 - share_then.1), self_about),
        Value::Time(Portion::Total) => (
            time(
                |data, what| data.figures(what).total_ns,
                |data, what| ticks(data, what).0,
            ),
            total_about,
        ),
        Value::Time(Portion::Own) => (
            time(
                |data, what| data.figures(what).self_ns,
                |data, what| ticks(data, what).1,
            ),
            self_about,
        ),
        Value::Calls if what.is_outside() => (Change::Unknown, false),
        Value::Calls | Value::CallsOf => (count(&|data: &Data, what| data.figures(what).calls), false),
        Value::Mean => (of_calls(average, counts(app)), total_about),
        Value::Quantile(percent) => {
            let part = f64::from(percent) / 100.0;
            let read = |data: &Data, what| quantile(data, what, part, in_ticks);
            let then = there.and_then(|(then, what)| read(then, what));
            (of_both(read(now, what), then, in_ticks), latency_about)
        }
        Value::Longest => (of_calls(longest, in_ticks), latency_about),
        Value::OffCpu(_) if !now.snapshot.waits => (Change::Unknown, false),
        Value::OffCpu(part) => {
            let unit = |data: &Data, what| match in_ticks {
                true => clock_ticks(data, part(data.figures(what).total_off)),
                false => part(data.figures(what).total_off),
            };
            (adds_up(&unit, in_ticks), false)
        }
        Value::TimeOf(read) => {
            let in_ticks = in_ticks || counts(app);
            let unit = |data: &Data, what| match in_ticks {
                true => ticks_of(data, read(data, what)),
                false => read(data, what),
            };
            (adds_up(&unit, in_ticks), false)
        }
        Value::CpuTime(read) => {
            let unit = |data: &Data, what| match (in_ticks, read(data, what).unwrap_or(0)) {
                (true, ns) => ticks_of(data, ns),
                (false, ns) => ns,
            };
            (adds_up(&unit, in_ticks), false)
        }
    };
    written(canvas, gap(app.list_cells()) == 1, &change, about)
}

/// Returns a number of a value's column; the mean in hundredths.
fn number_of_value(data: &Data, what: What, cell: CounterCell) -> Option<i128> {
    let figures = data.figures(what);
    let tally = figures.tally.filter(|tally| tally.is_value())?;
    let hundredths = |sum: u64| (i128::from(sum) * 100).checked_div(figures.calls.into());
    match cell {
        CounterCell::Mean => hundredths(tally.sum()),
        CounterCell::Least => tally.range().map(|range| range.min.into()),
        CounterCell::Most => tally.range().map(|range| range.max.into()),
        CounterCell::Quantile(percent) => {
            let number = tally.quantile(data.latency(what), f64::from(percent) / 100.0);
            number.map(i128::from)
        }
        CounterCell::Sign | CounterCell::Main | CounterCell::Calls | CounterCell::Nothing => None,
    }
}

/// Returns a number in parts of one, or its part per call; none where the row that it is per call of has no calls.
fn per_call(data: &Data, n: u64, parts: u128) -> Option<i128> {
    let n = u128::from(n) * parts;
    let each = match data.per_calls.map(u128::from) {
        None => n,
        Some(0) => return None,
        Some(calls) => (n + calls / 2) / calls,
    };
    i128::try_from(each).ok()
}

fn average(data: &Data, what: What, in_ticks: bool) -> Option<u64> {
    let figures = data.figures(what);
    let average_ns = figures.avg_ns()?;
    Some(match in_ticks {
        true => {
            let (ticks, of_calls) = figures.avg_ticks(ticks(data, what).0);
            rounded(ticks, of_calls)
        }
        false => average_ns,
    })
}

fn quantile(data: &Data, what: What, share: f64, in_ticks: bool) -> Option<u64> {
    let ticks = data.latency(what).quantile(share)?;
    Some(in_time(data, ticks, in_ticks))
}

fn longest(data: &Data, what: What, in_ticks: bool) -> Option<u64> {
    let (ticks, _) = data.latency(what).max()?;
    Some(in_time(data, ticks, in_ticks))
}

fn in_time(data: &Data, ticks: u64, in_ticks: bool) -> u64 {
    if in_ticks {
        ticks
    } else {
        data.snapshot.nanos(ticks)
    }
}

/// Whether the row had no calls, has none running, and has no measured time.
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
            // Two numbers with only a sign between them look like one number: then two digits must do.
            if width(&text) > LONGEST_SIGNED && (tight || about) {
                text = canvas.rough(size(ns));
                // `39m58s`, `12d23h`: of two units, only the larger one has room.
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

/// Formats changes of minutes in seconds, because they stand among changes of seconds and are compared at a
/// glance. Returns none for shorter changes, and where the seconds are too many.
fn in_seconds(ns: u64) -> Option<String> {
    let seconds = (ns + 500_000_000) / 1_000_000_000;
    (100..10_000).contains(&seconds).then(|| format!("{seconds}s"))
}

fn sign(more: bool) -> char {
    if more { '+' } else { '-' }
}

/// Formats the change of the mean time per call: `▲ +9%`, with its meaning.
pub(crate) fn of_avg(
    canvas: &Canvas<'_>,
    data: &Data,
    what: What,
    then: Option<(&Data, What)>,
    cells: u16,
) -> (String, Meaning) {
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
    let number = if percent > most {
        format!(">{most:.0}%")
    } else {
        format!("{percent:+.0}%")
    };
    let mut text = format!("{mark}{gap}{number}");
    if width(&text) > usize::from(cells) {
        // Only `-100%` is that long, and no change is below it.
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

//! Latencies of a row's calls: quantiles, the longest call, and a chart, which is either small and on a single line, or
//! tall and in a column of a pane.

use ratatui::layout::Rect;
use tickscope_analysis::window::has_forgotten_latencies;
use tickscope_format::latency::{Histogram, lower_edge, upper_edge, value_edges};
use tickscope_format::snapshot::{Tally, Timing, saturating_sum};
use tickscope_report::{number, tally};

use crate::app::data::Data;
use crate::app::row::What;
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::charts::Column;
use crate::ui::view::unit::ABOUT;
use crate::ui::view::{charts, counter, figure, unit};

/// Quantiles that are shown, with their names.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// Maximum number of calls for which the individual latencies are shown.
const FEW: u64 = 2;

/// Width in cells of the chart on a single line.
const CHART: usize = 20;

/// Width in cells and height in lines of the tall chart.
const TALL_CHART: u16 = 48;
const TALL: u16 = 4;

/// Height in lines of the tall chart, including the labels of its ends and the quantiles.
const TALL_LINES: u16 = TALL + 3;

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, what: What, area: Rect, line: u16) {
    if what.is_outside() {
        return;
    }
    let mut pen = Pen::on(canvas, area, line);
    pen.put("calls took", Meaning::Quiet);
    pen.skip(2);
    if let Some((text, meaning)) = said(pen.canvas, app, data, what) {
        return pen.put_cut(&text, meaning);
    }
    let latency = data.latency(what);
    let facts = quantiles(pen.canvas, app, data, what);
    let ends = ends(pen.canvas, app, data, latency);
    facts_and_chart(&mut pen, &facts, latency, &ends);
}

/// Returns the text that is shown instead of quantiles and a chart: the reason why there are none, or the latencies of
/// one or two calls.
fn said(canvas: &Canvas<'_>, app: &App, data: &Data, what: What) -> Option<(String, Meaning)> {
    let latency = data.latency(what);
    if latency.is_empty() {
        return (!what.is_outside()).then(|| (why_none(app, data).to_string(), Meaning::Quiet));
    }
    let calls = latency.buckets.iter().map(|&(_, count)| count);
    if saturating_sum(calls) > FEW || unit::timed_in_part(data, what) {
        return None;
    }
    // Percentiles and a distribution of one or two calls would say little, so their latencies are shown instead.
    let each = latency.buckets.iter().flat_map(|&(bucket, count)| {
        let ticks = upper_edge(usize::from(bucket)).min(latency.max().map_or(u64::MAX, |(max, _)| max));
        (0..count).map(move |_| ticks)
    });
    let each: Vec<String> = each.map(|ticks| unit::length(canvas, app, data, ticks)).collect();
    Some((each.join(", "), Meaning::Plain))
}

/// Draws latencies in [`TALL_LINES`] lines: the chart, the labels of its ends, and the quantiles.
fn draw_tall(canvas: &mut Canvas<'_>, app: &App, data: &Data, what: What, area: Rect) {
    let latency = data.latency(what);
    let counts = columns(latency, usize::from(area.width.min(TALL_CHART)));
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let parts: Vec<Option<f64>> = counts.iter().map(|&count| Some(count as f64 / most)).collect();
    charts::tall(canvas, &parts, Rect { height: TALL, ..area });
    let [from, to] = ends(canvas, app, data, latency);
    let y = area.y + TALL;
    canvas.put(area.x, y, area.width, &from, Meaning::Quiet);
    canvas.put_right(area.x, y, area.width.min(TALL_CHART), &to, Meaning::Quiet);
    let facts = quantiles(canvas, app, data, what);
    let mut facts = facts.as_slice();
    for line in TALL + 1..TALL_LINES {
        let written = Pen::on(canvas, area, line).facts(facts, 2);
        facts = &facts[written..];
    }
}

/// Draws the latencies of a row's calls as a chart, or the reason why there are none. For a value, draws the
/// distribution of its numbers instead.
pub(crate) fn latencies(canvas: &mut Canvas<'_>, app: &App, data: &Data, what: What, column: &mut Column) {
    let Some(room) = column.room(2) else { return };
    match data.figures(what).tally {
        Some(tally) if tally.is_value() => {
            draw_numbers(canvas, data, what, tally, room, 1);
            column.y += 2;
        }
        Some(tally) => {
            canvas.line(room, 1, counter::no_latencies(tally), Meaning::Quiet);
            column.y += 2;
        }
        None => {
            let word = "how long calls took";
            match said(canvas, app, data, what) {
                Some((text, meaning)) => {
                    if let Some(room) = column.heading(canvas, word, 1) {
                        canvas.line(room, 0, &text, meaning);
                        column.y += 1;
                    }
                }
                None if data.latency(what).is_empty() => {}
                None => {
                    if let Some(room) = column.heading(canvas, word, TALL_LINES) {
                        draw_tall(canvas, app, data, what, room);
                        column.y += TALL_LINES;
                    }
                }
            }
        }
    }
}

/// Returns the quantiles, the longest call and, if only some calls were timed, the number of timed calls, as pairs of a
/// label and a value.
fn quantiles(canvas: &Canvas<'_>, app: &App, data: &Data, what: What) -> Vec<(&'static str, String)> {
    let latency = data.latency(what);
    let is_about = unit::has_rough_percentiles(data, what);
    let about = if is_about { ABOUT } else { "" };
    let length = |ticks| format!("{about}{}", unit::length(canvas, app, data, ticks));
    let quantiles = QUANTILES.iter();
    let mut facts: Vec<(&str, String)> = quantiles
        .filter_map(|&(share, word)| Some((word, length(latency.quantile(share)?))))
        .collect();
    facts.extend(figure::longest(canvas, app, data, what).map(|text| ("max", text)));
    if unit::timed_in_part(data, what) {
        let timed = data.uncertainty(what).map_or(0, |uncertainty| uncertainty.timed);
        facts.push(("timed", format!("{} calls", number::count(timed))));
    }
    facts
}

/// Draws the distribution of the numbers that a value was given, on a single line.
pub(crate) fn draw_numbers(
    canvas: &mut Canvas<'_>,
    data: &Data,
    what: What,
    of: Tally,
    area: Rect,
    line: u16,
) {
    let mut pen = Pen::on(canvas, area, line);
    pen.put("numbers", Meaning::Quiet);
    pen.skip(2);
    let numbers = data.latency(what);
    let Some((first, last)) = numbers.buckets.first().zip(numbers.buckets.last()) else {
        let text = match of.range() {
            Some(_) => "- (single numbers not kept for all of this time)",
            None => "- (it was given no number)",
        };
        return pen.put_cut(text, Meaning::Quiet);
    };
    let quantiles = QUANTILES.iter();
    let mut facts: Vec<(&str, String)> = quantiles
        .filter_map(|&(share, word)| Some((word, tally::quantile(of, numbers, share)?)))
        .collect();
    facts.extend(tally::most(of, pen.canvas.ascii).map(|text| ("max", text)));
    let ends = [value_edges(first.0.into()).0, value_edges(last.0.into()).1].map(number::count);
    facts_and_chart(&mut pen, &facts, numbers, &ends);
}

/// Draws pairs of a label and a value, then a chart between the labels of its ends if there is room.
fn facts_and_chart(
    pen: &mut Pen<'_, '_>,
    facts: &[(&str, String)],
    latency: &Histogram,
    [from, to]: &[String; 2],
) {
    if pen.facts(facts, 2) < facts.len() || width(from) + CHART + width(to) + 4 > pen.room() {
        return;
    }
    let chart = chart(latency, pen.canvas.glyphs.heights);
    pen.skip(2);
    for (text, meaning) in [
        (from, Meaning::Quiet),
        (&chart, Meaning::Warm),
        (to, Meaning::Quiet),
    ] {
        pen.put(text, meaning);
        pen.skip(1);
    }
}

fn why_none(app: &App, data: &Data) -> &'static str {
    match (
        data.snapshot.capture.mode.traits().timing,
        data.snapshot.measuring.histograms,
    ) {
        (Timing::Never, _) => "- (measuring is off)",
        (Timing::Samples, _) => "- (sampling sees where time goes, not how long a call takes)",
        (_, false) => "- (histograms are off in the program: TICKSCOPE_HISTOGRAM=on)",
        (_, true) if app.derived.stretch.is_some() && has_forgotten_latencies(&data.snapshot) => {
            "- (not kept for all of this window)"
        }
        (_, true) if app.derived.stretch.is_some() => "- (no call has ended in this window)",
        (_, true) => "- (no call has ended since the reset)",
    }
}

/// Returns the buckets of the shortest and of the longest call.
fn outermost(latency: &Histogram) -> (usize, usize) {
    let bucket = |at: Option<&(u16, u64)>| at.map_or(0, |&(bucket, _)| usize::from(bucket));
    (bucket(latency.buckets.first()), bucket(latency.buckets.last()))
}

/// Formats the labels at the ends of the chart: the shortest latency in the first bucket and the longest one in the
/// last.
fn ends(canvas: &Canvas<'_>, app: &App, data: &Data, latency: &Histogram) -> [String; 2] {
    let (first, last) = outermost(latency);
    [
        unit::length(canvas, app, data, lower_edge(first)),
        unit::length_up(canvas, app, data, upper_edge(last)),
    ]
}

/// Divides the span from the shortest to the longest call into `steps` ranges of equal width on a logarithmic scale,
/// and counts the calls in each range.
fn columns(latency: &Histogram, steps: usize) -> Vec<u64> {
    let (first, last) = outermost(latency);
    let mut columns = vec![0u64; steps.max(1)];
    for &(bucket, count) in &latency.buckets {
        let column = (usize::from(bucket) - first) * columns.len() / (last - first + 1);
        columns[column] = columns[column].saturating_add(count);
    }
    columns
}

/// Returns the chart of [`columns`] as a line of characters.
fn chart(latency: &Histogram, heights: &[&str]) -> String {
    let columns = columns(latency, CHART);
    let highest = columns.iter().copied().max().unwrap_or(0).max(1);
    let top = heights.len() - 1;
    let height = |count: u64| match count {
        0 => 0,
        // A column with a call is never blank.
        _ => ((count as f64 / highest as f64 * top as f64).round() as usize).clamp(1, top),
    };
    columns.iter().map(|&count| heights[height(count)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::glyphs::Glyphs;

    #[test]
    fn the_chart_shows_every_call_and_where_most_are() {
        let mut latency = Histogram {
            buckets: vec![(80, 10), (90, 1_000_000), (119, 1)],
            max_ticks: 0,
        };
        let unicode = Glyphs::of(false).heights;
        assert_eq!(chart(&latency, unicode), "▁    █             ▁");
        assert_eq!(chart(&latency, Glyphs::of(true).heights), "_    #             _");
        latency.buckets.truncate(1);
        assert_eq!(chart(&latency, unicode), "█                   ");
    }
}

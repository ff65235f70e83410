//! The parts of the Slow view around its table: the sentences above it, and one call over time below it.

use ratatui::layout::{Margin, Rect};
use tickscope_analysis::waterfall::{Block, Waterfall};
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::slow::CallLine;
use crate::app::state::App;
use crate::text::cells::{width, without_module, wrapped};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::views::flame::graph::{EDGES, FILLS};

/// Shown if no function is watched and none has a tail.
const NOTHING: &str = "No function is watched, and no function has a tail: 200 calls or more, of which some take twice the median. W on a \
    row of another view watches its function anyway; this view then says why its slow calls are slow.";

/// Calls on the same path that are at most this many cells wide are merged into one block.
const FEW: u16 = 2;

/// Minimum distance in cells between the starts of two labels on the time axis.
const BETWEEN_MARKS: u16 = 12;

/// Minimum shares for a row or a block to stand out, strongly (`LARGE`) or slightly (`NOTABLE`). A row has a share of
/// the difference between slow and typical calls, and a block has a share of the whole call.
pub(crate) const LARGE: f64 = 0.25;
pub(crate) const NOTABLE: f64 = 0.05;

/// Draws the sentences above the table.
pub(crate) fn title(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let lines = app.answer_lines();
    for ((text, is_cause), line) in lines.iter().zip(0..area.height) {
        let meaning = match is_cause {
            true => Meaning::Hottest,
            false => Meaning::Plain,
        };
        canvas.line(area.inner(Margin::new(1, 0)), line, text, meaning);
    }
}

/// Draws the reason why there are no rows.
pub(crate) fn nothing(canvas: &mut Canvas<'_>, area: Rect) {
    let lines = wrapped(NOTHING, usize::from(area.width.saturating_sub(4)));
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        canvas.put(area.x + 2, y, area.width.saturating_sub(3), line, Meaning::Plain);
    }
}

/// Draws the pane below the table: a list of the slowest calls, and the chosen one over time.
pub(crate) fn calls(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let Some((watch, areas)) = app.watched().zip(app.call_areas(area)) else {
        return;
    };
    let chosen = app.call_at(watch);
    let text = "slow calls that are kept, the longest of each cause first";
    heading(canvas, area, area.y, text);
    let list = areas.list;
    let shown = watch
        .calls
        .iter()
        .enumerate()
        .skip(areas.first)
        .take(usize::from(list.height));
    for ((index, call), y) in shown.zip(list.top()..) {
        let (mark, meaning) = match index == chosen {
            true => (canvas.glyphs.closed, Meaning::Strong),
            false => (" ", Meaning::Quiet),
        };
        canvas.put(list.x + 1, y, 1, mark, meaning);
        let CallLine { began, thread, .. } = call;
        let (ns, cause, notes) = (canvas.duration(call.ns), &call.cause, &call.notes);
        let text = format!("{began}  {ns:>6}  {thread}  {cause}  {notes}");
        let room = list.width.saturating_sub(4);
        canvas.put_cut(list.x + 3, y, room, text.trim_end(), meaning);
    }
    let (Some(call), Some(inner)) = (watch.calls.get(chosen), areas.time) else {
        return;
    };
    let text = format!("{} on {}", call.began, call.thread);
    heading(canvas, area, areas.heading, &text);
    match app.waterfall() {
        Some(waterfall) => over_time(canvas, app, data, &waterfall, inner),
        None => {
            let text = "its steps have not arrived yet; snapshots take turns in having them";
            canvas.line(inner, 0, text, Meaning::Quiet);
        }
    }
}

fn heading(canvas: &mut Canvas<'_>, area: Rect, y: u16, text: &str) {
    let line = Rect { y, height: 1, ..area };
    canvas.rule(line);
    let text = format!(" {text} ");
    canvas.line(line.inner(Margin::new(1, 0)), 0, &text, Meaning::Strong);
}

/// Draws a call over time, with callees below their callers, and the time axis.
fn over_time(canvas: &mut Canvas<'_>, app: &App, data: &Data, waterfall: &Waterfall, area: Rect) {
    let shown = app.views.slow.shown(waterfall.ticks);
    let depth = waterfall.depth.min(u32::from(u16::MAX)) as u16;
    let room = area.height.saturating_sub(1);
    // If there is room, an empty line below each line of blocks makes them easier to tell apart.
    let step = if room >= depth.saturating_mul(2) { 2 } else { 1 };
    let lines = room / step;
    let axis = area.y + depth.saturating_mul(step).min(room);
    let line_of = |depth: u32| area.y + depth as u16 * step;
    for block in waterfall.blocks(&shown, area.width, FEW) {
        if block.depth < u32::from(lines) {
            let cells = Rect::new(area.x + block.x, line_of(block.depth), block.width, 1);
            let cells = cells.intersection(area);
            one(canvas, app, data, &block, waterfall.ticks, cells);
        }
    }
    let length = shown.end - shown.start;
    let cell = |at: u64| {
        let at = at.clamp(shown.start, shown.end) - shown.start;
        (u128::from(at) * u128::from(area.width) / u128::from(length.max(1))) as u16
    };
    for off in &waterfall.off_cpu {
        let (ticks, word) = match off.waiting >= off.ready {
            true => (off.waiting, "waits"),
            false => (off.ready, "no CPU"),
        };
        let all = off.waiting.saturating_add(off.ready);
        // It is not known when during the step the thread waited, so the wait is drawn at the end of the step.
        let (from, to) = (cell(off.end.saturating_sub(all)), cell(off.end));
        if off.depth >= u32::from(lines) || to <= from {
            continue;
        }
        let cells = Rect::new(area.x + from, line_of(off.depth), to - from, 1).intersection(area);
        canvas.paint(cells, Meaning::Waiting);
        let text = format!(" {word} {} ", canvas.duration(data.snapshot.nanos(ticks)));
        let room = usize::from(cells.width);
        // The text is in the right half, because the block begins with the name of the call.
        if width(&text) * 2 < room {
            let mut pen = Pen::on(canvas, cells, 0);
            pen.skip(cells.width / 2);
            pen.put(&text, Meaning::Waiting);
        }
    }
    if let Some((gap, steps)) = &waterfall.gap {
        let (from, to) = (cell(gap.start), cell(gap.end).max(cell(gap.start) + 1));
        let cells = Rect::new(area.x + from, line_of(1), to - from, 1).intersection(area);
        let text = format!("{}{} steps left out", canvas.glyphs.cut, number::count(*steps));
        canvas.line(cells, 0, &text, Meaning::Small);
    }
    let hidden = waterfall.depth.saturating_sub(u32::from(lines));
    time_axis(canvas, data, &shown, hidden, Rect { y: axis, ..area });
}

/// Draws evenly spaced time labels. The one on the right is the end of the visible span. If lines are hidden, their
/// number takes its place.
fn time_axis(canvas: &mut Canvas<'_>, data: &Data, shown: &std::ops::Range<u64>, hidden: u32, area: Rect) {
    let marks = (area.width / BETWEEN_MARKS).max(1);
    let length = u128::from(shown.end - shown.start);
    for mark in 0..marks {
        let part = |whole: u128| (whole * u128::from(mark) / u128::from(marks)) as u64;
        let at = shown.start.saturating_add(part(length));
        let x = area.x + part(u128::from(area.width)) as u16;
        let text = canvas.duration(data.snapshot.nanos(at));
        canvas.put_cut(x, area.y, area.right().saturating_sub(x), &text, Meaning::Quiet);
    }
    let text = match hidden {
        0 => canvas.duration(data.snapshot.nanos(shown.end)),
        1 => "1 line below".to_string(),
        lines => format!("{lines} lines below"),
    };
    let last = area.x + area.width / marks * (marks - 1) + BETWEEN_MARKS / 2 + 2;
    if area.right().saturating_sub(last) > width(&text) as u16 {
        canvas.put_right(last, area.y, area.right() - last, &text, Meaning::Quiet);
    }
}

/// Draws a block: a single call, or several short calls on the same path.
fn one(canvas: &mut Canvas<'_>, app: &App, data: &Data, block: &Block, ticks: u64, area: Rect) {
    let ascii = usize::from(canvas.ascii);
    let meaning = match block.ticks as f64 / ticks.max(1) as f64 {
        LARGE.. => Meaning::Hottest,
        NOTABLE.. => Meaning::Warm,
        _ => Meaning::Plain,
    };
    let fill = FILLS[ascii][(block.path + block.depth) as usize % 2];
    let mut x = canvas.put(area.x, area.y, 1, EDGES[ascii], Meaning::Rule);
    let room = usize::from(area.right().saturating_sub(x));
    let watched = app.watched().map(|watch| watch.function.as_str());
    let mut watches = data.snapshot.watches.iter();
    let watch = watches.find(|watch| Some(watch.function.as_str()) == watched);
    let function = watch.and_then(|watch| {
        let site = watch.paths.get(block.path as usize)?.site;
        data.tree.functions.of_site.get(site.index())
    });
    let name = function.map_or("", |function| &data.names.short[function.index()]);
    let times = if canvas.ascii { 'x' } else { '×' };
    let many = match block.calls {
        1 => String::new(),
        calls => format!(" {times}{}", number::count(calls)),
    };
    let time = format!("  {}", canvas.duration(data.snapshot.nanos(block.ticks)));
    let name = without_module(name, room.saturating_sub(width(&many)));
    let label = [format!("{name}{many}{time}"), format!("{name}{many}")]
        .into_iter()
        .find(|label| width(label) <= room);
    let label = label.unwrap_or_else(|| canvas.cut_end(name, room).into_owned());
    if width(&label) > width(canvas.glyphs.cut) {
        x = canvas.put(x, area.y, room as u16, &label, meaning);
    }
    let rest = area.right().saturating_sub(x);
    canvas.put(x, area.y, rest, &fill.repeat(usize::from(rest)), Meaning::Rule);
}

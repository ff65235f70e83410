//! The timeline: one lane of columns for each thread or function. The height of a column shows work and waits, and its
//! colour shows the module of the busiest function.

use ratatui::layout::{Margin, Rect};
use tickscope_programs::clock_time::seconds;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::row::Row;
use crate::app::state::App;
use crate::app::timeline::{Lanes, lines_of_lane, name_cells};
use crate::app::window::Stretch;
use crate::text::cells::width;
use crate::ui::theme::{Ground, Meaning};
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::{lane, rows};

const SECOND_NS: u64 = 1_000_000_000;

/// Possible intervals between the labels of the axis, in seconds.
const STEPS: [u64; 14] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200];

/// Minimum distance in cells between the starts of two labels on the axis.
const MARK_CELLS: u64 = 12;

/// Mark of the cursor, in Unicode and in ASCII.
const CURSOR: [&str; 2] = ["▼", "v"];

fn lanes_of(app: &App, area: Rect) -> Rect {
    let x = area.x + name_cells(area.width) + 2;
    let width = app.views.timeline.columns().min(area.right().saturating_sub(x));
    Rect { x, width, ..area }
}

/// Draws the line above the lanes: how much time is shown, time labels, the cursor, and the ends of the chosen stretch.
pub(crate) fn axis(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let words = app.timeline_words();
    canvas.put_cut(area.x + 1, area.y, name_cells(area.width), &words, Meaning::Quiet);
    times(canvas, app, area, "");
}

/// Like [`axis`], but on the horizontal line below the tree.
fn axis_on_rule(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    canvas.rule(area);
    let words = format!(" {} ", app.timeline_words());
    let cells = name_cells(area.width);
    canvas.put_cut(area.x + 1, area.y, cells, &words, Meaning::Strong);
    times(canvas, app, area, " ");
}

/// Draws the time labels, the cursor, and the ends of the chosen stretch. `around` is the text on either side of each
/// label.
fn times(canvas: &mut Canvas<'_>, app: &App, area: Rect, around: &str) {
    let timeline = &app.views.timeline;
    let lanes = lanes_of(app, area);
    let slot_ns = timeline.slot_ns().max(1);
    let end_ns = timeline.end_ns();
    let begin_ns = end_ns.saturating_sub(slot_ns * u64::from(lanes.width));
    // In a recording, labels count forwards from its beginning. Otherwise they count back from the right end of the
    // timeline.
    let zero_ns = app.playback.past.begin_ns;
    let least_ns = MARK_CELLS * slot_ns;
    let step_s = STEPS.iter().find(|&&step| step * SECOND_NS >= least_ns);
    let step_ns = step_s.map_or(least_ns, |step| step * SECOND_NS);
    let from_ns = zero_ns.unwrap_or(end_ns);
    let mut at = match zero_ns {
        Some(zero_ns) => zero_ns + begin_ns.saturating_sub(zero_ns).next_multiple_of(step_ns),
        None => end_ns - (end_ns - begin_ns) / step_ns * step_ns,
    };
    let range = app.range();
    let cursor = app.cursor_ns().and_then(|at| timeline.column_before(at));
    let marked = range.clone().or(cursor.map(|column| column..=column));
    while at <= end_ns {
        let is_now = zero_ns.is_none() && at == end_ns;
        let text = match is_now {
            true if app.playback.stands_still() => "end".to_string(),
            true => "now".to_string(),
            false => label(at.abs_diff(from_ns), zero_ns.is_none()),
        };
        let text = format!("{around}{text}{around}");
        let cell = ((at.saturating_sub(begin_ns)) / slot_ns) as u16;
        let x = (lanes.x + cell)
            .saturating_sub(width(around) as u16)
            .min(lanes.right().saturating_sub(width(&text) as u16));
        let is_free = marked.as_ref().is_none_or(|marked| {
            let (begin, end) = (lanes.x + marked.start(), lanes.x + marked.end());
            x > end || x + (width(&text) as u16) < begin
        });
        if is_free {
            canvas.put(x, area.y, text.len() as u16, &text, Meaning::Quiet);
        }
        at += step_ns;
    }
    if let Some(range) = range {
        let (x, end) = (lanes.x + range.start(), lanes.x + range.end() + 1);
        let cells = end - x;
        let [left, right] = [canvas.glyphs.frame[0], canvas.glyphs.frame[1]];
        let words = seconds(app.derived.stretch.map_or(0, |stretch| stretch.ns));
        for x in x..end {
            canvas.put(x, area.y, 1, canvas.glyphs.rule, Meaning::Notable);
        }
        canvas.put(x, area.y, 1, left, Meaning::Notable);
        canvas.put(end - 1, area.y, 1, right, Meaning::Notable);
        if width(&words) + 4 <= usize::from(cells) {
            let text = format!(" {words} ");
            let x = x + (cells - width(&text) as u16) / 2;
            canvas.put(x, area.y, cells, &text, Meaning::Notable);
        }
    } else if let Some(column) = cursor {
        let mark = CURSOR[usize::from(canvas.ascii)];
        canvas.put(lanes.x + column, area.y, 1, mark, Meaning::Notable);
    }
}

/// Formats a time as `-25 s`, `-5 min`, `1:30`.
fn label(ns: u64, back: bool) -> String {
    let all = ns / SECOND_NS;
    match (back, all) {
        (true, ..120) => format!("-{all} s"),
        (true, 120..7_200) if all.is_multiple_of(60) => format!("-{} min", all / 60),
        (true, _) => format!("-{}:{:02}", all / 60, all % 60),
        (false, ..3_600) => format!("{}:{:02}", all / 60, all % 60),
        (false, _) => format!("{}:{:02}:{:02}", all / 3_600, all / 60 % 60, all % 60),
    }
}

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let list = app.list();
    if list.rows.is_empty() {
        return rows::tell(canvas, area, rows::nothing(app, data));
    }
    let height = app.lane_lines();
    let offset = list.cursor.offset;
    for (place, row) in list.rows.iter().enumerate().skip(offset) {
        let y = area.y + (place - offset) as u16 * height;
        if y + height > area.bottom() {
            break;
        }
        let meaning = match (place == list.cursor.index, row.hit) {
            (true, _) => Meaning::Selected,
            (false, true) => Meaning::Match,
            (false, false) => Meaning::Strong,
        };
        line(canvas, app, data, row, meaning, Rect { y, height, ..area });
    }
}

/// Draws the timeline below the tree, with as many threads as fit, the busiest first. If the tree shows a single
/// thread, that thread stands out.
pub(crate) fn below(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    axis_on_rule(canvas, app, Rect { height: 1, ..area });
    let rows = &app.views.lanes;
    let lines = area.height.saturating_sub(1);
    let height = lines_of_lane(rows.len(), lines);
    let fit = match rows.len() <= usize::from(lines) {
        true => rows.len(),
        // The last line says how many threads are left out.
        false => usize::from(lines.saturating_sub(1)),
    };
    let mut y = area.y + 1;
    for row in &rows[..fit] {
        let meaning = match data.thread {
            Some(only) if row.what.row != only.0 => Meaning::Quiet,
            Some(_) | None => Meaning::Strong,
        };
        line(canvas, app, data, row, meaning, Rect { y, height, ..area });
        y += height;
    }
    if fit < rows.len() && y < area.bottom() {
        let text = format!("and {} more", number::count((rows.len() - fit) as u64));
        canvas.put_cut(area.x + 1, y, area.width.saturating_sub(1), &text, Meaning::Quiet);
    }
}

/// Draws the lane of a thread or a function, with its name in front.
fn line(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, meaning: Meaning, area: Rect) {
    let Some(key) = row.id.as_lane() else {
        return;
    };
    name(canvas, app, data, row, meaning, (key, area));
    let timeline = &app.views.timeline;
    let range = app.range();
    // In a lane of three or more screen lines, the last line is left empty to set off the next lane.
    let mut lane = lanes_of(app, area);
    lane.height -= u16::from(lane.height >= 3);
    for (column, at) in (0..lane.width).zip(lane.columns()) {
        let is_chosen = range.as_ref().is_some_and(|range| range.contains(&column));
        let load = timeline.load(key, column);
        lane::column(canvas, &data.names, load, timeline.most(), at, is_chosen);
    }
}

/// Draws the name of a lane, and its mean load over all of the time on the screen.
fn name(
    canvas: &mut Canvas<'_>,
    app: &App,
    data: &Data,
    row: &Row,
    meaning: Meaning,
    (key, area): (u64, Rect),
) {
    let mean = app.views.timeline.mean(key);
    let busy = mean.map_or(String::new(), |mean| format!("{:.0} %", mean.working * 100.0));
    let waits = mean
        .filter(|mean| mean.waiting >= 0.005)
        .map(|mean| format!("off CPU {:.0} %", mean.waiting * 100.0));
    let cells = name_cells(area.width).saturating_sub(1);
    let is_beside = area.height == 1 && !busy.is_empty() && usize::from(cells) >= 9 + width(&busy);
    let room = usize::from(cells) - if is_beside { width(&busy) + 1 } else { 0 };
    let label = canvas.without_module(data.label(row.what), room);
    canvas.put(area.x + 1, area.y, room as u16, &label, meaning);
    if is_beside {
        canvas.put_right(area.x + 1, area.y, cells, &busy, Meaning::Quiet);
    }
    if area.height > 1 && !busy.is_empty() {
        let both = format!("{busy}  {}", waits.unwrap_or_default());
        let fits = width(&both) <= usize::from(cells);
        let text = if fits { &both } else { &busy };
        canvas.put(area.x + 1, area.y + 1, cells, text, Meaning::Quiet);
    }
}

/// Draws the pane below the lanes: each function's share of the chosen stretch, compared with its share of the
/// remaining time on the screen.
pub(crate) fn parts(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    canvas.rule(area);
    if area.height < 3 {
        return;
    }
    let range = app.range();
    let parts = app.views.timeline.parts();
    let heading = match app.derived.stretch.filter(|_| range.is_some()) {
        Some(Stretch { ns, .. }) => {
            format!("In these {}, compared with the rest of the screen", seconds(ns))
        }
        None => format!("In {}", app.timeline_words()),
    };
    let mut pen = Pen::on(canvas, area.inner(Margin::new(1, 0)), 1);
    pen.put_cut(&heading, Meaning::Strong);
    let x = pen.x;
    let line = Rect::new(area.x, area.y + 1, area.width, 1);
    if app.screen.theme.fills() {
        let waits = parts.iter().any(|part| part.waiting > 0.0);
        let modules = parts
            .iter()
            .filter_map(|part| lane::module_of(&data.names, part.function));
        let modules: Vec<_> = modules.collect();
        lane::legend(canvas, lane::each_once(&modules), waits, line, x + 2);
    }
    let hint = " < > or the mouse chooses a stretch of time; all views show it ";
    if range.is_none() && width(hint) + 4 <= usize::from(area.width) {
        canvas.put_right(area.x, area.y, area.width - 2, hint, Meaning::Quiet);
    }
    let most = parts.first().map_or(1.0, |part| part.inside);
    let most = most.max(f64::MIN_POSITIVE);
    let compares = range.is_some() && area.width >= 60;
    let numbers: u16 = if compares { 34 } else { 7 };
    let waits_cells: u16 = if area.width >= 70 { 13 } else { 0 };
    let names = area.width * 2 / 5;
    let bar_x = area.x + 1 + names + 1;
    let bar = area.width.saturating_sub(names + numbers + waits_cells + 5);
    let large = parts.iter().filter(|part| part.inside >= 0.0005);
    for (part, y) in large.zip(area.y + 2..area.bottom()) {
        let label = data.names.place_of(part.function);
        let label = label.map_or("?", |at| &data.names.short[at]);
        let label = canvas.without_module(label, names.into());
        canvas.put(area.x + 1, y, names, &label, Meaning::Plain);
        let ground = lane::ground(&data.names, part.function);
        let cells = Rect::new(bar_x, y, bar, 1);
        draw_bar(canvas, app, (ground, part.inside / most, part.waiting), cells);
        let mut x = bar_x + bar + 1;
        canvas.put_right(x, y, 6, &number::percent(part.inside), Meaning::Strong);
        x += 7;
        if compares && let Some(outside) = part.outside {
            let text = format!("{} else", number::percent(outside));
            canvas.put_right(x, y, 14, &text, Meaning::Quiet);
            let points = 100.0 * (part.inside - outside);
            let meaning = match points {
                5.0.. => Meaning::Hottest,
                _ => Meaning::Plain,
            };
            canvas.put_right(x + 14, y, 12, &format!("{points:+.1} pts"), meaning);
        }
        if waits_cells > 0 && part.waiting >= 0.05 {
            let text = format!("off CPU {:.0} %", part.waiting * 100.0);
            let x = area.right().saturating_sub(waits_cells + 1);
            canvas.put_right(x, y, waits_cells, &text, Meaning::Waiting);
        }
    }
}

/// Draws a bar as long as the given share of the area. The end of the bar shows the part of that time spent off the
/// CPU.
fn draw_bar(canvas: &mut Canvas<'_>, app: &App, (ground, share, off): (Ground, f64, f64), area: Rect) {
    let eighths = (share * f64::from(area.width) * 8.0).round() as u16;
    let ends = canvas.glyphs.eighths;
    let last = ends[usize::from(eighths % 8) * (ends.len() - 1) / 8];
    let cells = eighths / 8;
    if !app.screen.theme.fills() {
        let full = ends[ends.len() - 1].repeat(usize::from(cells));
        let x = canvas.put(area.x, area.y, area.width, &full, Meaning::Plain);
        canvas.put(x, area.y, 1, last, Meaning::Plain);
        return;
    }
    let waiting = (off * f64::from(cells)).round() as u16;
    let end = area.x + cells;
    canvas.fill(Rect::new(area.x, area.y, cells - waiting, 1), ground, false);
    let waits = Rect::new(end - waiting, area.y, waiting, 1);
    canvas.fill(waits, Ground::Waiting, false);
    if !last.is_empty() && waiting == 0 {
        canvas.block(end, area.y, last, ground, None);
    }
}

/// Describes what each lane stands for, as shown on the line with the settings.
pub(crate) fn settings(app: &App) -> String {
    match app.views.timeline.lanes {
        Lanes::Threads => "a line: a thread".to_string(),
        Lanes::Functions => {
            let most = app.views.timeline.most() * 100.0;
            format!("a line: a function, to {most:.0} % of a CPU")
        }
    }
}

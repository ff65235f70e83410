//! The flame graph: the call tree from the top down, in which each frame is as wide as its share of the time.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use tickscope_report::modules::Module;
use tickscope_report::number;
use tickscope_report::trend::Trend;

use crate::app::data::Data;
use crate::app::flame::{FlameColour, Frame};
use crate::app::row::{Portion, What, share};
use crate::app::state::App;
use crate::app::window::span_words;
use crate::keys::view::View;
use crate::text::cells::{width, without_module};
use crate::ui::theme::{Ground, Heat, Meaning};
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::unit::{self, ABOUT};
use crate::ui::view::{figure, lane, rows};

/// Fill patterns that alternate between neighbouring frames, and the edge before each frame: in Unicode, then in ASCII.
pub(crate) const FILLS: [[&str; 2]; 2] = [["░", "▒"], [".", ":"]];
pub(crate) const EDGES: [&str; 2] = ["▏", "|"];

/// Mark for a frame that stands for several rows that are each too small for a cell, in Unicode and in ASCII.
const FEW: [&str; 2] = ["…", "+"];

/// Draws the line above the frames: the selected frame with its share and its time, and the legend of the colours.
pub(crate) fn title(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let Some(row) = app.list().selected() else {
        return;
    };
    let (of_total, _) = app.shares(data, row.what);
    let about = about(data, row.what);
    let percent = format!("{about}{}", number::percent(of_total));
    let time = figure::plain(canvas, app, data, row.what, Value::Time(Portion::Total));
    let mut x = area.x + 1;
    canvas.put_right(x, area.y, 7, &percent, Meaning::Strong);
    x += 8;
    if area.width >= 40 {
        canvas.put_right(x, area.y, 7, &time, Meaning::Plain);
        x += 8;
    }
    let room = area.right().saturating_sub(x + 1);
    let name = fitting(canvas, data.label(row.what), room.into());
    let x = canvas.put(x, area.y, room, &name, Meaning::Strong);
    legend(canvas, app, data, area, x + 3);
}

/// Draws the legend of the colours at the end of the line above the frames, as much of it as fits to the right of cell
/// `from`.
fn legend(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect, from: u16) {
    let flame = &app.views.flame;
    if !app.screen.theme.fills() {
        return;
    }
    let mut all: Vec<(Ground, String)> = Vec::new();
    if data.then.is_some() {
        let words = [
            (Trend::MuchLess, "less than then"),
            (Trend::Same, "same"),
            (Trend::MuchMore, "more"),
        ];
        all.extend(words.map(|(trend, word)| (Ground::Change(trend), word.to_string())));
    } else if flame.colour == FlameColour::Own {
        let words = [
            (Heat::Cold, "self <1 %"),
            (Heat::Mild, "1"),
            (Heat::Warm, "5"),
            (Heat::Hot, "25 % or more"),
        ];
        all.extend(words.map(|(heat, word)| (Ground::Own(heat), word.to_string())));
    } else {
        let frames = flame.frames.all.iter();
        let modules: Vec<_> = frames
            .filter_map(|frame| module_of(data, View::Tree.row(frame.row?)))
            .collect();
        all = lane::each_once(&modules);
    }
    lane::legend(canvas, all, rows::tells_waits(app, data), area, from);
}

fn about(data: &Data, what: What) -> &'static str {
    match unit::rough(data, what).total_estimated {
        true => ABOUT,
        false => "",
    }
}

fn module_of(data: &Data, what: What) -> Option<&Module> {
    data.names.modules.get(data.function(what)?.index())
}

/// Minimum width at which a long name is cut in the middle. In less space, its beginning alone says more.
const ROOM_FOR_BOTH_ENDS: usize = 10;

/// Draws the frames that are on the screen.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let flame = &app.views.flame;
    if flame.frames.all.is_empty() {
        if data.tree.rows.is_empty() {
            return rows::tell(canvas, area, rows::nothing(app, data));
        }
        let span = span_words(app.derived.stretch);
        return rows::tell(canvas, area, &format!("No time has been measured {span}."));
    }
    let list = app.list();
    let searches = app.searched().is_some();
    frames(canvas, app, data, flame.top, area, |index, _| {
        let row = flame.frames.row_of(index);
        let hit = row.is_some_and(|row| list.rows[row].hit);
        Look {
            selected: row == Some(list.cursor.index),
            hit,
            faded: searches && !hit,
        }
    });
}

/// Draws the graph below the tree, and highlights the frame of the selected row.
pub(crate) fn below(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    canvas.rule(area);
    let x = canvas.put(area.x + 1, area.y, 8, " flame ", Meaning::Strong);
    legend(canvas, app, data, area, x + 3);
    let (y, height) = (area.y + 1, area.height.saturating_sub(1));
    let area = Rect { y, height, ..area };
    let selected = app.list().selected().map(|row| row.what);
    frames(canvas, app, data, 0, area, |_, frame| Look {
        selected: frame.row.map(|row| View::Tree.row(row)) == selected,
        hit: false,
        faded: false,
    });
}

/// Draws the frames that are on the screen, each with the look that `look` returns for it.
fn frames(
    canvas: &mut Canvas<'_>,
    app: &App,
    data: &Data,
    top: usize,
    area: Rect,
    look: impl Fn(usize, &Frame) -> Look,
) {
    let frames = &app.views.flame.frames;
    let first = frames.all.partition_point(|frame| (frame.line as usize) < top);
    let rows = frames.rows_of_frame();
    let end = top + usize::from(area.height / rows);
    let from_first = frames.all.iter().enumerate().skip(first);
    let on_screen = from_first.take_while(|(_, frame)| (frame.line as usize) < end);
    let stale = app.is_stale();
    for (index, frame) in on_screen {
        let y = area.y + (frame.line as usize - top) as u16 * rows;
        let cells = Rect::new(area.x + frame.x, y, frame.width, rows).intersection(area);
        if frame.few > 0 {
            few(canvas, frame, cells);
            continue;
        }
        let mut look = look(index, frame);
        look.faded |= stale;
        match app.screen.theme.fills() {
            true => solid(canvas, app, data, frame, cells, look),
            false => drawn(canvas, app, data, frame, cells, look),
        }
    }
}

/// Draws a frame that stands for several rows that are too small to be drawn: a mark, and their number if it fits.
fn few(canvas: &mut Canvas<'_>, frame: &Frame, area: Rect) {
    let mark = FEW[usize::from(canvas.ascii)];
    let count = number::count(u64::from(frame.few));
    let text = match usize::from(area.width) > 1 + count.len() {
        true => format!("{mark}{count}"),
        false => mark.to_string(),
    };
    canvas.fill(area, Ground::Faded, frame.darker);
    canvas.put_over(area.x, area.y, area.width, &text, Modifier::empty());
}

#[derive(Clone, Copy)]
struct Look {
    selected: bool,
    hit: bool,
    /// Whether the frame is dimmed, because its data is stale or because it does not match the search.
    faded: bool,
}

/// Returns what a frame's colour shows: its change, its module or its self time.
fn ground_of(app: &App, data: &Data, what: What) -> Ground {
    if data.then.is_some() {
        return Ground::Change(Trend::of_points(points(app, data, what)));
    }
    match app.views.flame.colour {
        FlameColour::Module => Ground::Module(module_of(data, what).map_or(0, |module| module.hue)),
        FlameColour::Own => Ground::Own(match share(data.figures(what).self_ns, data.measured_ns) {
            0.25.. => Heat::Hot,
            0.05.. => Heat::Warm,
            0.01.. => Heat::Mild,
            _ => Heat::Cold,
        }),
    }
}

/// Returns the change of a row's share, in percentage points.
fn points(app: &App, data: &Data, what: What) -> f64 {
    let then = data.counterpart(what);
    let then = then.map_or(0.0, |(then, there)| app.shares(then, there).0);
    100.0 * (app.shares(data, what).0 - then)
}

/// Formats a share as `48 %`, with its change if moments are compared.
fn percent(app: &App, data: &Data, what: What) -> String {
    let (of_total, _) = app.shares(data, what);
    let mut text = match of_total * 100.0 {
        0.95.. => format!("{}{:.0} %", about(data, what), of_total * 100.0),
        percent => format!("{}{percent:.1} %", about(data, what)),
    };
    if data.then.is_some() {
        let points = points(app, data, what);
        if points.abs() >= 0.05 {
            text += &format!(" {points:+.1}");
        }
    }
    text
}

/// Draws a frame in its colour, with its name and its share. A tall frame also shows its time and its time off the CPU.
fn solid(canvas: &mut Canvas<'_>, app: &App, data: &Data, frame: &Frame, area: Rect, look: Look) {
    let Some(row) = frame.row else { return };
    let what = View::Tree.row(row);
    let off = rows::off_cpu(app, data, what);
    let ground = match look {
        Look { selected: true, .. } => Ground::Selected,
        Look { faded: true, .. } => Ground::Faded,
        _ => ground_of(app, data, what),
    };
    canvas.fill(area, ground, frame.darker);
    if !look.selected && !look.faded {
        // The time off the CPU is shown at the right end.
        let width = ((off * f64::from(area.width)).round() as u16).min(area.width);
        let x = area.right() - width;
        canvas.fill(Rect { x, width, ..area }, Ground::Waiting, frame.darker);
    }
    let name_look = match look.hit {
        true => Modifier::BOLD | Modifier::UNDERLINED,
        false => Modifier::BOLD,
    };
    // If there is room, a cell on each side stays empty, so that the names of neighbouring frames do not touch.
    let x = area.x + u16::from(area.width > 3);
    let room = area.right().saturating_sub(x + u16::from(area.width > 4));
    let percent = percent(app, data, what);
    let beside = width(&percent) + 1;
    let tall = area.height > 1;
    let label = fitting(canvas, data.label(what), room.into());
    if width(&label) <= width(canvas.glyphs.cut) {
        return;
    }
    let end = canvas.put_over(x, area.y, room, &label, name_look);
    if !tall {
        let left = usize::from((x + room).saturating_sub(end));
        if beside <= left {
            canvas.put_over(end + 1, area.y, left as u16 - 1, &percent, Modifier::empty());
        }
        return;
    }
    let time = figure::plain(canvas, app, data, what, Value::Time(Portion::Total));
    let off_cpu = match off {
        0.05.. => format!("off CPU {:.0} %", off * 100.0),
        _ => String::new(),
    };
    let mut x = x;
    let end = area.right().saturating_sub(u16::from(area.width > 4));
    for text in [percent, time, off_cpu].iter().filter(|text| !text.is_empty()) {
        if usize::from(x) + width(text) > usize::from(end) {
            break;
        }
        x = canvas.put_over(x, area.y + 1, end - x, text, Modifier::empty()) + 2;
    }
}

/// Draws a frame without colours: an edge, its name and share, and a fill pattern that differs from its neighbours.
fn drawn(canvas: &mut Canvas<'_>, app: &App, data: &Data, frame: &Frame, area: Rect, look: Look) {
    let selected = look.selected;
    let Some(row) = frame.row else { return };
    let what = View::Tree.row(row);
    let ascii = usize::from(canvas.ascii);
    let meaning = match share(data.figures(what).total_ns, data.measured_ns) {
        _ if selected => Meaning::Selected,
        _ if look.hit => Meaning::Match,
        _ if look.faded => Meaning::Quiet,
        0.25.. => Meaning::Hottest,
        _ => Meaning::Plain,
    };
    let quiet = if selected { meaning } else { Meaning::Rule };
    let fill = match selected {
        true => " ",
        false => FILLS[ascii][usize::from(frame.darker)],
    };
    let edge = if selected { ">" } else { EDGES[ascii] };
    let off = match selected {
        true => 0.0,
        false => rows::off_cpu(app, data, what),
    };
    let cells = ((off * f64::from(area.width)).round() as u16).min(area.width.saturating_sub(1));
    let start = area.right() - cells;
    let [_, own_fill] = canvas.glyphs.off_cpu;
    let percent = percent(app, data, what);
    for y in area.top()..area.bottom() {
        let mut x = canvas.put(area.x, y, 1, edge, quiet);
        let room = usize::from(area.right().saturating_sub(x));
        let is_first = y == area.y;
        let label = match is_first {
            true => fitting(canvas, data.label(what), room),
            false if width(&percent) <= room => percent.clone(),
            false => String::new(),
        };
        if width(&label) > width(canvas.glyphs.cut) {
            x = canvas.put(x, y, room as u16, &label, if is_first { meaning } else { quiet });
            let rest = usize::from(area.right().saturating_sub(x));
            if is_first && area.height == 1 && rest > width(&percent) {
                x = canvas.put(x + 1, y, rest as u16 - 1, &percent, quiet);
            }
        }
        let rest = usize::from(area.right().saturating_sub(x));
        canvas.put(x, y, rest as u16, &fill.repeat(rest), quiet);
        // The time off the CPU is shown at the right end, with another fill pattern.
        let filled = x.max(start);
        let rest = area.right().saturating_sub(filled);
        canvas.put(filled, y, rest, &own_fill.repeat(usize::from(rest)), quiet);
    }
}

/// Shortens a name to this number of cells: leaves out its module and, if that is not enough, cuts out its middle. If
/// there are only a few cells, cuts off its end instead.
fn fitting(canvas: &Canvas<'_>, name: &str, cells: usize) -> String {
    let name = match cells < ROOM_FOR_BOTH_ENDS {
        true => canvas.cut_end(without_module(name, cells), cells),
        false => canvas.without_module(name, cells),
    };
    name.into_owned()
}

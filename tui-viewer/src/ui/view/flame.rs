//! The flame graph: the call tree from the top down, every frame as wide as its time.

use ratatui::layout::Rect;
use tickscope_report::number;

use crate::app::columns::spec::{Portion, Value};
use crate::app::data::Data;
use crate::app::figures::{What, share};
use crate::app::flame_layout::Frame;
use crate::app::state::App;
use crate::app::window::span_words;
use crate::cli::args::look::ThemeKind;
use crate::source::status::Status;
use crate::text::cells::{cut_end, cut_middle, width, without_module};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::figure;
use crate::ui::view::marks::ABOUT;
use crate::ui::view::rows;
use crate::ui::view::unit;

/// What fills frames beside each other, and the edge before each: Unicode, then ASCII.
pub(super) const FILLS: [[&str; 2]; 2] = [["░", "▒"], [".", ":"]];
pub(super) const EDGES: [&str; 2] = ["▏", "|"];

/// For those that are too small for a cell each.
const FEW: [&str; 2] = ["…", "+"];

/// The line above: what is selected, with its share and its time.
pub(super) fn title(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let Some(row) = app.list().selected() else {
        return;
    };
    let (of_total, _) = app.shares(data, row.what);
    let about = if unit::rough(data, row.what).total_estimated {
        ABOUT
    } else {
        ""
    };
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
    let name = fitting(data.label(row.what), usize::from(room), canvas.glyphs.cut);
    canvas.put(x, area.y, room, &name, Meaning::Strong);
}

/// In fewer cells than this the beginning of a name says more than its two ends.
const ROOM_FOR_BOTH_ENDS: usize = 10;

/// Draws the frames of the lines on the screen.
pub(super) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let flame = &app.views.flame;
    if flame.frames.is_empty() {
        if data.tree.rows.is_empty() {
            return rows::nothing(canvas, app, data, area);
        }
        let span = span_words(app.derived.stretch);
        return rows::tell(canvas, area, &format!("No time has been measured {span}."));
    }
    let first = flame
        .frames
        .partition_point(|frame| (frame.line as usize) < flame.top);
    let end = flame.top + usize::from(area.height);
    let on_screen = flame
        .frames
        .iter()
        .enumerate()
        .skip(first)
        .take_while(|(_, frame)| (frame.line as usize) < end);
    let list = app.list();
    for (index, frame) in on_screen {
        let y = area.y + (frame.line as usize - flame.top) as u16;
        let cells = Rect::new(area.x + frame.x, y, frame.width, 1).intersection(area);
        if frame.few > 0 {
            few(canvas, frame, cells);
        } else {
            let row = flame.row_of(index);
            let look = Look {
                selected: row == Some(list.cursor.index),
                hit: row.is_some_and(|row| list.rows[row].hit),
            };
            one(canvas, app, data, frame, cells, look);
        }
    }
}

/// Those that are too small, together: a mark, and how many where that fits.
fn few(canvas: &mut Canvas<'_>, frame: &Frame, area: Rect) {
    let mark = FEW[usize::from(canvas.ascii)];
    let count = number::count(u64::from(frame.few));
    let text = match usize::from(area.width) > 1 + count.len() {
        true => format!("{mark}{count}"),
        false => mark.to_string(),
    };
    canvas.put(area.x, area.y, area.width, &text, Meaning::Small);
}

#[derive(Clone, Copy)]
struct Look {
    selected: bool,
    hit: bool,
}

fn one(canvas: &mut Canvas<'_>, app: &App, data: &Data, frame: &Frame, area: Rect, look: Look) {
    let selected = look.selected;
    let Some(row) = frame.row else { return };
    let what = What::Tree(row);
    let ascii = usize::from(canvas.ascii);
    let stale = matches!(app.program.status, Status::Stale { .. }) && !app.playback.stands_still();
    let meaning = match share(data.figures(what).total_ns, data.measured_ns) {
        _ if selected => Meaning::Selected,
        _ if stale => Meaning::Quiet,
        0.25.. => Meaning::Hottest,
        0.05.. => Meaning::Warm,
        _ => Meaning::Plain,
    };
    let quiet = if selected { meaning } else { Meaning::Rule };
    // Lines begin with different fills, so that a frame differs from the one above it as well.
    let fill = match selected {
        true => " ",
        false => FILLS[ascii][(frame.place + frame.line) as usize % 2],
    };
    let edge = match selected && app.screen.theme == ThemeKind::Mono {
        true => ">",
        false => EDGES[ascii],
    };
    let mut x = canvas.put(area.x, area.y, 1, edge, quiet);
    let room = usize::from(area.right().saturating_sub(x));
    let label = fitting(data.label(what), room, canvas.glyphs.cut);
    if width(&label) > width(canvas.glyphs.cut) {
        let meaning = if look.hit && !selected {
            Meaning::Match
        } else {
            meaning
        };
        x = canvas.put(x, area.y, room as u16, &label, meaning);
    }
    let rest = usize::from(area.right().saturating_sub(x));
    canvas.put(x, area.y, rest as u16, &fill.repeat(rest), quiet);
    if selected {
        return;
    }
    // The part off the CPU stands at the end. Where it has the fill it has one of its own, and where it has the name
    // its looks say it.
    let off = rows::off_cpu(app, data, what);
    let cells = ((off * f64::from(area.width)).round() as u16).min(area.width.saturating_sub(1));
    let start = area.right() - cells;
    let [_, own_fill] = canvas.glyphs.off_cpu;
    let filled = x.max(start);
    let own_fill = own_fill.repeat(usize::from(area.right().saturating_sub(filled)));
    canvas.put(
        filled,
        area.y,
        area.right().saturating_sub(filled),
        &own_fill,
        Meaning::Waiting,
    );
    if !stale && !look.hit {
        let named = Rect::new(start, area.y, filled.saturating_sub(start), 1);
        canvas.paint(named, Meaning::Waiting);
    }
}

/// A name in so many cells: with its module, without it, or cut: in the middle, or where that leaves too little, at the
/// end.
fn fitting(name: &str, cells: usize, cut: &str) -> String {
    let name = without_module(name, cells);
    if cells < ROOM_FOR_BOTH_ENDS {
        return cut_end(name, cells, cut).into_owned();
    }
    cut_middle(name, cells, cut).into_owned()
}

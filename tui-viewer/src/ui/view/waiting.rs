//! The screen that is shown until there is data: what the viewer is waiting for, and which programs it has found.

use ratatui::layout::Rect;
use tickscope_programs::status::{Pipe, Status};

use crate::app::layout::Layout;
use crate::app::state::App;
use crate::text::cells::wrapped;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::popup::lines;

/// Text that says when a program appears.
const APPEARS: &str = "It appears here as soon as it calls tickscope::start().";

/// Draws everything between the header and the footer.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, layout: &Layout) {
    let top = layout.header.bottom() + u16::from(app.screen.size.height >= 10);
    let bottom = layout.footer.map_or(layout.area.bottom(), |footer| footer.y);
    let width = app.screen.size.width.saturating_sub(4);
    let area = Rect::new(2, top, width, bottom.saturating_sub(top));
    let live = app.program.found.iter().filter(|ring| ring.live).count();
    let (why, next) = match &app.program.status {
        Status::Broken { why } => (why.as_str(), "Nothing can be shown of it."),
        Status::Waiting { .. } if live > 1 => ("Several programs are running here.", "Choose one."),
        Status::Waiting { why } if why.is_empty() => ("Looking for a program.", APPEARS),
        // A reason with several lines already says what to do next.
        Status::Waiting { why } if why.contains('\n') => (why.as_str(), ""),
        Status::Waiting { why } => (why.as_str(), APPEARS),
        Status::Piped(Pipe::Closed) => (
            "The stream ended before a record came.",
            "Did the command before the pipe fail? ssh HOST tickscope record -o - NAME | tickscope -",
        ),
        Status::Live
        | Status::Stale { .. }
        | Status::Exited { .. }
        | Status::Crashed { .. }
        | Status::Piped(Pipe::Flowing | Pipe::Silent { .. })
        | Status::Kept => (
            "Reading the first record.",
            "It is there when the program's `start` returns.",
        ),
    };
    let mut y = area.y;
    let (why, next) = match why.split_once('\n') {
        Some(both) if next.is_empty() => both,
        _ => (why, next),
    };
    for (text, meaning) in [(why, Meaning::Strong), (next, Meaning::Plain)] {
        let lines = text.split('\n').map(|line| canvas.safe(line));
        let lines = lines.flat_map(|line| wrapped(&line, usize::from(area.width)));
        for line in lines.collect::<Vec<_>>() {
            if y < area.bottom() {
                canvas.put(area.x, y, area.width, &line, meaning);
                y += 1;
            }
        }
    }
    y += u16::from(app.screen.size.height >= 10);
    let rest = area.bottom().saturating_sub(y);
    let list = Rect::new(0, y, app.screen.size.width, rest);
    picker(canvas, app, list);
}

/// Draws the list of found programs, unless it is empty.
pub(crate) fn picker(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    if app.program.found.is_empty() || area.height == 0 {
        return;
    }
    let mut pen = Pen::on(canvas, area, 0);
    pen.skip(2);
    pen.put("Seen here:", Meaning::Quiet);
    let (y, height) = (area.y + 1, area.height - 1);
    let list = Rect { y, height, ..area };
    let found = &app.program.found;
    lines(
        canvas,
        list,
        app.program.chosen,
        found.len(),
        |pen, line, look| {
            let (ring, x) = (&found[line], pen.x);
            let meaning = look(if ring.live { Meaning::Plain } else { Meaning::Quiet });
            let name_cells = (area.width / 3).clamp(8, 30);
            let name = pen.canvas.safe(&ring.name);
            let name = pen.canvas.cut_end(&name, name_cells.into());
            pen.put(&name, meaning);
            let library = match ring.library.as_str() {
                "" => String::new(),
                library => format!("  in {library}"),
            };
            let (pid, state, since) = (ring.pid, &ring.state, &ring.since);
            pen.x = x + name_cells + 2;
            pen.cut_off(1);
            pen.put_cut(&format!("pid {pid:<8} {state:<8} {since}{library}"), meaning);
        },
    );
}

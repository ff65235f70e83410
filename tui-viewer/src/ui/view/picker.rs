//! List of ring files to choose from.

use ratatui::layout::Rect;

use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::pen::Pen;
use crate::ui::view::popup::lines;

/// Draws the list, unless it is empty.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
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

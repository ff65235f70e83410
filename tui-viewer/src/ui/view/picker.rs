//! List of ring files to choose from.

use ratatui::layout::Rect;

use crate::app::state::App;
use crate::text::cells::{cut_end, safe};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Draws the list, unless it is empty.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    if app.program.found.is_empty() || area.height == 0 {
        return;
    }
    canvas.put(
        area.x + 2,
        area.y,
        area.width.saturating_sub(3),
        "Seen here:",
        Meaning::Quiet,
    );
    let height = usize::from(area.height - 1);
    let offset = (app.program.chosen + 1).saturating_sub(height.max(1));
    let lines = app.program.found.iter().enumerate().skip(offset).take(height);
    for ((index, ring), y) in lines.zip(area.y + 1..) {
        let selected = index == app.program.chosen;
        let meaning = match (selected, ring.live) {
            (true, _) => Meaning::Selected,
            (false, true) => Meaning::Plain,
            (false, false) => Meaning::Quiet,
        };
        if selected {
            canvas.paint(Rect { y, height: 1, ..area }, Meaning::Selected);
            if app.screen.theme.points() {
                canvas.put(area.x, y, 1, ">", Meaning::Selected);
            }
        }
        let name_cells = (area.width / 3).clamp(8, 30);
        let name = cut_end(
            &safe(&ring.name, canvas.ascii),
            usize::from(name_cells),
            canvas.glyphs.cut,
        )
        .into_owned();
        canvas.put(area.x + 2, y, name_cells, &name, meaning);
        let facts = format!(
            "pid {:<8} {:<8} {}{}",
            ring.pid,
            ring.state,
            safe(&ring.since, canvas.ascii),
            match ring.library.is_empty() {
                true => String::new(),
                false => format!("  in {}", safe(&ring.library, canvas.ascii)),
            }
        );
        let x = area.x + 2 + name_cells + 2;
        canvas.put_cut(x, y, area.right().saturating_sub(x + 1), &facts, meaning);
    }
}

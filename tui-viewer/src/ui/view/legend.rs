//! Meaning of colours, at the end of a line.

use ratatui::layout::Rect;

use crate::text::cells::width;
use crate::ui::theme::{Ground, Meaning};
use crate::ui::view::canvas::Canvas;

/// Draws the colours that fit from cell `from` on, with their words. `waits` adds the colour of waits, which is left
/// out last.
pub(crate) fn draw(canvas: &mut Canvas<'_>, all: Vec<(Ground, String)>, waits: bool, area: Rect, from: u16) {
    let mut room = area.right().saturating_sub(from + 1);
    let mut fit = Vec::new();
    let waits = waits.then(|| (Ground::Waiting, "off the CPU".to_string()));
    for (ground, name) in waits.into_iter().chain(all) {
        let name = canvas.safe(&name).into_owned();
        let cells = width(&name) as u16 + 5;
        if cells > room {
            break;
        }
        room -= cells;
        fit.push((ground, name));
    }
    let cells: u16 = fit.iter().map(|(_, name)| width(name) as u16 + 5).sum();
    let mut x = area.right().saturating_sub(cells) + 1;
    // Time off the CPU comes last.
    if fit.first().is_some_and(|(ground, _)| *ground == Ground::Waiting) {
        fit.rotate_left(1);
    }
    for (ground, name) in fit {
        canvas.fill(Rect::new(x, area.y, 2, 1), ground, false);
        x = canvas.put(x + 3, area.y, u16::MAX, &name, Meaning::Quiet) + 2;
    }
}

//! The line that explains a state.

use ratatui::layout::Rect;

use crate::cells::safe;
use crate::model::Model;
use crate::status::Mark;
use crate::theme::Meaning;
use crate::view::pen::Pen;

/// Draws the line.
pub(super) fn draw(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let Some(text) = model.banner() else { return };
    let (_, mark) = model.face();
    // What a program that is well warns of is not about its state.
    let mark = if mark == Mark::Live { Mark::Stale } else { mark };
    let x = pen.put(area.x + 1, area.y, 2, pen.glyphs.mark(mark), Meaning::of(mark)) + 1;
    let text = safe(&text, pen.ascii).into_owned();
    pen.put_cut(
        x,
        area.y,
        area.right().saturating_sub(x + 1),
        &text,
        Meaning::Strong,
    );
}

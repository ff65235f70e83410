//! The line that explains a state.

use ratatui::layout::Rect;

use crate::cells::safe;
use crate::model::Model;
use crate::status::Mark;
use crate::theme::Meaning;
use crate::view::pen::Pen;

/// From this width on the first look gets whole sentences.
const WORDY: u16 = 110;

/// Draws the line.
pub(super) fn draw(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let Some(text) = model.banner() else {
        return first_look(pen, area);
    };
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

/// How to read the screen, in one line.
fn first_look(pen: &mut Pen<'_>, area: Rect) {
    let text = if area.width >= WORDY {
        "%TOT is a share of all measured time; TOTAL with callees, SELF without. Enter shows callers, ? all keys."
    } else {
        "%TOT: of all time  TOTAL: with callees  SELF: without  Enter: callers  ?: keys"
    };
    pen.put_cut(
        area.x + 1,
        area.y,
        area.width.saturating_sub(1),
        text,
        Meaning::Strong,
    );
}

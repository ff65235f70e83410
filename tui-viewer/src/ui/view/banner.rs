//! Line that explains a state.

use ratatui::layout::{Margin, Rect};
use tickscope_programs::status::Mark;

use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};

/// Width from which on the first look explains more than how to read the columns.
const WORDY: u16 = 110;

/// Number of lines from which the pane below the list itself explains how to read the columns.
const EXPLAINS: u16 = 7;

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let Some(text) = app.banner() else {
        return first_look(canvas, app, area);
    };
    let (_, mark) = app.face();
    // If the program is well, the text is a warning, which is not about its state.
    let mark = if mark == Mark::Live { Mark::Stale } else { mark };
    let mut pen = Pen::on(canvas, area.inner(Margin::new(1, 0)), 0);
    pen.put(pen.canvas.glyphs.mark(mark), Meaning::of(mark));
    pen.skip(1);
    pen.put_cut(&text, Meaning::Strong);
}

/// Draws one line on how to read the screen.
fn first_look(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let told = app
        .layout()
        .detail
        .is_some_and(|detail| detail.height >= EXPLAINS);
    let text = if area.width >= WORDY && told {
        "Enter: who calls it, what it calls   2: which function costs most itself   /: find one   ?: all keys"
    } else {
        "%TOT: of all time  TOTAL: with callees  SELF: without  Enter: callers  ?: keys"
    };
    let mut pen = Pen::on(canvas, area, 0);
    pen.skip(1);
    pen.put_cut(text, Meaning::Strong);
}

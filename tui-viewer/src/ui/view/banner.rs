//! Line that explains a state.

use ratatui::layout::Rect;
use tickscope_programs::status::Mark;

use crate::app::state::App;
use crate::text::cells::safe;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Width from which on the first look explains more than how to read the columns.
const WORDY: u16 = 110;

/// Lines from which on a pane below the list itself says how to read the columns.
const EXPLAINS: u16 = 7;

/// Draws the line.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let Some(text) = app.banner() else {
        return first_look(canvas, app, area);
    };
    let (_, mark) = app.face();
    // A warning from a program that is well is not about its state.
    let mark = if mark == Mark::Live { Mark::Stale } else { mark };
    let x = canvas.put(area.x + 1, area.y, 2, canvas.glyphs.mark(mark), Meaning::of(mark)) + 1;
    let text = safe(&text, canvas.ascii).into_owned();
    canvas.put_cut(
        x,
        area.y,
        area.right().saturating_sub(x + 1),
        &text,
        Meaning::Strong,
    );
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
    canvas.put_cut(
        area.x + 1,
        area.y,
        area.width.saturating_sub(1),
        text,
        Meaning::Strong,
    );
}

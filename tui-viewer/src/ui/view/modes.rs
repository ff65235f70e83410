//! List of measuring modes, with their results and costs, and the effect of a choice on the counts.

use tickscope_format::snapshot::Mode;

use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::popup::{lines, middle};

/// Cells of a mode's name and the gap after it.
const NAME: u16 = 9;

/// Cells of the word for the mode in force and the gap after it.
const NOW: u16 = 4;

/// Text below the list: the cost of a choice.
const LOSS: [&str; 2] = [
    "Another mode counts from zero; u cannot undo that:",
    "s keeps a snapshot first.",
];

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, index: usize) {
    let rows = Mode::ALL.len();
    let area = middle(app, 60, (rows + LOSS.len() + 3) as u16);
    let inner = canvas.frame(area, "Measure");
    lines(canvas, inner, index, rows, |pen, line, look| {
        let (mode, x) = (Mode::ALL[line], pen.x);
        pen.put(mode.as_str(), look(Meaning::Plain));
        pen.x = x + NAME;
        if app.program.mode() == Some(mode) {
            pen.put("now", look(Meaning::Strong));
        }
        pen.x = x + NAME + NOW;
        pen.put_cut(mode.traits().summary, look(Meaning::Quiet));
    });
    let offset = (index + 1).saturating_sub(usize::from(inner.height).max(1));
    let first = (rows - offset) as u16 + 1;
    for (text, line) in LOSS.iter().zip(first..inner.height) {
        canvas.line(inner, line, text, Meaning::Notable);
    }
}

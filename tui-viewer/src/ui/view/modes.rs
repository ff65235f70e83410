//! List of measuring modes, with their results and costs, and the effect of a choice on the counts.

use ratatui::layout::Rect;
use tickscope_format::snapshot::Mode;

use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::popup::middle;

/// Cells of a mode's name and the gap after it.
const NAME: u16 = 9;

/// Cells of the word for the mode in force and the gap after it.
const NOW: u16 = 4;

/// Text below the list: the cost of a choice.
const LOSS: [&str; 2] = [
    "Another mode counts from zero; u cannot undo that:",
    "s keeps a snapshot first.",
];

/// Draws the list.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, index: usize) {
    let rows = Mode::ALL.len();
    let area = middle(app, 60, (rows + LOSS.len() + 3) as u16);
    let inner = canvas.frame(area, "Measure");
    let height = usize::from(inner.height).max(1);
    let offset = (index + 1).saturating_sub(height);
    for (line, y) in (offset..rows).zip(inner.top()..inner.bottom()) {
        let mode = Mode::ALL[line];
        let selected = line == index;
        let look = |meaning| if selected { Meaning::Selected } else { meaning };
        if selected {
            let row = Rect {
                y,
                height: 1,
                ..inner
            };
            canvas.paint(row, Meaning::Selected);
        }
        if selected && app.screen.theme.points() {
            canvas.put(inner.x, y, 1, ">", look(Meaning::Plain));
        }
        let x = inner.x + 2;
        let room = |x: u16| inner.right().saturating_sub(x);
        canvas.put(x, y, room(x), mode.as_str(), look(Meaning::Plain));
        let x = x + NAME;
        if app.program.mode() == Some(mode) {
            canvas.put(x, y, room(x), "now", look(Meaning::Strong));
        }
        let x = x + NOW;
        canvas.put_cut(x, y, room(x), mode.traits().summary, look(Meaning::Quiet));
    }
    let first = inner.top() + (rows - offset) as u16 + 1;
    for (text, y) in LOSS.iter().zip(first..inner.bottom()) {
        canvas.put_cut(inner.x, y, inner.width, text, Meaning::Notable);
    }
}

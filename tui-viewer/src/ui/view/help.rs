//! List of keys on top of everything but the header.

use ratatui::layout::Rect;

use crate::app::help;
use crate::app::help::{HelpLine, WORD_CELLS};
use crate::app::help_screen::HelpScreen;
use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Cells between the columns.
const GUTTER: u16 = 3;

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, HelpScreen { scroll, search }: &HelpScreen) {
    let size = app.screen.size;
    let area = Rect::new(0, 1, size.width, size.height.saturating_sub(2));
    let end = help::end(size);
    let scroll = (*scroll).min(end);
    let lines = end + help::page(size);
    let title = match end {
        0 => "Keys, then words".to_string(),
        _ => format!("Keys, then words, line {} of {lines}", scroll + 1),
    };
    let inner = canvas.frame(area, &title);
    let columns = help::columns(size.width, canvas.ascii);
    let each = inner.width.saturating_sub(GUTTER * (columns.len() as u16 - 1)) / columns.len() as u16;
    for (index, lines) in columns.iter().enumerate() {
        let x = inner.x + index as u16 * (each + GUTTER);
        let keys_cells = lines.iter().map(help::cells_of_keys).max().unwrap_or(0);
        let keys_cells = keys_cells.min(usize::from(each) / 2) as u16;
        for (line, y) in lines.iter().skip(scroll).zip(inner.top()..inner.bottom()) {
            let found = search.as_ref().is_some_and(|search| search.finds(line));
            let of = |meaning| if found { Meaning::Match } else { meaning };
            match line {
                HelpLine::Title(title) => {
                    canvas.put(x, y, each, title, of(Meaning::Strong));
                }
                HelpLine::Keys(keys, text) => {
                    let after = canvas.put(x + 2, y, each.saturating_sub(2), keys, Meaning::Plain);
                    let start = after.max(x + 2 + keys_cells) + 2;
                    let room = (x + each).saturating_sub(start);
                    canvas.put_cut(start, y, room, text, of(Meaning::Plain));
                }
                HelpLine::Word(word, text) => {
                    canvas.put(x + 2, y, WORD_CELLS as u16, word, of(Meaning::Plain));
                    let start = x + 2 + WORD_CELLS as u16 + 2;
                    let room = (x + each).saturating_sub(start);
                    canvas.put_cut(start, y, room, text, of(Meaning::Plain));
                }
                HelpLine::Gap => {}
            }
        }
    }
}

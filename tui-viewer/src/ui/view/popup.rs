//! Lists and questions in the middle of the screen.

use ratatui::layout::Rect;
use tickscope_format::ids::ThreadId;
use tickscope_format::layout::slot;
use tickscope_format::snapshot::{Mode, Thread};
use tickscope_programs::events::Request;
use tickscope_report::number;

use crate::app::help::{HelpLine, HelpScreen, WORD_CELLS};
use crate::app::row::share;
use crate::app::state::App;
use crate::app::{help, threads};
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};

/// Width in cells of a thread's share and the gap before it. Even the narrowest list shows the share.
const SHARE_CELLS: usize = 7;

/// Width in cells of a thread's state, and likewise of its id or count, including the gap before the text.
const FACT_CELLS: usize = 9;

/// Minimum number of cells for a name. Facts are left out if they would leave fewer.
const LEAST_NAME: usize = 12;

/// Draws the list in which users choose the thread whose time is shown.
pub(crate) fn thread_list(canvas: &mut Canvas<'_>, app: &App, index: usize, order: &[ThreadId]) {
    let Some(snapshot) = app.shown() else { return };
    let area = middle(app, 58, order.len() as u16 + 3);
    let inner = canvas.frame(area, "Show the time of");
    let measured = snapshot.measured_ticks();
    lines(canvas, inner, index, order.len() + 1, |pen, line, look| {
        let thread = line.checked_sub(1).and_then(|line| order.get(line));
        let Some((&id, thread)) = thread.and_then(|id| Some((id, snapshot.threads.get(id.0 as usize)?)))
        else {
            return pen.put("all threads", look(Meaning::Plain));
        };
        let own = threads::measured_ticks(snapshot, id);
        let mut facts = format!("{:>SHARE_CELLS$}", number::percent(share(own, measured)));
        if pen.room() >= LEAST_NAME + FACT_CELLS + facts.len() {
            facts = format!("{:>FACT_CELLS$}{facts}", who(thread, pen.canvas.ascii));
            if pen.room() >= LEAST_NAME + 2 * FACT_CELLS + SHARE_CELLS {
                facts = format!("{:>FACT_CELLS$}{facts}", thread.state.as_str());
            }
        }
        pen.cut_off(width(&facts) as u16)
            .put(&facts, look(Meaning::Quiet));
        pen.cut_off(1);
        pen.put_cut(&thread.name, look(Meaning::Plain));
    });
}

/// Draws the lines of a list to choose from, and highlights the selected line. If not all lines fit, scrolls just far
/// enough to show that line.
pub(crate) fn lines(
    canvas: &mut Canvas<'_>,
    area: Rect,
    selected: usize,
    count: usize,
    mut draw: impl FnMut(&mut Pen<'_, '_>, usize, fn(Meaning) -> Meaning),
) {
    let offset = (selected + 1).saturating_sub(usize::from(area.height).max(1));
    for (index, line) in (offset..count).zip(0..area.height) {
        let y = area.y + line;
        let look: fn(Meaning) -> Meaning = match index == selected {
            true => |_| Meaning::Selected,
            false => |meaning| meaning,
        };
        if index == selected {
            canvas.select(Rect { y, height: 1, ..area });
        }
        let mut pen = Pen::on(canvas, area, line);
        pen.skip(2);
        draw(&mut pen, index, look);
    }
}

/// Formats the id of a single thread, such as `41877`, or the number of several threads, such as `×111`.
pub(crate) fn who(thread: &Thread, ascii: bool) -> String {
    if thread.count > 1 {
        let times = if ascii { 'x' } else { '×' };
        format!("{times}{}", number::count(thread.count))
    } else if thread.tid == 0 {
        String::new()
    } else {
        thread.tid.to_string()
    }
}

/// Asks whether to reset the counts or switch the mode even though other viewers are watching.
pub(crate) fn confirm(canvas: &mut Canvas<'_>, app: &App, request: Request) {
    let newest = app.program.newest.as_ref();
    let viewers = newest.map_or(0, |newest| newest.capture.viewers);
    let others = viewers.saturating_sub(1);
    let who = match others {
        // Viewers that have no slot are not counted, so there may be more of them.
        _ if viewers as usize >= slot::COUNT => format!("{others} or more other viewers are"),
        1 => "1 other viewer is".to_string(),
        _ => format!("{others} other viewers are"),
    };
    // Only a reset and a change of mode need confirmation.
    let (title, seen, yes) = if let Request::Mode(mode) = request {
        (
            format!("Switch measuring to {}?", mode.as_str()),
            "They see it too. Counts begin at zero.",
            "y switch    Esc keep the mode",
        )
    } else {
        (
            "Count from zero?".to_string(),
            "They see the reset too. u takes it back.",
            "y reset    Esc keep counting",
        )
    };
    let inner = canvas.frame(middle(app, 52, 6), &title);
    let who = format!("{who} watching.");
    for (text, line) in [who.as_str(), seen, "", yes].into_iter().zip(0..inner.height) {
        let meaning = if text == yes {
            Meaning::Strong
        } else {
            Meaning::Plain
        };
        canvas.line(inner, line, text, meaning);
    }
}

/// Returns an area of this size in the middle of the screen, below the header. The area is smaller if it would not fit.
pub(crate) fn middle(app: &App, width: u16, height: u16) -> Rect {
    let size = app.screen.size;
    let width = width.min(size.width.saturating_sub(2));
    let height = height.min(size.height.saturating_sub(2));
    Rect::new(
        (size.width - width) / 2,
        1 + (size.height.saturating_sub(2) - height) / 2,
        width,
        height,
    )
}

/// Width in cells of a mode's name and the gap after it.
const NAME: u16 = 9;

/// Width in cells of the word `now` and the gap after it.
const NOW: u16 = 4;

/// Text below the list: what is lost when the mode is switched.
const LOSS: [&str; 2] = [
    "Another mode counts from zero; u cannot undo that:",
    "s keeps a snapshot first.",
];

pub(crate) fn mode_list(canvas: &mut Canvas<'_>, app: &App, index: usize) {
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

/// Cells between columns of the help.
const GUTTER: u16 = 3;

/// Draws the help, which lists the keys and explains words, over everything between the header and the footer.
pub(crate) fn help_list(canvas: &mut Canvas<'_>, app: &App, HelpScreen { scroll, search }: &HelpScreen) {
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

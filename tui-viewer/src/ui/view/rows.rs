//! Parts of rows that several tables share: tree lines, search matches, source locations, and time off the CPU.

use ratatui::layout::Rect;
use tickscope_analysis::measure::Measure;
use tickscope_report::label;

use crate::app::data::Data;
use crate::app::names::is_exact;
use crate::app::row::{Fold, Portion, Row, What, share};
use crate::app::state::App;
use crate::app::threads::ThreadChoice;
use crate::text::cells::width;
use crate::text::glyphs::Glyphs;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Cell;

/// Draws a sentence in place of rows.
pub(crate) fn tell(canvas: &mut Canvas<'_>, area: Rect, text: &str) {
    let (x, width) = (area.x + 2, area.width.saturating_sub(3));
    canvas.put_cut(x, area.y, width, text, Meaning::Plain);
}

/// Returns why the list is empty.
pub(crate) fn nothing(app: &App, data: &Data) -> &'static str {
    match (&app.query.threads, data.thread) {
        (ThreadChoice::All, _) if !data.snapshot.capture.mode.traits().is_counting => {
            "Measuring is off: no scope is counted."
        }
        (ThreadChoice::All, _) if app.compared().is_some() => "Nothing was counted, now or then.",
        (ThreadChoice::All, _) => "No scope has been entered since the reset.",
        (ThreadChoice::One { .. }, Some(_)) => "This thread has entered no scope since the reset.",
        (ThreadChoice::One { .. }, None) => "The chosen thread is not there any more.",
    }
}

/// Returns why no calls are known; `None` if there are calls.
pub(crate) fn why_no_calls(app: &App, data: &Data) -> Option<String> {
    let is_empty = data.tree.rows.is_empty();
    is_empty.then(|| nothing(app, data).to_string())
}

/// Returns whether bars and frames show time off the CPU.
pub(crate) fn tells_waits(app: &App, data: &Data) -> bool {
    app.measure() == Measure::Time && data.snapshot.waits
}

/// Returns the fraction of the shown time that was spent off the CPU, 0 to 1; 0 if that is not known or the measure is
/// not time.
pub(crate) fn off_cpu(app: &App, data: &Data, what: What) -> f64 {
    if !tells_waits(app, data) {
        return 0.0;
    }
    let figures = data.figures(what);
    let (off, of_ns) = match app.views.current.about().main {
        Portion::Total => (figures.total_off, figures.total_ns),
        Portion::Own => (figures.self_off, figures.self_ns),
    };
    share(off.ns(), of_ns)
}

/// Formats a source location in at most this number of cells.
pub(crate) fn file_and_line(canvas: &Canvas<'_>, file: &str, line: u32, cells: u16) -> String {
    let text = label::place(file, line, canvas.ascii);
    canvas.cut_path(&canvas.safe(&text), cells.into()).into_owned()
}

/// Draws the tree lines of a row and its fold mark. Returns the cell at which the name begins.
pub(crate) fn lead(canvas: &mut Canvas<'_>, cell: &Cell<'_>) -> u16 {
    let Cell {
        app, row, place, y, ..
    } = *cell;
    let (glyphs, end, look) = (canvas.glyphs, cell.area().right(), cell.look);
    let lines = tree_lines(&app.list().rows, row, glyphs);
    let lines = canvas.cut_start(&lines, place.tree_cells().into());
    let x = canvas.put(place.x, y, place.width, &lines, look.of(Meaning::Rule));
    let (mark, meaning) = match row.fold {
        Fold::Open => (glyphs.open, Meaning::Plain),
        Fold::Closed(_) => (glyphs.closed, Meaning::Strong),
        Fold::Leaf if row.depth == 0 => (" ", Meaning::Rule),
        Fold::Leaf => (glyphs.leaf, Meaning::Rule),
    };
    canvas.put(x, y, end - x, mark, look.of(meaning)) + 1
}

/// Highlights the part of a name that matches the search. If that part cannot be located, highlights the whole name.
pub(crate) fn highlight(canvas: &mut Canvas<'_>, cell: &Cell<'_>, text: &str, x: u16) {
    let (y, look) = (cell.y, cell.look);
    let search = cell.app.views.search.as_ref();
    let Some(search) = search.filter(|search| cell.row.hit && search.is_set()) else {
        return;
    };
    let found = match_in(text, search.text());
    let (at, part) = found.unwrap_or((0, text));
    if found.is_none() && text.contains("::") && !look.selected {
        // The match is in the part of the path that the short name omits.
        let cells = width(text) as u16;
        canvas.paint(Rect::new(x, y, cells, 1), Meaning::Strong);
        return;
    }
    let start = x + width(&text[..at]) as u16;
    let area = Rect::new(start, y, width(part) as u16, 1);
    let meaning = if look.selected {
        Meaning::Strong
    } else {
        Meaning::Match
    };
    canvas.paint(area, meaning);
}

/// Returns the part of a name that matches a search, and its byte offset. Returns `None` if there is no match, or if its place
/// is unknown, because letters before it have another length in lower case.
fn match_in<'a>(name: &'a str, wanted: &str) -> Option<(usize, &'a str)> {
    if is_exact(wanted) {
        return name.match_indices(wanted).next();
    }
    let at = name.to_lowercase().find(wanted)?;
    let part = name.get(at..at + wanted.len())?;
    (part.to_lowercase() == wanted).then_some((at, part))
}

/// Returns the lines before a row's name, such as `│ ├─`.
fn tree_lines(rows: &[Row], row: &Row, glyphs: &Glyphs) -> String {
    if row.depth == 0 {
        return String::new();
    }
    let mut pieces = vec![if row.last { glyphs.last } else { glyphs.branch }];
    let mut at = row.parent.and_then(|parent| rows.get(parent as usize));
    while let Some(above) = at.filter(|above| above.depth > 0) {
        pieces.push(if above.last { "  " } else { glyphs.line });
        at = above.parent.and_then(|parent| rows.get(parent as usize));
    }
    pieces.reverse();
    pieces.concat()
}

#[cfg(test)]
mod tests {
    use super::match_in;

    #[test]
    fn a_match_is_found_where_it_is_or_nowhere() {
        assert_eq!(match_in("Parser::parse", "parse"), Some((0, "Parse")));
        assert_eq!(match_in("Parser::parse", "::P"), None);
        assert_eq!(match_in("Ma\u{df}::\u{c4}ndern", "\u{e4}n"), Some((6, "\u{c4}n")));
        // In lower case, `İ` is one byte longer and `ẞ` one byte shorter.
        assert_eq!(match_in("\u{130}a\u{1e9e}", "a"), None);
    }
}

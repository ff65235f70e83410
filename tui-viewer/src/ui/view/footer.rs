//! The last line: the keys that currently work, the search while it is typed, or the latest notice.

use ratatui::layout::{Margin, Rect};
use tickscope_programs::status::Mark;
use tickscope_report::number;
use tui_input::Input;

use crate::app::help::HelpScreen;
use crate::app::layout::Layout;
use crate::app::row::share;
use crate::app::search::Search;
use crate::app::state::App;
use crate::keys::action::{Action, Context, Hint};
use crate::keys::keymap::lines;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::tabs;

/// Minimum number of cells for the text of a search beside its results.
const LEAST_TEXT: usize = 15;

/// Maximum number of keys that are shown, not counting those for help and for quitting.
const HINTS: usize = 6;

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, layout: &Layout) {
    let context = app.context();
    let line = layout.bottom_line();
    if let (Context::Typing, Some(search)) = (context, app.help().and_then(HelpScreen::typed)) {
        canvas.clear(line);
        let found = match app.help().map_or(0, |help| help.found(&app.screen).len()) {
            0 if search.input.value().is_empty() => String::new(),
            0 => "no match  ".into(),
            all => format!("match {}/{all}  ", search.at + 1),
        };
        let right = format!("{found}Enter keep  Esc clear");
        typed(canvas, &search.input, &right, line);
    } else if let (Context::Typing, Some(search)) = (context, &app.views.search) {
        canvas.clear(line);
        searched(canvas, app, search, line);
    } else if layout.footer.is_some() && !app.notice_hides(layout.footer) {
        let views = app.derived.data.is_some() && layout.tabs.is_none();
        let x = match views && !app.has_popup() {
            true => place(canvas, app, line),
            false => line.x,
        };
        let width = line.right().saturating_sub(x);
        keys(canvas, app, context, Rect { x, width, ..line });
    }
    if let (Some(notice), Some(area)) = (&app.notices.current, app.notice_line()) {
        canvas.clear(area);
        let meaning = match notice.error {
            true => Meaning::Alarm,
            false => Meaning::Strong,
        };
        for (text, line) in app.notice_lines().iter().zip(0..area.height) {
            canvas.line(area.inner(Margin::new(1, 0)), line, text, meaning);
        }
    }
}

/// Draws the tabs and the position in the list, for screens on which no line above shows them. Returns the cell after
/// them.
fn place(canvas: &mut Canvas<'_>, app: &App, line: Rect) -> u16 {
    let x = tabs::views(canvas, app, line.x + 1, line.y);
    let rows = usize::from(app.layout().rows.height);
    let (offset, all) = app.views.current.kind().scrolled(app);
    let first = (offset + 1).min(all);
    let last = (offset + rows).min(all);
    let text = format!("{first}-{last}/{all}");
    canvas.put(x + 1, line.y, 16, &text, Meaning::Quiet) + 1
}

/// Draws the search line while the user types, with the matches found so far.
fn searched(canvas: &mut Canvas<'_>, app: &App, search: &Search, line: Rect) {
    let keys = "Enter keep  Esc clear";
    let room = usize::from(line.width).saturating_sub(3);
    let text_cells = width(search.text()).max(LEAST_TEXT);
    let found = found(app, search, room.saturating_sub(text_cells + 3));
    let right = match room > width(&found) + keys.len() + LEAST_TEXT + 5 {
        true => format!("{found}  {keys}"),
        false => found,
    };
    typed(canvas, &search.input, &right, line);
}

/// Draws the text that is being typed, after a slash, and `right` at the end of the line.
fn typed(canvas: &mut Canvas<'_>, input: &Input, right: &str, line: Rect) {
    let room = usize::from(line.width).saturating_sub(3);
    let text_room = room.saturating_sub(width(right) + 3).max(4);
    // The text before the cursor is cut at its beginning, so that the cursor stays visible.
    let (text, cursor) = (input.value(), input.cursor());
    let before: String = text.chars().take(cursor).collect();
    let at: String = text.chars().skip(cursor).take(1).collect();
    let after: String = text.chars().skip(cursor + 1).collect();
    let before = canvas.safe(&before);
    let before = canvas.cut_start(&before, text_room);
    let x = canvas.put(line.x + 1, line.y, 1, "/", Meaning::Strong);
    let x = canvas.put(x, line.y, text_room as u16, &before, Meaning::Plain);
    let under = match at.as_str() {
        "" => " ".into(),
        at => canvas.safe(at),
    };
    let x = canvas.put(x, line.y, 2, &under, Meaning::Selected);
    let rest = (usize::from(line.x) + 2 + text_room).saturating_sub(usize::from(x)) as u16;
    let after = canvas.safe(&after);
    canvas.put(x, line.y, rest, &after, Meaning::Plain);
    if width(right) + 8 <= room {
        let mut pen = Pen::on(canvas, line, 0);
        pen.cut_off(1);
        pen.put_right(right, Meaning::Quiet);
    }
}

/// Describes the matches, as in `3 of 15 rows  match 1/3  45.4% of time`: how many rows match, which match is selected,
/// and the share of time of all matches together. If there is less room, words are left out.
fn found(app: &App, search: &Search, cells: usize) -> String {
    let Some(data) = app.data().filter(|_| search.is_set()) else {
        return String::new();
    };
    if search.hits.is_empty() {
        return "no match".to_string();
    }
    let view = app.views.current;
    let (all, rows) = view.kind().searched(app, data);
    let hits = search.hits.len();
    let place = (search.before + 1).min(hits);
    if !view.about().is_of_time {
        // The rows of these views are not parts of the measured time, so they have no share of it.
        let long = format!("{hits} of {all} {rows}  match {place}/{hits}");
        return match long.len() <= cells {
            true => long,
            false => format!("{place}/{hits}"),
        };
    }
    let time = number::percent(share(search.time_ns, data.measured_ns));
    [
        format!("{hits} of {all} {rows}  match {place}/{hits}  {time} of time"),
        format!("match {place}/{hits}  {time} of time"),
        format!("match {place}/{hits}  {time}"),
    ]
    .into_iter()
    .find(|text| text.len() <= cells)
    .unwrap_or_else(|| format!("{place}/{hits}  {time}"))
}

fn keys(canvas: &mut Canvas<'_>, app: &App, context: Context, line: Rect) {
    let kept = app.searched();
    let searched = kept.is_some() && context != Context::Help;
    let mut hints: Vec<(String, Hint)> = lines(context)
        .filter(|line| line.keys().iter().any(|&(_, action)| app.offers(action)))
        // While a search is active, it is shown in place of the key that starts one.
        .filter(|line| !(searched && line.keys().iter().any(|&(_, action)| action == Action::Search)))
        .filter_map(|line| Some((line.hint_keys(canvas.ascii), line.hint_in(context)?)))
        .collect();
    let esc = match context {
        Context::Help | Context::Choosing | Context::Measuring | Context::Asking => Some("close"),
        _ if app.views.search.is_some() => Some("clear"),
        _ if app.query.per_call.is_some() => Some("totals"),
        Context::In(view) => view.kind().way_back(app),
        Context::Typing | Context::Start => None,
    };
    let hint = |text, rank, right| Hint { text, rank, right };
    hints.extend(esc.map(|text| ("Esc".to_string(), hint(text, 1, true))));
    if let Some(search) = kept {
        let text = canvas.safe(search.text());
        let text = canvas.cut_start(&text, 20);
        let found = found(app, search, usize::from(line.width) / 6);
        hints.insert(0, (format!("/{text}  {found}"), hint("", 2, false)));
    }
    // The keys for help, quitting and going back are at the right end, where they are easy to find.
    hints.sort_by_key(|(_, hint)| hint.right && hint.rank <= 1);
    let cells = |(keys, hint): &(String, Hint)| width(keys) + hint.text.len() + 3;
    let room = usize::from(line.width).saturating_sub(2);
    // Users do not read long lists of keys, so only a few are shown; `?` lists all of them. Hints with the highest rank
    // are left out first.
    while hints.iter().filter(|(_, hint)| hint.rank > 0).count() > HINTS
        || hints.iter().map(cells).sum::<usize>() > room + 2
    {
        let highest = hints.iter().map(|(_, hint)| hint.rank).max();
        let Some(index) = hints.iter().rposition(|(_, hint)| Some(hint.rank) == highest) else {
            break;
        };
        hints.remove(index);
    }
    let right: usize = hints.iter().filter(|(_, hint)| hint.right).map(cells).sum();
    let mut left_x = line.x + 1;
    let mut right_x = line.right().saturating_sub(right as u16).max(line.x) + 1;
    for (keys, hint) in &hints {
        let x = if hint.right { &mut right_x } else { &mut left_x };
        *x = canvas.put(*x, line.y, line.width, keys, Meaning::Strong);
        *x = canvas.put(*x + 1, line.y, line.width, hint.text, Meaning::Quiet) + 2;
    }
}

/// Minimum width at which the first hint suggests keys instead of explaining the columns, if the pane explains them.
const WORDY: u16 = 110;

/// Minimum height in lines at which the pane below the list explains the columns.
const EXPLAINS: u16 = 7;

/// Draws the line that explains the program's state or a warning. If there is neither, draws the first hint.
pub(crate) fn banner(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let Some(text) = app.banner() else {
        return first_look(canvas, app, area);
    };
    let (_, mark) = app.face();
    // If the program is live, the text is a warning that has nothing to do with the program's state.
    let mark = if mark == Mark::Live { Mark::Stale } else { mark };
    let mut pen = Pen::on(canvas, area.inner(Margin::new(1, 0)), 0);
    pen.put(pen.canvas.glyphs.mark(mark), Meaning::of(mark));
    pen.skip(1);
    pen.put_cut(&text, Meaning::Strong);
}

/// Draws the first hint: a line on how to read the screen.
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

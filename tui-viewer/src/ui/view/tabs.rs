//! The second line on tall screens: the tabs of the views, and the settings of the current view.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::app::data::Data;
use crate::app::row::Portion;
use crate::app::state::App;
use crate::app::view::{TabForm, View};
use crate::text::cells::width;
use crate::ui::theme::{Ground, Heat, Meaning};
use crate::ui::view::canvas::Canvas;
use crate::ui::view::table;

/// Minimum width at which this line shows the unit of the numbers. On narrower screens, the header shows it in fewer
/// words.
pub(crate) const WORDY: u16 = 100;

/// Minimum width at which this line names the chosen thread. On narrower screens, the header names it.
pub(crate) const NAMES_THREAD: u16 = 90;

/// Maximum number of cells for the text about the unit, such as `per call of match::step`.
const LONGEST_UNIT: usize = 40;

/// Maximum number of cells for a thread's name.
const LONGEST_THREAD: usize = 24;

/// Text after the name of the chosen thread: the key that shows all threads.
const TO_ALL: &str = " (a: all)";

/// Mark after the tab of the Slow view while a function is watched, in Unicode and in ASCII.
const WATCHES: [&str; 2] = ["•", "*"];

/// A setting of the current view, as text.
struct Setting {
    text: String,
    /// The setting in fewer words.
    short: Option<String>,
}

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let end = views(canvas, app, area.x + 1, area.y);
    let settings = settings(canvas, app);
    let mut room = usize::from(area.right().saturating_sub(end + 2));
    let only = only(canvas, app, room.saturating_sub(TO_ALL.len()));
    let mut x = area.right().saturating_sub(1);
    let mut put = |text: &str, meaning: Meaning, room: &mut usize| {
        let cells = width(text);
        x = x.saturating_sub(cells as u16);
        canvas.put(x, area.y, cells as u16, text, meaning);
        x = x.saturating_sub(3);
        *room = room.saturating_sub(cells + 3);
    };
    if let Some(only) = only.filter(|_| area.width >= NAMES_THREAD) {
        put(&format!("{only}{TO_ALL}"), Meaning::Notable, &mut room);
    }
    for Setting { text, short } in settings.iter().rev() {
        let fits = |text: &&String| width(text) <= room;
        let Some(text) = Some(text).filter(fits).or(short.as_ref().filter(fits)) else {
            break;
        };
        put(text, Meaning::Quiet, &mut room);
    }
}

/// Formats the chosen thread as `only render-0`; `None` if all threads are shown.
pub(crate) fn only(canvas: &Canvas<'_>, app: &App, cells: usize) -> Option<String> {
    // These views count the calls of all threads, even if one is chosen.
    let is_of_all = app.views.current.about().is_of_all;
    let name = canvas.safe(app.query.threads.only().filter(|_| !is_of_all)?);
    let room = cells.saturating_sub("only ".len()).min(LONGEST_THREAD);
    Some(format!("only {}", canvas.cut_middle(&name, room)))
}

/// Draws the tabs, as `[1 Tree]  2 Hot` or in short form as `[1 Tree] 2`. Returns the cell after them.
pub(crate) fn views(canvas: &mut Canvas<'_>, app: &App, mut x: u16, y: u16) -> u16 {
    let form = TabForm::of(&app.layout());
    let mut current = None;
    let mut marked = Vec::new();
    for view in View::ALL {
        let meaning = match view == app.views.current {
            true => Meaning::Strong,
            false => Meaning::Quiet,
        };
        let tab = view.tab(app.views.current, form);
        let start = x;
        x = canvas.put(x, y, 20, &tab, meaning) + form.gap();
        if view.about().is_of_watches && form.has_room_for_mark(view, app.views.current) {
            marked.push(x);
        }
        if view == app.views.current {
            current = Some((start, tab));
        }
    }
    if let Some((start, mut tab)) = current.filter(|_| app.screen.theme.fills()) {
        // In a narrow form, the closing bracket belongs to the next tab, so it has to be added here.
        if !tab.ends_with(']') {
            tab.push(']');
        }
        let cells = width(&tab) as u16;
        canvas.fill(Rect::new(start, y, cells, 1), Ground::Own(Heat::Warm), false);
        canvas.put_over(start, y, cells, &tab, Modifier::BOLD);
    }
    let watches = |data: &Data| !data.snapshot.watches.is_empty();
    let is_watching = app.data().is_some_and(watches);
    for end in marked.into_iter().filter(|_| is_watching) {
        // The mark takes the place of the blank after the tab.
        let behind = end - u16::from(form == TabForm::Wide);
        canvas.put(behind, y, 1, WATCHES[usize::from(canvas.ascii)], Meaning::Notable);
    }
    x
}

fn settings(canvas: &Canvas<'_>, app: &App) -> Vec<Setting> {
    let plain = |text: String| Setting { text, short: None };
    let sort = app.list().sort;
    let compares = app.compared().is_some();
    let places = app.places(Rect::new(0, 0, u16::MAX, 1));
    let column = table::sorting(&places, sort.key, compares).map(|column| column.title);
    let mark = table::mark(canvas, sort);
    let view = app.views.current;
    let mut all: Vec<Setting> = view.kind().settings(app).into_iter().map(plain).collect();
    // Showing all threads is the default, so this setting is one of the first to be left out.
    if app.query.threads.only().is_none() || view.about().is_of_all {
        all.push(plain("all threads".to_string()));
    }
    // The list of functions with a slow tail cannot be sorted.
    let column = column.filter(|_| !app.offers_tails());
    let changes = compares && sort.key.is_compared;
    let data = app.data();
    let is_of_work =
        view.about().main == Portion::Own && data.is_some_and(|data| sort.is_of_work(&data.snapshot));
    let on_cpu = if is_of_work { " on CPU" } else { "" };
    let sorted = column.map(|column| match changes {
        // The titles already mark the column, so it is not named if the line is narrow.
        true if app.screen.size.width < WORDY => format!("by change {mark}"),
        true => format!("sort: change of {column}{on_cpu} {mark}"),
        false => format!("sort {column}{on_cpu} {mark}"),
    });
    all.extend(sorted.clone().filter(|_| !changes).map(plain));
    if view.about().is_of_time && !view.about().is_of_all {
        all.push(plain(app.percent_label().to_string()));
    }
    // Few users expect rows to be sorted by their change, so this setting is one of the last to be left out.
    all.extend(sorted.filter(|_| changes).map(plain));
    let words = app.query.filter.words(app.views.current);
    all.extend(
        words
            .iter()
            .map(|words| plain(canvas.cut_middle(&canvas.safe(words), 30).into_owned())),
    );
    let times = app.mark_label().into_iter().chain(app.time_labels());
    all.extend(times.map(|label| plain(canvas.safe(&label).into_owned())));
    if app.screen.size.width >= WORDY {
        let units = app.unit_words(true).into_iter().zip(app.unit_words(false));
        all.extend(units.map(|(words, short)| Setting {
            text: canvas.cut_end(&canvas.safe(&words), LONGEST_UNIT).into_owned(),
            short: Some(short),
        }));
    }
    all
}

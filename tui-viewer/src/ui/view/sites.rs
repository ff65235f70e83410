//! The view Sites: what was met in the source, and what is switched off.

use ratatui::layout::Rect;

use crate::app::columns::place::Place;
use crate::app::columns::sites;
use crate::app::columns::sites::SiteColumn;
use crate::app::columns::spec::Value;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::row::Row;
use crate::app::site_rows::{SiteRow, SiteState};
use crate::app::state::App;
use crate::app::window::span_words;
use crate::text::cells::{cut_end, cut_middle, cut_start, safe, width, without_module};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::rows;
use crate::ui::view::rows::Look;
use crate::ui::view::{difference, unit};

/// From so many cells on the rule stands behind the state.
const ROOM_FOR_RULE: u16 = 20;

/// Draws the rows.
pub(super) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    if app.list().rows.is_empty() {
        return rows::tell(canvas, area, "No place in the source has been met yet.");
    }
    let places = sites::places(area.width);
    let with_modules = have_room_for_modules(app, data, &places);
    rows::each(canvas, app, data, area, |canvas, row, y, look| {
        if let What::Site(index) = row.what {
            line(canvas, app, data, index, row, &places, with_modules, y, look);
        }
    });
}

/// Whether all names fit with their modules: names side by side are shortened by one rule.
fn have_room_for_modules(app: &App, data: &Data, places: &[Place<SiteColumn>]) -> bool {
    let cells = places.iter().find(|place| place.column == SiteColumn::Name);
    let cells = cells.map_or(0, |place| usize::from(place.width));
    let rows = &app.list().rows;
    rows.iter().all(|row| width(data.label(row.what)) <= cells)
}

/// The name of a site, without its module where not all have room for theirs.
fn name(canvas: &Canvas<'_>, data: &Data, what: What, cells: usize, with_modules: bool) -> String {
    let label = data.label(what);
    let name = match with_modules {
        true => label,
        false => without_module(label, 0),
    };
    cut_middle(name, cells, canvas.glyphs.cut).into_owned()
}

#[expect(
    clippy::too_many_arguments,
    reason = "one place on the screen, nothing of it is kept"
)]
fn line(
    canvas: &mut Canvas<'_>,
    app: &App,
    data: &Data,
    index: u32,
    row: &Row,
    places: &[Place<SiteColumn>],
    with_modules: bool,
    y: u16,
    look: Look,
) {
    let site = &data.sites()[index as usize];
    let whole = match site.state {
        SiteState::Hit => Meaning::Plain,
        SiteState::NotSince | SiteState::Off => Meaning::Quiet,
    };
    for place in places {
        let mut text = text(canvas, app, data, site, row.what, *place);
        if place.column == SiteColumn::Name {
            text = name(canvas, data, row.what, usize::from(place.width), with_modules);
        }
        let meaning = match (place.column, site.state) {
            (SiteColumn::State, SiteState::Off) => Meaning::Notable,
            (SiteColumn::Name, _) if row.hit => Meaning::Strong,
            (SiteColumn::Module | SiteColumn::Where, _) => Meaning::Quiet,
            _ => whole,
        };
        let is_number = place.column.is_number();
        rows::cell(canvas, place, is_number, y, &text, look.of(meaning));
    }
}

fn text(
    canvas: &Canvas<'_>,
    app: &App,
    data: &Data,
    site: &SiteRow,
    what: What,
    place: Place<SiteColumn>,
) -> String {
    let cells = usize::from(place.width);
    match place.column {
        SiteColumn::Calls if data.then.is_some() => difference::text(canvas, app, data, what, Value::Calls),
        SiteColumn::Calls => unit::calls(data, site.calls).unwrap_or_else(|| UNKNOWN.to_string()),
        SiteColumn::State => state(canvas, app, site, place.width),
        SiteColumn::Module => cut_start(&site.module, cells, canvas.glyphs.cut).into_owned(),
        SiteColumn::Where => {
            let of_snapshot = &data.snapshot.sites[site.site.index()];
            rows::file_and_line(canvas, &of_snapshot.file, of_snapshot.line, place.width)
        }
        SiteColumn::Name => String::new(),
    }
}

/// In words; with the rule that switched it off where there is room, and in a word where there is little.
fn state(canvas: &Canvas<'_>, app: &App, site: &SiteRow, cells: u16) -> String {
    let words = match (site.state, &site.rule) {
        (SiteState::Off, Some(rule)) if cells >= ROOM_FOR_RULE => {
            // The end of a path says more.
            let room = usize::from(cells) - "off by ".len();
            format!("off by {}", cut_start(rule, room, canvas.glyphs.cut))
        }
        (SiteState::NotSince, _) if usize::from(cells) < site.state.words().len() => "none".to_string(),
        (SiteState::NotSince, _) if app.derived.stretch.is_some_and(|stretch| !stretch.since_reset) => {
            "not in window".to_string()
        }
        _ => site.state.words().to_string(),
    };
    cut_end(&words, usize::from(cells), canvas.glyphs.cut).into_owned()
}

/// The pane below: the whole path, the place, the state with its rule, and what Space does.
pub(super) fn detail(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let span = span_words(app.derived.stretch);
    let site = &data.sites()[index as usize];
    let state = match (site.state, &site.rule) {
        (SiteState::Off, Some(rule)) => format!("switched off by the rule {rule}"),
        (SiteState::Off, None) => "switched off".to_string(),
        (SiteState::NotSince, _) => format!("not called {span}"),
        (SiteState::Hit, _) => format!(
            "{} call{} {span}, by all threads",
            unit::calls(data, site.calls).unwrap_or_else(|| UNKNOWN.to_string()),
            if site.calls == 1 { "" } else { "s" }
        ),
    };
    let kept_on = site.rule.as_ref().filter(|_| site.state != SiteState::Off);
    let state = match kept_on {
        Some(rule) => format!("{state}   kept on by the rule {rule}"),
        None => state,
    };
    let next = match site.state {
        SiteState::Off => "Space switches it on again, by a rule of its own",
        SiteState::Hit | SiteState::NotSince => "Space switches it off: its time then counts as its caller's",
    };
    canvas.put_cut(area.x, area.y + 2, area.width, &state, Meaning::Plain);
    let group = &data.snapshot.sites[site.site.index()].group;
    if !group.is_empty() {
        let text = format!("group {}", safe(group, canvas.ascii));
        canvas.put_cut(area.x, area.y + 3, area.width, &text, Meaning::Quiet);
    }
    canvas.put_cut(area.x, area.bottom() - 1, area.width, next, Meaning::Quiet);
}

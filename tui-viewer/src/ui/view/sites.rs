//! View Sites: sites that were met, and sites that are switched off.

use ratatui::layout::Rect;
use tickscope_format::function_choice::{Chosen, LEAST_BYTES};
use tickscope_format::snapshot::OverBudget;
use tickscope_report::{label, number};

use crate::app::columns::place::Place;
use crate::app::columns::sites;
use crate::app::columns::sites::SiteColumn;
use crate::app::columns::spec::Value;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::row::Row;
use crate::app::site_rows::SiteState;
use crate::app::state::App;
use crate::app::window::span_words;
use crate::text::cells::{cut_end, cut_middle, cut_start, safe, width, without_module};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::rows;
use crate::ui::view::rows::Look;
use crate::ui::view::{difference, unit};

/// Cells from which on the rule stands after the state.
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

/// Whether all names fit with their modules, because one rule shortens all names of the list.
fn have_room_for_modules(app: &App, data: &Data, places: &[Place<SiteColumn>]) -> bool {
    let cells = places.iter().find(|place| place.column == SiteColumn::Name);
    let cells = cells.map_or(0, |place| usize::from(place.width));
    let rows = &app.list().rows;
    rows.iter().all(|row| width(data.label(row.what)) <= cells)
}

/// Returns the name of a site, without its module where not all modules have room.
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
        SiteState::NotSince | SiteState::Off | SiteState::OverBudget | SiteState::NotChosen => Meaning::Quiet,
    };
    for place in places {
        let meaning = match (place.column, site.state) {
            (SiteColumn::State, SiteState::Off | SiteState::OverBudget) => Meaning::Notable,
            (SiteColumn::Name, _) if row.hit => Meaning::Strong,
            (SiteColumn::Module | SiteColumn::Where, _) => Meaning::Quiet,
            _ => whole,
        };
        if place.column == SiteColumn::Name && data.site_table().is_grouped() {
            let x = rows::lead(canvas, app, row, place, y, look);
            let cells = (place.x + place.width).saturating_sub(x);
            let name = cut_middle(data.label(row.what), usize::from(cells), canvas.glyphs.cut).into_owned();
            canvas.put(x, y, cells, &name, look.of(meaning));
            rows::highlight(canvas, app, row, &name, x, y, look);
            continue;
        }
        let mut text = text(canvas, app, data, index, row.what, *place);
        if place.column == SiteColumn::Name {
            text = name(canvas, data, row.what, usize::from(place.width), with_modules);
        }
        let is_number = place.column.spec().is_number();
        rows::cell(canvas, place, is_number, y, &text, look.of(meaning));
    }
}

fn text(
    canvas: &Canvas<'_>,
    app: &App,
    data: &Data,
    index: u32,
    what: What,
    place: Place<SiteColumn>,
) -> String {
    let cells = usize::from(place.width);
    let table = data.site_table();
    let site = &table.rows()[index as usize];
    match place.column {
        SiteColumn::Calls if data.then.is_some() => difference::text(canvas, app, data, what, Value::Calls),
        SiteColumn::Calls => unit::calls(data, site.calls).unwrap_or_else(|| UNKNOWN.to_string()),
        SiteColumn::State => state(canvas, app, data, index, place.width),
        SiteColumn::Module if table.is_module(index) => String::new(),
        SiteColumn::Module => cut_start(table.module(index), cells, canvas.glyphs.cut).into_owned(),
        SiteColumn::Where => table.source(&data.snapshot, index).map_or(String::new(), |site| {
            rows::file_and_line(canvas, &site.file, site.line, place.width)
        }),
        SiteColumn::Name => String::new(),
    }
}

/// Describes the state: with the rule that switched the site off where there is room, and in a word where there is little. For
/// a module, the number of its functions that are on.
fn state(canvas: &Canvas<'_>, app: &App, data: &Data, index: u32, cells: u16) -> String {
    let site = &data.sites()[index as usize];
    let room = usize::from(cells);
    if data.site_table().is_module(index) {
        let words = match site.on {
            0 => "off".to_string(),
            on if on == site.places => "on".to_string(),
            on => format!("{on} of {} on", site.places),
        };
        let short = format!("{}/{}", site.on, site.places);
        let words = if words.len() <= room { words } else { short };
        return cut_end(&words, room, canvas.glyphs.cut).into_owned();
    }
    let rule = rule_of(canvas, data, index);
    let words = match (site.state, &rule) {
        (SiteState::Off, Some(rule)) if cells >= ROOM_FOR_RULE => {
            // The end of a path says more.
            let room = room - "off by ".len();
            format!("off by {}", cut_start(rule, room, canvas.glyphs.cut))
        }
        (SiteState::OverBudget, _) => {
            let long = site.over_budget.map(|over| over_budget(&over));
            let long = long.filter(|long| long.len() <= room);
            let short = if room < "over budget".len() {
                "off"
            } else {
                "over budget"
            };
            long.unwrap_or_else(|| short.to_string())
        }
        (SiteState::NotChosen, _) if room < "off: small".len() => "off".to_string(),
        (SiteState::NotChosen, _) => match site.chosen {
            Chosen::Small => "off: small".to_string(),
            Chosen::Std => "off: std".to_string(),
            Chosen::NotAskedFor => "off: not only".to_string(),
            Chosen::LeftOut(_) | Chosen::On => "off: left out".to_string(),
        },
        (SiteState::NotSince, _) if room < site.state.words().len() => "none".to_string(),
        (SiteState::NotSince, _) if site.site.is_none() => "not called".to_string(),
        (SiteState::NotSince, _) if app.derived.stretch.is_some_and(|stretch| !stretch.since_reset) => {
            "not in window".to_string()
        }
        _ => site.state.words().to_string(),
    };
    cut_end(&words, room, canvas.glyphs.cut).into_owned()
}

/// Formats the cost and the mean time of a call: `budget: 12.1%, 85.0ns`.
fn over_budget(over: &OverBudget) -> String {
    format!(
        "budget: {}, {}",
        number::percent(over.cost_share),
        number::duration(over.mean_ns.round() as u64)
    )
}

fn rule_of(canvas: &Canvas<'_>, data: &Data, index: u32) -> Option<String> {
    let rule = data.site_table().rule(index)?;
    Some(safe(&rule.pattern, canvas.ascii).into_owned())
}

/// Draws the path and the place of a row that no snapshot has: a module, or a function that was never called.
pub(super) fn name_and_place(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
    let name = data.full_name(What::Site(index)).to_string();
    let source = data.site_table().source(&data.snapshot, index);
    let place = source.map_or(String::new(), |site| {
        label::place(&site.file, site.line, canvas.ascii)
    });
    let text = format!("{name}  {}", safe(&place, canvas.ascii));
    canvas.put_cut(area.x, area.y, area.width, text.trim_end(), Meaning::Strong);
}

/// Returns the reason why a site is on or off.
fn why(canvas: &Canvas<'_>, app: &App, data: &Data, index: u32) -> String {
    let span = span_words(app.derived.stretch);
    let site = &data.sites()[index as usize];
    let rule = rule_of(canvas, data, index);
    let state = match (site.state, &rule) {
        (SiteState::Off, Some(rule)) => format!("switched off by the rule {rule}"),
        (SiteState::Off, None) => "switched off".to_string(),
        (SiteState::OverBudget, _) => {
            let budget = data
                .snapshot
                .functions
                .as_ref()
                .map_or(0.0, |functions| functions.budget);
            let over = site.over_budget.unwrap_or_default();
            format!(
                "off{}: measuring it took {} of the CPU time, more than the budget of {} leaves for calls of {}",
                if over.learned {
                    " from the start, learned by an earlier run"
                } else {
                    ""
                },
                number::percent(over.cost_share),
                number::percent(budget),
                number::duration(over.mean_ns.round() as u64)
            )
        }
        (SiteState::NotChosen, _) => match site.chosen {
            Chosen::Small => {
                format!(
                    "off from the start: it has less than {LEAST_BYTES} bytes; --every-function measures it too"
                )
            }
            Chosen::Std => {
                "off from the start: the standard library's; --every-function measures it too".to_string()
            }
            Chosen::NotAskedFor => "off from the start: --only names others".to_string(),
            Chosen::LeftOut(pattern) => {
                format!(
                    "off from the start: left out by --not {}",
                    safe(pattern.as_str(), canvas.ascii)
                )
            }
            Chosen::On => "off from the start".to_string(),
        },
        (SiteState::NotSince, _) if site.site.is_none() => "on, never called".to_string(),
        (SiteState::NotSince, _) => format!("not called {span}"),
        (SiteState::Hit, _) => format!(
            "{} call{} {span}, by all threads",
            unit::calls(data, site.calls).unwrap_or_else(|| UNKNOWN.to_string()),
            if site.calls == 1 { "" } else { "s" }
        ),
    };
    match rule.filter(|_| matches!(site.state, SiteState::NotSince | SiteState::Hit)) {
        Some(rule) => format!("{state}   kept on by the rule {rule}"),
        None => state,
    }
}

/// Returns the functions that the time of a switched-off function counts for.
fn heirs(data: &Data, index: u32, cells: usize) -> String {
    let heirs = data.heirs(What::Site(index));
    let names: Vec<&str> = heirs
        .iter()
        .map(|heir| match heir {
            Some(function) => data.names.short[function.index()].as_str(),
            None => "no function",
        })
        .collect();
    let Some((first, others)) = names.split_first() else {
        return "its time is counted in its callers".to_string();
    };
    let lead = "its time is counted in ";
    let mut text = format!("{lead}{first}");
    for (number, name) in others.iter().enumerate() {
        let left = others.len() - number;
        let longer = format!("{text}, {name}");
        if width(&longer) + " and 99 more".len() > cells {
            return format!("{text} and {left} more");
        }
        text = longer;
    }
    text
}

/// Draws the pane below: the whole path, the place, the state with its rule, and the effect of Space.
pub(super) fn detail(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let table = data.site_table();
    let site = &table.rows()[index as usize];
    if table.is_module(index) {
        let text = format!(
            "{} {}, {} on",
            site.places,
            if site.places == 1 {
                "function or scope"
            } else {
                "functions and scopes"
            },
            site.on
        );
        canvas.put_cut(area.x, area.y + 2, area.width, &text, Meaning::Plain);
        let next = match site.is_off() {
            true => "Space switches on everything in it",
            false => "Space switches all of it off: its time then counts in its callers",
        };
        canvas.put_cut(area.x, area.bottom() - 1, area.width, next, Meaning::Quiet);
        return;
    }
    let state = why(canvas, app, data, index);
    canvas.put_cut(area.x, area.y + 2, area.width, &state, Meaning::Plain);
    let of_source = table.source(&data.snapshot, index);
    let group = of_source.map_or("", |site| site.group.as_str());
    if table.is_grouped() && site.is_off() {
        let text = heirs(data, index, usize::from(area.width));
        canvas.put_cut(area.x, area.y + 3, area.width, &text, Meaning::Plain);
    } else if !group.is_empty() {
        let text = format!("group {}", safe(group, canvas.ascii));
        canvas.put_cut(area.x, area.y + 3, area.width, &text, Meaning::Quiet);
    }
    let next = match site.is_off() {
        true if table.is_grouped() => "Space switches it on; - its callees",
        true => "Space switches it on again, by a new rule",
        false => "Space switches it off: its time then counts in its callers",
    };
    canvas.put_cut(area.x, area.bottom() - 1, area.width, next, Meaning::Quiet);
}

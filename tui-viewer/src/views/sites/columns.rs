//! The columns of the list of sites.

use tickscope_format::function_choice::Chosen;
use tickscope_format::snapshot::OverBudget;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::site_rows::{SiteRow, SiteState};
use crate::app::sort::Order;
use crate::text::cells::without_module;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Cell, Column, Place, names, texts};
use crate::ui::view::place::Width::{Cells, Own, Parts};
use crate::ui::view::place::{Columns, side_by_side_names_first};
use crate::ui::view::rows;
use crate::views::functions::{CALLS, STATE_HELP};

/// Minimum width in cells at which the STATE column also names the rule.
const ROOM_FOR_RULE: u16 = 20;

static STATE: Column = texts("STATE", STATE_HELP)
    .shows(state)
    .by(Order::of("state", |data, what| {
        u64::MAX - data.sites()[what.row as usize].state as u64
    })
    .fixed())
    .looks(|cell| match of(cell).state {
        SiteState::Off | SiteState::OverBudget => Meaning::Notable,
        SiteState::NotChosen | SiteState::NotSince | SiteState::Hit => cell.usual(),
    });
static NAME: Column = names("FUNCTION", "function or scope, with its module").drawn(draw_name);
static MODULE: Column = texts("MODULE", "module that the site is in")
    .shows(|canvas, cell| {
        let place = cell.data.site_table().place(cell.row.what.row);
        let module = if place.is_module() { "" } else { &place.module };
        canvas.cut_start(module, cell.room()).into_owned()
    })
    .looks(|_| Meaning::Quiet);
static WHERE: Column = texts("WHERE", "file and line")
    .shows(|canvas, cell| {
        let site = cell.data.site_table().source(cell.row.what.row);
        site.map_or_else(String::new, |site| {
            rows::file_and_line(canvas, &site.file, site.line, cell.place.width)
        })
    })
    .looks(|_| Meaning::Quiet);

/// Returns the columns of a list that is `width` cells wide, from left to right.
pub(super) fn places(width: u16) -> Vec<Place> {
    let state = match width {
        130.. => 24,
        100.. => 20,
        50.. => 15,
        40.. => 11,
        _ => 5,
    };
    let columns: &Columns = &[
        (&CALLS, Own, 40),
        (&STATE, Cells(state), 0),
        (&NAME, Parts(8), 0),
        (&MODULE, Parts(2), 80),
        (&WHERE, Parts(4), 80),
    ];
    side_by_side_names_first(columns, &[&NAME], &[&MODULE, &WHERE, &CALLS], width)
}

fn of<'a>(cell: &Cell<'a>) -> &'a SiteRow {
    &cell.data.sites()[cell.row.what.row as usize]
}

/// Draws the name. If sites are not listed below modules and some names do not fit, all names are drawn without their
/// module.
fn draw_name(canvas: &mut Canvas<'_>, cell: &Cell<'_>) {
    let label = cell.data.label(cell.row.what);
    let meaning = cell.name(cell.usual());
    if !cell.data.site_table().is_grouped() {
        let name = match cell.names_fit() {
            true => label,
            false => without_module(label, 0),
        };
        let name = cell.cut(canvas, name);
        return cell.put(canvas, &name, meaning);
    }
    let x = rows::lead(canvas, cell);
    let cells = cell.area().right().saturating_sub(x);
    let name = canvas.cut_middle(label, cells.into());
    canvas.put(x, cell.y, cells, &name, cell.look.of(meaning));
    rows::highlight(canvas, cell, &name, x);
}

/// Describes the state of a site, with the rule that switched it off if there is room. For a module, says how many of
/// its functions and scopes are on.
fn state(canvas: &Canvas<'_>, cell: &Cell<'_>) -> String {
    let (site, room) = (of(cell), cell.room());
    let cut = |words: &str| canvas.cut_end(words, room).into_owned();
    if cell.data.site_table().place(cell.row.what.row).is_module() {
        let words = match site.on {
            0 => "off".to_string(),
            on if on == site.places => "on".to_string(),
            on => format!("{on} of {} on", site.places),
        };
        let short = format!("{}/{}", site.on, site.places);
        return cut(if words.len() <= room { &words } else { &short });
    }
    let rule = rule_of(canvas, cell.data, cell.row.what.row);
    let stretch = cell.app.derived.stretch;
    let words = match (site.state, &rule) {
        (SiteState::Off, Some(rule)) if cell.place.width >= ROOM_FOR_RULE => {
            // The end of a pattern says more than its beginning, so the beginning is cut off.
            format!("off by {}", canvas.cut_start(rule, room - "off by ".len()))
        }
        (SiteState::OverBudget, _) => {
            let long = site.over_budget.map(|over| over_budget(&over));
            let long = long.filter(|long| long.len() <= room);
            let is_narrow = room < "over budget".len();
            long.unwrap_or_else(|| if is_narrow { "off" } else { "over budget" }.to_string())
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
        (SiteState::NotSince, _) if stretch.is_some_and(|stretch| !stretch.since_reset) => {
            "not in window".to_string()
        }
        _ => site.state.words().to_string(),
    };
    cut(&words)
}

/// Formats the share of CPU time that measuring the function took, and the mean duration of a call:
/// `budget: 12.1%, 85.0ns`.
fn over_budget(over: &OverBudget) -> String {
    format!(
        "budget: {}, {}",
        number::percent(over.cost_share),
        number::duration(over.mean_ns.round() as u64)
    )
}

/// Returns the pattern of the rule that applies to a row.
pub(super) fn rule_of(canvas: &Canvas<'_>, data: &Data, index: u32) -> Option<String> {
    let rule = data.site_table().rule(index)?;
    Some(canvas.safe(&rule.pattern).into_owned())
}

//! The Sites view: sites that have been reached, and sites that are switched off. Its pane says why the selected site
//! is on or off, and what pressing Space would do.

use std::collections::BTreeSet;

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_format::function_choice::{Chosen, LEAST_BYTES};
use tickscope_format::snapshot::Site;
use tickscope_report::{label, number};

use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Row, RowId, What};
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;
use crate::app::site_rows::SiteState;
use crate::app::sort::Order;
use crate::app::state::App;
use crate::app::update::acts::{Act, act, has_rows, only};
use crate::app::window::span_words;
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Place;
use crate::ui::view::{detail, unit};
use crate::views::sites::columns::rule_of;
use crate::views::view_type::{About, ViewType};

mod columns;
#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Sites;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    sort: Order::CALLS,
    rows: "sites",
    is_of_all: true,
    follows: true,
    ..About::LIST
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, App::enter_place),
    act(&[Action::ToggleSite], has_rows, App::toggle_site),
    // Rows can be opened only if sites are listed below their modules, as they are in a program with instrumented
    // functions.
    only(
        &[
            Action::Open,
            Action::Shut,
            Action::Fold,
            Action::OpenAll,
            Action::CloseAll,
        ],
        |app| has_rows(app) && app.shown().is_some_and(|shown| shown.functions.is_some()),
    ),
];

impl App {
    /// Goes to the function of a site, or opens or closes a module. If the function was never called, says that its
    /// callers are not known.
    fn enter_place(&mut self) {
        if let Some(chosen) = self.selected_function() {
            return self.go_to_function(chosen);
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        if data.site_table().place(row.what.row).is_module() {
            self.fold();
        } else {
            self.tell("it was not called yet: its callers and callees are not known");
        }
    }
}

impl ViewType for Sites {
    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let top = data.site_table().places().top.iter().copied();
        listing::walk(data, shape, View::Sites.rows(top))
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn weigh(&self, _app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        match data.sites()[row.what.row as usize].state {
            SiteState::Hit => [Meaning::Plain; 2],
            SiteState::NotSince | SiteState::Off | SiteState::OverBudget | SiteState::NotChosen => {
                [Meaning::Quiet; 2]
            }
        }
    }

    fn why_empty(&self, _app: &App, _data: &Data) -> Option<String> {
        Some("No place in the source has been met yet.".to_string())
    }

    fn searched(&self, _app: &App, data: &Data) -> (usize, &'static str) {
        let rows = &data.site_table().places().rows;
        let places = rows.iter().filter(|place| !place.is_module());
        (places.count(), ABOUT.rows)
    }

    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        match data.function(row.what) {
            Some(_) => detail::heading(canvas, app, data, row, area),
            None => name_and_place(canvas, data, row.what.row, area),
        }
        why_and_next(canvas, app, data, row.what.row, area);
    }
}

impl RowTable for Sites {
    fn count(&self, data: &Data) -> u32 {
        data.sites().len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Site(data.sites()[row as usize].key)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        Figures {
            calls: data.sites()[row as usize].calls,
            ..Figures::default()
        }
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        let site = data.sites()[row as usize].site?;
        Some(data.tree.functions.of_site[site.index()])
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        let table = data.site_table();
        table.is_grouped().then(|| table.place(row).name.as_str())
    }

    fn full_name<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(&data.site_table().place(row).full)
    }

    fn above(&self, data: &Data, row: u32) -> Option<u32> {
        data.site_table().place(row).parent
    }

    fn children<'a>(&self, data: &'a Data, row: u32) -> &'a [u32] {
        &data.site_table().place(row).children
    }

    fn below(&self, data: &Data, row: u32) -> u32 {
        data.site_table().place(row).below
    }

    fn is_hit(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        match data.site_table().is_grouped() {
            true => matcher.places(data).0[row as usize],
            false => self
                .function(data, row)
                .is_some_and(|function| matcher.finds(function)),
        }
    }

    fn has_hit_below(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        data.site_table().is_grouped() && matcher.places(data).1[row as usize]
    }

    fn callees(&self, data: &Data, row: u32) -> Result<BTreeSet<FunctionId>, &'static str> {
        if data.site_table().place(row).is_module() {
            return Err("a module calls nothing itself: Space switches all functions in it");
        }
        let calls = data.whole();
        let own = self.function(data, row);
        let rows = (0..calls.rows.len() as u32).filter(|&row| Some(calls.rows[row as usize].function) == own);
        let children = rows.flat_map(|row| calls.children(row));
        Ok(children.map(|&row| calls.rows[row as usize].function).collect())
    }
}

/// Draws the path and source location of a row that appears in no snapshot: a module, or a function that was never
/// called.
fn name_and_place(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
    let name = data.full_name(View::Sites.row(index));
    let source = data.site_table().source(index);
    let place = |site: &Site| label::place(&site.file, site.line, canvas.ascii);
    let text = format!("{name}  {}", source.map_or(String::new(), place));
    canvas.line(area, 1, text.trim_end(), Meaning::Strong);
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
            let functions = data.snapshot.functions.as_ref();
            let budget = functions.map_or(0.0, |functions| functions.budget);
            let over = site.over_budget.unwrap_or_default();
            let since = match over.learned {
                true => " from the start, learned by an earlier run",
                false => "",
            };
            let [cost, budget] = [over.cost_share, budget].map(number::percent);
            let mean = number::duration(over.mean_ns.round() as u64);
            format!(
                "off{since}: measuring it took {cost} of the CPU time, more than the budget of {budget} leaves for calls of {mean}"
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
                format!("off from the start: left out by --not {}", pattern.as_str())
            }
            Chosen::On => "off from the start".to_string(),
        },
        (SiteState::NotSince, _) if site.site.is_none() => "on, never called".to_string(),
        (SiteState::NotSince, _) => format!("not called {span}"),
        (SiteState::Hit, _) => {
            let calls = unit::counted(data, site.calls);
            let word = if site.calls == 1 { "call" } else { "calls" };
            format!("{calls} {word} {span}, by all threads")
        }
    };
    match rule.filter(|_| matches!(site.state, SiteState::NotSince | SiteState::Hit)) {
        Some(rule) => format!("{state}   kept on by the rule {rule}"),
        None => state,
    }
}

/// Returns the functions that are charged with the time of a function that is off: for each of its known calls, the
/// nearest caller that is on. The functions with the most such calls come first. An entry is `None` if no caller is on.
fn heirs(data: &Data, what: What) -> Vec<Option<FunctionId>> {
    let Some(own) = data.function(what) else {
        return Vec::new();
    };
    let calls = data.whole();
    let functions = &calls.functions;
    let mut is_on = vec![false; functions.list.len()];
    let mut off = vec![false; data.snapshot.sites.len()];
    for site in &data.snapshot.measuring.off_sites {
        off[site.index()] = true;
    }
    for (function, off) in functions.of_site.iter().zip(off) {
        is_on[function.index()] |= !off;
    }
    let rows = &calls.rows;
    let mut heirs: Vec<(Option<FunctionId>, u64)> = Vec::new();
    for row in rows.iter().filter(|row| row.function == own) {
        let mut above = row.parent;
        while let Some(at) = above.filter(|&at| !is_on[rows[at as usize].function.index()]) {
            above = rows[at as usize].parent;
        }
        let heir = above.map(|at| rows[at as usize].function);
        match heirs.iter_mut().find(|(known, _)| *known == heir) {
            Some((_, calls)) => *calls += row.calls,
            None => heirs.push((heir, row.calls)),
        }
    }
    heirs.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    heirs.into_iter().map(|(heir, _)| heir).collect()
}

/// Describes which functions are charged with the time of a function that is off.
fn whose_time(data: &Data, index: u32, cells: usize) -> String {
    let heirs = heirs(data, View::Sites.row(index)).into_iter();
    let short = |function: FunctionId| data.names.short[function.index()].as_str();
    let names: Vec<&str> = heirs.map(|heir| heir.map_or("no function", short)).collect();
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

/// Draws the rest of the pane: why a site is on or off, which functions its time is charged to, and what Space would
/// do. For a module, says how many of its functions and scopes are on.
fn why_and_next(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let table = data.site_table();
    let site = &table.rows[index as usize];
    let last = area.height - 1;
    if table.place(index).is_module() {
        let words = match site.places {
            1 => "function or scope",
            _ => "functions and scopes",
        };
        let text = format!("{} {words}, {} on", site.places, site.on);
        canvas.line(area, 2, &text, Meaning::Plain);
        let next = match site.is_off() {
            true => "Space switches on everything in it",
            false => "Space switches all of it off: its time then counts in its callers",
        };
        return canvas.line(area, last, next, Meaning::Quiet);
    }
    let state = why(canvas, app, data, index);
    canvas.line(area, 2, &state, Meaning::Plain);
    let of_source = table.source(index);
    let group = of_source.map_or("", |site| site.group.as_str());
    if table.is_grouped() && site.is_off() {
        let text = whose_time(data, index, usize::from(area.width));
        canvas.line(area, 3, &text, Meaning::Plain);
    } else if !group.is_empty() {
        canvas.line(area, 3, &format!("group {group}"), Meaning::Quiet);
    }
    let next = match site.is_off() {
        true if table.is_grouped() => "Space switches it on; - its callees",
        true => "Space switches it on again, by a new rule",
        false => "Space switches it off: its time then counts in its callers",
    };
    canvas.line(area, last, next, Meaning::Quiet);
}

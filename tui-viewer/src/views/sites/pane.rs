//! Pane of the view Sites: why a site is on or off, and the effect of the key that switches it.

use ratatui::layout::Rect;
use tickscope_analysis::functions::FunctionId;
use tickscope_format::function_choice::{Chosen, LEAST_BYTES};
use tickscope_format::snapshot::Site;
use tickscope_report::{label, number};

use crate::app::data::Data;
use crate::app::row::What;
use crate::app::site_rows::SiteState;
use crate::app::state::App;
use crate::app::window::span_words;
use crate::keys::view::View;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::unit;

/// Returns the pattern of the rule that decides about a row.
pub(crate) fn rule_of(canvas: &Canvas<'_>, data: &Data, index: u32) -> Option<String> {
    let rule = data.site_table().rule(index)?;
    Some(canvas.safe(&rule.pattern).into_owned())
}

/// Draws the path and the place of a row that no snapshot has: a module, or a function that was never called.
pub(crate) fn name_and_place(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
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

/// Returns the functions that have the time of a function that is off. They are the nearest functions above that are on, as
/// far as its calls were seen. An entry is `None` if no function above is on.
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

/// Returns in words which functions have the time of a function that is off.
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

/// Draws the pane below: the whole path, the place, the state with its rule, and the effect of Space.
pub(crate) fn detail(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
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

//! Pane of the view Sites: why a site is on or off, and the effect of the key that switches it.

use ratatui::layout::Rect;
use tickscope_format::function_choice::{Chosen, LEAST_BYTES};
use tickscope_report::{label, number};

use crate::app::data::Data;
use crate::app::site_rows::SiteState;
use crate::app::state::App;
use crate::app::window::span_words;
use crate::keys::view::View;
use crate::text::cells::{safe, width};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::unit;

/// Returns the pattern of the rule that decides about a row.
pub(crate) fn rule_of(canvas: &Canvas<'_>, data: &Data, index: u32) -> Option<String> {
    let rule = data.site_table().rule(index)?;
    Some(safe(&rule.pattern, canvas.ascii).into_owned())
}

/// Draws the path and the place of a row that no snapshot has: a module, or a function that was never called.
pub(crate) fn name_and_place(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
    let name = data.full_name(View::Sites.row(index)).to_string();
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
    let heirs = data.heirs(View::Sites.row(index));
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
pub(crate) fn detail(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
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

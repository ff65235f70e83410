//! View Sites: sites that were met, and sites that are switched off.

mod columns;
pub(crate) mod pane;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;

use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Row, RowId};
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;
use crate::app::site_rows::SiteState;
use crate::app::sort::Order;
use crate::app::state::App;
use crate::app::update::acts::{Act, act, has_rows, only};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Place;
use crate::ui::view::detail;
use crate::views::view_type::{About, ViewType};

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
    // Sites stand below modules if the program has functions.
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
    /// Shows the function of a site, opens or closes a module, or tells that the callers of a function are not known.
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
            None => pane::name_and_place(canvas, data, row.what.row, area),
        }
        pane::detail(canvas, app, data, row.what.row, area);
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

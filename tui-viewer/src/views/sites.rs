//! View Sites: sites that were met, and sites that are switched off.

use ratatui::layout::Rect;

use crate::app::about::About;
use crate::app::columns;
use crate::app::columns::Column;
use crate::app::columns::place::Place;
use crate::app::columns::sites;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::listing::{self, Listing, Shape};
use crate::app::sort::SortKey;
use crate::app::state::App;
use crate::app::update::acts::{Act, act, has_rows, only};
use crate::keys::action::Action;
use crate::ui::view;
use crate::ui::view::canvas::Canvas;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Sites;

const ABOUT: About = About {
    sort: SortKey::Calls,
    rows: "sites",
    is_of_all: true,
    follows: true,
    ..About::LIST
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, |app, _, _| app.enter_place()),
    act(&[Action::ToggleSite], has_rows, |app, _, effects| {
        app.toggle_site(effects)
    }),
    // Sites stand below modules where the program has functions.
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
    /// Shows the function of a place, opens or closes a module, or tells that the callers of a function are not known.
    fn enter_place(&mut self) {
        if let Some(chosen) = self.selected_function() {
            return self.go_to_function(chosen);
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        if matches!(row.what, What::Site(row) if data.site_table().is_module(row)) {
            self.fold();
        } else {
            self.tell("it was not called yet: its callers and callees are not known");
        }
    }
}

impl ViewType for Sites {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let top = data.site_table().top().iter().copied();
        listing::walk(data, shape, top.map(What::Site).collect())
    }

    fn columns(&self, width: u16) -> Vec<Place<Column>> {
        columns::of_any(sites::places(width), Column::Site)
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.site_table().counts().0 as usize
    }

    fn acts(&self) -> &'static [Act] {
        ACTS
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        view::sites::draw(canvas, app, data, area);
    }
}

//! The Slow view: why slow calls of watched functions are slow.

pub(crate) mod call;
mod columns;
mod keys;
#[cfg(test)]
mod tests;

use ratatui::layout::{Position, Rect};
use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;

use crate::app::data::Data;
use crate::app::keyhash::number_of;
use crate::app::layout::Layout;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Row, RowId};
use crate::app::row_table::RowTable;
use crate::app::sort::Sort;
use crate::app::state::App;
use crate::app::update::acts::{Act, ZOOMS, act, always, each, has_rows};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Place;
use crate::ui::view::table;
use crate::views::slow::call::{LARGE, NOTABLE};
use crate::views::view_type::{About, ViewType};

#[derive(Debug)]
pub(crate) struct Slow;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    sort: columns::ORDER,
    rows: "paths",
    is_of_all: true,
    is_of_all_threads: true,
    is_of_watches: true,
    follows: true,
    ..About::LIST
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, |app| match app.offers_tails() {
        true => app.watch_row(),
        false => app.enter_row(),
    }),
    act(&[Action::Unwatch], watches, App::unwatch),
    act(&[Action::NextWatch], always, App::next_watch),
    act(&[Action::NextCall], always, |app| app.step_call(true)),
    act(&[Action::PreviousCall], always, |app| app.step_call(false)),
    act(&[Action::ExportCall], always, App::export_call),
    each(ZOOMS, always, App::zoom_call_by),
    act(&[Action::PartEarlier], always, |app| app.pan_call(false)),
    act(&[Action::PartLater], always, |app| app.pan_call(true)),
];

fn watches(app: &App) -> bool {
    app.watched().is_some()
}

impl ViewType for Slow {
    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let table = data.slow();
        if table.watches.is_empty() {
            // Functions with a tail cannot be sorted by the columns of paths.
            let sort = Some(shape.sort).filter(|sort| sort.key == columns::ORDER);
            let sort = sort.unwrap_or(Sort::by(columns::ORDER));
            let tails = View::Hot.rows(data.tails().iter().map(|tail| tail.hot));
            return listing::walk(data, &Shape { sort, ..*shape }, tails);
        }
        let watch = table.place_of(app.views.slow.function.as_deref());
        let rows = (0..).zip(&table.rows);
        let of_watch = rows.filter(|(_, row)| Some(row.watch) == watch);
        listing::walk(data, shape, View::Slow.rows(of_watch.map(|(row, _)| row)))
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn lists(&self, app: &App, area: Rect) -> Vec<(Rect, Vec<Place>)> {
        let places = match app.offers_tails() {
            true => columns::tail_places(area.width),
            false => columns::places(area.width),
        };
        vec![(area, places)]
    }

    fn weigh(&self, app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        let Some(watch) = app.watched() else {
            return [Meaning::Plain; 2];
        };
        let share = watch
            .slow
            .share_of(&data.slow().rows[row.what.row as usize].means);
        match share {
            Some(LARGE..) => [Meaning::Hottest; 2],
            Some(NOTABLE..) => [Meaning::Warm; 2],
            Some(_) => [Meaning::Plain; 2],
            None => [Meaning::Quiet; 2],
        }
    }

    fn choices(&self, app: &App) -> u64 {
        number_of(&app.views.slow.function)
    }

    /// While a function is watched, keys select calls and move along the time axis, so a key press need not keep the
    /// rows in place.
    fn holds(&self, app: &App) -> bool {
        let data = app.data();
        data.is_some_and(|data| data.slow().watches.is_empty())
    }

    fn searched(&self, app: &App, _data: &Data) -> (usize, &'static str) {
        (app.list().rows.len(), ABOUT.rows)
    }

    fn step_back(&self, app: &mut App) -> bool {
        app.whole_call()
    }

    fn click_pane(&self, app: &mut App, at: Position) {
        app.click_call(at);
    }

    fn wheel(&self, app: &mut App, rows: isize, at: Position) -> bool {
        let moment = app.moment_at(at).map(|(_, moment)| moment);
        if moment.is_some() {
            app.zoom_call(moment, rows < 0);
        }
        moment.is_some()
    }

    fn wheel_aside(&self, app: &mut App, right: bool, at: Position) {
        if app.moment_at(at).is_some() {
            app.pan_call(right);
        }
    }

    fn layout(&self, app: &App, layout: Layout) -> Layout {
        let answer = app.answer_lines().len() as u16;
        layout.with_answer(answer, app.path_lines(), app.call_lines())
    }

    fn title(&self, canvas: &mut Canvas<'_>, app: &App, _data: &Data, area: Rect) {
        call::title(canvas, app, area);
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        match app.watched().is_some() || app.offers_tails() {
            true => table::draw(canvas, app, data, area),
            false => call::nothing(canvas, area),
        }
    }

    fn pane(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        call::calls(canvas, app, data, area);
    }
}

impl RowTable for Slow {
    fn count(&self, data: &Data) -> u32 {
        data.slow().rows.len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Slow(data.slow().rows[row as usize].key)
    }

    fn figures(&self, _data: &Data, _row: u32) -> Figures {
        Figures::default()
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        data.slow().rows[row as usize].function
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(&data.slow().rows[row as usize].name)
    }
}

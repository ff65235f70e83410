//! View Slow: causes of slow calls of watched functions.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::layout::{Position, Rect};

use crate::app::about::About;
use crate::app::columns;
use crate::app::columns::Column;
use crate::app::columns::place::Place;
use crate::app::columns::slow;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::layout::Layout;
use crate::app::listing::{self, Listing, Shape};
use crate::app::sort::{Sort, SortKey};
use crate::app::state::App;
use crate::app::update::acts::{Act, act, always, has_rows};
use crate::keys::action::Action;
use crate::ui::view;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::{tails, titles};
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Slow;

const ABOUT: About = About {
    sort: SortKey::Difference,
    rows: "paths",
    is_of_all: true,
    is_of_all_threads: true,
    is_of_watches: true,
    follows: true,
    ..About::LIST
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, |app, _, effects| {
        match app.offers_tails() {
            true => app.watch_row(effects),
            false => app.enter_row(),
        }
    }),
    act(
        &[Action::Unwatch],
        |app| app.watched().is_some(),
        |app, _, effects| app.unwatch(effects),
    ),
    act(&[Action::NextWatch], always, |app, _, _| app.next_watch()),
    act(&[Action::NextCall], always, |app, _, _| app.step_call(true)),
    act(&[Action::PreviousCall], always, |app, _, _| app.step_call(false)),
    act(&[Action::ExportCall], always, |app, _, effects| {
        app.export_call(effects)
    }),
    act(&[Action::Closer], always, |app, _, _| app.zoom_call(None, true)),
    act(&[Action::Further], always, |app, _, _| app.zoom_call(None, false)),
    act(&[Action::WholeCall], always, |app, _, _| {
        app.views.slow.zoom = None
    }),
    act(&[Action::PartEarlier], always, |app, _, _| app.pan_call(false)),
    act(&[Action::PartLater], always, |app, _, _| app.pan_call(true)),
];

impl ViewType for Slow {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let table = data.slow();
        if table.watches.is_empty() {
            let sort = Sort::by(ABOUT.sort);
            let tails = data.tails().iter().map(|tail| What::Hot(tail.hot));
            return listing::walk(data, &Shape { sort, ..*shape }, tails.collect());
        }
        let watch = table.place_of(app.views.slow.function.as_deref());
        let rows = (0..).zip(&table.rows);
        let of_watch = rows.filter(|(_, row)| Some(row.watch) == watch);
        listing::walk(data, shape, of_watch.map(|(row, _)| What::Slow(row)).collect())
    }

    fn columns(&self, width: u16) -> Vec<Place<Column>> {
        columns::of_any(slow::places(width), Column::Slow)
    }

    fn choices(&self, app: &App) -> u64 {
        let mut choices = DefaultHasher::new();
        app.views.slow.function.hash(&mut choices);
        choices.finish()
    }

    /// Its keys choose calls and move in time, so they do not hold the order of its rows.
    fn holds(&self, app: &App) -> bool {
        let data = app.derived.data.as_ref();
        data.is_some_and(|data| data.slow().watches.is_empty())
    }

    fn searched(&self, app: &App, _data: &Data) -> usize {
        app.list().rows.len()
    }

    fn acts(&self) -> &'static [Act] {
        ACTS
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
        view::slow::title(canvas, app, area);
    }

    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, _data: &Data, area: Rect) {
        match app.offers_tails() {
            true => tails::titles(canvas, area),
            false => titles::draw(canvas, app, area),
        }
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        match app.offers_tails() {
            true => tails::draw(canvas, app, data, area),
            false => view::slow::draw(canvas, app, data, area),
        }
    }

    fn pane(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        view::slow::calls(canvas, app, data, area);
    }
}

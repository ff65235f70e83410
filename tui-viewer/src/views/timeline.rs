//! View Timeline: load of threads and functions over time.

pub(crate) mod keys;
pub(crate) mod lanes;
#[cfg(test)]
mod tests;

use ratatui::layout::{Position, Rect};

use crate::app::data::Data;
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::sort::{Order, Sort};
use crate::app::state::App;
use crate::app::timeline::{LANE_LINES, Lanes, PARTS_LINES, columns_in};
use crate::app::update::acts::{Act, ORDERS, ZOOMS, act, always, each, has_rows, never, only, shows};
use crate::keys::action::Action;
use crate::ui::view::canvas::Canvas;
use crate::views::timeline::keys::TimeColumns;
use crate::views::view_type::{About, ViewType};
use crate::views::{hot, threads};

#[derive(Debug)]
pub(crate) struct Timeline;

const ABOUT: About = About {
    acts: ACTS,
    is_of_all: true,
    is_of_all_threads: true,
    stays_at_top: true,
    ..About::TIME
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, App::enter_lane),
    act(&[Action::SlotEarlier], shows, |app| app.step_slot(false)),
    act(&[Action::SlotLater], shows, |app| app.step_slot(true)),
    act(&[Action::RangeEarlier], shows, |app| app.extend_range(false)),
    act(&[Action::RangeLater], shows, |app| app.extend_range(true)),
    act(&[Action::Lanes], shows, App::turn_lanes),
    each(ZOOMS, always, App::zoom_timeline),
    only(ORDERS, never),
];

impl ViewType for Timeline {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        match app.views.timeline.lanes {
            Lanes::Threads => threads::list(data, shape),
            Lanes::Functions => {
                let sort = Sort::by(Order::SELF);
                hot::list(data, &Shape { sort, ..*shape })
            }
        }
    }

    fn choices(&self, app: &App) -> u64 {
        app.views.timeline.lanes as u64
    }

    fn searched(&self, app: &App, data: &Data) -> (usize, &'static str) {
        match app.views.timeline.lanes {
            Lanes::Threads => (data.threads().len(), "threads"),
            Lanes::Functions => (data.hot().len(), "functions"),
        }
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        Some(TimeColumns {
            columns: columns_in(app.screen.size.width),
            lanes: app.views.timeline.lanes,
            is_strip: false,
        })
    }

    fn way_back(&self, app: &App) -> Option<&'static str> {
        app.way_back().or(app.has_range().then_some("all time"))
    }

    fn click(&self, app: &mut App, at: Position, line: usize) {
        app.click_row_of(0, at.x, line);
        app.click_slot(at.x);
    }

    fn drag(&self, app: &mut App, at: Position) {
        app.drag(at.x, at.y);
    }

    fn layout(&self, app: &App, layout: Layout) -> Layout {
        let most = usize::from(u16::MAX / LANE_LINES);
        let lines = LANE_LINES * app.list().rows.len().min(most) as u16;
        layout.with_answer(0, lines, PARTS_LINES)
    }

    fn lines_of_row(&self, app: &App) -> u16 {
        app.lane_lines()
    }

    fn settings(&self, app: &App) -> Option<String> {
        Some(lanes::settings(app))
    }

    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, _data: &Data, area: Rect) {
        lanes::axis(canvas, app, area);
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        lanes::draw(canvas, app, data, area);
    }

    fn pane(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        lanes::parts(canvas, app, data, area);
    }
}

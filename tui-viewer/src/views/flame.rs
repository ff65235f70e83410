//! View Flame: the call tree as widths.

pub(crate) mod graph;
mod moves;
pub(crate) mod rows;
#[cfg(test)]
mod tests;

use ratatui::layout::{Position, Rect};

use crate::app::data::Data;
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::row::{Row, What};
use crate::app::state::App;
use crate::app::update::acts::{Act, MOVES, ORDERS, act, always, each, has_rows, never, only};
use crate::keys::action::Action;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::detail::Legend;
use crate::views::view_type::{About, ViewType, number_of};

#[derive(Debug)]
pub(crate) struct Flame;

const ABOUT: About = About {
    acts: ACTS,
    has_focus: true,
    has_paths: true,
    ..About::TIME
};

const ACTS: &[Act] = &[
    each(MOVES, always, App::flame_travel),
    act(&[Action::PreviousSibling], always, |app| app.flame_beside(-1)),
    act(&[Action::NextSibling], always, |app| app.flame_beside(1)),
    act(&[Action::Enter], has_rows, App::zoom_in),
    act(&[Action::FlameColour], App::may_recolour, App::flame_recolour),
    // A graph has neither an order to choose nor rows to leave out.
    only(ORDERS, never),
    only(&[Action::MatchesOnly, Action::Centre], never),
];

impl App {
    /// Whether the colours of frames have a meaning to choose.
    pub(crate) fn may_recolour(&self) -> bool {
        self.screen.theme.fills() && self.query.against.is_none()
    }
}

impl ViewType for Flame {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let area = app.layout().rows;
        rows::list(data, shape, &app.views.flame.zoom, (area.width, area.height))
    }

    fn choices(&self, app: &App) -> u64 {
        number_of((app.layout().rows, &app.views.flame.zoom))
    }

    fn first<'a>(&self, data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
        rows::largest(data, rows)
    }

    fn settle(&self, app: &mut App) {
        app.flame_settle();
    }

    fn step_back(&self, app: &mut App) -> bool {
        app.zoom_all()
    }

    fn way_back(&self, app: &App) -> Option<&'static str> {
        let is_zoomed = app.views.flame.is_zoomed();
        is_zoomed.then_some("zoom out").or_else(|| app.way_back())
    }

    fn reveal(&self, app: &mut App, what: What) -> bool {
        app.flame_reveal(what);
        true
    }

    fn click(&self, app: &mut App, at: Position, line: usize) {
        app.flame_click(at.x, line);
    }

    fn wheel(&self, app: &mut App, rows: isize, _at: Position) -> bool {
        let page = app.page().max(1);
        app.views.flame.scroll(rows, page);
        true
    }

    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout.with_large_pane()
    }

    fn lines_of_row(&self, app: &App) -> u16 {
        app.views.flame.frames.rows_of_frame()
    }

    fn scrolled(&self, app: &App) -> (usize, usize) {
        (app.views.flame.top, app.views.flame.frames.lines())
    }

    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        graph::title(canvas, app, data, area);
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        graph::draw(canvas, app, data, area);
    }

    fn legend(&self, legend: &Legend) -> String {
        let (dot, of) = (legend.glyphs.dot, legend.of);
        let off = match legend.has_two_tones {
            true => format!("{dot}{} off CPU", legend.glyphs.off_cpu[1].repeat(3)),
            false => String::new(),
        };
        format!("a frame is as wide as its {of}{dot}blank below a frame: its self {of}{off}")
    }
}

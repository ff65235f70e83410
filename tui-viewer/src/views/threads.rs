//! View Threads: threads with their load and current function.

mod columns;
mod pane;
#[cfg(test)]
mod tests;

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::Figures;

use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Row, RowId};
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;
use crate::app::state::App;
use crate::app::threads::RunState;
use crate::app::timeline::Lanes;
use crate::app::update::acts::{Act, act, has_rows};
use crate::app::{names, threads};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Place;
use crate::views::timeline::TimeColumns;
use crate::views::view_type::{About, ViewType};

#[derive(Debug)]
pub(crate) struct Threads;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    rows: "threads",
    stays_at_top: true,
    ..About::LIST
};

const ACTS: &[Act] = &[act(&[Action::Enter], has_rows, App::enter_thread)];

impl ViewType for Threads {
    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        list(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn weigh(&self, _app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        match data.threads()[row.what.row as usize].run_state {
            RunState::Finished => [Meaning::Quiet; 2],
            RunState::Running | RunState::Waiting | RunState::Paused | RunState::Idle => [Meaning::Plain; 2],
        }
    }

    fn why_empty(&self, _app: &App, _data: &Data) -> Option<String> {
        Some("No thread has entered a scope since the program began.".to_string())
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        let places = columns::places(app.screen.size.width);
        let course = places.iter().find(|place| *place.column == columns::COURSE)?;
        Some(TimeColumns {
            columns: course.width,
            lanes: Lanes::Threads,
            is_strip: true,
        })
    }

    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        pane::detail(canvas, app, data, row.what.row, area);
    }
}

impl RowTable for Threads {
    fn count(&self, data: &Data) -> u32 {
        data.threads().len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Thread(data.threads()[row as usize].key)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let row = &data.threads()[row as usize];
        Figures {
            total_ns: row.measured_ns,
            self_ns: row.measured_ns,
            calls: row.calls,
            ..Figures::default()
        }
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(&data.threads()[row as usize].name)
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn is_hit(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        let row = &data.threads()[row as usize];
        let doing = row.doing.is_some_and(|function| matcher.finds(function));
        doing || names::contains(&row.name, &matcher.text)
    }
}

/// Returns the threads as a list. Equal threads are in the order of numbers in their names: `job-2` before `job-10`.
pub(crate) fn list(data: &Data, shape: &Shape<'_>) -> Listing {
    let all = threads::busiest_first(&data.snapshot);
    listing::walk(data, shape, View::Threads.rows(all.into_iter().map(|id| id.0)))
}

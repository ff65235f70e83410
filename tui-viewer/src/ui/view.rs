//! Draws the app into a buffer of cells. Drawing does not change the app, and reads only the rows that are on the
//! screen.

pub(crate) mod canvas;
pub(crate) mod charts;
pub(crate) mod column;
pub(crate) mod counter;
pub(crate) mod detail;
pub(crate) mod difference;
pub(crate) mod figure;
mod footer;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod golden_counters;
#[cfg(test)]
mod golden_moments;
#[cfg(test)]
pub(crate) mod golden_tables;
mod header;
#[cfg(test)]
pub(crate) mod invariants;
pub(crate) mod lane;
pub(crate) mod large_pane;
pub(crate) mod latency;
pub(crate) mod place;
pub(crate) mod popup;
pub(crate) mod rows;
pub(crate) mod table;
mod tabs;
pub(crate) mod unit;
mod waiting;

use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use crate::app::layout::SMALLEST;
use crate::app::state::{App, Overlay};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let layout = app.layout();
    let mut canvas = Canvas::new(buffer, app.screen.theme, app.screen.ascii);
    if layout.too_small {
        return too_small(&mut canvas, app.screen.size);
    }
    header::draw(&mut canvas, app, layout.header);
    match &app.derived.data {
        Some(data) => {
            if let Some(area) = layout.tabs {
                tabs::draw(&mut canvas, app, area);
            }
            let view = app.views.current.kind();
            if let Some(area) = layout.title {
                view.title(&mut canvas, app, data, area);
            }
            view.heading(&mut canvas, app, data, layout.columns);
            view.draw(&mut canvas, app, data, layout.rows);
            view.below(&mut canvas, app, data, &layout);
            if let Some(area) = layout.detail {
                view.pane(&mut canvas, app, data, area);
            }
            if let Some(area) = layout.banner {
                footer::banner(&mut canvas, app, area);
            }
        }
        None => waiting::draw(&mut canvas, app, &layout),
    }
    footer::draw(&mut canvas, app, &layout);
    match &app.overlay {
        Some(Overlay::Help(help)) => popup::help_list(&mut canvas, app, help),
        Some(Overlay::Threads { index, order }) => popup::thread_list(&mut canvas, app, *index, order),
        Some(Overlay::Modes { index }) => popup::mode_list(&mut canvas, app, *index),
        Some(Overlay::Confirm(request)) => popup::confirm(&mut canvas, app, *request),
        // The footer draws the search at the bottom of the screen.
        Some(Overlay::Search) | None => {}
    }
}

fn too_small(canvas: &mut Canvas<'_>, size: Size) {
    let text = format!("{}x{} needed", SMALLEST.width, SMALLEST.height);
    let now = format!("{}x{} now", size.width, size.height);
    let long = format!("{text}, {now}");
    let text = if long.len() <= usize::from(size.width) {
        long
    } else {
        text
    };
    let cells = text.len() as u16;
    let x = size.width.saturating_sub(cells) / 2;
    canvas.put(x, size.height / 2, cells, &text, Meaning::Plain);
}

//! From the app to cells. Nothing here changes the app, and only rows on the screen are looked at.

mod banner;
mod bar;
mod call_counts;
mod canvas;
mod charts;
mod counter;
mod detail;
mod difference;
mod figure;
mod flame;
mod footer;
mod function;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod golden_counters;
#[cfg(test)]
mod golden_moments;
#[cfg(test)]
mod golden_tables;
mod header;
mod help;
#[cfg(test)]
mod invariants;
mod lane;
mod large_pane;
mod latency;
mod legend;
mod marks;
mod modes;
mod picker;
mod popup;
mod rows;
mod sites;
mod slow;
mod source;
mod spark;
mod tabs;
mod tails;
mod tasks;
mod threads;
mod timeline;
mod titles;
mod unit;
mod waiting;

use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use crate::app::layout::SMALLEST;
use crate::app::overlay::Overlay;
use crate::app::state::App;
use crate::app::view::{Below, View};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Draws the whole screen.
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
            match (layout.title, app.views.current) {
                (Some(area), View::Slow) => slow::title(&mut canvas, app, area),
                (Some(area), _) => function::title(&mut canvas, app, data, area),
                (None, _) => {}
            }
            match app.views.current {
                View::Flame => flame::title(&mut canvas, app, data, layout.columns),
                View::Timeline => timeline::axis(&mut canvas, app, layout.columns),
                View::Slow if app.offers_tails() => tails::titles(&mut canvas, layout.columns),
                View::Tree
                | View::Hot
                | View::Function
                | View::Threads
                | View::Sites
                | View::Tasks
                | View::Slow => titles::draw(&mut canvas, app, layout.columns),
            }
            match app.views.current {
                View::Tree | View::Hot | View::Function => rows::draw(&mut canvas, app, data, layout.rows),
                View::Threads => threads::draw(&mut canvas, app, data, layout.rows),
                View::Timeline => timeline::draw(&mut canvas, app, data, layout.rows),
                View::Flame => flame::draw(&mut canvas, app, data, layout.rows),
                View::Sites => sites::draw(&mut canvas, app, data, layout.rows),
                View::Tasks => tasks::draw(&mut canvas, app, data, layout.rows),
                View::Slow if app.offers_tails() => tails::draw(&mut canvas, app, data, layout.rows),
                View::Slow => slow::draw(&mut canvas, app, data, layout.rows),
            }
            if let Some(area) = layout.charts {
                function::charts(&mut canvas, app, data, area);
            }
            if let Some(area) = layout.source {
                source::draw(&mut canvas, app, area);
            }
            match (layout.second, app.below()) {
                (Some(area), Below::Flame) => flame::below(&mut canvas, app, data, area),
                (Some(area), Below::Timeline) => timeline::below(&mut canvas, app, data, area),
                (Some(_), Below::Nothing) | (None, _) => {}
            }
            match (layout.detail, app.views.current) {
                (Some(area), View::Slow) => slow::calls(&mut canvas, app, data, area),
                (Some(area), View::Timeline) => timeline::parts(&mut canvas, app, data, area),
                (Some(area), _) if layout.has_large_pane => large_pane::draw(&mut canvas, app, data, area),
                (Some(area), _) => detail::draw(&mut canvas, app, data, area),
                (None, _) => {}
            }
            if let Some(area) = layout.banner {
                banner::draw(&mut canvas, app, area);
            }
        }
        None => waiting::draw(&mut canvas, app, &layout),
    }
    footer::draw(&mut canvas, app, &layout);
    match &app.overlay {
        Some(Overlay::Help(help)) => help::draw(&mut canvas, app, help),
        Some(Overlay::Threads { index, order }) => popup::thread_list(&mut canvas, app, *index, order),
        Some(Overlay::Modes { index }) => modes::draw(&mut canvas, app, *index),
        Some(Overlay::Confirm(request)) => popup::confirm(&mut canvas, app, *request),
        // A line at the bottom of the screen, which the footer draws.
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

//! From the model to cells. Nothing here changes the model, and only rows on the screen are looked at.

mod banner;
mod bar;
mod call_counts;
mod canvas;
mod command_line;
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
mod latency;
mod marks;
mod modes;
mod picker;
mod popup;
mod rows;
mod sites;
mod spark;
mod tabs;
mod threads;
mod titles;
mod unit;
mod waiting;

use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use crate::app::layout::SMALLEST;
use crate::app::popup::Popup;
use crate::app::state::Model;
use crate::app::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Pen;

/// Draws the whole screen.
pub(crate) fn draw(model: &Model, buffer: &mut Buffer) {
    let layout = model.layout();
    let mut pen = Pen::new(buffer, model.theme, model.ascii);
    if layout.too_small {
        return too_small(&mut pen, model.size);
    }
    header::draw(&mut pen, model, layout.header);
    match &model.data {
        Some(data) => {
            if let Some(area) = layout.tabs {
                tabs::draw(&mut pen, model, area);
            }
            if let Some(area) = layout.title {
                function::title(&mut pen, model, data, area);
            }
            match model.view {
                View::Flame => flame::title(&mut pen, model, data, layout.columns),
                View::Tree | View::Hot | View::Function | View::Threads | View::Sites => {
                    titles::draw(&mut pen, model, layout.columns)
                }
            }
            match model.view {
                View::Tree | View::Hot | View::Function => rows::draw(&mut pen, model, data, layout.rows),
                View::Threads => threads::draw(&mut pen, model, data, layout.rows),
                View::Flame => flame::draw(&mut pen, model, data, layout.rows),
                View::Sites => sites::draw(&mut pen, model, data, layout.rows),
            }
            if let Some(area) = layout.detail {
                detail::draw(&mut pen, model, data, area);
            }
            if let Some(area) = layout.banner {
                banner::draw(&mut pen, model, area);
            }
        }
        None => waiting::draw(&mut pen, model, &layout),
    }
    footer::draw(&mut pen, model, &layout);
    match model.popup {
        Some(Popup::Help { scroll }) => help::draw(&mut pen, model, scroll),
        Some(Popup::Threads { index }) => popup::thread_list(&mut pen, model, index),
        Some(Popup::Modes { index }) => modes::draw(&mut pen, model, index),
        Some(Popup::Ask(request)) => popup::ask(&mut pen, model, request),
        None => {}
    }
}

fn too_small(pen: &mut Pen<'_>, size: Size) {
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
    pen.put(x, size.height / 2, cells, &text, Meaning::Plain);
}

//! The line above the list: what stands in each column, and which one sorts.

use ratatui::layout::Rect;

use crate::columns::{self, Column};
use crate::model::Model;
use crate::theme::Meaning;
use crate::view::pen::Pen;

/// Draws the line.
pub(super) fn draw(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let sort = model.list().sort;
    let mark = if sort.rises() {
        pen.glyphs.rises
    } else {
        pen.glyphs.falls
    };
    let mut marked = false;
    for place in columns::places(model.view, area.width) {
        // In place of the bar stands by how much a call got slower.
        let title = match place.width {
            _ if place.column != Column::Bar || model.compared().is_none() => place.column.title(),
            0..10 => "AVG %",
            _ => "AVG change",
        };
        let sorts = !marked && place.column.sort_key() == Some(sort.key);
        marked |= sorts;
        let (text, meaning) = if sorts {
            (format!("{title}{mark}"), Meaning::Sorted)
        } else {
            (title.to_string(), Meaning::Quiet)
        };
        if place.column.is_number() {
            pen.put_right(place.x, area.y, place.width, &text, meaning);
        } else {
            pen.put(place.x, area.y, place.width, &text, meaning);
        }
    }
}

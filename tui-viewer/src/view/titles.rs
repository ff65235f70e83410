//! The line above the list: what stands in each column, and which one sorts.

use ratatui::layout::Rect;

use crate::columns::{self, Column};
use crate::model::Model;
use crate::theme::Meaning;
use crate::view::pen::Pen;

/// From this width on the line of tabs has room for what part of the calls is shown.
const ROOM_IN_TABS: u16 = 110;

/// The words above a column.
fn title(model: &Model, column: Column, width: u16) -> String {
    let bottom_up = model.data.as_ref().is_some_and(|data| data.bottom_up);
    if bottom_up && column == Column::SelfShare {
        // What stands at the top of a thread is all that a row has itself there.
        return "%TOP".to_string();
    }
    if bottom_up && column == Column::SelfTime {
        return "TOP".to_string();
    }
    let mut words = vec![column.title().to_string()];
    if column == Column::Name && (model.layout().tabs.is_none() || width < ROOM_IN_TABS) {
        words.extend(model.lens.words(model.view));
    }
    words.join("  ")
}

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
        let title = title(model, place.column, area.width);
        let sorts = !marked && place.column.sort_key() == Some(sort.key);
        marked |= sorts;
        let (text, meaning) = if sorts {
            (format!("{title}{mark}"), Meaning::Sorted)
        } else {
            (title, Meaning::Quiet)
        };
        if place.column.is_number() {
            pen.put_right(place.x, area.y, place.width, &text, meaning);
        } else {
            pen.put_cut(place.x, area.y, place.width, &text, meaning);
        }
    }
}

//! The second line on tall screens: the views, and how this one is set.

use ratatui::layout::Rect;

use crate::cells::{safe, width};
use crate::columns;
use crate::model::Model;
use crate::model::view::View;
use crate::theme::Meaning;
use crate::view::pen::Pen;

/// Draws the line.
pub(super) fn draw(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let end = views(pen, model, area.x + 1, area.y);
    let settings = settings(pen, model);
    let mut room = usize::from(area.right().saturating_sub(end + 3));
    let mut x = area.right().saturating_sub(1);
    for text in settings.iter().rev() {
        let cells = width(text);
        if cells > room {
            break;
        }
        x = x.saturating_sub(cells as u16);
        pen.put(x, area.y, cells as u16, text, Meaning::Quiet);
        x = x.saturating_sub(3);
        room = room.saturating_sub(cells + 3);
    }
}

/// `[1 Tree]  2 Hot`; gives the cell after it.
pub(super) fn views(pen: &mut Pen<'_>, model: &Model, mut x: u16, y: u16) -> u16 {
    for (index, view) in View::ALL.into_iter().enumerate() {
        let text = format!("{} {}", index + 1, view.title());
        x = if view == model.view {
            pen.put(x, y, 20, &format!("[{text}]"), Meaning::Strong)
        } else {
            pen.put(x, y, 20, &format!(" {text} "), Meaning::Quiet)
        };
        x += 1;
    }
    x
}

fn settings(pen: &Pen<'_>, model: &Model) -> Vec<String> {
    let sort = model.list().sort;
    let column = columns::places(model.view, u16::MAX)
        .into_iter()
        .find(|place| place.column.sort_key() == Some(sort.key))
        .map_or("", |place| place.column.title());
    let mark = if sort.rises() {
        pen.glyphs.rises
    } else {
        pen.glyphs.falls
    };
    let mut all = vec![
        format!("sort {column} {mark}"),
        model.base().label().to_string(),
        safe(&model.scope.label(), pen.ascii).into_owned(),
    ];
    let times = model.mark_label().into_iter().chain(model.time_labels());
    all.extend(times.map(|label| safe(&label, pen.ascii).into_owned()));
    if model.compensated {
        // At the end: it is the last to give way.
        all.push("compensated (at least)".to_string());
    }
    all
}

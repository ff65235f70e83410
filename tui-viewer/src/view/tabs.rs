//! The second line on tall screens: the views, and how this one is set.

use ratatui::layout::Rect;

use crate::cells::{cut_end, cut_middle, safe, width};
use crate::columns::{self, Column};
use crate::model::Model;
use crate::model::scope::Scope;
use crate::model::view::{TabForm, View};
use crate::theme::Meaning;
use crate::view::pen::Pen;

/// From this width on the line says what numbers are per; below, the header does in fewer words.
pub(super) const WORDY: u16 = 100;

/// What numbers are per takes no more cells.
const LONGEST_UNIT: usize = 40;

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

/// `[1 Tree]  2 Hot`, in short `[1 Tree] 2`; gives the cell after it.
pub(super) fn views(pen: &mut Pen<'_>, model: &Model, mut x: u16, y: u16) -> u16 {
    let form = TabForm::of(&model.layout());
    for view in View::ALL {
        let meaning = if view == model.view {
            Meaning::Strong
        } else {
            Meaning::Quiet
        };
        x = pen.put(x, y, 20, &view.tab(model.view, form), meaning) + form.gap();
    }
    x
}

fn settings(pen: &Pen<'_>, model: &Model) -> Vec<String> {
    let sort = model.list().sort;
    let compares = model.compared().is_some();
    let places = columns::places(model.view, u16::MAX);
    let column = columns::sorting(&places, sort.key, compares).map(Column::title);
    let mark = if sort.rises() {
        pen.glyphs.rises
    } else {
        pen.glyphs.falls
    };
    let mut all = Vec::new();
    // What is not sorted, and what has no percents, needs no word for it.
    let changes = compares && sort.key.is_compared();
    let sorted = column.map(|column| match changes {
        // The mark above the columns says of which.
        true if model.size.width < WORDY => format!("by change {mark}"),
        true => format!("sort: change of {column} {mark}"),
        false => format!("sort {column} {mark}"),
    });
    all.extend(sorted.clone().filter(|_| !changes));
    if !matches!(model.view, View::Threads | View::Sites) {
        all.push(model.base_label().to_string());
    }
    // A site's calls are those of every thread, whoever is chosen.
    all.push(match model.view {
        View::Sites => Scope::All.label(),
        View::Tree | View::Hot | View::Function | View::Threads | View::Flame => {
            safe(&model.scope.label(), pen.ascii).into_owned()
        }
    });
    // Largest change first is not what one expects: it is among the last to give way.
    all.extend(sorted.filter(|_| changes));
    let words = model.lens.words(model.view);
    all.extend(
        words
            .iter()
            .map(|words| cut_middle(&safe(words, pen.ascii), 30, pen.glyphs.cut).into_owned()),
    );
    let times = model.mark_label().into_iter().chain(model.time_labels());
    all.extend(times.map(|label| safe(&label, pen.ascii).into_owned()));
    if model.compensated {
        // At the end: it is the last to give way.
        all.push("compensated (at least)".to_string());
    }
    if model.size.width >= WORDY {
        all.extend(model.unit_words(true).iter().map(|words| {
            let words = safe(words, pen.ascii);
            cut_end(&words, LONGEST_UNIT, pen.glyphs.cut).into_owned()
        }));
    }
    all
}

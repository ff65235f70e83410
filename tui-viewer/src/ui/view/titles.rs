//! Line above the list: the title of each column, and the mark of the column that sorts.

use ratatui::layout::Rect;

use crate::app::columns;
use crate::app::columns::Column;
use crate::app::columns::functions::FunctionColumn;
use crate::app::columns::place::Place;
use crate::app::columns::sites::SiteColumn;
use crate::app::columns::slow::SlowColumn;
use crate::app::columns::spec::Align;
use crate::app::columns::tasks::TaskColumn;
use crate::app::state::App;
use crate::text::cells::{cut_middle, width};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::slow;

/// Width from which on the line of tabs has room for the filter of calls.
const ROOM_IN_TABS: u16 = 110;

/// Returns the title of a column.
fn title(canvas: &Canvas<'_>, app: &App, place: &Place<Column>, screen: u16) -> String {
    let column = place.column;
    let bottom_up = app.derived.data.as_ref().is_some_and(|data| data.bottom_up);
    if bottom_up && column == Column::Function(FunctionColumn::SelfShare) {
        // At the top of a thread, all time of a row is its own.
        return "%TOP".to_string();
    }
    if bottom_up && column == Column::Function(FunctionColumn::SelfTime) {
        return "TOP".to_string();
    }
    let said_above = app.layout().tabs.is_some() && screen >= ROOM_IN_TABS;
    let names = matches!(
        column,
        Column::Function(FunctionColumn::Name)
            | Column::Site(SiteColumn::Name)
            | Column::Task(TaskColumn::Name)
            | Column::Slow(SlowColumn::Name)
    );
    let words = match names && !said_above {
        true => app.query.filter.words(app.views.current).join("  "),
        false => String::new(),
    };
    // The mark of the order needs one cell.
    let room = usize::from(place.width.saturating_sub(1));
    let title = column.spec().title;
    let fits = |all: &String| width(all) <= room;
    if words.is_empty() {
        let means = if column == Column::Slow(SlowColumn::Name) {
            slow::whose_means(app)
        } else {
            Vec::new()
        };
        let all = means.iter().map(|words| format!("{title}  {words}")).find(fits);
        return all.unwrap_or_else(|| title.to_string());
    }
    let all = format!("{title}  {words}");
    match fits(&all) {
        true => all,
        false => cut_middle(&words, room, canvas.glyphs.cut).into_owned(),
    }
}

/// Draws the line.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let sort = app.list().sort;
    let mark = if sort.rises() {
        canvas.glyphs.rises
    } else {
        canvas.glyphs.falls
    };
    let places = app.views.current.kind().columns(area.width);
    let sorting = columns::sorting(&places, sort.key, app.compared().is_some());
    for place in places {
        // Where moments are compared, the change of the mean stands in place of the bar.
        let title = match place.width {
            _ if place.column != Column::Function(FunctionColumn::Bar) || app.compared().is_none() => {
                title(canvas, app, &place, area.width)
            }
            0..10 => "AVG %".to_string(),
            _ => "AVG change".to_string(),
        };
        let (text, meaning) = if sorting == Some(place.column) {
            (format!("{title}{mark}"), Meaning::Sorted)
        } else {
            (title, Meaning::Quiet)
        };
        if place.column.spec().align == Align::Right {
            canvas.put_right(place.x, area.y, place.width, &text, meaning);
        } else {
            canvas.put_cut(place.x, area.y, place.width, &text, meaning);
        }
    }
}

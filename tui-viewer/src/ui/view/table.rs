//! The table in which every list is drawn: the titles of its columns, and the cells of the visible rows.

use std::cell::OnceCell;
use std::ops::Range;

use ratatui::layout::{Margin, Rect};

use crate::app::data::Data;
use crate::app::row::Row;
use crate::app::sort::{Order, Sort};
use crate::app::state::App;
use crate::app::views::List;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::column::{Cell, Column, Content, Look, Place};
use crate::ui::view::{figure, rows};

/// Returns the column that an order sorts by. In a comparison, this is the column with the number rather than its
/// share, because shares at the two moments refer to different totals.
pub(crate) fn sorting(places: &[Place], order: Order, compares: bool) -> Option<&'static Column> {
    let mut columns = places
        .iter()
        .map(|place| place.column)
        .filter(|column| column.sort == Some(order));
    let first = columns.next()?;
    match compares && first.is_share() {
        true => columns.next().or(Some(first)),
        false => Some(first),
    }
}

/// Returns the mark that shows the direction of an order.
pub(crate) fn mark(canvas: &Canvas<'_>, sort: Sort) -> &'static str {
    match sort.rises() {
        true => canvas.glyphs.rises,
        false => canvas.glyphs.falls,
    }
}

/// Draws the titles of the columns, with a mark at the column that rows are sorted by.
pub(crate) fn titles(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let sort = app.list().sort;
    let mark = mark(canvas, sort);
    let places = app.places(area);
    let sorting = sorting(&places, sort.key, app.compared().is_some());
    for Place { column, x, width } in places {
        let title = column.title_now.and_then(|title| title(app, width));
        let title = title.unwrap_or_else(|| column.title.to_string());
        let (text, meaning) = match sorting == Some(column) {
            true => (format!("{title}{mark}"), Meaning::Sorted),
            false => (title, Meaning::Quiet),
        };
        match column.is_number {
            true => canvas.put_right(x, area.y, width, &text, meaning),
            false => {
                canvas.put_cut(x, area.y, width, &text, meaning);
            }
        }
    }
}

/// Draws the visible rows or, if there are none, the reason why.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let (list, kind) = (app.list(), app.views.current.kind());
    if list.rows.is_empty() {
        if let Some(why) = kind.why_empty(app, data) {
            rows::tell(canvas, area, &why);
        }
        return;
    }
    let lists = kind.lists(app, area);
    if let [(first, _), _] = &lists[..] {
        divide(canvas, list, *first);
    }
    let names_fit = OnceCell::new();
    for ((area, places), rows) in lists.into_iter().zip(list.on_screen()) {
        each_of(canvas, app, data, (area, rows), |canvas, row, y, look| {
            let weights = kind.weigh(app, data, row);
            for (at, &place) in places.iter().enumerate() {
                let cell = Cell {
                    app,
                    data,
                    row,
                    place,
                    y,
                    look,
                    is_first: at == 0,
                    weights,
                    names_fit: &names_fit,
                };
                draw_cell(canvas, &cell);
            }
        });
    }
}

fn draw_cell(canvas: &mut Canvas<'_>, cell: &Cell<'_>) {
    let column = cell.place.column;
    let text = match column.content {
        Content::Value(value) => figure::text(canvas, cell.app, cell.data, cell.row.what, value),
        Content::Text(text) => text(canvas, cell),
        Content::Drawn(draw) => return draw(canvas, cell),
    };
    let meaning = column
        .meaning
        .map_or_else(|| cell.usual(), |meaning| meaning(cell));
    cell.put(canvas, &text, meaning);
}

/// Draws a vertical line between two lists.
fn divide(canvas: &mut Canvas<'_>, list: &List, first: Rect) {
    let side = canvas.glyphs.frame[4];
    let area = Rect::new(first.right(), first.y, 1, first.height);
    for y in area.top()..area.bottom() {
        canvas.put(area.x, y, 1, side, Meaning::Rule);
    }
    let is_heading = |rows: Range<usize>| list.rows.get(rows.start).is_some_and(Row::is_heading);
    if area.height > 0 && list.on_screen().all(is_heading) {
        canvas.rule(Rect { height: 1, ..area });
    }
}

/// Draws as many of these rows as fit, and highlights the selected one.
fn each_of<'a>(
    canvas: &mut Canvas<'a>,
    app: &App,
    data: &Data,
    (area, rows): (Rect, Range<usize>),
    mut line: impl FnMut(&mut Canvas<'a>, &Row, u16, Look),
) {
    let list = app.list();
    let stale = app.is_stale();
    for (index, y) in rows.zip(area.top()..area.bottom()) {
        let Some(row) = list.rows.get(index) else { return };
        if row.is_heading() {
            heading(canvas, data.label(row.what), Rect { y, height: 1, ..area });
            continue;
        }
        let selected = index == list.cursor.index;
        if selected {
            canvas.select(Rect { y, height: 1, ..area });
        }
        line(canvas, row, y, Look { selected, stale });
    }
}

/// Draws a dividing line that contains a list's heading.
fn heading(canvas: &mut Canvas<'_>, text: &str, area: Rect) {
    canvas.rule(area);
    let inner = area.inner(Margin::new(1, 0));
    Pen::on(canvas, inner, 0).put(&format!(" {text} "), Meaning::Quiet);
}

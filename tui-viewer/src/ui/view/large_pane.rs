//! The large pane, beside the list or below it: like the small pane, but with more details, for which only large
//! terminals have room.

use ratatui::layout::Rect;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::function::Around;
use crate::app::row::{Row, share};
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::charts::{Column, bar, seconds};
use crate::ui::view::detail;
use crate::ui::view::latency::latencies;

/// Maximum number of entries in each list of callers, callees or threads.
const NAMED: usize = 6;

/// Width in cells of the bar next to a name.
const BAR: u16 = 12;

/// Width in cells of the label before a figure.
const WORDS: u16 = 13;

/// Number of columns in a pane below the list: one for the row itself, one for its latencies and activity, and one for
/// its callers and callees.
const COLUMNS_BELOW: u16 = 3;

/// Columns of the pane. If there is only one, it contains all parts.
struct Columns(Vec<Column>);

impl Columns {
    fn on(area: Rect, count: u16) -> Self {
        let each = area.width / count;
        let column = |index: u16| {
            let x = area.x + index * each;
            // Two cells are left empty between columns.
            let width = match index + 1 < count {
                true => each.saturating_sub(2),
                false => area.right() - x,
            };
            Column::on(Rect { x, width, ..area })
        };
        Self((0..count).map(column).collect())
    }

    /// Returns the column with this index, or the last column.
    fn at(&mut self, place: usize) -> &mut Column {
        let last = self.0.len() - 1;
        &mut self.0[place.min(last)]
    }
}

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let is_below = area.x == app.layout().area.x;
    if is_below {
        canvas.rule(area);
    } else {
        let side = canvas.glyphs.frame[4];
        for y in area.top()..area.bottom() {
            canvas.put(area.x, y, 1, side, Meaning::Rule);
        }
    }
    let Some(row) = app.list().selected() else { return };
    let row = &data.in_full(row);
    // A pane below the list begins with a dividing line. The last line of every pane explains the columns.
    let lines = u16::from(is_below);
    let inner = Rect {
        y: area.y + lines,
        height: area.height.saturating_sub(2 + lines),
        ..detail::inside(area)
    };
    let mut columns = Columns::on(inner, if is_below { COLUMNS_BELOW } else { 1 });
    let column = columns.at(0);
    name(canvas, data, row, column);
    for (word, text) in detail::facts(canvas, app, data, row) {
        if let Some(room) = column.room(1) {
            canvas.put(room.x, room.y, WORDS, word, Meaning::Quiet);
            let mut pen = Pen::on(canvas, room, 0);
            pen.skip(WORDS);
            pen.put_cut(&text, Meaning::Plain);
            column.y += 1;
        }
    }
    if let Some(room) = column.room(1) {
        let mut pen = Pen::on(canvas, room, 0);
        detail::waits(&mut pen, app, data, row);
        column.y += u16::from(pen.x > room.x);
    }
    latencies(canvas, app, data, row.what, columns.at(1));
    let of_row = app.derived.detail.as_ref();
    if let Some(around) = of_row.and_then(|of_row| of_row.around.as_ref()) {
        links(canvas, data, around, columns.at(2));
    }
    seconds(canvas, app, row.id, columns.at(1));
    if let Some(of_row) = of_row {
        listed(canvas, "threads", &of_row.threads, columns.at(0));
    }
    let bottom = area.bottom() - 1 - inner.y;
    let notes = detail::remarks(canvas, app, data, row);
    match notes.is_empty() {
        false => canvas.line(inner, bottom, &notes, Meaning::Quiet),
        true => detail::hint(canvas, app, inner, bottom),
    }
}

fn name(canvas: &mut Canvas<'_>, data: &Data, row: &Row, column: &mut Column) {
    let Rect { x, width: cells, .. } = column.area;
    let full = canvas.cut_middle(data.full_name(row.what), cells.into());
    canvas.put(x, column.y, cells, &full, Meaning::Strong);
    let place = detail::place_of(data, row);
    let place = canvas.safe(&place);
    let place = canvas.cut_start(&place, cells.into());
    canvas.put(x, column.y + 1, cells, &place, Meaning::Quiet);
    column.y += 3;
}

/// Draws the callers of the function, and where its time goes.
fn links(canvas: &mut Canvas<'_>, data: &Data, around: &Around, column: &mut Column) {
    let named = |lines: std::ops::Range<u32>| -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = lines
            .map(|line| {
                let label = around.label(line).map(str::to_string);
                let name = around
                    .function(line)
                    .and_then(|function| data.names.short.get(function.index()));
                let name = label.or_else(|| name.cloned()).unwrap_or_default();
                (name, around.figures(line).total_ns)
            })
            .collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    };
    // The line for the function's self time comes directly before the lines of its callees.
    let goes_to = around.own()..around.callees().end;
    for (heading, list) in [
        ("called from", named(around.callers())),
        ("where its time goes", named(goes_to)),
    ] {
        let whole = list.iter().map(|(_, ns)| ns).sum();
        let parts: Vec<(String, f64)> = list
            .into_iter()
            .map(|(name, ns)| (name, share(ns, whole)))
            .collect();
        listed(canvas, heading, &parts, column);
    }
}

/// Draws names with their shares, one per line.
fn listed(canvas: &mut Canvas<'_>, heading: &str, parts: &[(String, f64)], column: &mut Column) {
    if parts.is_empty() {
        return;
    }
    let Some(room) = column.heading(canvas, heading, 1) else {
        return;
    };
    let lines = NAMED.min(parts.len()).min(usize::from(room.height));
    for (line, (name, part)) in parts.iter().take(lines).enumerate() {
        let y = room.y + line as u16;
        canvas.put(room.x, y, BAR, &bar(*part, BAR, canvas.glyphs), Meaning::Warm);
        canvas.put_right(room.x + BAR, y, 7, &number::percent(*part), Meaning::Plain);
        let more = match parts.len() - lines {
            more @ 1.. if line + 1 == lines => format!("  +{more} more"),
            _ => String::new(),
        };
        let x = room.x + BAR + 9;
        let cells = usize::from(room.right().saturating_sub(x)).saturating_sub(width(&more));
        let x = canvas.put_cut(x, y, cells as u16, name, Meaning::Plain);
        canvas.put(x, y, room.right().saturating_sub(x), &more, Meaning::Quiet);
    }
    column.y += lines as u16;
}

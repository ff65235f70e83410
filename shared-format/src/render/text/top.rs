//! The functions that cost most themselves, wherever they are called.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use super::Page;
use super::columns::{Cells, Columns, Time, WIDTH_FOR_TOP};
use crate::profile::hot::{HotRow, hot};
use crate::render::label::place;
use crate::render::number;

/// A longer name pushes its own place to the right rather than everybody's.
const MAX_NAME_COLUMN: usize = 36;

/// Writes the list; tells whether a row is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> Result<bool, fmt::Error> {
    if page.options.top == 0 || page.tree.rows.is_empty() {
        return Ok(false);
    }
    let name = |row: &HotRow| page.labels[row.function.index()].as_str();
    let mut rows = hot(&page.tree);
    rows.sort_by_key(|row| {
        (
            Reverse(row.self_ns),
            Reverse(row.total_ns),
            name(row),
            row.function,
        )
    });
    let all = rows.len();
    rows.truncate(page.options.top);
    let is_doubtful = |row: &HotRow| page.snapshot.is_doubtful(row.total_ns, row.calls);
    let marked = |row: &HotRow| {
        let mark = if is_doubtful(row) {
            format!(" {}", page.glyphs.doubtful)
        } else {
            String::new()
        };
        format!("{}{mark}", name(row))
    };
    let width = rows
        .iter()
        .map(|row| marked(row).chars().count())
        .max()
        .unwrap_or(0)
        .clamp("FUNCTION".len(), MAX_NAME_COLUMN);
    writeln!(
        out,
        "\nTop functions by self time ({} of {all}): all their places added up, recursion once in TOTAL\n",
        rows.len(),
    )?;
    let columns = Columns::of(page, WIDTH_FOR_TOP);
    columns.write(out, &Cells::titles(["%SELF", "SELF", "TOTAL", "%TOT"]))?;
    writeln!(out, "{:<width$}  WHERE", "FUNCTION")?;
    for row in &rows {
        columns.write(out, &cells(page, row))?;
        let function = page.tree.functions.get(row.function);
        let place = place(&function.file, function.line, page.options.ascii);
        writeln!(out, "{:<width$}  {place}", marked(row))?;
    }
    Ok(rows.iter().any(is_doubtful))
}

fn cells(page: &Page<'_>, row: &HotRow) -> Cells {
    let total = Time::total(row.total_ns, row.spread);
    let own = Time::own(row.self_ns, row.spread);
    Cells {
        share: page.share_of(own),
        time: page.time(own),
        other_time: page.time(total),
        other_share: page.share_of(total),
        calls: number::count(row.calls),
        average: page.average(total, row.calls),
        latency: page.latency(&row.latency),
        errors: String::new(),
    }
}

//! The functions that cost most themselves, wherever they are called.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use super::Page;
use crate::profile::hot::{HotRow, hot};
use crate::render::label::place;
use crate::render::number;

/// A longer name pushes its own place to the right rather than everybody's.
const MAX_NAME_COLUMN: usize = 36;

pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    if page.options.top == 0 || page.tree.rows.is_empty() {
        return Ok(());
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
    let width = rows
        .iter()
        .map(|row| name(row).chars().count())
        .max()
        .unwrap_or(0)
        .clamp("FUNCTION".len(), MAX_NAME_COLUMN);
    writeln!(
        out,
        "\nTop functions by self time ({} of {all}): all their places added up, recursion once in TOTAL\n",
        rows.len(),
    )?;
    cells(out, ["%SELF", "SELF", "TOTAL", "%TOT", "CALLS", "AVG"])?;
    writeln!(out, "{:<width$}  WHERE", "FUNCTION")?;
    for row in &rows {
        cells(
            out,
            [
                &page.percent(row.self_ns),
                &page.duration(row.self_ns),
                &page.duration(row.total_ns),
                &page.percent(row.total_ns),
                &number::count(row.calls),
                &page.average(row.total_ns, row.calls),
            ],
        )?;
        let function = page.tree.functions.get(row.function);
        let place = place(&function.file, function.line, page.options.ascii);
        writeln!(out, "{:<width$}  {place}", name(row))?;
    }
    Ok(())
}

fn cells(out: &mut String, [own_share, own, total, share, calls, avg]: [&str; 6]) -> fmt::Result {
    write!(
        out,
        "{own_share:>6}  {own:>6}  {total:>6}  {share:>6}  {calls:>5}  {avg:>6}  "
    )
}

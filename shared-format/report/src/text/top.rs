//! The functions with the most self time. The values of a function are summed over all places from which it is called.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use tickscope_analysis::hotspots::{HotRow, hot};
use tickscope_analysis::measure::Measure;

use super::columns::{Cells, Columns, WIDTH_FOR_TOP};
use super::options::View;
use super::page::{Hidden, Page};
use crate::budget::off_for_the_budget;
use crate::label::{column_width, place};

/// Maximum width of the name column, in cells.
const MAX_NAME_COLUMN: usize = 36;

/// Writes up to `most` functions. Returns whether any of them is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>, most: usize) -> Result<bool, fmt::Error> {
    if most == 0 || page.tree.rows.is_empty() {
        return Ok(false);
    }
    let mut rows = by_self_time(page);
    let all = rows.len();
    // The other views list only a few functions, so small ones are not hidden.
    let hidden = (page.options.view == View::Hot).then(|| hide_small(page, &mut rows));
    rows.truncate(most);
    let marked = |row: &HotRow| marked(page, row);
    let width = column_width("FUNCTION", rows.iter().map(marked), MAX_NAME_COLUMN);
    if page.options.view == View::Both {
        writeln!(out)?;
    }
    writeln!(
        out,
        "Top functions by self {} ({} of {all}): all their places added up, recursion once in TOTAL",
        match page.options.by == Measure::Time && page.snapshot.waits {
            true => "time on a CPU",
            false => page.options.by.name(),
        },
        rows.len(),
    )?;
    let columns = Columns::of(page, WIDTH_FOR_TOP);
    if matches!(page.options.view, View::Hot | View::Top) {
        page.write_off_cpu(out, columns)?;
        page.write_sampled(out)?;
    }
    if page.options.view == View::Top
        && let Some(off) = off_for_the_budget(page.snapshot)
    {
        writeln!(out, "functions: {off}")?;
    }
    if rows.iter().any(|row| row.tally.is_some()) {
        page.write_counters(out)?;
    }
    writeln!(out)?;
    columns.write(out, &Cells::titles(page, ["%SELF", "SELF", "TOTAL", "%TOT"]))?;
    writeln!(out, "{:<width$}  WHERE", "FUNCTION")?;
    for row in &rows {
        columns.write(out, &Cells::of(page, row, &row.latency, row.uncertainty, true))?;
        let function = page.tree.functions.get(row.function);
        let place = place(&function.file, function.line, page.options.ascii);
        writeln!(out, "{:<width$}  {place}", marked(row))?;
    }
    if let Some(hidden) = hidden {
        hidden.write(out, page, "functions")?;
    }
    Ok(rows.iter().any(|row| page.is_doubtful(row)))
}

/// Returns all functions, sorted by decreasing self value. If the measure is time, only the part spent on a CPU counts.
pub(super) fn by_self_time(page: &Page<'_>) -> Vec<HotRow> {
    let mut rows = hot(&page.tree);
    let is_wall = page.options.by == Measure::Time;
    let working = |row: &HotRow| row.self_ns.saturating_sub(row.self_off.ns());
    rows.sort_by_key(|row| {
        (
            is_wall.then(|| Reverse(working(row))),
            Reverse(row.self_ns),
            Reverse(row.total_ns),
            page.labels[row.function.index()].as_str(),
            row.function,
        )
    });
    rows
}

/// Removes the functions whose self value is below the minimum share.
pub(super) fn hide_small(page: &Page<'_>, rows: &mut Vec<HotRow>) -> Hidden {
    let mut hidden = Hidden::default();
    rows.retain(|row| {
        let is_small = page.is_small(row, row.self_ns);
        if is_small {
            hidden.add(1, row.self_ns);
        }
        !is_small
    });
    hidden
}

/// Returns the label of a function, with a mark if its calls are so short that the measurement overhead makes up much
/// of their time.
pub(super) fn marked(page: &Page<'_>, row: &HotRow) -> String {
    let name = &page.labels[row.function.index()];
    if page.is_doubtful(row) {
        format!("{name} {}", page.glyphs.doubtful)
    } else {
        name.clone()
    }
}

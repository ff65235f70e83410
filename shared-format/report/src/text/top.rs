//! The functions with the most self time, each with all its call sites together.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use tickscope_analysis::hotspots::{HotRow, hot};
use tickscope_analysis::measure::Measure;

use super::columns::{Cells, Columns, WIDTH_FOR_TOP};
use super::options::View;
use super::page::Page;
use super::scale::Time;
use crate::budget::off_for_the_budget;
use crate::label::place;
use crate::number;

/// Cells of the column of names. A longer name only shifts the rest of its own line.
const MAX_NAME_COLUMN: usize = 36;

/// Writes the list of at most `most` functions, and returns whether a row is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>, most: usize) -> Result<bool, fmt::Error> {
    if most == 0 || page.tree.rows.is_empty() {
        return Ok(false);
    }
    let mut rows = by_self_time(page);
    let all = rows.len();
    // The list below the tree is short anyway.
    let hidden = (page.options.view == View::Hot).then(|| hide_small(page, &mut rows));
    rows.truncate(most);
    let marked = |row: &HotRow| marked(page, row);
    let width = rows
        .iter()
        .map(|row| marked(row).chars().count())
        .max()
        .unwrap_or(0)
        .clamp("FUNCTION".len(), MAX_NAME_COLUMN);
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
        columns.write(out, &cells(page, row))?;
        let function = page.tree.functions.get(row.function);
        let place = place(&function.file, function.line, page.options.ascii);
        writeln!(out, "{:<width$}  {place}", marked(row))?;
    }
    if let Some(hidden) = hidden {
        hidden.write(out, page)?;
    }
    Ok(rows.iter().any(|row| is_doubtful(page, row)))
}

/// Returns all functions, ordered by self value, the largest first. If the measure is time, the part on a CPU decides.
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

/// Functions that are not listed, and the sum of their self values.
pub(super) struct Hidden {
    functions: usize,
    self_ns: u64,
}

/// Removes the functions below the least share.
pub(super) fn hide_small(page: &Page<'_>, rows: &mut Vec<HotRow>) -> Hidden {
    let is_small = |row: &HotRow| row.tally.is_none() && page.share(row.self_ns) < page.options.min_share;
    let small = rows.iter().filter(|row| is_small(row));
    let hidden = small.fold(
        Hidden {
            functions: 0,
            self_ns: 0,
        },
        |sum, row| Hidden {
            functions: sum.functions + 1,
            self_ns: sum.self_ns.saturating_add(row.self_ns),
        },
    );
    rows.retain(|row| !is_small(row));
    hidden
}

impl Hidden {
    pub(super) fn write(&self, out: &mut String, page: &Page<'_>) -> fmt::Result {
        if self.functions == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "\n{} functions below {} are not shown (--all-rows shows them); together they have {}",
            self.functions,
            number::percent(page.options.min_share),
            page.percent(self.self_ns),
        )
    }
}

pub(super) fn is_doubtful(page: &Page<'_>, row: &HotRow) -> bool {
    let counted_ns = row.sampled.counted_ns(row.total_ns);
    row.tally.is_none() && page.snapshot.is_doubtful(counted_ns, row.calls)
}

/// Returns the function's name, with a mark if its calls are too short to tell much.
pub(super) fn marked(page: &Page<'_>, row: &HotRow) -> String {
    let name = &page.labels[row.function.index()];
    if is_doubtful(page, row) {
        format!("{name} {}", page.glyphs.doubtful)
    } else {
        name.clone()
    }
}

fn cells(page: &Page<'_>, row: &HotRow) -> Cells {
    if let Some(tally) = row.tally {
        let cells = Cells::counter(page, row.calls, tally, &row.latency);
        return Cells {
            errors: String::new(),
            ..cells
        };
    }
    let was_called = row.calls > 0 || row.open > 0;
    let total = Time::total(row.total_ns, row.total_ticks, row.uncertainty).if_called(was_called);
    let own = Time::own(row.self_ns, row.self_ticks, row.uncertainty).if_called(was_called);
    let (width, _) = page.time_cells();
    Cells {
        share: page.share_of(own),
        time: page.cell(own, width),
        other_time: page.cell(total, width),
        other_share: page.share_of(total),
        off_cpu: page.off_cpu(row.total_off),
        calls: page.calls(row.calls, row.sampled),
        average: page.average_of(total.counted(row.sampled), row.calls, row.asynchronous, width),
        latency: page.latency(&row.latency, row.uncertainty, row.calls),
        errors: String::new(),
    }
}

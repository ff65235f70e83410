//! The groups: what the outermost of their members took. They stand apart, because members are functions as well.

use std::fmt::{self, Write};

use super::Page;
use super::columns::{Cells, Columns, Time};
use crate::profile::groups::{GroupRow, groups};
use crate::render::escape::visible;
use crate::render::number;

/// So many members are named behind a group.
const NAMED: usize = 3;

/// A longer name pushes its own members to the right rather than everybody's.
const MAX_NAME_COLUMN: usize = 24;

/// Writes the list, if there are groups.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    let chosen = page.options.thread;
    let rows = groups(page.snapshot, |thread| chosen.is_none_or(|one| one == thread));
    if rows.is_empty() {
        return Ok(());
    }
    let name = |row: &GroupRow| visible(&row.name, page.options.ascii).into_owned();
    let width = rows
        .iter()
        .map(|row| name(row).chars().count())
        .max()
        .unwrap_or(0)
        .clamp("GROUP".len(), MAX_NAME_COLUMN);
    writeln!(
        out,
        "\nGroups ({}): TOTAL is inside the outermost member, OUTER its calls; members are functions of the list above\n",
        rows.len(),
    )?;
    let columns = Columns {
        estimates: page.has_estimates(),
        latencies: false,
        errors: false,
    };
    columns.write(out, &Cells::titles(["%TOT", "TOTAL", "SELF", "%SELF"]))?;
    writeln!(out, "{:>5}  {:<width$}  MEMBERS", "OUTER", "GROUP")?;
    for row in &rows {
        let sum = &row.sum;
        let time = |ns| Time {
            ns,
            estimated: sum.estimated,
        };
        let cells = Cells {
            share: page.share_of(time(sum.total_ns)),
            time: page.time(time(sum.total_ns)),
            other_time: page.time(time(sum.self_ns)),
            other_share: page.share_of(time(sum.self_ns)),
            calls: number::count(sum.calls),
            average: page.average(time(sum.total_ns), sum.outermost_calls),
            ..Cells::same("")
        };
        columns.write(out, &cells)?;
        writeln!(
            out,
            "{:>5}  {:<width$}  {}",
            number::count(sum.outermost_calls),
            name(row),
            members(page, row)
        )?;
    }
    Ok(())
}

fn members(page: &Page<'_>, row: &GroupRow) -> String {
    let names = row.members.iter().map(|id| page.labels[id.index()].as_str());
    let mut text = names.take(NAMED).collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = row.members.len().checked_sub(NAMED) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

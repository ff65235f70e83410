//! The table of groups. The time of a group is the time spent in the outermost calls of its members. Groups have their
//! own table, because their members already appear in the list of functions.

use std::fmt::{self, Write};

use tickscope_analysis::groups::{GroupRow, groups};

use super::columns::{Cells, Columns};
use super::page::Page;
use super::scale::Time;
use crate::escape::visible;
use crate::label::column_width;

/// Maximum number of members listed after the name of a group.
const NAMED: usize = 3;

/// Maximum width of the name column, in cells.
const MAX_NAME_COLUMN: usize = 24;

/// Writes the table, or nothing if there are no groups.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    let chosen = page.options.thread;
    let rows = groups(page.snapshot, |thread| chosen.is_none_or(|one| one == thread));
    if rows.is_empty() {
        return Ok(());
    }
    let name = |row: &GroupRow| visible(&row.name, page.options.ascii).into_owned();
    let width = column_width("GROUP", rows.iter().map(name), MAX_NAME_COLUMN);
    writeln!(
        out,
        "\nGroups ({}): TOTAL is inside the outermost member, OUTER its calls, AVG = TOTAL/OUTER;\nmembers are functions of the list above\n",
        rows.len(),
    )?;
    let columns = Columns {
        cells: page.time_cells(),
        off_cpu: 0,
        latencies: false,
        errors: false,
    };
    columns.write(out, &Cells::titles(page, ["%TOT", "TOTAL", "SELF", "%SELF"]))?;
    writeln!(out, "{:>5}  {:<width$}  MEMBERS", "OUTER", "GROUP")?;
    for row in &rows {
        let sum = &row.sum;
        let time = |ns, ticks| Time {
            ns,
            ticks,
            estimated: sum.is_rough(),
        };
        let total = time(sum.total_ns, sum.total_ticks);
        let own = time(sum.self_ns, sum.self_ticks);
        let (cells, _) = page.time_cells();
        let cells = Cells {
            share: page.share_of(total),
            time: page.cell(total, cells),
            other_time: page.cell(own, cells),
            other_share: page.share_of(own),
            calls: page.count(sum.calls),
            average: page.average(total, sum.outermost_calls, cells),
            ..Cells::nothing(page)
        };
        columns.write(out, &cells)?;
        writeln!(
            out,
            "{:>5}  {:<width$}  {}",
            page.count(sum.outermost_calls),
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

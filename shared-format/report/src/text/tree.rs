//! The call tree, drawn with branch lines. A tree can be 4,096 levels deep, so it is drawn with an explicit stack on
//! the heap instead of recursion.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use super::columns::{Cells, Columns, WIDTH_FOR_TREE};
use super::page::{Hidden, Page};
use super::scale::Time;
use crate::extent;

/// Maximum depth that is shown as indentation. Deeper rows show the remaining levels as a number.
const MAX_INDENT: usize = 40;

/// Writes the tree. Returns whether any row is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> Result<bool, fmt::Error> {
    if page.tree.rows.is_empty() {
        let mode = page.snapshot.capture.mode.traits();
        if mode.is_counting {
            writeln!(out, "no scope has been entered {}", extent::words(page.snapshot))?;
        } else {
            writeln!(out, "nothing is measured in mode {}", mode.name)?;
        }
        if page.tree.outside_ticks > 0 {
            writeln!(out, "({} in threads outside any scope)", page.time(outside(page)))?;
        }
        return Ok(false);
    }
    let columns = Columns {
        errors: page.tree.rows.iter().any(|row| row.errors > 0),
        ..Columns::of(page, WIDTH_FOR_TREE)
    };
    writeln!(
        out,
        "Call tree: TOTAL with callees, SELF without; 100% = {} in scopes; AVG = TOTAL/CALLS; {} open now",
        page.time(page.measured()),
        page.glyphs.open,
    )?;
    if columns.latencies {
        writeln!(
            out,
            "P50, P99, MAX of finished calls, with callees, to two digits; <=, >= for at most, at least"
        )?;
    }
    page.write_off_cpu(out, columns)?;
    if page.tree.rows.iter().any(|row| row.asynchronous.is_future) {
        writeln!(
            out,
            "AVG, P50, P99, MAX of a future are of its calls by the wall clock; TOTAL and SELF are times of its polls"
        )?;
    }
    page.write_sampled(out)?;
    page.write_counters(out)?;
    writeln!(out)?;
    columns.write(out, &Cells::titles(page, ["%TOT", "TOTAL", "SELF", "%SELF"]))?;
    writeln!(out, "FUNCTION")?;
    let (hidden, doubtful_shown) = rows(out, page, columns)?;
    columns.write(
        out,
        &Cells {
            time: page.cell(outside(page), page.time_cells().0),
            ..Cells::nothing(page)
        },
    )?;
    let outside = if columns.latencies || columns.off_cpu > 0 {
        "(outside)  no part of 100%"
    } else {
        "(outside)  of any scope, not part of the 100%"
    };
    writeln!(out, "{outside}")?;
    hidden.write(out, page, "rows")?;
    Ok(doubtful_shown)
}

/// Returns the time that the threads spent outside any scope.
fn outside(page: &Page<'_>) -> Time {
    Time {
        ns: page.snapshot.value(page.tree.outside_ticks),
        ticks: page.tree.outside_ticks,
        estimated: page.has_estimates && page.snapshot.capture.mode.is_sampling(),
    }
}

/// Writes the rows. Returns the rows that were left out, and whether any row is marked as doubtful.
fn rows(out: &mut String, page: &Page<'_>, columns: Columns) -> Result<(Hidden, bool), fmt::Error> {
    let (mut hidden, mut doubtful_shown) = (Hidden::default(), false);
    let mut stack = Vec::new();
    push_sorted(&mut stack, page, page.tree.top(), &mut hidden);
    // Whether more siblings follow, for each level above the current row.
    let mut more = Vec::new();
    while let Some((index, is_last)) = stack.pop() {
        let row = &page.tree.rows[index as usize];
        let depth = row.depth as usize;
        more.truncate(depth);
        let uncertainty = page.tree.uncertainty(index);
        let cells = Cells::of(page, row, page.tree.latency(index), uncertainty, false);
        columns.write(out, &cells)?;
        indent(out, page, &more, is_last)?;
        match page.tree.others_in(index) {
            Some(others) => write!(out, "({others} others)")?,
            None => out.push_str(&page.labels[row.function.index()]),
        }
        if row.open > 0 {
            write!(out, " {}", page.glyphs.open)?;
        }
        if page.is_doubtful(row) {
            write!(out, " {}", page.glyphs.doubtful)?;
            doubtful_shown = true;
        }
        out.push('\n');
        more.push(!is_last);
        push_sorted(&mut stack, page, page.tree.children(index), &mut hidden);
    }
    Ok((hidden, doubtful_shown))
}

/// Pushes siblings so that those with the longest total time are popped first. The sibling that is popped last is
/// flagged, because its branch line looks different.
fn push_sorted(stack: &mut Vec<(u32, bool)>, page: &Page<'_>, siblings: &[u32], hidden: &mut Hidden) {
    let row = |index: u32| &page.tree.rows[index as usize];
    let bottom = stack.len();
    for &index in siblings {
        let total_ns = row(index).total_ns;
        if page.is_small(row(index), total_ns) {
            hidden.add(subtree_rows(page, index), total_ns);
        } else {
            stack.push((index, false));
        }
    }
    let siblings = &mut stack[bottom..];
    siblings.sort_by_key(|&(index, _)| {
        let name = &page.labels[row(index).function.index()];
        (Reverse(row(index).total_ns), name.as_str(), index)
    });
    siblings.reverse();
    if let Some(last) = siblings.first_mut() {
        last.1 = true;
    }
}

fn subtree_rows(page: &Page<'_>, top: u32) -> u64 {
    let mut stack = vec![top];
    let mut rows = 0;
    while let Some(index) = stack.pop() {
        rows += 1;
        stack.extend(page.tree.children(index));
    }
    rows
}

/// Writes the branch lines before a row. For each ancestor of the row, `more` says whether more siblings of that
/// ancestor follow. Rows at the top level have no lines.
fn indent(out: &mut String, page: &Page<'_>, more: &[bool], is_last: bool) -> fmt::Result {
    let depth = more.len();
    for &more in more.iter().take(MAX_INDENT).skip(1) {
        out.push_str(if more { page.glyphs.line } else { "  " });
    }
    match depth {
        0 => Ok(()),
        1..=MAX_INDENT if is_last => write!(out, "{} ", page.glyphs.last),
        1..=MAX_INDENT => write!(out, "{} ", page.glyphs.branch),
        _ => write!(out, "{}+{} ", page.glyphs.cut, depth - MAX_INDENT),
    }
}

//! A comparison as plain text for a terminal or a log.

use std::fmt::{self, Write};
use std::ops::Range;

use tickscope_analysis::compare::diff::{Change, Quantity};

use super::rows::{self, Rest};
use super::{Comparison, Tables, WHOLE, plain};
use crate::escape::visible;

/// Maximum depth that is shown by indentation. Deeper rows show their depth as a number.
const MAX_INDENT: usize = 24;

/// Title of each column, and the widths in cells of its three numbers: before, after and change.
const COLUMNS: [(&str, [usize; 3]); 5] = [
    ("CALLS", [7, 7, 8]),
    ("TOTAL", [8, 8, 8]),
    ("SELF", [8, 8, 8]),
    ("P99", [8, 8, 8]),
    ("MAX", [8, 8, 8]),
];

/// Minimum line width, in cells, at which latencies are shown next to the times. This leaves about 25 cells for names.
const WIDE: usize = 160;

/// Which of [`COLUMNS`] a table has.
type Columns = Range<usize>;

const TIMES: Columns = 0..3;
const LATENCIES: Columns = 3..5;
const ALL: Columns = 0..5;

/// Returns the comparison as text. The same snapshots always give the same text.
pub fn report(comparison: &Comparison<'_>) -> String {
    comparison.written(write)
}

fn write(out: &mut String, comparison: &Comparison<'_>) -> fmt::Result {
    writeln!(out, "tickscope diff: {}", comparison.title())?;
    writeln!(out, "before  {}", comparison.side(comparison.runs.0))?;
    writeln!(out, "after   {}", comparison.side(comparison.runs.1))?;
    let labels = comparison.labels();
    if !comparison.verdicts.is_empty() {
        writeln!(out)?;
    }
    for (word, pieces) in comparison.remarks(&labels) {
        writeln!(out, "{word:<6}  {}", visible(&plain(&pieces), comparison.ascii))?;
    }
    if comparison.tables != Tables::Paths {
        functions(out, comparison, &labels)?;
    }
    if comparison.tables != Tables::Functions {
        paths(out, comparison, &labels)?;
    }
    if let Some(about) = comparison.about_remarks() {
        writeln!(out, "\n{about}")?;
    }
    let mut changes = comparison.diff.by_function.iter();
    if changes.any(|change| !change.calls_exact) {
        writeln!(
            out,
            "\n~ before calls: an estimate, because the runs of a side do not agree (it is their median) or the function was off for a time"
        )?;
    }
    Ok(())
}

fn functions(out: &mut String, comparison: &Comparison<'_>, labels: &[String]) -> fmt::Result {
    let (shown, rest) = rows::functions(comparison);
    let by = comparison.diff.measure.name();
    writeln!(out, "\nFunctions, by the change of their self {by}\n")?;
    let columns = &fitting(comparison);
    titles(out, columns, "FUNCTION")?;
    for &index in &shown {
        let change = &comparison.diff.by_function[index];
        row(out, comparison, columns, change, &labels[index])?;
    }
    row(out, comparison, columns, &comparison.diff.whole, WHOLE)?;
    write_rest(out, comparison, rest, "function")?;
    let has_latencies = |&index: &usize| {
        let change = &comparison.diff.by_function[index];
        change.before.p99_ns.or(change.after.p99_ns).is_some()
    };
    let known: Vec<usize> = shown.into_iter().filter(has_latencies).collect();
    if !comparison.diff.has_latencies() || *columns == ALL || known.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nTheir single calls: 99 of 100 calls took no longer than P99, and no call took longer than MAX\n"
    )?;
    titles(out, &LATENCIES, "FUNCTION")?;
    for index in known {
        let change = &comparison.diff.by_function[index];
        row(out, comparison, &LATENCIES, change, &labels[index])?;
    }
    Ok(())
}

/// Returns the columns that fit into a line.
fn fitting(comparison: &Comparison<'_>) -> Columns {
    if comparison.diff.has_latencies() && comparison.width >= WIDE {
        ALL
    } else {
        TIMES
    }
}

fn paths(out: &mut String, comparison: &Comparison<'_>, labels: &[String]) -> fmt::Result {
    let (shown, rest) = rows::paths(comparison);
    let columns = &fitting(comparison);
    writeln!(out, "\nPaths that have changed, and their callers\n")?;
    if shown.is_empty() {
        writeln!(out, "none")?;
    } else {
        titles(out, columns, "PATH")?;
    }
    for index in shown {
        let path = &comparison.diff.paths[index];
        let depth = path.depth as usize;
        let mut indent = "  ".repeat(depth.min(MAX_INDENT));
        if depth > MAX_INDENT {
            write!(indent, "[{depth}] ")?;
        }
        let label = format!("{indent}{}", labels[path.function.index()]);
        row(out, comparison, columns, &path.change, &label)?;
    }
    write_rest(out, comparison, rest, "path")
}

fn titles(out: &mut String, columns: &Columns, last: &str) -> fmt::Result {
    let titles = COLUMNS[columns.clone()].iter().map(|(title, widths)| {
        let width = widths.iter().sum::<usize>() + 2;
        format!("{title:>width$}")
    });
    writeln!(out, "{}", titles.collect::<Vec<String>>().join(" "))?;
    let names = ["before", "after", "change"].repeat(columns.len());
    line(out, columns, &names, last)
}

fn line(out: &mut String, columns: &Columns, cells: &[impl AsRef<str>], last: &str) -> fmt::Result {
    let widths = COLUMNS[columns.clone()].iter().flat_map(|(_, widths)| widths);
    for (cell, width) in cells.iter().zip(widths) {
        write!(out, "{:>width$} ", cell.as_ref())?;
    }
    writeln!(out, " {last}")
}

fn row(
    out: &mut String,
    comparison: &Comparison<'_>,
    columns: &Columns,
    change: &Change,
    label: &str,
) -> fmt::Result {
    let numbers = comparison.numbers();
    let mut cells = Vec::new();
    let quantities = [&change.columns()[..], &Quantity::LATENCIES].concat();
    for &what in &quantities[columns.clone()] {
        cells.extend(numbers.sides(change, what));
        cells.push(numbers.change(change, what));
    }
    let remark = comparison.remark(change).filter(|_| label != WHOLE);
    let remark = remark.map(|remark| format!("  {remark}")).unwrap_or_default();
    line(out, columns, &cells, &format!("{label}{remark}"))
}

fn write_rest(out: &mut String, comparison: &Comparison<'_>, rest: Rest, of: &str) -> fmt::Result {
    match comparison.rest(rest, of) {
        Some(sentence) => writeln!(out, "\n{sentence}"),
        None => Ok(()),
    }
}

//! The comparison as plain text, for a terminal or a log.

use std::fmt::{self, Write};

use tickscope_analysis::compare::diff::Change;

use super::rows::{self, Rest};
use super::{Comparison, Tables, WHOLE, plain};
use crate::escape::visible;

/// Below this depth indentation no longer grows; the rest is a number.
const MAX_INDENT: usize = 24;

/// The widths of the nine columns of numbers.
const WIDTHS: [usize; 9] = [7, 7, 8, 8, 8, 8, 8, 8, 8];

/// The comparison as text. The same snapshots always give the same text.
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
    for verdict in comparison.verdicts {
        let word = if verdict.is_passed() { "passed" } else { "FAILED" };
        let condition = verdict.condition.to_string();
        let why = plain(&comparison.sentence(verdict, &labels));
        writeln!(out, "{word}  {}: {why}", visible(&condition, comparison.ascii))?;
    }
    for doubt in comparison.doubts {
        writeln!(out, "note    {}", visible(doubt, comparison.ascii))?;
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
    if comparison
        .diff
        .by_function
        .iter()
        .any(|change| !change.calls_exact)
    {
        writeln!(
            out,
            "\n~ before calls: the runs of a side do not agree, it is their median"
        )?;
    }
    Ok(())
}

fn functions(out: &mut String, comparison: &Comparison<'_>, labels: &[String]) -> fmt::Result {
    let (shown, rest) = rows::functions(comparison);
    let by = comparison.diff.measure.name();
    writeln!(out, "\nFunctions, by the change of their self {by}\n")?;
    titles(out, "FUNCTION")?;
    for index in shown {
        let change = &comparison.diff.by_function[index];
        row(out, comparison, change, "", &labels[index])?;
    }
    row(out, comparison, &comparison.diff.whole, "", WHOLE)?;
    write_rest(out, comparison, rest, "function")
}

fn paths(out: &mut String, comparison: &Comparison<'_>, labels: &[String]) -> fmt::Result {
    let (shown, rest) = rows::paths(comparison);
    writeln!(out, "\nPaths that have changed, and what leads to them\n")?;
    if shown.is_empty() {
        writeln!(out, "none")?;
    } else {
        titles(out, "PATH")?;
    }
    for index in shown {
        let path = &comparison.diff.paths[index];
        let depth = path.depth as usize;
        let mut indent = "  ".repeat(depth.min(MAX_INDENT));
        if depth > MAX_INDENT {
            write!(indent, "[{depth}] ")?;
        }
        row(
            out,
            comparison,
            &path.change,
            &indent,
            &labels[path.function.index()],
        )?;
    }
    write_rest(out, comparison, rest, "path")
}

fn titles(out: &mut String, last: &str) -> fmt::Result {
    let [calls, total, own] = [0, 3, 6].map(|first| WIDTHS[first..first + 3].iter().sum::<usize>() + 2);
    writeln!(out, "{:>calls$} {:>total$} {:>own$}", "CALLS", "TOTAL", "SELF")?;
    let names = ["before", "after", "change"].repeat(3);
    line(out, &names, last)
}

fn line(out: &mut String, cells: &[impl AsRef<str>], last: &str) -> fmt::Result {
    for (cell, width) in cells.iter().zip(WIDTHS) {
        write!(out, "{:>width$} ", cell.as_ref())?;
    }
    writeln!(out, " {last}")
}

fn row(
    out: &mut String,
    comparison: &Comparison<'_>,
    change: &Change,
    indent: &str,
    label: &str,
) -> fmt::Result {
    let numbers = comparison.numbers();
    let mut cells = Vec::with_capacity(WIDTHS.len());
    for what in change.columns() {
        cells.extend(numbers.sides(change, what));
        cells.push(numbers.change(change, what));
    }
    let remark = comparison.remark(change).filter(|_| label != WHOLE);
    let remark = remark.map(|remark| format!("  {remark}")).unwrap_or_default();
    line(out, &cells, &format!("{indent}{label}{remark}"))
}

fn write_rest(out: &mut String, comparison: &Comparison<'_>, rest: Rest, of: &str) -> fmt::Result {
    match comparison.rest(rest, of) {
        Some(sentence) => writeln!(out, "\n{sentence}"),
        None => Ok(()),
    }
}

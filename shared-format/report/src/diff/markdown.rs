//! A comparison as GitHub-flavoured Markdown, short enough for a pull request: the verdicts, then a table.

use std::fmt::{self, Write};

use tickscope_analysis::compare::diff::Change;

use super::rows::{self, Rest};
use super::{Comparison, Piece, Tables, WHOLE};
use crate::markup::{code, words};

/// Maximum number of rows of a table.
const ROWS: usize = 20;

/// Returns the comparison as Markdown. The same snapshots always give the same text.
pub fn report(comparison: &Comparison<'_>) -> String {
    comparison.in_utf8().written(write)
}

fn write(out: &mut String, comparison: &Comparison<'_>) -> fmt::Result {
    let labels = comparison.labels();
    let state = match (comparison.verdicts.is_empty(), comparison.is_failed()) {
        (true, _) => "compared",
        (false, true) => "FAILED",
        (false, false) => "passed",
    };
    writeln!(
        out,
        "**tickscope diff: {state}** ({})\n",
        words(&comparison.title())
    )?;
    let remarks = comparison.remarks(&labels);
    for (word, pieces) in &remarks {
        let pieces = pieces.iter().map(|piece| match piece {
            Piece::Words(text) => words(text),
            Piece::Name(name) => code(name),
        });
        let word = match *word {
            "FAILED" => "**FAILED**",
            "passed" => "passed",
            "note" => "note:",
            _ => "hint:",
        };
        writeln!(out, "- {word} {}", pieces.collect::<String>())?;
    }
    if !remarks.is_empty() {
        writeln!(out)?;
    }
    if comparison.tables != Tables::Paths {
        let (shown, rest) = rows::functions(comparison);
        let (shown, left) = rows::cut(shown, ROWS, &comparison.failing());
        titles(out, comparison, "function")?;
        for index in shown {
            let change = &comparison.diff.by_function[index];
            row(out, comparison, change, &code(&labels[index]))?;
        }
        row(out, comparison, &comparison.diff.whole, WHOLE)?;
        end(out, comparison, left, rest, "function")?;
    }
    // There are many paths and their lines are long, so they are written only if they are requested.
    if comparison.tables == Tables::Paths {
        let (shown, rest) = rows::paths(comparison);
        let (shown, left) = rows::cut(shown, ROWS, &rows::failing_paths(comparison));
        titles(out, comparison, "path")?;
        for index in shown {
            let path = &comparison.diff.paths[index];
            let indent = "&nbsp;&nbsp;".repeat(path.depth.min(24) as usize);
            let name = format!("{indent}{}", code(&labels[path.function.index()]));
            row(out, comparison, &path.change, &name)?;
        }
        end(out, comparison, left, rest, "path")?;
    }
    if let Some(about) = comparison.about_remarks() {
        writeln!(out, "\n{}", words(&about))?;
    }
    Ok(())
}

fn titles(out: &mut String, comparison: &Comparison<'_>, first: &str) -> fmt::Result {
    let (titles, lines) = if comparison.diff.has_latencies() {
        (" p99 | | max | |", "--:|--:|--:|--:|")
    } else {
        ("", "")
    };
    writeln!(out, "| {first} | calls | | total | | self | |{titles}")?;
    writeln!(out, "|:--|--:|--:|--:|--:|--:|--:|{lines}")
}

fn row(out: &mut String, comparison: &Comparison<'_>, change: &Change, name: &str) -> fmt::Result {
    let numbers = comparison.numbers();
    write!(out, "| {name}")?;
    if let Some(remark) = comparison.remark(change).filter(|_| name != WHOLE) {
        write!(out, " {}", words(&remark))?;
    }
    for what in comparison.columns(change) {
        let [before, after] = numbers.sides(change, what);
        let changed = numbers.change(change, what);
        let sides = if before == after {
            before
        } else {
            format!("{before} {} {after}", numbers.arrow())
        };
        // In Markdown, two tildes would strike through the text between them.
        let sides = sides
            .replace('~', "\\~")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        write!(out, " | {sides} | {}", changed.replace('<', "&lt;"))?;
    }
    writeln!(out, " |")
}

fn end(out: &mut String, comparison: &Comparison<'_>, left: usize, rest: Rest, of: &str) -> fmt::Result {
    if left > 0 {
        let many = if left == 1 { " has" } else { "s have" };
        writeln!(out, "\n{left} more {of}{many} changed.")?;
    }
    match comparison.rest(rest, of) {
        Some(sentence) => writeln!(out, "\n{}.", words(&sentence)),
        None => Ok(()),
    }
}

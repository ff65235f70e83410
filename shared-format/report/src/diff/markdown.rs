//! The comparison as GitHub-flavoured Markdown, short enough for a pull request: the verdict, then a table.

use std::fmt::{self, Write};

use tickscope_analysis::compare::diff::Change;

use super::rows::{self, Rest};
use super::{Comparison, Piece, Tables, WHOLE};
use crate::markup::{code, words};

/// So many rows a table has at most.
const ROWS: usize = 20;

/// The comparison as Markdown. The same snapshots always give the same text.
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
    for verdict in comparison.verdicts {
        let word = if verdict.is_passed() {
            "passed"
        } else {
            "**FAILED**"
        };
        let why: String = comparison
            .sentence(verdict, &labels)
            .iter()
            .map(|piece| match piece {
                Piece::Words(text) => words(text),
                Piece::Name(name) => code(name),
            })
            .collect();
        writeln!(out, "- {word} {}: {why}", code(&verdict.condition.to_string()))?;
    }
    for doubt in comparison.doubts {
        writeln!(out, "- note: {}", words(doubt))?;
    }
    if !comparison.verdicts.is_empty() || !comparison.doubts.is_empty() {
        writeln!(out)?;
    }
    if comparison.tables != Tables::Paths {
        let (shown, rest) = rows::functions(comparison);
        let all = shown.len();
        titles(out, "function")?;
        for index in shown.into_iter().take(ROWS) {
            let change = &comparison.diff.by_function[index];
            row(out, comparison, change, &code(&labels[index]))?;
        }
        row(out, comparison, &comparison.diff.whole, WHOLE)?;
        end(out, comparison, all, rest, "function")?;
    }
    // Paths are many and long; a pull request has them where they are asked for.
    if comparison.tables == Tables::Paths {
        let (shown, rest) = rows::paths(comparison);
        let all = shown.len();
        titles(out, "path")?;
        for index in shown.into_iter().take(ROWS) {
            let path = &comparison.diff.paths[index];
            let indent = "&nbsp;&nbsp;".repeat(path.depth.min(24) as usize);
            let name = format!("{indent}{}", code(&labels[path.function.index()]));
            row(out, comparison, &path.change, &name)?;
        }
        end(out, comparison, all, rest, "path")?;
    }
    if let Some(about) = comparison.about_remarks() {
        writeln!(out, "\n{}", words(&about))?;
    }
    Ok(())
}

fn titles(out: &mut String, first: &str) -> fmt::Result {
    writeln!(out, "| {first} | calls | | total | | self | |")?;
    writeln!(out, "|:--|--:|--:|--:|--:|--:|--:|")
}

fn row(out: &mut String, comparison: &Comparison<'_>, change: &Change, name: &str) -> fmt::Result {
    let numbers = comparison.numbers();
    write!(out, "| {name}")?;
    if let Some(remark) = comparison.remark(change).filter(|_| name != WHOLE) {
        write!(out, " {}", words(&remark))?;
    }
    for what in change.columns() {
        let [before, after] = numbers.sides(change, what);
        let changed = numbers.change(change, what);
        let sides = if before == after {
            before
        } else {
            format!("{before} {} {after}", numbers.arrow())
        };
        // Two tildes strike through what is between them.
        let sides = sides.replace('~', "\\~");
        write!(out, " | {sides} | {}", changed.replace('<', "&lt;"))?;
    }
    writeln!(out, " |")
}

fn end(out: &mut String, comparison: &Comparison<'_>, shown: usize, rest: Rest, of: &str) -> fmt::Result {
    if shown > ROWS {
        let more = shown - ROWS;
        let many = if more == 1 { " has" } else { "s have" };
        writeln!(out, "\n{more} more {of}{many} changed.")?;
    }
    match comparison.rest(rest, of) {
        Some(sentence) => writeln!(out, "\n{}.", words(&sentence)),
        None => Ok(()),
    }
}

//! The answer as text, in about ten lines.

use std::fmt::{self, Write};

use super::answer::{Answer, calls};
use crate::text_of;

/// Maximum number of paths, and of slow calls, that are shown.
const ROWS: usize = 6;
const CALLS: usize = 3;

/// Returns the answer as text that ends in a newline.
pub fn text(answer: &Answer<'_>) -> String {
    text_of(|out| write(out, answer))
}

fn write(out: &mut String, answer: &Answer<'_>) -> fmt::Result {
    for sentence in [answer.facts(), answer.why(), answer.doubt()]
        .into_iter()
        .flatten()
    {
        writeln!(out, "{sentence}")?;
    }
    if let Some(lost) = answer.lost() {
        writeln!(out, "note: {lost}")?;
    }
    if answer.slow.difference_ns().is_some() {
        rows(out, answer)?;
    }
    let exemplars = answer.exemplars();
    if !exemplars.is_empty() {
        writeln!(out, "\nslow calls that are kept")?;
        for exemplar in exemplars.into_iter().take(CALLS) {
            let [began, took, thread, cause, notes] = answer.exemplar_texts(exemplar);
            let line = format!("  {began}  {took:>6}  {thread}  {cause}  {notes}");
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

fn rows(out: &mut String, answer: &Answer<'_>) -> fmt::Result {
    let slow = &answer.slow;
    writeln!(
        out,
        "\nDIFFERENCE   SHARE  TYPICAL    SLOW  {:>13}  PATH (times per call, in the path itself)",
        "CALLS"
    )?;
    for row in slow.rows.iter().take(ROWS) {
        let [difference, share, typical, of_slow, calls_of_both] = answer.cells(row);
        write!(
            out,
            "{difference:>10}  {share:>6}  {typical:>7}  {of_slow:>6}  {calls_of_both:>13}  {}{}",
            answer.path_name(row.path),
            answer.off_cpu(row, 100.0),
        )?;
        let allocations = row.difference(|means| means.allocations).unwrap_or(0.0);
        if allocations.abs() >= 0.005 {
            let sign = if allocations < 0.0 { '-' } else { '+' };
            write!(out, ", {sign}{} allocations", calls(allocations.abs()))?;
        }
        writeln!(out)?;
    }
    let rest = slow.rows.get(ROWS..).unwrap_or_default();
    if !rest.is_empty() {
        let ns: f64 = rest.iter().filter_map(|row| row.difference_ns()).sum();
        writeln!(
            out,
            "{:>10}  in {} other paths",
            answer.difference(ns),
            rest.len()
        )?;
    }
    Ok(())
}

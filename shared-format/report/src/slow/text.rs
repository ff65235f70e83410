//! The answer as text, in about ten lines.

use std::fmt::{self, Write};

use super::answer::{Answer, both_calls, calls};
use crate::{number, text_of};

/// Numbers of paths and calls that are shown.
const ROWS: usize = 6;
const CALLS: usize = 3;

/// Returns the answer as text, ending in a newline.
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
            let line = format!(
                "  {}  {:>6}  {}  {}  {}",
                answer.began(exemplar),
                answer.duration(answer.snapshot.nanos(exemplar.ticks) as f64),
                answer.visible(&exemplar.thread),
                answer.exemplar_cause(exemplar, exemplar.trace.as_ref()),
                exemplar
                    .trace
                    .as_ref()
                    .map_or_else(String::new, |trace| answer.notes(trace)),
            );
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
        let mean = |side: Option<f64>| side.map_or_else(|| "-".to_owned(), |ns| answer.duration(ns));
        let difference = row.difference_ns().unwrap_or(0.0);
        write!(
            out,
            "{:>10}  {:>6}  {:>7}  {:>6}  {:>13}  {}",
            answer.difference(difference),
            slow.share_of(row).map_or_else(|| "-".to_owned(), number::percent),
            mean(row.typical.map(|means| means.ns)),
            mean(row.slow.map(|means| means.ns)),
            both_calls(row, answer.options.ascii),
            answer.path_name(row.path),
        )?;
        let parts = [
            ("waiting", row.difference(|means| means.waiting_ns)),
            ("without a CPU", row.difference(|means| means.ready_ns)),
        ];
        for (word, ns) in parts {
            // A part below a hundredth of the difference is left out.
            if let Some(ns) = ns.filter(|ns| ns.abs() >= 1.0 && ns.abs() >= difference.abs() / 100.0) {
                write!(out, ", {} {word}", answer.difference(ns))?;
            }
        }
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

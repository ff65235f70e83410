//! The answer as GitHub-flavoured Markdown: sentences, a table of paths, the slowest calls.

use std::fmt::{self, Write};

use super::answer::{Answer, both_calls};
use crate::markup::{code, words};
use crate::{number, text_of};

/// Maximum number of rows of the table.
const ROWS: usize = 12;

/// Returns the answer as GitHub-flavoured Markdown.
pub fn markdown(answer: &Answer<'_>) -> String {
    text_of(|out| write(out, answer))
}

fn write(out: &mut String, answer: &Answer<'_>) -> fmt::Result {
    if let Some(facts) = answer.facts() {
        writeln!(out, "**{}**\n", words(&facts))?;
    }
    for sentence in [answer.why(), answer.doubt()].into_iter().flatten() {
        writeln!(out, "{}\n", words(&sentence))?;
    }
    if let Some(lost) = answer.lost() {
        writeln!(out, "Note: {}\n", words(&lost))?;
    }
    if answer.slow.difference_ns().is_some() {
        writeln!(out, "| difference | share | typical | slow | calls | path |")?;
        writeln!(out, "|--:|--:|--:|--:|--:|:--|")?;
        for row in answer.slow.rows.iter().take(ROWS) {
            let mean = |side: Option<f64>| side.map_or_else(|| "-".to_owned(), |ns| answer.duration(ns));
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} |",
                answer.difference(row.difference_ns().unwrap_or(0.0)),
                answer
                    .slow
                    .share_of(row)
                    .map_or_else(|| "-".to_owned(), number::percent),
                mean(row.typical.map(|means| means.ns)),
                mean(row.slow.map(|means| means.ns)),
                both_calls(row, answer.options.ascii),
                code(&answer.path_name(row.path)),
            )?;
        }
    }
    let exemplars = answer.exemplars();
    if !exemplars.is_empty() {
        writeln!(out, "\n| began | took | thread | | noted |")?;
        writeln!(out, "|:--|--:|:--|:--|:--|")?;
        for exemplar in exemplars.into_iter().take(ROWS) {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                answer.began(exemplar),
                answer.duration(answer.snapshot.nanos(exemplar.ticks) as f64),
                code(&exemplar.thread),
                words(&answer.exemplar_cause(exemplar, exemplar.trace.as_ref())),
                words(
                    &exemplar
                        .trace
                        .as_ref()
                        .map_or_else(String::new, |trace| answer.notes(trace))
                ),
            )?;
        }
    }
    Ok(())
}

//! The answer as GitHub-flavoured Markdown: sentences, a table of paths, the slowest calls.

use std::fmt::{self, Write};

use super::answer::Answer;
use crate::markup::{code, words};
use crate::text_of;

/// Maximum number of rows in a table.
const ROWS: usize = 12;

/// Returns the answer as Markdown.
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
            let cells = answer.cells(row).join(" | ");
            writeln!(out, "| {cells} | {} |", code(&answer.path_name(row.path)))?;
        }
    }
    let exemplars = answer.exemplars();
    if !exemplars.is_empty() {
        writeln!(out, "\n| began | took | thread | | noted |")?;
        writeln!(out, "|:--|--:|:--|:--|:--|")?;
        for exemplar in exemplars.into_iter().take(ROWS) {
            let [began, took, thread, cause, notes] = answer.exemplar_texts(exemplar);
            writeln!(
                out,
                "| {began} | {took} | {} | {} | {} |",
                code(&thread),
                words(&cause),
                words(&notes),
            )?;
        }
    }
    Ok(())
}

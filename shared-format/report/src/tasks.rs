//! Calls of futures that are in flight, as a tree that shows below each future what it is waiting for.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use tickscope_analysis::functions::Functions;
use tickscope_analysis::tasks::{TaskKind, TaskRow, Tasks, has_futures};
use tickscope_format::snapshot::Snapshot;

use crate::label::{column_width, labels, place};
use crate::process_state::heading;
use crate::{ProcessState, number, text_of};

/// Maximum width of the name column, in cells.
const MAX_NAME_COLUMN: usize = 56;

/// Returns the name of a row: the label of its function, or `await (unnamed) in LABEL`. `labels` contains the label of each
/// function.
pub fn name(row: &TaskRow, labels: &[String]) -> String {
    let label = &labels[row.function.index()];
    match row.kind {
        TaskKind::Future | TaskKind::Await => label.clone(),
        TaskKind::UnnamedAwait => format!("await (unnamed) in {label}"),
    }
}

/// Returns the tree of calls in flight as text that ends in a newline. Siblings with more calls come first.
pub fn tasks(snapshot: &Snapshot, state: ProcessState, ascii: bool) -> String {
    text_of(|out| write(out, snapshot, state, ascii))
}

fn write(out: &mut String, snapshot: &Snapshot, state: ProcessState, ascii: bool) -> fmt::Result {
    let functions = Functions::of(snapshot);
    let table = Tasks::of(snapshot, &functions);
    out.push_str(&heading("tasks", snapshot, state, ascii));
    if !has_futures(snapshot) {
        return writeln!(
            out,
            "\nno profiled future has been polled; mark async functions with #[tickscope::profile], and what they await with \
             tickscope::wait!(\"name\", future)"
        );
    }
    let in_flight = table.roots_in_flight();
    if in_flight == 0 {
        return writeln!(out, "\nno call of a profiled future is in flight");
    }
    let time = |ns: u64| number::in_charset(number::duration(ns), ascii);
    let top = table.top().iter();
    let oldest = top.map(|&row| table.rows[row as usize].oldest_ns).max();
    writeln!(
        out,
        "{} in flight, the oldest for {}; below each, what its calls wait for",
        if in_flight == 1 {
            "1 call is".to_owned()
        } else {
            format!("{} calls are", number::count(in_flight))
        },
        time(oldest.unwrap_or(0)),
    )?;
    if table.beyond > 0 {
        writeln!(
            out,
            "{} of them are in no row, because too many were in flight at once",
            number::count(table.beyond)
        )?;
    }
    let labels = labels(&functions, ascii);
    let lines = lines(&table, &labels);
    let width = column_width("", lines.iter().map(|(_, text)| text), MAX_NAME_COLUMN);
    writeln!(out, "\nIN FLIGHT  OLDEST  POLLED  FUTURE")?;
    for (index, text) in lines {
        let row = &table.rows[index as usize];
        let polled = match row.polled {
            0 => "-".to_owned(),
            polled => number::count(polled),
        };
        let function = functions.get(row.function);
        let place = match row.kind {
            TaskKind::UnnamedAwait => String::new(),
            TaskKind::Future | TaskKind::Await => place(&function.file, function.line, ascii),
        };
        let line = format!(
            "{:>9}  {:>6}  {polled:>6}  {text:<width$}  {place}",
            number::count(row.in_flight),
            time(row.oldest_ns),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns the rows that have calls in flight, each with its index and its indented name. Siblings with more calls come first.
fn lines(table: &Tasks, labels: &[String]) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    let sorted = |rows: &[u32]| {
        let mut rows: Vec<u32> = rows.to_vec();
        rows.retain(|&row| table.rows[row as usize].in_flight > 0);
        rows.sort_by_key(|&row| {
            let row = &table.rows[row as usize];
            (row.in_flight, Reverse(name(row, labels)))
        });
        rows
    };
    let mut stack = sorted(table.top());
    while let Some(index) = stack.pop() {
        let row = &table.rows[index as usize];
        let indent = "  ".repeat(row.depth.min(40) as usize);
        lines.push((index, format!("{indent}{}", name(row, labels))));
        stack.extend(sorted(table.children(index)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn what_calls_in_flight_wait_for() {
        insta::assert_snapshot!(tasks(&fixture::serving(), ProcessState::Running, false));
    }

    #[test]
    fn what_is_said_where_nothing_is_in_flight() {
        let text = tasks(&fixture::two_threads(), ProcessState::Running, false);
        assert!(text.contains("\nno profiled future has been polled;"), "{text}");
        let mut idle = fixture::serving();
        idle.tasks = Default::default();
        let text = tasks(&idle, ProcessState::Running, false);
        assert!(
            text.ends_with("\nno call of a profiled future is in flight\n"),
            "{text}"
        );
    }
}

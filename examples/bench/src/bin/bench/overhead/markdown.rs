//! Tables for docs/design/benchmarks.md.

use tickscope_bench::kernel;

use super::measure::Measured;

/// Returns the text of a table cell for a measurement.
type Cell<'a> = dyn Fn(&Measured) -> Option<String> + 'a;

/// Prints one table for each quantity and number of threads, with a line for each mode and a column for each case.
pub(crate) fn print(rows: &[Measured]) {
    println!("Load at the end: {}.", kernel::load());
    let mut counts: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    for threads in counts {
        let threads_word = if threads == 1 { "thread" } else { "threads" };
        let print = |what: &str, cell: &Cell<'_>| {
            println!("\n{what} (only this guest, {threads} {threads_word}):\n");
            let rows: Vec<&Measured> = rows.iter().filter(|row| row.threads == threads).collect();
            print_table(&rows, cell);
        };
        print("Nanoseconds added to a scope, above plain", &|row| {
            Some(format!("{:.1}", row.added_ns))
        });
        print("The same as a multiple of what the floor adds", &|row| {
            row.of_floor(rows).map(|of_floor| format!("{of_floor:.2}"))
        });
        print("Ratio to plain, with its 95 % interval", &|row| {
            let ratio = row.ratio;
            Some(format!(
                "{:.3} ({:.3} to {:.3})",
                ratio.middle, ratio.low, ratio.high
            ))
        });
        if rows
            .iter()
            .any(|row| row.threads == threads && row.instructions.is_some())
        {
            print("Instructions added to a scope", &|row| {
                row.instructions.map(|added| format!("{added:.1}"))
            });
        }
    }
}

fn print_table(rows: &[&Measured], cell: &Cell<'_>) {
    let (mut cases, mut lines) = (Vec::new(), Vec::<(String, Vec<String>)>::new());
    for row in rows {
        if !cases.contains(&row.case) {
            cases.push(row.case);
        }
        let label = row.label();
        let text = cell(row).unwrap_or_default();
        match lines.iter_mut().find(|line| line.0 == label) {
            Some((_, cells)) => cells.push(text),
            None => lines.push((label, vec![text])),
        }
    }
    println!(
        "| | {} |\n|---|{}",
        cases.join(" | "),
        "---:|".repeat(cases.len())
    );
    for (label, cells) in lines
        .iter()
        .filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()))
    {
        println!("| {label} | {} |", cells.join(" | "));
    }
}

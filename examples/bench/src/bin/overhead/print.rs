//! Prints rows, for people and for programs.

use crate::kernel;
use crate::measure::{ALL_PAIRS, Measured};
use crate::options::Form;

/// Prints the heading of the rows.
pub(crate) fn heading(form: Form) {
    if form != Form::Text {
        return;
    }
    println!(
        "medians of {ALL_PAIRS} ABBA pairs against plain; floor = two bare clock reads; added = above plain"
    );
    println!("[..] = 95 % interval; instr = instructions above plain");
    println!(
        "time without a core is taken off, and of sleepy it is CPU time; adaptive has learned its rates before; load {}\n",
        kernel::load()
    );
    println!(
        "{:<12} {:>7} {:<13} {:>9} {:>9} {:>8}  {:<18} {:>7} {:>7}",
        "case", "threads", "mode", "ns/scope", "added ns", "ratio", "", "x floor", "instr"
    );
}

/// Prints all rows of a case.
pub(crate) fn rows(rows: &[Measured], form: Form) {
    for row in rows {
        match form {
            Form::Text => text(row, rows),
            Form::Json => json(row, rows),
            Form::Markdown => {}
        }
    }
}

fn text(row: &Measured, rows: &[Measured]) {
    let or_blank =
        |value: Option<f64>, places: usize| value.map_or(String::new(), |value| format!("{value:.places$}"));
    println!(
        "{:<12} {:>7} {:<13} {:>9.2} {:>9.2} {:>8.3}  {:<18} {:>7} {:>7}",
        row.case,
        row.threads,
        row.label(),
        row.ns_per_scope,
        row.added_ns,
        row.ratio,
        format!("[{:.3} {:.3}]", row.interval.0, row.interval.1),
        or_blank(row.of_floor(rows), 2),
        or_blank(row.instructions, 1),
    );
}

fn json(row: &Measured, rows: &[Measured]) {
    let of_floor = row
        .of_floor(rows)
        .map_or("null".to_owned(), |of_floor| format!("{of_floor:.4}"));
    println!(
        concat!(
            r#"{{"case":"{}","mode":"{}","threads":{},"ns_per_scope":{:.3},"ratio_to_plain":{:.4},"#,
            r#""ratio_lo":{:.4},"ratio_hi":{:.4},"added_ns":{:.3},"added_to_floor":{}}}"#
        ),
        row.case,
        row.mode.name(),
        row.threads,
        row.ns_per_scope,
        row.ratio,
        row.interval.0,
        row.interval.1,
        row.added_ns,
        of_floor,
    );
}

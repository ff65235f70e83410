//! Prints rows, for people and for programs.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that speaks to its user"
)]

use std::time::Duration;

use crate::measure::Measured;

/// Prints the heading: how the rows are measured, the load of the machine, and the column names.
pub(crate) fn heading() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("medians of 40 ABBA pairs, one thread, a process for each row; [..] = 95 % interval");
    println!(
        "floor = two bare clock reads; added = above plain; behind = CPU time of the peer's own threads"
    );
    println!("load at the beginning: {}\n", load.trim());
    println!(
        "{:<12} {:<12} {:>9} {:>9} {:>7}  {:<15} {:>9} {:>9} {:>9} {:>8}",
        "case", "peer", "ns/scope", "added ns", "ratio", "", "behind ns", "recorded", "peak MiB", "exit ms"
    );
}

/// Prints a row for people.
pub(crate) fn row(peer: &str, case: &str, row: &Measured, exit: Duration) {
    let recorded = row.recorded.map_or("?".to_owned(), |recorded| {
        format!("{:.2} %", 100.0 * recorded as f64 / row.scopes as f64)
    });
    let (low, high) = row.interval;
    let range = format!("[{low:.3} {high:.3}]");
    println!(
        "{case:<12} {peer:<12} {:>9.2} {:>9.2} {:>7.3}  {range:<15} {:>9.2} {recorded:>9} {:>9.0} {:>8.1}",
        row.ns_per_scope,
        row.added_ns,
        row.ratio,
        row.background_ns,
        row.peak_kib as f64 / 1024.0,
        exit.as_secs_f64() * 1e3,
    );
}

/// Prints a row as JSON: the same keys as the `overhead` benchmark, followed by additional keys.
pub(crate) fn json(peer: &str, case: &str, row: &Measured, exit: Duration) {
    let (low, high) = row.interval;
    let recorded = row.recorded.map_or("null".to_owned(), |count| count.to_string());
    println!(
        concat!(
            r#"{{"case":"{}","mode":"{}","threads":1,"ns_per_scope":{:.3},"ratio_to_plain":{:.4},"#,
            r#""ratio_lo":{:.4},"ratio_hi":{:.4},"added_ns":{:.3},"background_ns":{:.3},"scopes":{},"#,
            r#""recorded":{},"peak_rss_kib":{},"exit_ms":{:.3}}}"#
        ),
        case,
        peer,
        row.ns_per_scope,
        row.ratio,
        low,
        high,
        row.added_ns,
        row.background_ns,
        row.scopes,
        recorded,
        row.peak_kib,
        exit.as_secs_f64() * 1e3,
    );
}

/// Prints the failure of a peer that could not be measured.
pub(crate) fn failure(peer: &str, case: &str, error: &str) {
    eprintln!("{case}, {peer}: not measured: {error}");
}

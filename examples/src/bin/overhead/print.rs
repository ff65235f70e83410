//! Rows, for people and for programs.

use crate::cases::Mode;
use crate::measure::Measured;

/// The line above the rows.
pub(crate) fn heading() {
    println!(
        "medians of 40 ABBA pairs; floor = two bare clock reads; added = above plain; [..] = 95 % interval\n"
    );
    println!(
        "{:<12} {:>7} {:<6} {:>9} {:>9} {:>8}  {:<16} {:>8}",
        "case", "threads", "mode", "ns/scope", "added ns", "ratio", "", "x floor"
    );
}

/// The modes of a case.
pub(crate) fn rows(rows: &[Measured], json: bool) {
    let floor = rows
        .iter()
        .find(|row| row.mode == Mode::Floor)
        .map(|row| row.added_ns);
    for row in rows {
        let Measured {
            case,
            mode,
            threads,
            ns_per_scope,
            added_ns,
            ratio,
            interval: (low, high),
        } = row;
        let mode_name = mode.name();
        if json {
            println!(
                r#"{{"case":"{case}","mode":"{mode_name}","threads":{threads},"ns_per_scope":{ns_per_scope:.3},"ratio_to_plain":{ratio:.4},"ratio_lo":{low:.4},"ratio_hi":{high:.4}}}"#
            );
            continue;
        }
        let of_floor = match (mode, floor) {
            (Mode::Exact, Some(floor)) if floor > 0.0 => format!("{:.2}", added_ns / floor),
            _ => String::new(),
        };
        let range = format!("[{low:.3} {high:.3}]");
        println!(
            "{case:<12} {threads:>7} {mode_name:<6} {ns_per_scope:>9.2} {added_ns:>9.2} {ratio:>8.3}  {range:<16} \
             {of_floor:>8}"
        );
    }
}

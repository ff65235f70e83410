//! The flat profile, in the column layout of gprof: functions by self time, with cumulative time and time per call.

use std::fmt::{self, Write};

use super::page::Page;
use super::scale::Time;
use super::top::{by_self_time, hide_small, marked};
use crate::tally;

/// Widths of the two columns of time per call, in cells.
const PER_CALL: usize = "SELF/CALL".len();
const TOTAL_PER_CALL: usize = "TOTAL/CALL".len();

/// Writes the flat profile. Returns whether any row is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> Result<bool, fmt::Error> {
    let mut rows = by_self_time(page);
    let all = rows.len();
    let hidden = hide_small(page, &mut rows);
    writeln!(
        out,
        "Flat profile: functions by self {} ({} of {all}); CUMUL adds up SELF, TOTAL is with callees, recursion \
         once;\n100% = {} in scopes",
        page.options.by.name(),
        rows.len(),
        page.time(page.measured()),
    )?;
    page.write_signs(out)?;
    writeln!(out)?;
    // If there are estimates, each column needs one more cell for the tilde.
    let (width, _) = page.time_cells();
    let mut line = |[share, cumulative, own, calls, per_call, total_per_call]: [&str; 6], name: &str| {
        writeln!(
            out,
            "{share:>width$}  {cumulative:>width$}  {own:>width$}  {calls:>5}  {per_call:>PER_CALL$}  \
             {total_per_call:>TOTAL_PER_CALL$}  {name}"
        )
    };
    let titles = [
        "%SELF",
        &page.title("CUMUL", width),
        &page.title("SELF", width),
        "CALLS",
        &page.title("SELF/CALL", PER_CALL),
        &page.title("TOTAL/CALL", TOTAL_PER_CALL),
    ];
    line(titles, "FUNCTION")?;
    let mut cumulative = Time::own(0, 0, None);
    for row in &rows {
        if let Some(tally) = row.tally {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
            let sum = or_none(tally::main(tally, |sum| page.count(sum)));
            let (sum, calls) = (page.no_time(&sum, width), page.count(row.calls));
            let mean = or_none(tally::mean(tally, row.calls));
            let [none, per_call, total_per_call] = [("-", width), (&mean, PER_CALL), ("-", TOTAL_PER_CALL)]
                .map(|(text, width)| page.no_time(text, width));
            line(
                [
                    page.sign_of(tally),
                    &none,
                    &sum,
                    &calls,
                    &per_call,
                    &total_per_call,
                ],
                &marked(page, row),
            )?;
            continue;
        }
        let (own, total) = Time::own_and_total(row, row.uncertainty);
        cumulative.ns = cumulative.ns.saturating_add(own.ns);
        cumulative.ticks = cumulative.ticks.saturating_add(own.ticks);
        cumulative.estimated |= own.estimated;
        let cells = [
            &page.share_of(own),
            &page.cell(cumulative, width),
            &page.cell(own, width),
            &page.calls(row.calls, row.sampled),
            &page.average(own.counted(row.sampled), row.calls, PER_CALL),
            &page.average(total.counted(row.sampled), row.calls, TOTAL_PER_CALL),
        ];
        line(cells.map(String::as_str), &marked(page, row))?;
    }
    hidden.write(out, page, "functions")?;
    Ok(rows.iter().any(|row| page.is_doubtful(row)))
}

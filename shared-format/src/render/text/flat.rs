//! The flat profile, with gprof's columns: functions by self time, the sum so far, and what a call costs.

use std::fmt::{self, Write};

use super::Page;
use super::columns::Time;
use super::top::{by_self_time, hide_small, is_doubtful, marked};
use crate::render::number;

/// Writes the list; tells whether a row is marked as doubtful.
pub(super) fn write(out: &mut String, page: &Page<'_>) -> Result<bool, fmt::Error> {
    let mut rows = by_self_time(page);
    let all = rows.len();
    let hidden = hide_small(page, &mut rows);
    writeln!(
        out,
        "Flat profile: functions by self time ({} of {all}); CUMUL adds up SELF, TOTAL is with callees, recursion \
         once;\n100% = {} in scopes",
        rows.len(),
        page.duration(page.measured_ns),
    )?;
    page.write_counters(out)?;
    writeln!(out)?;
    // A tilde needs a cell of its own.
    let width = if page.has_estimates() { 7 } else { 6 };
    let mut line = |[share, cumulative, own, calls, per_call, total_per_call]: [&str; 6], name: &str| {
        writeln!(
            out,
            "{share:>width$}  {cumulative:>width$}  {own:>width$}  {calls:>5}  {per_call:>9}  {total_per_call:>10}  {name}"
        )
    };
    line(
        ["%SELF", "CUMUL", "SELF", "CALLS", "SELF/CALL", "TOTAL/CALL"],
        "FUNCTION",
    )?;
    let mut cumulative = Time::own(0, None);
    for row in &rows {
        if let Some(sum) = row.sum {
            let (sum, calls) = (number::count(sum), number::count(row.calls));
            line([page.glyphs.sum, "-", &sum, &calls, "-", "-"], &marked(page, row))?;
            continue;
        }
        let own = Time::own(row.self_ns, row.spread);
        let total = Time::total(row.total_ns, row.spread);
        cumulative.ns = cumulative.ns.saturating_add(own.ns);
        cumulative.estimated |= own.estimated;
        let cells = [
            &page.share_of(own),
            &page.time(cumulative),
            &page.time(own),
            &number::count(row.calls),
            &page.average(own, row.calls),
            &page.average(total, row.calls),
        ];
        line(cells.map(String::as_str), &marked(page, row))?;
    }
    hidden.write(out, page)?;
    Ok(rows.iter().any(|row| is_doubtful(page, row)))
}

//! The call tree with its branches. A stack of our own instead of recursion: trees may be 4 096 deep.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use super::Page;
use crate::profile::tree::TreeRow;
use crate::render::number;

/// Below this depth indentation no longer grows; the rest is a number.
const MAX_INDENT: usize = 40;

/// Rows that `min_share` left out.
#[derive(Default)]
struct Hidden {
    rows: u64,
    ns: u64,
}

pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    if page.tree.rows.is_empty() {
        writeln!(out, "no scope has been entered since the reset")?;
        return match page.tree.outside_ticks {
            0 => Ok(()),
            ticks => writeln!(
                out,
                "({} passed in threads outside any scope)",
                page.duration(page.snapshot.nanos(ticks))
            ),
        };
    }
    let errors = page.tree.rows.iter().any(|row| row.errors > 0);
    writeln!(
        out,
        "Call tree: TOTAL with callees, SELF without; 100% = {} in scopes; AVG = TOTAL/CALLS; {} open now",
        page.duration(page.measured_ns),
        page.glyphs.open,
    )?;
    writeln!(out)?;
    cells(
        out,
        errors,
        ["%TOT", "TOTAL", "SELF", "%SELF", "CALLS", "AVG", "ERR"],
    )?;
    writeln!(out, "FUNCTION")?;
    let hidden = rows(out, page, errors)?;
    let outside = page.duration(page.snapshot.nanos(page.tree.outside_ticks));
    cells(out, errors, ["-", &outside, "-", "-", "-", "-", "-"])?;
    writeln!(out, "(outside)  of any scope, not part of the 100%")?;
    if hidden.rows > 0 {
        writeln!(
            out,
            "\n{} rows below {} are not shown; together they have {}",
            hidden.rows,
            number::percent(page.options.min_share),
            page.percent(hidden.ns),
        )?;
    }
    Ok(())
}

fn rows(out: &mut String, page: &Page<'_>, errors: bool) -> Result<Hidden, fmt::Error> {
    let mut hidden = Hidden::default();
    let mut stack = Vec::new();
    push_sorted(&mut stack, page, page.tree.top(), &mut hidden);
    // For each depth above the row at hand: are there siblings still to come?
    let mut more = Vec::new();
    while let Some((index, is_last)) = stack.pop() {
        let row = &page.tree.rows[index as usize];
        let depth = row.depth as usize;
        more.truncate(depth);
        numbers(out, page, row, errors)?;
        indent(out, page, &more, is_last)?;
        out.push_str(&page.labels[row.function.index()]);
        if row.open > 0 {
            write!(out, " {}", page.glyphs.open)?;
        }
        out.push('\n');
        more.push(!is_last);
        push_sorted(&mut stack, page, page.tree.children(index), &mut hidden);
    }
    Ok(hidden)
}

/// Puts siblings on the stack, the most expensive on top, and marks the last one to be drawn.
fn push_sorted(stack: &mut Vec<(u32, bool)>, page: &Page<'_>, siblings: &[u32], hidden: &mut Hidden) {
    let row = |index: u32| &page.tree.rows[index as usize];
    let bottom = stack.len();
    for &index in siblings {
        if page.share(row(index).total_ns) < page.options.min_share {
            hidden.ns += row(index).total_ns;
            hidden.rows += subtree_rows(page, index);
        } else {
            stack.push((index, false));
        }
    }
    let siblings = &mut stack[bottom..];
    siblings.sort_by_key(|&(index, _)| {
        let name = &page.labels[row(index).function.index()];
        (Reverse(row(index).total_ns), name.as_str(), index)
    });
    siblings.reverse();
    if let Some(last) = siblings.first_mut() {
        last.1 = true;
    }
}

fn subtree_rows(page: &Page<'_>, top: u32) -> u64 {
    let mut stack = vec![top];
    let mut rows = 0;
    while let Some(index) = stack.pop() {
        rows += 1;
        stack.extend(page.tree.children(index));
    }
    rows
}

fn numbers(out: &mut String, page: &Page<'_>, row: &TreeRow, errors: bool) -> fmt::Result {
    cells(
        out,
        errors,
        [
            &page.percent(row.total_ns),
            &page.duration(row.total_ns),
            &page.duration(row.self_ns),
            &page.percent(row.self_ns),
            &number::count(row.calls),
            &page.average(row.total_ns, row.calls),
            &number::count(row.errors),
        ],
    )
}

fn cells(
    out: &mut String,
    errors: bool,
    [share, total, own, own_share, calls, avg, err]: [&str; 7],
) -> fmt::Result {
    write!(
        out,
        "{share:>6}  {total:>6}  {own:>6}  {own_share:>6}  {calls:>5}  {avg:>6}  "
    )?;
    if errors {
        write!(out, "{err:>5}  ")?;
    }
    Ok(())
}

/// `more` has an entry for each row above; the topmost ones stand side by side and have no lines.
fn indent(out: &mut String, page: &Page<'_>, more: &[bool], is_last: bool) -> fmt::Result {
    let depth = more.len();
    for &more in more.iter().take(MAX_INDENT).skip(1) {
        out.push_str(if more { page.glyphs.line } else { "  " });
    }
    match depth {
        0 => Ok(()),
        1..=MAX_INDENT if is_last => write!(out, "{} ", page.glyphs.last),
        1..=MAX_INDENT => write!(out, "{} ", page.glyphs.branch),
        _ => write!(out, "{}+{} ", page.glyphs.cut, depth - MAX_INDENT),
    }
}

//! The table of threads, with the state, times and open scopes of each thread.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use tickscope_analysis::measure::Dimension;
use tickscope_analysis::uncertainty::{Uncertainty, uncertainties};
use tickscope_format::ids::{NO_PARENT, ThreadId};
use tickscope_format::snapshot::{Now, Thread, ThreadState, Values, saturating_sum};

use super::page::Page;
use super::scale::Time;
use crate::escape::visible;
use crate::extent;
use crate::number;

/// Maximum number of open scopes listed for a thread. If there are more, only the innermost ones are listed.
const NAMED: usize = 8;

/// Number of spaces before the names of open scopes.
const OPEN_INDENT: usize = 4;

/// Widths, in cells, of the time columns that are not as wide as the others.
const OUTSIDE: usize = "OUTSIDE".len();
const CPU: usize = 6;

/// Share of a CPU below which a thread is shown as waiting. The viewer uses the same limit.
const WAITING_BELOW: f64 = 0.1;

/// The data for one row of the table.
struct Row<'a> {
    thread: &'a Thread,
    now: Option<Now<'a>>,
    inside: Time,
    calls: u64,
}

pub(super) fn write(out: &mut String, page: &Page<'_>) -> fmt::Result {
    writeln!(
        out,
        "Threads: TOTAL in scopes, OUTSIDE of any; 100% = {} in scopes; %CPU of the time {};\n\
         below a thread its open scopes, outermost first, with their ages\n",
        page.time(page.measured()),
        extent::words(page.snapshot),
    )?;
    let (width, _) = page.time_cells();
    let titles = [
        "%TOT",
        &page.title("TOTAL", width),
        &page.title("OUTSIDE", OUTSIDE),
        &page.title("CPU", CPU),
        "%CPU",
        "CALLS",
        "COUNT",
        "TID",
        "STATE",
    ];
    line(out, page, titles, "THREAD")?;
    for row in rows(page) {
        let Row {
            thread,
            now,
            inside,
            calls,
        } = row;
        let outside = Time {
            ns: page.snapshot.value(thread.outside_ticks),
            ticks: thread.outside_ticks,
            estimated: page.snapshot.capture.mode.is_sampling() && page.snapshot.values != Values::Counts,
        };
        let cpu = thread.cpu_ns.map(|ns| cpu(page, ns));
        let cells = [
            &page.share_of(inside),
            &page.cell(inside, width),
            &page.cell(outside, OUTSIDE),
            &cpu.unwrap_or_else(|| page.nothing(CPU)),
            &cpu_share(page, thread),
            &page.count(calls),
            &number::count(thread.count),
            &match thread.tid {
                0 => "-".to_string(),
                tid => tid.to_string(),
            },
            &state(page, thread).to_string(),
        ];
        let name = visible(&thread.name, page.options.ascii);
        line(out, page, cells.map(String::as_str), &name)?;
        open_path(out, page, thread, now)?;
    }
    Ok(())
}

fn line(out: &mut String, page: &Page<'_>, cells: [&str; 9], name: &str) -> fmt::Result {
    let (width, gap) = page.time_cells();
    let [share, inside, outside, cpu, cpu_share, calls, count, tid, state] = cells;
    writeln!(
        out,
        "{share:>width$}{gap}{inside:>width$}{gap}{outside:>OUTSIDE$}{gap}{cpu:>CPU$}  {cpu_share:>6}  {calls:>5}  \
         {count:>5}  {tid:>7}  {state:<8}  {name}"
    )
}

/// Returns the threads to show, in order of decreasing time in scopes.
fn rows<'a>(page: &'a Page<'_>) -> Vec<Row<'a>> {
    let snapshot = page.snapshot;
    let (self_ns, uncertainties) = (snapshot.self_nanos(), uncertainties(snapshot));
    let chosen = |id: &ThreadId| page.options.thread.is_none_or(|chosen| chosen == *id);
    let all = (0..snapshot.threads.len() as u32).map(ThreadId).filter(chosen);
    let mut rows: Vec<Row<'_>> = all
        .map(|id| {
            let nodes = snapshot.rows_of(id);
            let at_top = |row: &usize| snapshot.nodes.parent[*row] == NO_PARENT;
            let ns = saturating_sum(self_ns[nodes.clone()].iter().copied());
            let ticks = saturating_sum(snapshot.nodes.self_ticks[nodes.clone()].iter().copied());
            let top = nodes
                .filter(at_top)
                .filter_map(|row| uncertainties.get(row).copied());
            Row {
                thread: &snapshot.threads[id.index()],
                now: snapshot.waits_in.now_of(id.0),
                inside: Time::total(ns, ticks, Some(Uncertainty::of_totals(top))),
                calls: snapshot.scope_calls_of(id),
            }
        })
        .collect();
    rows.sort_by_key(|row| (Reverse(row.inside.ns), Reverse(row.calls)));
    rows
}

/// Formats CPU time for a column. It is shown as a time even if the report uses another measure.
fn cpu(page: &Page<'_>, ns: u64) -> String {
    match page.dimension() {
        Dimension::Time => page.cell(Time::own(ns, page.ticks_of(ns), None), CPU),
        Dimension::Count | Dimension::Bytes => page.duration(ns),
    }
}

/// Returns the state of a thread. A thread inside a scope is only called running or waiting if the snapshot covers a
/// window of time, because its CPU time in the window shows which of the two it was.
fn state(page: &Page<'_>, thread: &Thread) -> &'static str {
    let window_ns = page.snapshot.capture.since_reset_ns;
    match (thread.state, thread.cpu_ns) {
        (ThreadState::Running, Some(cpu_ns)) if page.snapshot.window && window_ns > 0 => {
            if (cpu_ns as f64) < WAITING_BELOW * window_ns as f64 {
                "waiting"
            } else {
                "running"
            }
        }
        (state, _) => state.words(),
    }
}

/// Formats a thread's share of one CPU since the reset. For an ended thread it cannot be computed, because it is not
/// known how long the thread lived.
fn cpu_share(page: &Page<'_>, thread: &Thread) -> String {
    let since_ns = page.snapshot.capture.since_reset_ns;
    match thread.cpu_ns {
        Some(ns) if thread.state != ThreadState::Finished && since_ns > 0 => {
            number::percent(ns as f64 / since_ns as f64)
        }
        _ => "-".into(),
    }
}

fn open_path(out: &mut String, page: &Page<'_>, thread: &Thread, now: Option<Now<'_>>) -> fmt::Result {
    if thread.open.is_empty() {
        return Ok(());
    }
    let snapshot = page.snapshot;
    let above = thread.open.len().saturating_sub(NAMED);
    let mut pieces: Vec<String> = Vec::new();
    if above > 0 {
        pieces.push(format!("+{above} above"));
    }
    for frame in &thread.open[above..] {
        let site = snapshot.nodes.site.get(frame.node.index());
        let function = site.and_then(|&site| page.tree.functions.of_site.get(site as usize));
        let name = function.map_or("?", |function| page.labels[function.index()].as_str());
        // No age is shown if the clock was not read when the frame opened. A frame that is newer than the snapshot's
        // tick has an age of 0.
        pieces.push(match frame.began_tick {
            0 => name.to_string(),
            tick => {
                let age = snapshot.capture.tick.saturating_sub(tick);
                format!("{name} {}", page.duration(snapshot.nanos(age)))
            }
        });
    }
    if let Some(call) = now.and_then(Now::call) {
        pieces.push(format!("waits in {call}"));
    }
    // Lines wrap between pieces, as text wraps between words.
    let mut cells = page.options.width.max(1);
    for (at, piece) in pieces.iter().enumerate() {
        let then = if at == 0 { "" } else { " > " };
        let wide = then.chars().count() + piece.chars().count();
        if at > 0 && cells + wide <= page.options.width {
            write!(out, "{then}{piece}")?;
            cells += wide;
            continue;
        }
        if at > 0 {
            writeln!(out, " >")?;
        }
        let lead = if at == 0 { "open: " } else { "" };
        write!(out, "{:OPEN_INDENT$}{lead:<6}{piece}", "")?;
        cells = OPEN_INDENT + 6 + piece.chars().count() + " >".len();
    }
    writeln!(out)
}

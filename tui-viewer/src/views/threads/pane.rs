//! Pane of the view Threads: figures of a thread, and the beginnings of its open scopes.

use ratatui::layout::Rect;
use tickscope_format::snapshot::Now;
use tickscope_programs::clock_time::clock_time;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::state::App;
use crate::app::thread_rows::RunState;
use crate::app::window::span_words;
use crate::text::cells::{cut_middle, safe, width};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::unit;

/// Formats a time in the chosen unit.
fn time(canvas: &Canvas<'_>, app: &App, data: &Data, ns: u64) -> String {
    let ticks = unit::ticks_of(data, ns);
    let text = unit::scaled(canvas, app, data.per_calls, ns, ticks, false);
    text.unwrap_or_else(|| UNKNOWN.to_string())
}

/// Formats a number of calls, or the calls per call.
fn calls(data: &Data, calls: u64) -> String {
    unit::calls(data, calls).unwrap_or_else(|| UNKNOWN.to_string())
}

/// Draws the pane below: figures of the selected thread, and its open scopes with the clock times of their beginnings.
pub(crate) fn detail(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let thread = &data.threads()[index as usize];
    let of_snapshot = &data.snapshot.threads[index as usize];
    let y = area.y + 1;
    let time = |ns: u64| time(canvas, app, data, ns);
    let cpu = of_snapshot.cpu_ns.map_or(UNKNOWN.to_string(), time);
    let busy = thread.busy.map_or(UNKNOWN.to_string(), number::percent);
    let mut facts = vec![
        ("", thread.run_state.word().to_string()),
        ("busy", busy),
        ("cpu", cpu),
        ("in scopes", time(thread.measured_ns)),
        ("outside", time(thread.outside_ns)),
        ("calls", calls(data, thread.calls)),
    ];
    if let Some(call) = data.snapshot.waits_in.now_of(index).and_then(Now::call) {
        facts.insert(1, ("now in", safe(call, canvas.ascii).into_owned()));
    }
    match (of_snapshot.count, of_snapshot.tid) {
        (2.., _) => facts.insert(1, ("threads", number::count(of_snapshot.count))),
        (_, 0) => {}
        (_, tid) => facts.insert(1, ("tid", tid.to_string())),
    }
    let mut x = area.x;
    for (word, text) in facts {
        let cells = width(word) + usize::from(!word.is_empty()) + width(&text);
        if usize::from(x) + cells > usize::from(area.right()) {
            break;
        }
        if !word.is_empty() {
            x = canvas.put(x, y, area.width, word, Meaning::Quiet) + 1;
        }
        x = canvas.put(x, y, area.width, &text, Meaning::Plain) + 3;
    }
    let below = Rect {
        y: y + 1,
        height: area.bottom().saturating_sub(y + 3),
        ..area
    };
    open_path(canvas, app, data, index, below);
    let only = data.thread.is_some_and(|only| only.0 == index);
    let legend = legend(app);
    let hint = match (thread.run_state, of_snapshot.open.is_empty()) {
        _ if only => "the other views show only this thread; Enter shows all again",
        (RunState::Waiting, _) => "waiting: in a scope, but below 10 % of a CPU in the last interval",
        (RunState::Paused, false) => "paused: its clock is stopped, also for its open scopes",
        (RunState::Paused, true) => "paused: its clock is stopped, outside of any scope",
        (RunState::Finished, _) => "finished threads of one name share a row",
        (RunState::Running | RunState::Idle, _) => &legend,
    };
    canvas.put_cut(area.x, area.bottom() - 2, area.width, hint, Meaning::Quiet);
    let states = states(canvas.glyphs.dot, usize::from(area.width));
    canvas.put_cut(area.x, area.bottom() - 1, area.width, &states, Meaning::Quiet);
}

/// Explains the columns and the time that they cover.
fn legend(app: &App) -> String {
    let span = span_words(app.derived.stretch);
    match app.compared() {
        Some(_) => format!("TOTAL, CPU, OUTSIDE show now minus then, {span}; BUSY is current"),
        None => format!("BUSY share of a CPU in the last interval   TOTAL in scopes {span}"),
    }
}

/// Explains the words for a thread's state, in one line.
fn states(dot: &str, cells: usize) -> String {
    let words = |long: bool| {
        let meaning = |run_state: RunState| match long {
            true => run_state.meaning(),
            false => run_state.meaning_in_short(),
        };
        let word = |run_state: RunState| match meaning(run_state) {
            "" => run_state.word().to_string(),
            meaning => format!("{} {meaning}", run_state.word()),
        };
        RunState::ALL.map(word).join(if long { dot } else { ", " })
    };
    let long = words(true);
    if width(&long) <= cells { long } else { words(false) }
}

/// Draws `match::run 14:00:00 › match::step 14:02:13` over the lines of the area; only the end of a path that is too long.
fn open_path(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let open = &data.snapshot.threads[index as usize].open;
    if open.is_empty() {
        canvas.put_cut(area.x, area.y, area.width, "no scope is open", Meaning::Quiet);
        return;
    }
    let cells = usize::from(area.width);
    let capture = &data.snapshot.capture;
    let piece = |frame: &tickscope_format::snapshot::OpenFrame| {
        let name = data
            .function_of_node(frame.node)
            .map_or(UNKNOWN, |function| &data.names.short[function.index()]);
        let since = match frame.began_tick {
            0 => String::new(),
            tick => {
                let age_ns = data.snapshot.nanos(capture.tick.saturating_sub(tick));
                clock_time(capture.unix_ns.saturating_sub(age_ns), app.screen.utc_offset)
            }
        };
        let room = (cells / 2).saturating_sub(width(&since) + 1);
        (cut_middle(name, room, canvas.glyphs.cut).into_owned(), since)
    };
    // From the innermost outwards while there is room; lines are filled as words are.
    let then = canvas.glyphs.then;
    let lead = "open since  ";
    let lines = |pieces: &[(String, String)], hidden: usize| {
        let mut lines: Vec<Vec<(String, String)>> = vec![Vec::new()];
        let mut used = width(lead) + if hidden > 0 { 12 } else { 0 };
        for (name, since) in pieces.iter().rev() {
            let wide = width(name) + 1 + width(since) + width(then);
            if used + wide > cells {
                lines.push(Vec::new());
                used = width(lead);
            }
            used += wide;
            if let Some(line) = lines.last_mut() {
                line.push((name.clone(), since.clone()));
            }
        }
        lines
    };
    let most = usize::from(area.height).max(1);
    let mut pieces = Vec::new();
    for frame in open.iter().rev() {
        pieces.push(piece(frame));
        if lines(&pieces, open.len() - pieces.len()).len() > most {
            pieces.pop();
            break;
        }
    }
    let hidden = open.len() - pieces.len();
    for (number, (line, y)) in lines(&pieces, hidden)
        .iter()
        .zip(area.top()..area.bottom())
        .enumerate()
    {
        let mut x = area.x;
        if number == 0 {
            canvas.put(x, y, area.width, lead, Meaning::Quiet);
        }
        x += width(lead) as u16;
        if number == 0 && hidden > 0 {
            let text = format!("+{} above", number::count(hidden as u64));
            x = canvas.put(x, y, area.right().saturating_sub(x), &text, Meaning::Quiet);
            x = canvas.put(x, y, area.right().saturating_sub(x), then, Meaning::Quiet);
        }
        for (at, (name, since)) in line.iter().enumerate() {
            if at > 0 || number > 0 {
                x = canvas.put(x, y, area.right().saturating_sub(x), then, Meaning::Quiet);
            }
            x = canvas.put(x, y, area.right().saturating_sub(x), name, Meaning::Plain);
            if !since.is_empty() {
                x = canvas.put(
                    x + 1,
                    y,
                    area.right().saturating_sub(x + 1),
                    since,
                    Meaning::Quiet,
                );
            }
        }
    }
}

//! The Threads view: each thread with its load and its current function. The pane has details of the selected thread,
//! and the times at which its open scopes began.

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::Figures;
use tickscope_format::snapshot::{Now, OpenFrame};
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Row, RowId};
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;
use crate::app::state::App;
use crate::app::threads::RunState;
use crate::app::timeline::{Lanes, TimeColumns};
use crate::app::update::acts::{Act, act, has_rows};
use crate::app::window::span_words;
use crate::app::{names, threads};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::column::Place;
use crate::ui::view::detail::clock_time_of;
use crate::ui::view::unit::{self, UNKNOWN};
use crate::views::view_type::{About, ViewType};

mod columns;
#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Threads;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    rows: "threads",
    stays_at_top: true,
    ..About::LIST
};

const ACTS: &[Act] = &[act(&[Action::Enter], has_rows, App::enter_thread)];

impl ViewType for Threads {
    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        list(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn weigh(&self, _app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        match data.threads()[row.what.row as usize].run_state {
            RunState::Finished => [Meaning::Quiet; 2],
            RunState::Running | RunState::Waiting | RunState::Paused | RunState::Idle => [Meaning::Plain; 2],
        }
    }

    fn why_empty(&self, _app: &App, _data: &Data) -> Option<String> {
        Some("No thread has entered a scope since the program began.".to_string())
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        let places = columns::places(app.screen.size.width);
        let course = places.iter().find(|place| *place.column == columns::COURSE)?;
        Some(TimeColumns {
            columns: course.width,
            lanes: Lanes::Threads,
            is_strip: true,
        })
    }

    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        figures_and_path(canvas, app, data, row.what.row, area);
    }
}

impl RowTable for Threads {
    fn count(&self, data: &Data) -> u32 {
        data.threads().len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Thread(data.threads()[row as usize].key)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let row = &data.threads()[row as usize];
        Figures {
            total_ns: row.measured_ns,
            self_ns: row.measured_ns,
            calls: row.calls,
            ..Figures::default()
        }
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(&data.threads()[row as usize].name)
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn is_hit(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        let row = &data.threads()[row as usize];
        let doing = row.doing.is_some_and(|function| matcher.finds(function));
        doing || names::contains(&row.name, &matcher.text)
    }
}

/// Returns the list of threads. Threads that rank equally are sorted by name, with numbers compared by value: `job-2`
/// comes before `job-10`.
pub(crate) fn list(data: &Data, shape: &Shape<'_>) -> Listing {
    let all = threads::busiest_first(&data.snapshot);
    listing::walk(data, shape, View::Threads.rows(all.into_iter().map(|id| id.0)))
}

/// Formats a time in the chosen unit.
fn time(canvas: &Canvas<'_>, app: &App, data: &Data, ns: u64) -> String {
    let ticks = unit::ticks_of(data, ns);
    let text = unit::scaled(canvas, app, data.per_calls, ns, ticks, false);
    text.unwrap_or_else(|| UNKNOWN.to_string())
}

/// Draws the pane below the list: details of the selected thread, and its open scopes with the time of day at which
/// each began.
fn figures_and_path(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let thread = &data.threads()[index as usize];
    let of_snapshot = &data.snapshot.threads[index as usize];
    let time = |ns: u64| time(canvas, app, data, ns);
    let cpu = of_snapshot.cpu_ns.map_or(UNKNOWN.to_string(), time);
    let busy = thread.busy.map_or(UNKNOWN.to_string(), number::percent);
    let mut facts = vec![
        ("", thread.run_state.word().to_string()),
        ("busy", busy),
        ("cpu", cpu),
        ("in scopes", time(thread.measured_ns)),
        ("outside", time(thread.outside_ns)),
        ("calls", unit::counted(data, thread.calls)),
    ];
    if let Some(call) = data.snapshot.waits_in.now_of(index).and_then(Now::call) {
        facts.insert(1, ("now in", canvas.safe(call).into_owned()));
    }
    match (of_snapshot.count, of_snapshot.tid) {
        (2.., _) => facts.insert(1, ("threads", number::count(of_snapshot.count))),
        (_, 0) => {}
        (_, tid) => facts.insert(1, ("tid", tid.to_string())),
    }
    Pen::on(canvas, area, 1).facts(&facts, 3);
    let (y, height) = (area.y + 2, area.height.saturating_sub(4));
    open_path(canvas, app, data, index, Rect { y, height, ..area });
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
    canvas.line(area, area.height - 2, hint, Meaning::Quiet);
    let states = states(canvas.glyphs.dot, usize::from(area.width));
    canvas.line(area, area.height - 1, &states, Meaning::Quiet);
}

/// Explains the columns, and the period that they cover.
fn legend(app: &App) -> String {
    let span = span_words(app.derived.stretch);
    match app.compared() {
        Some(_) => format!("TOTAL, CPU, OUTSIDE show now minus then, {span}; BUSY is current"),
        None => format!("BUSY share of a CPU in the last interval   TOTAL in scopes {span}"),
    }
}

/// Explains the words for a thread's state, on one line.
fn states(dot: &str, cells: usize) -> String {
    let words = |long: bool| {
        let word = |run_state: RunState| {
            let [word, wide, narrow] = run_state.words();
            let meaning = if long { wide } else { narrow };
            format!("{word} {meaning}").trim_end().to_string()
        };
        RunState::ALL.map(word).join(if long { dot } else { ", " })
    };
    let long = words(true);
    if width(&long) <= cells { long } else { words(false) }
}

/// Draws the open scopes as `match::run 14:00:00 › match::step 14:02:13`, on as many lines as the area has. If there is
/// not enough room for all, only the innermost scopes are drawn.
fn open_path(canvas: &mut Canvas<'_>, app: &App, data: &Data, index: u32, area: Rect) {
    let open = &data.snapshot.threads[index as usize].open;
    if open.is_empty() {
        return canvas.line(area, 0, "no scope is open", Meaning::Quiet);
    }
    let cells = usize::from(area.width);
    let piece = |frame: &OpenFrame| {
        let function = data.function_of_node(frame.node);
        let name = function.map_or(UNKNOWN, |function| &data.names.short[function.index()]);
        let since = match frame.began_tick {
            0 => String::new(),
            tick => clock_time_of(app, data, tick),
        };
        let room = (cells / 2).saturating_sub(width(&since) + 1);
        (canvas.cut_middle(name, room).into_owned(), since)
    };
    // Takes as many scopes as fit, starting with the innermost one, and wraps them onto lines like words.
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
    for (number, path) in (0..area.height).zip(lines(&pieces, hidden)) {
        let mut pen = Pen::on(canvas, area, number);
        match number {
            0 => pen.put(lead, Meaning::Quiet),
            _ => pen.skip(width(lead) as u16),
        }
        if number == 0 && hidden > 0 {
            let text = format!("+{} above{then}", number::count(hidden as u64));
            pen.put(&text, Meaning::Quiet);
        }
        for (at, (name, since)) in path.iter().enumerate() {
            if at > 0 || number > 0 {
                pen.put(then, Meaning::Quiet);
            }
            pen.put(name, Meaning::Plain);
            if !since.is_empty() {
                pen.skip(1);
                pen.put(since, Meaning::Quiet);
            }
        }
    }
}

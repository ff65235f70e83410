//! Source pane in the view of one function: each line with its samples, and with the scope that begins there.

use ratatui::layout::{Margin, Rect};
use tickscope_format::snapshot::{Lines, LinesState};
use tickscope_report::number;
use tickscope_report::text::without_samples;

use crate::app::row::share;
use crate::app::source::Source;
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::views::function::source::HEAD_LINES;

/// Cells from which on functions that are not measured stand beside the source.
const ROOM_FOR_CALLED: u16 = 110;

/// Cells of the list of functions that are not measured.
const CALLED_CELLS: u16 = 38;

/// Shares of a function's samples from which on a line stands out.
const LARGE: f64 = 0.20;
const NOTABLE: f64 = 0.05;

/// End of each column before the source, and of its title.
const SHARE_END: u16 = 7;
const CPU_END: u16 = 15;
const SCOPE_END: u16 = 24;
const LINE_END: u16 = 31;

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, area: Rect) {
    let Some(source) = app.source() else { return };
    let Some(data) = &app.derived.data else { return };
    title(canvas, source, &data.snapshot.lines, area);
    let called = match area.width {
        ROOM_FOR_CALLED.. if !source.called.is_empty() => CALLED_CELLS,
        _ => 0,
    };
    let width = area.width - called;
    let text = Rect { width, ..area };
    titles(canvas, text);
    let notes = notes(app, source, &data.snapshot.lines);
    let below = area.height.saturating_sub(HEAD_LINES);
    let notes = &notes[..notes.len().min(usize::from(below / 3))];
    let end = HEAD_LINES + below - notes.len() as u16;
    let first = app.views.source.first(source, end - HEAD_LINES);
    for (number, line) in (first..=source.last()).zip(HEAD_LINES..end) {
        self::line(canvas, source, number, text, text.y + line);
    }
    for (note, line) in notes.iter().zip(end..) {
        canvas.line(text.inner(Margin::new(1, 0)), line, note, Meaning::Notable);
    }
    if called > 0 {
        let (x, y, height) = (text.right(), area.y + 1, area.height - 1);
        self::called(canvas, source, Rect::new(x, y, called, height));
    }
}

/// Draws the file, and the amount of samples.
fn title(canvas: &mut Canvas<'_>, source: &Source, lines: &Lines, area: Rect) {
    canvas.rule(area);
    let cells = area.width.saturating_sub(4);
    let mut facts = String::new();
    if source.all.samples > 0 {
        facts = format!(
            "{} samples, {} of CPU time, {} of all",
            number::count(source.all.samples),
            canvas.duration(source.all.cpu_ns),
            number::percent(share(source.all.cpu_ns, source.of_program.cpu_ns)),
        );
        if let Some(rate) = lines.rate_hz() {
            facts += &format!("; {rate:.0} a second");
        }
    }
    let file = canvas.safe(&source.file);
    let room = usize::from(cells).saturating_sub(width(&facts) + 4).max(12);
    let file = canvas.cut_path(&file, room);
    let x = canvas.put(area.x + 1, area.y, cells, &format!(" {file} "), Meaning::Strong);
    if !facts.is_empty() {
        let room = area.right().saturating_sub(x + 2);
        canvas.put_cut(x + 1, area.y, room, &format!(" {facts} "), Meaning::Quiet);
    }
}

/// Draws the titles of the columns on the second line of the pane.
fn titles(canvas: &mut Canvas<'_>, area: Rect) {
    let columns = [
        (SHARE_END, "CPU%"),
        (CPU_END, "CPU"),
        (SCOPE_END, "SCOPE"),
        (LINE_END, "LINE"),
    ];
    for (end, title) in columns {
        canvas.put_right(area.x, area.y + 1, end.min(area.width), title, Meaning::Quiet);
    }
}

fn line(canvas: &mut Canvas<'_>, source: &Source, line: u32, area: Rect, y: u16) {
    let sampled = source.sampled.get(&line).copied();
    let part = sampled.map(|sampled| share(sampled.cpu_ns, source.all.cpu_ns));
    let meaning = match part {
        Some(LARGE..) => Meaning::Hottest,
        Some(NOTABLE..) => Meaning::Warm,
        Some(_) => Meaning::Plain,
        None => Meaning::Quiet,
    };
    let cpu = sampled.map(|sampled| canvas.duration(sampled.cpu_ns));
    let scope = source.scopes.get(&line).map(|&ns| canvas.duration(ns));
    let columns = [
        (SHARE_END, part.map(number::percent), meaning),
        (CPU_END, cpu, meaning),
        (SCOPE_END, scope, Meaning::Plain),
        (LINE_END, Some(line.to_string()), Meaning::Quiet),
    ];
    for (end, text, meaning) in columns {
        canvas.put_right(area.x, y, end.min(area.width), &text.unwrap_or_default(), meaning);
    }
    let text = source.text_of(line).replace('\t', "    ");
    let x = area.x + LINE_END + 2;
    let meaning = match part {
        Some(_) => Meaning::Plain,
        None => Meaning::Quiet,
    };
    canvas.put_cut(x, y, area.right().saturating_sub(x + 1), &text, meaning);
}

/// Draws the callees of the function that are not measured.
fn called(canvas: &mut Canvas<'_>, source: &Source, area: Rect) {
    let title = "CPU%  in functions not measured";
    canvas.put(area.x + 1, area.y, area.width - 1, title, Meaning::Quiet);
    for (called, y) in source.called.iter().zip(area.top() + 1..area.bottom()) {
        let part = share(called.sampled.cpu_ns, source.all.cpu_ns);
        let x = area.x + 6;
        canvas.put_right(area.x, y, 5, &number::percent(part), Meaning::Plain);
        let room = area.right().saturating_sub(x + 2);
        let name = match width(&canvas.safe(&called.name)) <= usize::from(room) {
            true => &called.name,
            false => &called.short,
        };
        canvas.put_cut(x + 1, y, room, name, Meaning::Plain);
    }
}

/// Returns the reasons why less is shown than possible.
fn notes(app: &App, source: &Source, lines: &Lines) -> Vec<String> {
    let mut notes = Vec::new();
    match &source.text {
        Some(Err(why)) => notes.push(why.clone()),
        None => notes.push("reading the source".into()),
        Some(Ok(_)) => {}
    }
    if lines.samples.is_empty() && lines.state == LinesState::Off && app.program.status.answers() {
        notes.push("no samples of its lines: S makes the program take them".into());
    } else if lines.samples.is_empty() {
        notes.push(without_samples(lines.state));
    } else if source.all.samples == 0 {
        notes.push(
            "no sample was in this function: it has used little CPU time since lines are sampled".into(),
        );
    }
    notes.extend(source.problems.iter().cloned());
    notes
}

//! The source pane of the Function view: each source line with its samples, and with the time of a scope that begins on
//! it. Also the keys of the pane, and its requests for code.

use ratatui::layout::{Margin, Rect};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::{LINES_HZ, Lines, LinesState};
use tickscope_programs::events::Request;
use tickscope_report::number;
use tickscope_report::text::without_samples;

use crate::app::layout::SOURCE_COMES;
use crate::app::message::Effect;
use crate::app::row::share;
use crate::app::source::Source;
use crate::app::state::App;
use crate::app::view::View;
use crate::source::code_reader::FoundCode;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// Number of lines that one key press scrolls.
const STEP: u32 = 3;

/// Lines of the pane that do not show source: the title of the pane, and the titles of its columns.
pub(crate) const HEAD_LINES: u16 = 2;

impl App {
    /// Shows the source of the selected function, and asks the program to sample its lines. If the Function view
    /// already shows the source, hides it, and ends the sampling if this viewer requested it.
    pub(crate) fn turn_source(&mut self) {
        let state = self.program.newest.as_ref().map(|newest| newest.lines.state);
        if self.views.current != View::Function {
            let Some(chosen) = self.selected_function() else {
                return self.tell("no function here: choose a row with a function");
            };
            self.views.source.wanted = Some(true);
            self.go_to_function(chosen);
        } else {
            // If the pane appeared without a key press, the first press requests samples, and only the next one hides
            // the pane.
            let lacks_samples = self.views.source.wanted.is_none() && state == Some(LinesState::Off);
            self.views.source.wanted = Some(!self.shows_source() || lacks_samples);
        }
        let is_wanted = self.views.source.wanted == Some(true);
        if is_wanted && self.layout().source.is_none() {
            self.views.source.wanted = None;
            return self.tell("no room for the source: it needs 20 lines");
        }
        let source = &mut self.views.source;
        match is_wanted {
            true if state == Some(LinesState::Off) && self.program.status.answers() => {
                source.has_asked = true;
                self.ask_for_lines(LINES_HZ);
            }
            false if std::mem::take(&mut source.has_asked) && self.program.status.answers() => {
                self.ask_for_lines(0);
            }
            true | false => {}
        }
    }

    fn ask_for_lines(&mut self, hz: u32) {
        if self.is_free_for("lines") {
            self.send(Request::Lines(hz));
        }
    }

    /// Scrolls the source in the pane.
    pub(crate) fn scroll_source(&mut self, down: bool) {
        let lines = self.source_lines();
        let Some(source) = self.source() else { return };
        let first = self.views.source.first(source, lines);
        let next = match down {
            true => first.saturating_add(STEP),
            false => first.saturating_sub(STEP).max(1),
        };
        let key = source.key;
        self.views.source.first = Some((key, next));
    }

    /// Returns the source of the current function, if the source pane is on the screen.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.derived.source.as_ref().filter(|_| self.shows_source())
    }

    /// Whether the source pane is on the screen.
    pub(crate) fn shows_source(&self) -> bool {
        self.layout().source.is_some()
    }

    /// Whether the source pane should be on the screen. This is the user's choice; if there is none, the pane is shown
    /// on large screens unless the file cannot be read.
    pub(crate) fn wants_source(&self) -> bool {
        let is_there = |source: &Source| !matches!(source.text, Some(Err(_)));
        self.may_want_source()
            && (self.views.source.wanted.is_some() || self.derived.source.as_ref().is_some_and(is_there))
    }

    /// Whether the source pane may be shown, so that code for it should be requested.
    fn may_want_source(&self) -> bool {
        let size = self.screen.size;
        let large = size.width >= SOURCE_COMES.width && size.height >= SOURCE_COMES.height;
        self.views.current == View::Function
            && self.data().is_some_and(|data| data.around.is_some())
            && self.views.source.wanted.unwrap_or(large)
    }

    /// Returns the number of lines of the pane that show source.
    fn source_lines(&self) -> u16 {
        let pane = self.layout().source.unwrap_or(Rect::ZERO);
        pane.height.saturating_sub(HEAD_LINES)
    }

    /// Stores an answer to a request for code.
    pub(crate) fn take_code(&mut self, found: FoundCode) {
        // Rows for sampled code depend on the names of addresses, so new names change them.
        self.screen.dirty |= self.may_want_source() || matches!(found, FoundCode::Addresses { .. });
        self.views.source.known.take(found);
    }

    /// Stores names of code addresses that came with a recording. They belong to the process of the newest snapshot.
    pub(crate) fn take_named(&mut self, addresses: Addresses) {
        if let Some(newest) = &self.program.newest
            && !addresses.is_empty()
        {
            let pid = self.pid_here(newest);
            self.views.source.known.take_named(pid, addresses);
        }
    }

    /// Returns the process id of a snapshot. Returns 0 if the program runs on another system, because its id would
    /// belong to some other process on this one.
    fn pid_here(&self, snapshot: &Snapshot) -> u32 {
        match self.program.is_elsewhere() {
            true => 0,
            false => snapshot.process.pid,
        }
    }

    /// Requests the code for those samples on the screen for which it is not known yet.
    fn find_code(&mut self) {
        let revision = self.derived.data_memo.revision();
        if let Some(data) = &self.derived.data
            && self.derived.code_memo.is_new(revision)
            && !data.snapshot.lines.samples.is_empty()
        {
            let pid = self.pid_here(&data.snapshot);
            let known = &mut self.views.source.known;
            let unknown = known.addresses_of(&data.snapshot, pid);
            self.effects.extend(unknown.map(Effect::FindCode));
        }
    }

    /// Rebuilds the contents of the source pane if the data behind them has changed, and requests code that is not
    /// known yet.
    pub(crate) fn derive_source(&mut self) {
        self.find_code();
        if !self.may_want_source() {
            return;
        }
        let Some((data, chosen)) = self
            .derived
            .data
            .as_ref()
            .zip(self.views.function.chosen.as_ref())
        else {
            return;
        };
        let known = &mut self.views.source.known;
        let key = (self.derived.seen_memo.revision(), known.revision());
        if self.derived.source_memo.is_new(key) {
            self.derived.source = Source::of(data, chosen.key, known);
        }
        if let Some(source) = &self.derived.source {
            self.effects
                .extend(known.file(&source.file).map(Effect::FindCode));
        }
        // The pane may have appeared or disappeared, which changes the number of lines that are left for the list.
        let page = self.page();
        self.list_mut().keep_on_screen(page);
    }
}

/// Minimum width in cells at which unmeasured callees are listed beside the source.
const ROOM_FOR_CALLED: u16 = 110;

/// Width in cells of the list of unmeasured callees.
const CALLED_CELLS: u16 = 38;

/// Minimum shares of a function's sampled CPU time at which a line is highlighted, strongly or slightly.
const LARGE: f64 = 0.20;
const NOTABLE: f64 = 0.05;

/// Right edges, in cells, of the columns to the left of the source.
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

/// Draws the path of the file, and a summary of the function's samples.
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

/// Draws the unmeasured callees of the function.
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

/// Returns notes on why the pane shows less than it could.
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

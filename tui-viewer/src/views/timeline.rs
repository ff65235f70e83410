//! The Timeline view: load of threads and functions over time.

use std::ops::RangeInclusive;

use ratatui::layout::{Position, Rect};

use crate::app::data::Data;
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::past::slots::Records;
use crate::app::sort::{Order, Sort};
use crate::app::state::App;
use crate::app::timeline::{
    LANE_LINES, Lanes, PARTS_LINES, Shown, Span, TimeColumns, columns_in, lines_of_lane, name_cells,
};
use crate::app::update::acts::{Act, ORDERS, ZOOMS, act, always, each, has_rows, never, only, shows};
use crate::app::view::Below;
use crate::app::window::Window;
use crate::keys::action::Action;
use crate::ui::view::canvas::Canvas;
use crate::views::view_type::{About, ViewType};
use crate::views::{hot, threads};

pub(crate) mod lanes;
#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Timeline;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    is_of_all: true,
    is_of_all_threads: true,
    stays_at_top: true,
    ..About::TIME
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, App::enter_lane),
    act(&[Action::SlotEarlier], shows, |app| app.step_slot(false)),
    act(&[Action::SlotLater], shows, |app| app.step_slot(true)),
    act(&[Action::RangeEarlier], shows, |app| app.extend_range(false)),
    act(&[Action::RangeLater], shows, |app| app.extend_range(true)),
    act(&[Action::Lanes], shows, App::turn_lanes),
    each(ZOOMS, always, App::zoom_timeline),
    only(ORDERS, never),
];

impl ViewType for Timeline {
    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        match app.views.timeline.lanes {
            Lanes::Threads => threads::list(data, shape),
            Lanes::Functions => {
                let sort = Sort::by(Order::SELF);
                hot::list(data, &Shape { sort, ..*shape })
            }
        }
    }

    fn choices(&self, app: &App) -> u64 {
        app.views.timeline.lanes as u64
    }

    fn searched(&self, app: &App, data: &Data) -> (usize, &'static str) {
        match app.views.timeline.lanes {
            Lanes::Threads => (data.threads().len(), "threads"),
            Lanes::Functions => (data.hot().len(), "functions"),
        }
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        Some(TimeColumns {
            columns: columns_in(app.screen.size.width),
            lanes: app.views.timeline.lanes,
            is_strip: false,
        })
    }

    fn way_back(&self, app: &App) -> Option<&'static str> {
        app.way_back().or(app.has_range().then_some("all time"))
    }

    fn click(&self, app: &mut App, at: Position, line: usize) {
        app.click_row_of(0, at.x, line);
        app.click_slot(at.x);
    }

    fn drag(&self, app: &mut App, at: Position) {
        app.drag(at.x, at.y);
    }

    fn layout(&self, app: &App, layout: Layout) -> Layout {
        let most = usize::from(u16::MAX / LANE_LINES);
        let lines = LANE_LINES * app.list().rows.len().min(most) as u16;
        layout.with_answer(0, lines, PARTS_LINES)
    }

    fn lines_of_row(&self, app: &App) -> u16 {
        app.lane_lines()
    }

    fn settings(&self, app: &App) -> Option<String> {
        Some(lanes::settings(app))
    }

    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, _data: &Data, area: Rect) {
        lanes::axis(canvas, app, area);
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        lanes::draw(canvas, app, data, area);
    }

    fn pane(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        lanes::parts(canvas, app, data, area);
    }
}

impl App {
    /// Reads the slots for the timeline, or for the strips beside the threads, whichever is on the screen.
    pub(crate) fn read_timeline(&mut self) {
        let wanted = self.views.current.kind().time_columns(self);
        let known = self.derived.data.as_ref().zip(self.program.newest.as_ref());
        let Some((wanted, (data, newest))) = wanted.zip(known) else {
            return;
        };
        let TimeColumns {
            columns,
            lanes,
            is_strip,
        } = wanted;
        let shown = Shown {
            records: Records {
                history: &self.playback.past.history,
                newest,
                code: &self.views.source.known,
            },
            lanes,
            threads: data.threads(),
            whole_ns: self.playback.whole_ns(&self.program).filter(|_| !is_strip),
            cursor_ns: self.cursor_ns(),
            ends_there: is_strip,
        };
        if is_strip {
            return self.views.strip.read(shown, columns);
        }
        self.views.timeline.read(shown, columns);
        let range = self.range();
        self.views.timeline.sum_up(range);
    }

    /// Returns the columns that the window covers, which may be a stretch of time chosen by the user; `None` if the
    /// window begins at a reset.
    pub(crate) fn range(&self) -> Option<RangeInclusive<u16>> {
        let stretch = self.derived.stretch.filter(|stretch| !stretch.since_reset)?;
        let end_ns = self.shown()?.capture.unix_ns;
        self.views.timeline.columns_of(end_ns, stretch.ns)
    }

    /// Whether some slots on the screen still have to be read.
    pub(crate) fn reads_times(&self) -> bool {
        let wanted = self.views.current.kind().time_columns(self);
        wanted.is_some_and(|wanted| match wanted.is_strip {
            true => self.views.strip.is_unread,
            false => self.views.timeline.is_unread,
        })
    }

    /// Returns the Unix time in ns of the moment on screen; `None` while the screen follows the program.
    pub(crate) fn cursor_ns(&self) -> Option<u64> {
        let shown = self.shown().filter(|_| self.playback.stands_still());
        shown.map(|shown| shown.capture.unix_ns)
    }

    /// Returns the area of the timeline below the tree; `None` if it is not shown.
    pub(crate) fn timeline_below(&self) -> Option<Rect> {
        self.layout().second.filter(|_| self.below() == Below::Timeline)
    }

    /// Returns the height in screen lines of the lane of a thread or a function.
    pub(crate) fn lane_lines(&self) -> u16 {
        lines_of_lane(self.list().rows.len(), self.layout().rows.height)
    }

    /// Whether the user has chosen a stretch of time in the timeline.
    pub(crate) fn has_range(&self) -> bool {
        matches!(self.query.window, Window::Chosen(_))
    }

    /// Shows only the selected thread, or the selected function with its callers.
    pub(crate) fn enter_lane(&mut self) {
        match self.views.timeline.lanes {
            Lanes::Threads => self.enter_thread(),
            Lanes::Functions => self.enter_row(),
        }
    }

    /// Moves the cursor to the next or the previous column.
    pub(crate) fn step_slot(&mut self, later: bool) {
        let (Some(newest_ns), Some(shown)) = (self.program.newest_ns(), self.shown()) else {
            return;
        };
        let history = &self.playback.past.history;
        let now_ns = shown.capture.unix_ns;
        let slot_ns = self.views.timeline.slot_ns();
        let to = if later {
            let beside = history.nearest(now_ns.saturating_add(slot_ns));
            let beside = beside.filter(|&at| at > now_ns);
            beside
                .or_else(|| history.after(now_ns))
                .or(Some(newest_ns).filter(|&newest| newest > now_ns))
        } else {
            let wanted = match self.playback.stands_still() {
                true => now_ns.saturating_sub(slot_ns),
                false => self.views.timeline.end_ns().min(now_ns),
            };
            let beside = history.nearest(wanted).filter(|&at| at < now_ns);
            beside.or_else(|| history.at_or_before(now_ns.saturating_sub(1)))
        };
        match to.and_then(|to| self.playback.snapshot_of(&self.program, to)) {
            Some(snapshot) => {
                self.choose_no_range();
                self.playback.go_to(snapshot, &self.program, &self.query.threads);
            }
            None if later => self.tell("this is the newest snapshot; L follows the program"),
            None => self.tell("there is no older snapshot"),
        }
    }

    /// Extends the chosen stretch of time by one column, or shortens it.
    pub(crate) fn extend_range(&mut self, later: bool) {
        let timeline = &self.views.timeline;
        let last = timeline.columns().saturating_sub(1);
        let cursor = self.cursor_ns().and_then(|at| timeline.column_before(at));
        let head = timeline.head().filter(|_| self.has_range());
        let from = head.or(cursor).unwrap_or(last);
        let to = match later {
            true => (from + 1).min(last),
            false => from.saturating_sub(1),
        };
        self.choose_range(from, to, head.is_none());
    }

    fn choose_range(&mut self, from: u16, to: u16, anew: bool) {
        let (begin_ns, end_ns) = self.views.timeline.choose_to(from, to, anew);
        let history = &self.playback.past.history;
        let end = history.nearest(end_ns);
        // The chosen stretch covers at least the time between two neighbouring snapshots.
        let begin = end.and_then(|end| {
            let begin = history.nearest(begin_ns).filter(|&begin| begin < end);
            begin.or_else(|| history.at_or_before(end.checked_sub(1)?))
        });
        let chosen = begin
            .zip(end)
            .and_then(|(begin, end)| Some((end - begin, self.playback.snapshot_of(&self.program, end)?)));
        match chosen {
            Some((ns, snapshot)) => {
                self.query.window = Window::Chosen(ns);
                self.playback.go_to(snapshot, &self.program, &self.query.threads);
            }
            None => self.tell("nothing is known of that time"),
        }
    }

    /// Discards the chosen stretch of time.
    fn choose_no_range(&mut self) {
        self.views.timeline.choose_none();
        if self.has_range() {
            self.query.window = Window::Reset;
        }
    }

    /// If a stretch of time was chosen, goes back to showing all time and the newest moment. Returns false if none was
    /// chosen.
    pub(crate) fn leave_range(&mut self) -> bool {
        let had = self.has_range();
        if had {
            self.choose_no_range();
            self.playback.go_live();
        }
        had
    }

    /// Moves the cursor to the column that was clicked.
    pub(crate) fn click_slot(&mut self, x: u16) {
        let Some(column) = self.column_at(x) else { return };
        self.choose_no_range();
        let (_, end_ns) = self.views.timeline.choose_to(column, column, true);
        let at = self.playback.past.history.nearest(end_ns);
        match at.and_then(|at| self.playback.snapshot_of(&self.program, at)) {
            Some(snapshot) => self.playback.go_to(snapshot, &self.program, &self.query.threads),
            None => self.tell("nothing is known of that time"),
        }
    }

    /// Extends the chosen stretch of time to the column under the mouse, while the button is held down.
    pub(crate) fn drag(&mut self, x: u16, y: u16) {
        let rows = self.layout().rows;
        if (rows.top()..rows.bottom()).contains(&y)
            && let Some(column) = self.column_at(x)
        {
            self.choose_range(column, column, false);
        }
    }

    fn column_at(&self, x: u16) -> Option<u16> {
        let column = x.checked_sub(name_cells(self.screen.size.width) + 2)?;
        (column < self.views.timeline.columns()).then_some(column)
    }

    /// Switches from lanes for threads to lanes for functions, or back.
    pub(crate) fn turn_lanes(&mut self) {
        let timeline = &mut self.views.timeline;
        timeline.lanes = match timeline.lanes {
            Lanes::Threads => Lanes::Functions,
            Lanes::Functions => Lanes::Threads,
        };
        let list = self.list_mut();
        list.cursor.want.clear();
        list.cursor.touched = false;
        list.cursor.offset = 0;
    }

    /// Shows more or less time on the screen.
    pub(crate) fn zoom_timeline(&mut self, action: Action) {
        let whole_ns = self.playback.whole_ns(&self.program);
        let closer = action == Action::Closer;
        if action == Action::WholeCall {
            self.views.timeline.zoom_usual();
        } else if !self.views.timeline.zoom(closer, whole_ns) {
            self.tell(match closer {
                true => "this is as close as it gets",
                false => "this is as far back as the past is kept",
            });
        }
    }

    /// Describes how much time the timeline shows: `the last 30 s`, `these 2 min`.
    pub(crate) fn timeline_words(&self) -> String {
        let is_recording = self.playback.recorded_ns(&self.program).is_some();
        let has_whole = self.playback.whole_ns(&self.program).is_some();
        match self.views.timeline.span(has_whole) {
            Span::All if is_recording => "the whole recording".to_string(),
            Span::All => "the whole run".to_string(),
            Span::Seconds(seconds) if is_recording || self.cursor_ns().is_some() => {
                format!("these {}", long(seconds))
            }
            Span::Seconds(seconds) => format!("the last {}", long(seconds)),
        }
    }
}

fn long(seconds: u64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

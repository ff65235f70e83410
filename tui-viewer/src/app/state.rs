//! The whole state of the screen: its parts, and values that depend on several parts.

use std::rc::Rc;

use ratatui::layout::{Position, Rect, Size};
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Timing;
use tickscope_programs::clock_time::UtcOffset;
use tickscope_programs::events::Request;
use tickscope_programs::status::Status;

use crate::app::data::Data;
use crate::app::derived::Derived;
use crate::app::help::HelpScreen;
use crate::app::layout::{Layout, ROOM_FOR_SECOND, SECOND_COMES};
use crate::app::message::Effect;
use crate::app::notices::Notices;
use crate::app::playback::Playback;
use crate::app::program::Program;
use crate::app::query::Query;
use crate::app::requests::Requests;
use crate::app::row::{PercentOf, Row, What, past_headings, share};
use crate::app::screen_info::ScreenInfo;
use crate::app::search::Search;
use crate::app::view::Below;
use crate::app::views::{List, Views};
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;

/// An overlay that receives the key presses instead of the view. At most one overlay is open.
#[derive(Debug)]
pub(crate) enum Overlay {
    /// The line in which a search is typed.
    Search,
    Help(HelpScreen),
    /// The list of threads to choose from.
    Threads {
        /// The selected line; line 0 stands for all threads.
        index: usize,
        /// Threads of the snapshot on screen in the order of the list.
        order: Vec<ThreadId>,
    },
    /// The list of modes.
    Modes {
        /// The selected line.
        index: usize,
    },
    /// The question whether to send this request even though other viewers are watching the program.
    Confirm(Request),
}

/// All state of the screen.
#[derive(Debug, Default)]
pub(crate) struct App {
    /// Size, time, and appearance of the screen.
    pub(crate) screen: ScreenInfo,
    /// Program that is watched.
    pub(crate) program: Program,
    /// Requests to the program.
    pub(crate) requests: Requests,
    /// Moment on screen.
    pub(crate) playback: Playback,
    /// The numbers that the user wants to see for that moment.
    pub(crate) query: Query,
    /// State derived from the moment and the query.
    pub(crate) derived: Derived,
    /// The views and their lists.
    pub(crate) views: Views,
    /// Overlay that receives the key presses instead of the view.
    pub(crate) overlay: Option<Overlay>,
    /// Notices to the user.
    pub(crate) notices: Notices,
    /// Effects of the message that is being handled.
    pub(crate) effects: Vec<Effect>,
}

impl App {
    /// Returns the initial state, before anything is known about the program.
    pub(crate) fn new(size: Size, theme: ThemeKind, ascii: bool, utc_offset: UtcOffset) -> Self {
        Self {
            screen: ScreenInfo::new(size, theme, ascii, utc_offset),
            ..Self::default()
        }
    }

    /// Returns the snapshot on screen.
    pub(crate) fn shown(&self) -> Option<&Rc<Snapshot>> {
        self.playback.shown(&self.program)
    }

    /// Whether the screen follows a program whose newest snapshot is old.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.program.status, Status::Stale { .. }) && !self.playback.stands_still()
    }

    /// Returns the tables of the snapshot on screen.
    pub(crate) fn data(&self) -> Option<&Data> {
        self.derived.data.as_ref()
    }

    /// Returns the search in the list, if it has a text.
    pub(crate) fn searched(&self) -> Option<&Search> {
        self.views.search.as_ref().filter(|search| search.is_set())
    }

    /// Returns the list of the view on screen.
    pub(crate) fn list(&self) -> &List {
        self.views.list()
    }

    /// Returns the selected row of the current view, and its data.
    pub(crate) fn selected(&self) -> Option<(&Data, &Row)> {
        self.data().zip(self.list().selected())
    }

    pub(crate) fn list_mut(&mut self) -> &mut List {
        self.views.list_mut()
    }

    /// Returns the areas of all parts of the screen.
    pub(crate) fn layout(&self) -> Layout {
        let banner = self.banner().is_some() || self.is_first_look();
        let layout = Layout::compute(self.screen.size, banner);
        match self.derived.data {
            Some(_) => self.views.current.kind().layout(self, layout),
            None => layout,
        }
    }

    /// Returns the width in cells of the list, or of each of two lists side by side.
    pub(crate) fn list_cells(&self) -> u16 {
        let area = Rect::from((Position::ORIGIN, self.screen.size));
        self.lists_beside(area)
            .map_or(area.width, |[first, _]| first.width)
    }

    /// Whether the program keeps latency histograms.
    pub(crate) fn keeps_latencies(&self) -> bool {
        self.data().is_some_and(|data| {
            let timing = data.snapshot.capture.mode.traits().timing;
            data.snapshot.measuring.histograms && !matches!(timing, Timing::Never | Timing::Samples)
        })
    }

    /// Returns the number of rows of the list, or of the longer of two lists side by side.
    pub(crate) fn longest_list(&self) -> u16 {
        let list = self.list();
        let (rows, first) = (list.rows.len(), list.second.unwrap_or(0));
        first.max(rows - first.min(rows)).min(usize::from(u16::MAX)) as u16
    }

    /// Returns what to show below the tree: what the user chose, or by default the flame graph on large screens.
    pub(crate) fn below(&self) -> Below {
        let size = self.screen.size;
        let large = size.width >= SECOND_COMES.width && size.height >= SECOND_COMES.height;
        let usual = if large { Below::Flame } else { Below::Nothing };
        match (self.views.wants_below.unwrap_or(usual), &self.derived.data) {
            _ if size.height < ROOM_FOR_SECOND => Below::Nothing,
            (_, None) => Below::Nothing,
            // A bottom-up tree has no flame graph, because a row is not a part of the row above it.
            (Below::Flame, Some(data)) if data.bottom_up => Below::Nothing,
            (below, Some(_)) => below,
        }
    }

    /// Switches to the next choice of what to show below the tree, which may be nothing.
    pub(crate) fn next_below(&mut self) {
        if self.screen.size.height < ROOM_FOR_SECOND {
            return self.tell(format!("a second view needs {ROOM_FOR_SECOND} lines"));
        }
        let bottom_up = self.data().is_some_and(|data| data.bottom_up);
        let below = self.below().next(bottom_up);
        let then = below.next(bottom_up);
        self.views.wants_below = Some(below);
        self.tell(format!("below the tree: {}; P: {}", below.words(), then.words()));
    }

    pub(crate) fn page(&self) -> usize {
        usize::from(self.layout().rows.height / self.views.current.kind().lines_of_row(self))
    }

    /// Returns the context in which key presses are interpreted.
    pub(crate) fn context(&self) -> Context {
        match &self.overlay {
            Some(Overlay::Search) => Context::Typing,
            Some(Overlay::Help(help)) if help.typed().is_some() => Context::Typing,
            Some(Overlay::Help(_)) => Context::Help,
            Some(Overlay::Threads { .. }) => Context::Choosing,
            Some(Overlay::Modes { .. }) => Context::Measuring,
            Some(Overlay::Confirm(_)) => Context::Asking,
            // Without data the screen has only the list of programs to choose from.
            None if self.derived.data.is_none() => Context::Start,
            None => Context::In(self.views.current),
        }
    }

    /// Returns the help screen, if it is open.
    pub(crate) fn help(&self) -> Option<&HelpScreen> {
        match &self.overlay {
            Some(Overlay::Help(help)) => Some(help),
            Some(_) | None => None,
        }
    }

    /// Whether an overlay is open that covers more than the bottom line of the screen.
    pub(crate) fn has_popup(&self) -> bool {
        !matches!(self.overlay, None | Some(Overlay::Search))
    }

    /// Returns the measure for shares, totals and sorting: the user's choice if the snapshot on screen has it, otherwise time.
    pub(crate) fn measure(&self) -> Measure {
        let wanted = self.query.measure;
        match self.shown() {
            Some(shown) if wanted.check(shown).is_ok() => wanted,
            Some(_) | None => Measure::Time,
        }
    }

    /// Describes the measure, divisor and unit of the numbers in words. Defaults are left out, so nothing is returned for
    /// plain times.
    pub(crate) fn unit_words(&self, wordy: bool) -> Vec<String> {
        let measure = self.measure();
        let by = (measure != Measure::Time).then(|| format!("by {}", measure.name()));
        let per = self.query.per_call.as_ref().map(|per| match wordy {
            true => format!("per call of {}", per.label),
            false => "per call".to_string(),
        });
        let in_ticks = self.query.in_ticks && measure.dimension() == Dimension::Time;
        let ticks = in_ticks.then(|| "ticks".to_string());
        by.into_iter().chain(per).chain(ticks).collect()
    }

    /// Returns what 100 % stands for in this view.
    pub(crate) fn percent_of(&self) -> PercentOf {
        self.views.current.kind().percent_of(self).0
    }

    /// Returns what 100 % stands for in this view, in words.
    pub(crate) fn percent_label(&self) -> &'static str {
        self.views.current.kind().percent_of(self).1
    }

    /// Returns what 100 % stands for according to the user's choice, and a label for it. Used by views that do not define
    /// 100 % themselves.
    pub(crate) fn percent_of_query(&self) -> (PercentOf, &'static str) {
        let view = self.views.current;
        let focuses = self.query.filter.focuses(view);
        match self.query.percent_of.within(view.about().has_parents) {
            // The time outside the focus is unknown, so 100 % is the measured time in the focus.
            PercentOf::Measured | PercentOf::Wall if focuses => (PercentOf::Measured, "% of focus"),
            PercentOf::Wall if self.measure() != Measure::Time => (PercentOf::Wall, "% of all"),
            base @ (PercentOf::Measured | PercentOf::Wall | PercentOf::Parent) => (base, base.label()),
        }
    }

    /// Switches to the next meaning of 100 %. Used by views that do not define 100 % themselves.
    pub(crate) fn next_percent_of_query(&mut self) {
        let view = self.views.current;
        let has_parents = view.about().has_parents;
        let mut next = self.percent_of().next(has_parents);
        if next == PercentOf::Wall && self.query.filter.focuses(view) {
            next = next.next(has_parents);
        }
        self.query.percent_of = next;
    }

    /// Returns the total time and the self time of a row as shares, from 0 to 1.
    pub(crate) fn shares(&self, data: &Data, what: What) -> (f64, f64) {
        let figures = data.figures(what);
        let whole = data.whole_ns(what, self.percent_of());
        (share(figures.total_ns, whole), share(figures.self_ns, whole))
    }

    /// Shows a message that is not an error.
    pub(crate) fn tell(&mut self, text: impl Into<String>) {
        self.notices.tell(self.screen.now, text);
        self.screen.dirty = true;
    }

    /// Shows an error.
    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.notices.complain(self.screen.now, text);
        self.screen.dirty = true;
    }

    /// Selects a line of the list.
    pub(crate) fn select(&mut self, index: usize) {
        let page = self.page();
        let list = self.list();
        let index = index.min(list.rows.len().saturating_sub(1));
        let index = past_headings(&list.rows, index, index >= list.cursor.index);
        let want = self.list().lineage_of(index);
        let list = self.list_mut();
        list.choose(index, want, page);
        let first = list.together().start;
        if list.rows[first..list.cursor.index.max(first)]
            .iter()
            .all(Row::is_heading)
        {
            list.cursor.offset = first;
            list.keep_on_screen(page);
        }
    }
}

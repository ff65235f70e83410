//! The state of the screen as one: its parts, and what several of them say together.

use ratatui::layout::{Position, Rect, Size};
use tickscope_analysis::measure::{Dimension, Measure};

use crate::app::data::Data;
use crate::app::derived::Derived;
use crate::app::figures::{What, share};
use crate::app::help_screen::HelpScreen;
use crate::app::layout::{Layout, ROOM_FOR_SECOND, SECOND_COMES, halves};
use crate::app::listing;
use crate::app::notices::Notices;
use crate::app::overlay::Overlay;
use crate::app::percent_of::PercentOf;
use crate::app::playback::Playback;
use crate::app::program::Program;
use crate::app::query::Query;
use crate::app::requests::Requests;
use crate::app::row::{Row, past_headings};
use crate::app::screen_info::ScreenInfo;
use crate::app::timeline::{LANE_LINES, PARTS_LINES};
use crate::app::view::{Below, View};
use crate::app::views::{List, Views};
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;
use crate::text::clock_time::UtcOffset;
use std::rc::Rc;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Timing;

/// All state of the screen.
#[derive(Debug)]
pub(crate) struct App {
    /// The terminal, and how it is drawn on.
    pub(crate) screen: ScreenInfo,
    /// The program that is watched.
    pub(crate) program: Program,
    /// What was asked of it.
    pub(crate) requests: Requests,
    /// Which moment is on screen.
    pub(crate) playback: Playback,
    /// What the user wants to see of that moment.
    pub(crate) query: Query,
    /// What follows from moment and query.
    pub(crate) derived: Derived,
    /// The views and their lists.
    pub(crate) views: Views,
    /// What has the keyboard in place of the view.
    pub(crate) overlay: Option<Overlay>,
    /// What the user is told.
    pub(crate) notices: Notices,
}

impl App {
    /// Nothing known yet.
    pub(crate) fn new(size: Size, theme: ThemeKind, ascii: bool, utc_offset: UtcOffset) -> Self {
        Self {
            screen: ScreenInfo::new(size, theme, ascii, utc_offset),
            program: Program::default(),
            requests: Requests::default(),
            playback: Playback::default(),
            query: Query::default(),
            derived: Derived::default(),
            views: Views::default(),
            overlay: None,
            notices: Notices::default(),
        }
    }

    /// The snapshot on screen.
    pub(crate) fn shown(&self) -> Option<&Rc<Snapshot>> {
        self.playback.shown(&self.program)
    }

    /// The list of the view on screen.
    pub(crate) fn list(&self) -> &List {
        self.views.list()
    }

    /// The selected row of the present view, and what it is a row of.
    pub(super) fn selected(&self) -> Option<(&Data, &Row)> {
        self.derived.data.as_ref().zip(self.list().selected())
    }

    pub(super) fn list_mut(&mut self) -> &mut List {
        self.views.list_mut()
    }

    pub(super) fn list_of(&mut self, view: View) -> &mut List {
        self.views.list_of(view)
    }

    /// Where things stand on the screen.
    pub(crate) fn layout(&self) -> Layout {
        let banner = self.banner().is_some() || self.is_first_look();
        let layout = Layout::compute(self.screen.size, banner);
        match self.views.current {
            View::Tree if self.below() != Below::Nothing => layout.with_large_pane().with_second(),
            View::Tree | View::Hot | View::Flame if self.derived.data.is_some() => layout.with_large_pane(),
            View::Function if self.wants_source() => {
                let rows = self.longest_list().max(listing::ROOM_FOR_HEADINGS as u16 - 1);
                layout.with_source(rows, self.keeps_latencies())
            }
            View::Function if self.derived.data.is_some() => layout
                .with_title()
                .with_charts(self.longest_list(), self.keeps_latencies()),
            View::Timeline if self.derived.data.is_some() => {
                let lines =
                    LANE_LINES * self.list().rows.len().min(usize::from(u16::MAX / LANE_LINES)) as u16;
                layout.with_answer(0, lines, PARTS_LINES)
            }
            View::Slow if self.derived.data.is_some() => layout.with_answer(
                self.answer_lines().len() as u16,
                self.path_lines(),
                self.call_lines(),
            ),
            View::Tree
            | View::Hot
            | View::Function
            | View::Threads
            | View::Flame
            | View::Sites
            | View::Tasks
            | View::Slow
            | View::Timeline => layout,
        }
    }

    /// Callers and callees side by side, on these cells, where they have room for it.
    pub(crate) fn lists_beside(&self, area: Rect) -> Option<[Rect; 2]> {
        halves(area).filter(|_| self.views.current == View::Function)
    }

    /// Cells of the list, or of each of two.
    pub(crate) fn list_cells(&self) -> u16 {
        let area = Rect::from((Position::ORIGIN, self.screen.size));
        self.lists_beside(area)
            .map_or(area.width, |[first, _]| first.width)
    }

    /// Whether the program keeps how long calls take.
    fn keeps_latencies(&self) -> bool {
        let snapshot = self.derived.data.as_ref().map(|data| &data.snapshot);
        snapshot.is_some_and(|snapshot| {
            let timing = snapshot.capture.mode.traits().timing;
            snapshot.measuring.histograms && !matches!(timing, Timing::Never | Timing::Samples)
        })
    }

    /// Rows of the list, or of the longer of two side by side.
    fn longest_list(&self) -> u16 {
        let list = self.list();
        let (rows, first) = (list.rows.len(), list.second.unwrap_or(0));
        first.max(rows - first.min(rows)).min(usize::from(u16::MAX)) as u16
    }

    /// What stands below the tree: as it was chosen, else the flame graph on large screens.
    pub(crate) fn below(&self) -> Below {
        let size = self.screen.size;
        let large = size.width >= SECOND_COMES.width && size.height >= SECOND_COMES.height;
        let usual = if large { Below::Flame } else { Below::Nothing };
        match (self.views.wants_below.unwrap_or(usual), &self.derived.data) {
            _ if size.height < ROOM_FOR_SECOND => Below::Nothing,
            (_, None) => Below::Nothing,
            // Bottom-up a row is no part of the one above it.
            (Below::Flame, Some(data)) if data.bottom_up => Below::Nothing,
            (below, Some(_)) => below,
        }
    }

    /// The next second view below the tree, or none.
    pub(super) fn next_below(&mut self) {
        if self.screen.size.height < ROOM_FOR_SECOND {
            return self.tell(format!("a second view needs {ROOM_FOR_SECOND} lines"));
        }
        let bottom_up = self.derived.data.as_ref().is_some_and(|data| data.bottom_up);
        let below = self.below().next(bottom_up);
        let then = below.next(bottom_up);
        self.views.wants_below = Some(below);
        self.tell(format!("below the tree: {}; P: {}", below.words(), then.words()));
    }

    pub(super) fn page(&self) -> usize {
        let rows = self.layout().rows.height;
        // There a line is a frame, which may take two rows.
        usize::from(match self.views.current {
            View::Flame => rows / self.views.flame.rows_of_frame(),
            View::Timeline => rows / self.lane_lines(),
            View::Tree
            | View::Hot
            | View::Function
            | View::Threads
            | View::Sites
            | View::Tasks
            | View::Slow => rows,
        })
    }

    /// Who has the keyboard.
    pub(crate) fn context(&self) -> Context {
        match &self.overlay {
            Some(Overlay::Search) => Context::Typing,
            Some(Overlay::Help(help)) if help.typed().is_some() => Context::Typing,
            Some(Overlay::Help(_)) => Context::Help,
            Some(Overlay::Threads { .. }) => Context::Choosing,
            Some(Overlay::Modes { .. }) => Context::Measuring,
            Some(Overlay::Confirm(_)) => Context::Asking,
            // Without data there is nothing but programs to choose from.
            None if self.derived.data.is_none() => Context::Start,
            None => self.views.current.context(),
        }
    }

    /// The help, while it is on top.
    pub(crate) fn help(&self) -> Option<&HelpScreen> {
        match &self.overlay {
            Some(Overlay::Help(help)) => Some(help),
            Some(_) | None => None,
        }
    }

    /// Whether something stands on top that is no line at the bottom of the screen.
    pub(crate) fn has_popup(&self) -> bool {
        !matches!(self.overlay, None | Some(Overlay::Search))
    }

    /// What shares, totals and the order are of: what was chosen, where the snapshot on screen has it, else time.
    pub(crate) fn measure(&self) -> Measure {
        let wanted = self.query.measure;
        match self.shown() {
            Some(shown) if wanted.check(shown).is_ok() => wanted,
            Some(_) | None => Measure::Time,
        }
    }

    /// What the numbers are of, per and in; nothing where they are totals of time.
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

    /// What percents are of, in this view.
    pub(crate) fn percent_of(&self) -> PercentOf {
        match (
            self.query.percent_of.within(self.views.current),
            self.views.current,
        ) {
            (_, View::Function) if self.views.function.of_all => PercentOf::Measured,
            // Of the function on the screen, which is what its lines are parts of.
            (_, View::Function) => PercentOf::Parent,
            // Nothing is known of the time outside of what is in focus.
            (PercentOf::Wall, view) if self.query.filter.focuses(view) => PercentOf::Measured,
            (base, _) => base,
        }
    }

    /// What percents are of, in words.
    pub(crate) fn percent_label(&self) -> &'static str {
        match (self.percent_of(), self.views.current) {
            (PercentOf::Parent, View::Function) => "% of this function",
            (PercentOf::Measured, view) if self.query.filter.focuses(view) => "% of focus",
            (PercentOf::Wall, _) if self.measure() != Measure::Time => "% of all",
            (base, _) => base.label(),
        }
    }

    /// The next thing percents are of.
    pub(super) fn next_percent_of(&mut self) {
        if self.views.current == View::Function {
            self.views.function.of_all = !self.views.function.of_all;
            return;
        }
        self.query.percent_of = self.percent_of().next(self.views.current);
        if self.query.percent_of == PercentOf::Wall && self.query.filter.focuses(self.views.current) {
            self.query.percent_of = self.query.percent_of.next(self.views.current);
        }
    }

    /// Shares of total and self time of a row, 0 to 1.
    pub(crate) fn shares(&self, data: &Data, what: What) -> (f64, f64) {
        let figures = data.figures(what);
        let whole = data.whole_ns(what, self.percent_of());
        (share(figures.total_ns, whole), share(figures.self_ns, whole))
    }

    /// Tells what was done.
    pub(super) fn tell(&mut self, text: impl Into<String>) {
        self.notices.tell(self.screen.now, text);
    }

    /// Tells what went wrong.
    pub(super) fn complain(&mut self, text: impl Into<String>) {
        self.notices.complain(self.screen.now, text);
    }

    /// Selects a line of the list.
    pub(super) fn select(&mut self, index: usize) {
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

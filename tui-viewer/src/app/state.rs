//! All state of the screen.

use std::rc::Rc;
use std::time::Duration;

use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::profile::tree::PathId;

use crate::app::command_line::CommandLine;
use crate::app::cpu_history::CpuHistory;
use crate::app::cursor::Cursor;
use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::figures::{What, share};
use crate::app::filter::Lens;
use crate::app::flame::Flame;
use crate::app::function::FunctionView;
use crate::app::help_search::HelpSearch;
use crate::app::keyhash::KeySet;
use crate::app::layout::Layout;
use crate::app::notice::Notice;
use crate::app::notice::SHOWN_FOR;
use crate::app::pending::Pending;
use crate::app::pending::Switching;
use crate::app::percent_of::Base;
use crate::app::popup::Popup;
use crate::app::row::{Row, RowId, past_headings};
use crate::app::scope::Scope;
use crate::app::search::Search;
use crate::app::sort::Sort;
use crate::app::time::Time;
use crate::app::unit::PerCall;
use crate::app::view::Origin;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::keys::action::Context;
use crate::source::events::{RingLine, Target};
use crate::source::status::Status;
use crate::text::clock_time::UtcOffset;

/// A view's list.
#[derive(Debug)]
pub(crate) struct List {
    /// The order of its rows.
    pub(crate) sort: Sort,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
    /// What is selected.
    pub(crate) cursor: Cursor,
    /// When its rows last changed places.
    pub(super) sorted_at: Duration,
    /// Values have changed since, and rows may not stand in order.
    pub(super) sort_due: bool,
}

/// All state of the screen.
#[derive(Debug)]
pub(crate) struct Model {
    /// Cells of the terminal.
    pub(crate) size: Size,
    /// Time since the screen began.
    pub(crate) now: Duration,
    /// Where the wall clock of this place stands, as far as it is known.
    pub(crate) utc_offset: UtcOffset,
    /// Nothing but ASCII.
    pub(crate) ascii: bool,
    /// Colours or none.
    pub(crate) theme: ThemeKind,
    /// What the list shows.
    pub(crate) view: View,
    /// How the program is doing.
    pub(crate) status: Status,
    /// Which program it is.
    pub(crate) target: Option<Target>,
    /// Ring files to choose from.
    pub(crate) rings: Vec<RingLine>,
    /// The selected one.
    pub(crate) ring: usize,
    /// The newest snapshot.
    pub(crate) newest: Option<Rc<Snapshot>>,
    /// The snapshot on the screen: the newest, or the one it was frozen at.
    pub(crate) shown: Option<Rc<Snapshot>>,
    /// What is derived from the snapshot on the screen.
    pub(crate) data: Option<Data>,
    /// The screen stands still.
    pub(crate) frozen: bool,
    /// Where it stands in time.
    pub(crate) time: Time,
    /// Times are shown without what measuring costs at least.
    pub(crate) compensated: bool,
    /// Every number is divided by the calls of this row.
    pub(crate) per_call: Option<PerCall>,
    /// Times are in ticks of the clock.
    pub(crate) ticks: bool,
    /// Whose time is shown.
    pub(crate) scope: Scope,
    pub(super) base: Base,
    /// What part of the calls is shown, and which way round.
    pub(crate) lens: Lens,
    /// The function with its callers and callees.
    pub(crate) function: FunctionView,
    /// By view, in the order of the tabs.
    pub(super) lists: [List; View::ALL.len()],
    /// Rows of the tree that are open.
    pub(crate) open: KeySet<PathId>,
    /// What is hot was opened once.
    pub(super) greeted: bool,
    /// What is searched for.
    pub(crate) search: Option<Search>,
    /// A command that is being typed.
    pub(crate) command: Option<CommandLine>,
    /// Commands of this sitting, the oldest first.
    pub(super) commands: Vec<String>,
    /// What is looked up in the help.
    pub(crate) help_search: Option<HelpSearch>,
    /// What stands on top.
    pub(crate) popup: Option<Popup>,
    /// Threads of the snapshot on screen in the order of the list to choose from, while that is open.
    pub(crate) thread_order: Vec<ThreadId>,
    /// How busy threads were of late.
    pub(super) cpu_history: CpuHistory,
    /// Which part of the flame graph is on the screen.
    pub(crate) flame: Flame,
    /// Sites that the program was asked to switch.
    pub(super) switching: Vec<Switching>,
    /// A reset on its way.
    pub(crate) pending: Option<Pending>,
    /// A reset was made from here and can be taken back.
    pub(crate) undoable: bool,
    /// The rate that was asked for, times a second, until a snapshot shows it.
    pub(super) wished_hz: Option<u64>,
    /// The mouse is ours.
    pub(crate) mouse: bool,
    /// What just happened.
    pub(crate) notice: Option<Notice>,
    /// More on the selected row.
    pub(crate) detail: Option<Detail>,
    pub(super) detail_of: Option<What>,
    /// What the program warns of was read.
    pub(super) warnings_seen: bool,
    /// How often the newest record was read again because the program was faster.
    pub(crate) lapped: u64,
    /// Where Escape goes back to.
    pub(super) came_from: Option<Origin>,
    pub(super) unknown_keys: u8,
    pub(super) last_key: Option<Duration>,
    pub(super) data_stale: bool,
    /// The data is to be looked at in another way.
    pub(super) lens_stale: bool,
    pub(super) rows_stale: bool,
    /// Rows may change places whatever the hold says: the user asked for it.
    pub(super) sort_now: bool,
    /// The screen does not show this state yet.
    pub(crate) dirty: bool,
}

impl List {
    pub(super) fn of(view: View) -> Self {
        Self {
            sort: Sort::of(view),
            rows: Vec::new(),
            cursor: Cursor::default(),
            sorted_at: Duration::ZERO,
            sort_due: false,
        }
    }

    /// The selected row.
    pub(crate) fn selected(&self) -> Option<&Row> {
        self.rows.get(self.cursor.index)
    }
}

impl Model {
    /// Nothing known yet.
    pub(crate) fn new(size: Size, theme: ThemeKind, ascii: bool, utc_offset: UtcOffset) -> Self {
        Self {
            size,
            now: Duration::ZERO,
            utc_offset,
            ascii,
            theme,
            view: View::default(),
            status: Status::Waiting { why: String::new() },
            target: None,
            rings: Vec::new(),
            ring: 0,
            newest: None,
            shown: None,
            data: None,
            frozen: false,
            time: Time::default(),
            compensated: false,
            per_call: None,
            ticks: false,
            scope: Scope::default(),
            base: Base::default(),
            lens: Lens::default(),
            function: FunctionView::default(),
            lists: View::ALL.map(List::of),
            open: KeySet::default(),
            greeted: false,
            search: None,
            command: None,
            commands: Vec::new(),
            help_search: None,
            popup: None,
            thread_order: Vec::new(),
            cpu_history: CpuHistory::default(),
            flame: Flame::default(),
            switching: Vec::new(),
            pending: None,
            undoable: false,
            wished_hz: None,
            mouse: false,
            notice: None,
            detail: None,
            detail_of: None,
            warnings_seen: false,
            lapped: 0,
            came_from: None,
            unknown_keys: 0,
            last_key: None,
            data_stale: false,
            lens_stale: false,
            rows_stale: false,
            sort_now: false,
            dirty: true,
        }
    }

    /// The list of the view on screen.
    pub(crate) fn list(&self) -> &List {
        &self.lists[self.view as usize]
    }

    pub(super) fn list_mut(&mut self) -> &mut List {
        &mut self.lists[self.view as usize]
    }

    pub(super) fn list_of(&mut self, view: View) -> &mut List {
        &mut self.lists[view as usize]
    }

    /// Where things stand on the screen.
    pub(crate) fn layout(&self) -> Layout {
        let banner = self.banner().is_some() || self.is_first_look();
        let layout = Layout::compute(self.size, banner);
        match self.view == View::Function && self.data.is_some() {
            true => layout.with_title(),
            false => layout,
        }
    }

    pub(super) fn page(&self) -> usize {
        usize::from(self.layout().rows.height)
    }

    /// Who has the keyboard.
    pub(crate) fn context(&self) -> Context {
        match (self.popup, &self.search) {
            (Some(Popup::Help { .. }), _) => match &self.help_search {
                Some(search) if search.typing => Context::Typing,
                Some(_) | None => Context::Help,
            },
            (Some(Popup::Threads { .. }), _) => Context::Choosing,
            (Some(Popup::Modes { .. }), _) => Context::Measuring,
            (Some(Popup::Ask(_)), _) => Context::Asking,
            (None, _) if self.command.is_some() => Context::Commanding,
            (None, Some(search)) if search.typing => Context::Typing,
            (None, _) if self.data.is_none() => Context::Start,
            (None, _) => self.view.context(),
        }
    }

    /// What percents are of, in this view.
    pub(crate) fn base(&self) -> Base {
        match (self.base.within(self.view), self.view) {
            (_, View::Function) if self.function.of_all => Base::Measured,
            // Of the function on the screen, which is what its lines are parts of.
            (_, View::Function) => Base::Parent,
            // Nothing is known of the time outside of what is in focus.
            (Base::Wall, view) if self.lens.focuses(view) => Base::Measured,
            (base, _) => base,
        }
    }

    /// What percents are of, in words.
    pub(crate) fn base_label(&self) -> &'static str {
        match (self.base(), self.view) {
            (Base::Parent, View::Function) => "% of this function",
            (Base::Measured, view) if self.lens.focuses(view) => "% of focus",
            (base, _) => base.label(),
        }
    }

    /// The next thing percents are of.
    pub(super) fn next_base(&mut self) {
        if self.view == View::Function {
            self.function.of_all = !self.function.of_all;
            return;
        }
        self.base = self.base().next(self.view);
        if self.base == Base::Wall && self.lens.focuses(self.view) {
            self.base = self.base.next(self.view);
        }
    }

    /// Shares of total and self time of a row, 0 to 1.
    pub(crate) fn shares(&self, data: &Data, what: What) -> (f64, f64) {
        let figures = data.figures(what);
        let whole = data.whole_ns(what, self.base());
        (share(figures.total_ns, whole), share(figures.self_ns, whole))
    }

    pub(super) fn tell(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            error: false,
            until: self.now + SHOWN_FOR,
        });
    }

    pub(super) fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            error: true,
            until: self.now + SHOWN_FOR,
        });
    }

    /// Selects a line of the list.
    pub(super) fn select(&mut self, index: usize) {
        let page = self.page();
        let list = self.list();
        let index = index.min(list.rows.len().saturating_sub(1));
        let index = past_headings(&list.rows, index, index >= list.cursor.index);
        let want = self.lineage_of(index);
        let list = self.list_mut();
        let rows = list.rows.len();
        list.cursor.choose(index, want, rows, page);
        if list.rows[..index.min(rows)].iter().all(Row::is_heading) {
            list.cursor.offset = 0;
            list.cursor.keep_on_screen(rows, page);
        }
        self.recount_hits();
    }

    /// What a line of the list is and all above it.
    pub(super) fn lineage_of(&self, index: usize) -> Vec<RowId> {
        let rows = &self.list().rows;
        let mut line: Vec<RowId> = Vec::new();
        let mut at = rows.get(index);
        while let Some(row) = at {
            line.push(row.id);
            at = row.parent.and_then(|parent| rows.get(parent as usize));
        }
        line.reverse();
        line
    }
}

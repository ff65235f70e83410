//! All state of the screen. [`Model::update`] is pure: time and data come in as messages, what is to be done
//! outside comes back as effects.

mod act;
mod banner;
mod base;
pub(crate) mod cursor;
pub(crate) mod data;
pub(crate) mod detail;
mod find;
pub(crate) mod hear;
pub(crate) mod keyhash;
mod listing;
pub(crate) mod message;
mod names;
pub(crate) mod notice;
pub(crate) mod pending;
mod pointer;
pub(crate) mod popup;
pub(crate) mod row;
mod scope;
pub(crate) mod search;
pub(crate) mod sort;
#[cfg(test)]
mod tests;
mod travel;
pub(crate) mod view;

use std::rc::Rc;
use std::time::Duration;

use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_format::profile::tree::PathId;

use crate::action::Context;
use crate::layout::Layout;
use crate::model::base::Base;
use crate::model::cursor::Cursor;
use crate::model::data::{Data, What, share};
use crate::model::detail::Detail;
use crate::model::keyhash::KeySet;
use crate::model::listing::Shape;
use crate::model::notice::Notice;
use crate::model::pending::Pending;
use crate::model::popup::Popup;
use crate::model::row::{Row, RowId};
use crate::model::scope::Scope;
use crate::model::search::{Filter, Search};
use crate::model::sort::{Before, Sort};
use crate::model::view::View;
use crate::news::{RingLine, Target};
use crate::process_time::UtcOffset;
use crate::status::Status;
use crate::theme::ThemeKind;

/// Nothing moves under a finger for so long after a key.
const HOLD_AFTER_KEY: Duration = Duration::from_secs(2);

/// Rows change places at most this often.
const BETWEEN_SORTS: Duration = Duration::from_secs(1);

/// Counters that ran for less than this say little about which path is hot.
const FIRST_LOOK_NS: u64 = 300_000_000;

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
    sorted_at: Duration,
    /// Values have changed since, and rows may not stand in order.
    sort_due: bool,
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
    /// Whose time is shown.
    pub(crate) scope: Scope,
    base: Base,
    tree: List,
    hot: List,
    /// Rows of the tree that are open.
    pub(crate) open: KeySet<PathId>,
    /// What is hot was opened once.
    greeted: bool,
    /// What is searched for.
    pub(crate) search: Option<Search>,
    /// What stands on top.
    pub(crate) popup: Option<Popup>,
    /// A reset on its way.
    pub(crate) pending: Option<Pending>,
    /// A reset was made from here and can be taken back.
    pub(crate) undoable: bool,
    /// The rate that was asked for, times a second, until a snapshot shows it.
    wished_hz: Option<u64>,
    /// The mouse is ours.
    pub(crate) mouse: bool,
    /// What just happened.
    pub(crate) notice: Option<Notice>,
    /// More on the selected row.
    pub(crate) detail: Option<Detail>,
    detail_of: Option<What>,
    /// What the program warns of was read.
    warnings_seen: bool,
    /// Where Escape goes back to.
    came_from: Option<View>,
    unknown_keys: u8,
    last_key: Option<Duration>,
    data_stale: bool,
    rows_stale: bool,
    /// Rows may change places whatever the hold says: the user asked for it.
    sort_now: bool,
    /// The screen does not show this state yet.
    pub(crate) dirty: bool,
}

// === impl List ===

impl List {
    fn of(view: View) -> Self {
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

// === impl Model ===

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
            scope: Scope::default(),
            base: Base::default(),
            tree: List::of(View::Tree),
            hot: List::of(View::Hot),
            open: KeySet::default(),
            greeted: false,
            search: None,
            popup: None,
            pending: None,
            undoable: false,
            wished_hz: None,
            mouse: false,
            notice: None,
            detail: None,
            detail_of: None,
            warnings_seen: false,
            came_from: None,
            unknown_keys: 0,
            last_key: None,
            data_stale: false,
            rows_stale: false,
            sort_now: false,
            dirty: true,
        }
    }

    /// The list of the view on screen.
    pub(crate) fn list(&self) -> &List {
        match self.view {
            View::Tree => &self.tree,
            View::Hot => &self.hot,
        }
    }

    fn list_mut(&mut self) -> &mut List {
        match self.view {
            View::Tree => &mut self.tree,
            View::Hot => &mut self.hot,
        }
    }

    /// Where things stand on the screen.
    pub(crate) fn layout(&self) -> Layout {
        Layout::compute(self.size, self.banner().is_some())
    }

    fn page(&self) -> usize {
        usize::from(self.layout().rows.height)
    }

    /// Who has the keyboard.
    pub(crate) fn context(&self) -> Context {
        match (self.popup, &self.search) {
            (Some(Popup::Help { .. }), _) => Context::Help,
            (Some(Popup::Threads { .. }), _) => Context::Threads,
            (Some(Popup::AskReset), _) => Context::Asking,
            (None, Some(search)) if search.typing => Context::Typing,
            (None, _) if self.data.is_none() => Context::Start,
            (None, _) => match self.view {
                View::Tree => Context::Tree,
                View::Hot => Context::Hot,
            },
        }
    }

    /// What percents are of, in this view.
    pub(crate) fn base(&self) -> Base {
        self.base.within(self.view)
    }

    /// Shares of total and self time of a row, 0 to 1.
    pub(crate) fn shares(&self, data: &Data, what: What) -> (f64, f64) {
        let figures = data.figures(what);
        let whole = data.whole_ns(what, self.base());
        (share(figures.total_ns, whole), share(figures.self_ns, whole))
    }

    /// When something changes although nothing happens.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let resort = self.list().sort_due.then(|| self.hold_until());
        let notice = self.notice.as_ref().map(|notice| notice.until);
        let pending = self.pending.map(|pending| pending.deadline());
        [resort, notice, pending].into_iter().flatten().min()
    }

    fn hold_until(&self) -> Duration {
        let after_key = self.last_key.map_or(Duration::ZERO, |key| key + HOLD_AFTER_KEY);
        after_key.max(self.list().sorted_at + BETWEEN_SORTS)
    }

    fn tell(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            error: false,
            until: self.now + notice::SHOWN_FOR,
        });
    }

    fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice {
            text: text.into(),
            error: true,
            until: self.now + notice::SHOWN_FOR,
        });
    }

    /// Time has passed: what was to end ends.
    fn tick(&mut self, now: Duration) {
        self.now = now;
        if self.notice.as_ref().is_some_and(|notice| notice.until <= now) {
            self.notice = None;
            self.dirty = true;
        }
        if let Some(pending) = self.pending.filter(|pending| pending.deadline() <= now) {
            self.pending = None;
            let word = if self.frozen { "newer" } else { "new" };
            self.complain(match pending.epoch {
                None => {
                    "no answer from the program in 2 s: it may be stopped, or too busy to publish".to_string()
                }
                Some(_) => format!("the program says it is done, but no {word} snapshot has come in 2 s"),
            });
            self.dirty = true;
        }
        if self.list().sort_due && self.hold_until() <= now {
            self.rows_stale = true;
            self.dirty = true;
        }
    }

    /// Derives what has become stale: data, then rows, then details.
    fn refresh(&mut self) {
        if std::mem::take(&mut self.data_stale) {
            let former = self.data.take().map(|data| data.names);
            self.data = self
                .shown
                .as_ref()
                .map(|shown| Data::of(Rc::clone(shown), &self.scope, former.as_ref(), self.ascii));
            self.rows_stale = true;
            self.detail_of = None;
            self.greet();
        }
        if std::mem::take(&mut self.rows_stale) {
            self.rebuild_rows();
        }
        let (rows, page) = (self.list().rows.len(), self.page());
        self.list_mut().cursor.keep_on_screen(rows, page);
        let selected = self.list().selected().map(|row| row.what);
        if self.layout().detail.is_none() {
            self.detail_of = None;
        } else if selected != self.detail_of {
            self.detail_of = selected;
            self.detail = self
                .data
                .as_ref()
                .zip(selected)
                .map(|(data, what)| Detail::of(data, what));
        }
    }

    fn rebuild_rows(&mut self) {
        let forced = std::mem::take(&mut self.sort_now);
        let page = self.page();
        let (view, now, base, hold_until) = (self.view, self.now, self.base(), self.hold_until());
        let Some(data) = self.data.take() else {
            self.list_mut().rows.clear();
            return;
        };
        let hold = !forced && now < hold_until && !self.list().rows.is_empty();
        let before = Before::of(&self.list().rows, hold);
        let text = self
            .search
            .as_ref()
            .filter(|search| search.is_set())
            .map(Search::text);
        let filter = text.map(|text| Filter::of(&data, text));
        let shape = Shape {
            sort: self.list().sort,
            before: &before,
            open: &self.open,
            filter: filter.as_ref(),
            only: self.search.as_ref().is_some_and(|search| search.only),
            outside: base == Base::Wall,
            selected: self.list().selected().map(|row| row.id),
        };
        let listing = match view {
            View::Tree => listing::tree(&data, &shape),
            View::Hot => listing::hot(&data, &shape),
        };
        let list = self.list_mut();
        list.rows = listing.rows;
        list.sort_due = hold;
        if !hold {
            list.sorted_at = now;
        }
        if list.cursor.want.is_empty()
            && let Some(row) = list.rows.first()
        {
            list.cursor.want = vec![row.id];
        }
        list.cursor.settle(&list.rows, page);
        if let Some(search) = &mut self.search {
            search.hits = listing.hits;
            search.before = listing.before;
            search.time_ns = filter.as_ref().map_or(0, |filter| filter.time_ns(&data));
        }
        self.data = Some(data);
        self.detail_of = None;
    }

    /// Opens what is hot, once, as soon as the data says what it is.
    fn greet(&mut self) {
        let Some(data) = self.data.as_ref().filter(|_| !self.greeted) else {
            return;
        };
        let settled = data.snapshot.capture.since_reset_ns >= FIRST_LOOK_NS || self.status != Status::Live;
        if !settled || data.measured_ns == 0 {
            return;
        }
        self.greeted = true;
        let open = travel::first_look(data, self.page());
        self.open.extend(open);
    }

    /// Selects a line of the list.
    fn select(&mut self, index: usize) {
        let page = self.page();
        let list = self.list();
        let index = index.min(list.rows.len().saturating_sub(1));
        let want = self.lineage_of(index);
        let list = self.list_mut();
        let rows = list.rows.len();
        list.cursor.choose(index, want, rows, page);
        self.recount_hits();
    }

    /// What a line of the list is and all above it.
    fn lineage_of(&self, index: usize) -> Vec<RowId> {
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

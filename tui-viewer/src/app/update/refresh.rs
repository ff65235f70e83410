//! Derives what follows from moment and query: tables, what the view shows of them, rows, details. Also what time ends.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use tickscope_analysis::hotspots::hot;
use tickscope_format::Snapshot;

use crate::app::activity::ROWS_MAX;
use crate::app::compare::Against;
use crate::app::data::Data;
use crate::app::derived::{DataKey, DetailKey, Identity, Memo, OrderKey, RowsKey, SeenKey};
use crate::app::detail::Detail;
use crate::app::function::Around;
use crate::app::listing::{Listing, Shape};
use crate::app::percent_of::PercentOf;
use crate::app::query::Query;
use crate::app::search::{Matcher, Search};
use crate::app::sort::{Before, Sort};
use crate::app::state::App;
use crate::app::thread_choice::ThreadChoice;
use crate::app::timeline::Lanes;
use crate::app::update::travel;
use crate::app::view::{Below, View};
use crate::app::window::Window;
use crate::app::{flame, listing};
use crate::source::status::Status;

/// Nothing moves under a finger for so long after a key.
const HOLD_AFTER_KEY: Duration = Duration::from_secs(2);

/// Rows change places at most this often.
const BETWEEN_SORTS: Duration = Duration::from_secs(1);

/// Counters that ran for less than this say little about which path is hot.
const FIRST_LOOK_NS: u64 = 300_000_000;

impl App {
    /// When something changes although nothing happens.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let resort = self.list().is_held.then(|| self.hold_until());
        let notice = self.notices.current.as_ref().map(|notice| notice.until);
        let requests = self.requests.deadline();
        let unread = self.reads_times().then_some(self.screen.now);
        [resort, notice, requests, unread].into_iter().flatten().min()
    }

    /// Until when rows keep their places.
    pub(in crate::app) fn hold_until(&self) -> Duration {
        let last_key = self.screen.last_key;
        let after_key = last_key.map_or(Duration::ZERO, |key| key + HOLD_AFTER_KEY);
        after_key.max(self.list().sorted_at + BETWEEN_SORTS)
    }

    /// Rows keep their places although they need not any longer.
    fn may_sort(&self) -> bool {
        self.list().is_held && self.hold_until() <= self.screen.now
    }

    /// Time has passed: what was to end ends.
    pub(in crate::app) fn tick(&mut self, now: Duration) {
        self.screen.now = now;
        self.screen.dirty |= self.notices.expire(now) || self.may_sort();
        self.screen.dirty |= self.reads_times();
        if let Some(why) = self.requests.expire(now, self.program.status.answers()) {
            self.complain(why);
            self.screen.dirty = true;
        }
        if let Some(why) = self.requests.expire_rules(now) {
            self.complain(why);
            self.screen.dirty = true;
        }
    }

    /// Derives again what has another key than before: data, then what the view shows of it, then rows, then details.
    pub(in crate::app) fn refresh(&mut self) {
        let key = self.data_key();
        if self.derived.data_memo.is_new(key) {
            self.derive_data();
            self.greet();
        }
        self.find_traces();
        self.count_calls();
        if self.views.current == View::Function && self.derived.data.is_some() {
            self.choose_function();
        }
        let key = self.seen_key();
        if self.derived.seen_memo.is_new(key) {
            self.look();
            // Only now it is known whether opening rows asks for more of the tree.
            let key = self.seen_key();
            self.derived.seen_memo.settle(key);
        }
        self.beat();
        self.read_timeline();
        let key = self.rows_key();
        if self.derived.rows_memo.is_new(key) || self.may_sort() || self.recount_hits() {
            self.rebuild_rows();
        }
        let page = self.page();
        self.list_mut().keep_on_screen(page);
        self.derive_detail();
    }

    fn data_key(&self) -> DataKey {
        let Query { window, against, .. } = &self.query;
        let of_mark = *window == Window::Mark || *against == Some(Against::Mark);
        let mark = self.playback.mark.as_ref().filter(|_| of_mark);
        // While the screen stands still, its numbers do too.
        let follows = !self.playback.stands_still() && *window != Window::Reset;
        DataKey {
            shown: self.shown().cloned().map(Identity),
            mark: mark.map(|mark| Identity(Rc::clone(&mark.snapshot))),
            history: follows.then(|| self.playback.history.revision()),
            threads: self.threads_in_view().clone(),
            window: *window,
            against: *against,
            measure: self.measure(),
            grouped: self.is_grouped(),
            code: self.views.source.known.revision(),
        }
    }

    /// Whether groups stand in place of their members in the current view.
    fn is_grouped(&self) -> bool {
        self.query.filter.grouped && !self.views.current.is_of_all()
    }

    fn seen_key(&self) -> SeenKey {
        let view = self.views.current;
        let chosen = self.views.function.chosen.as_ref();
        let in_part = self.derived.data.as_ref().is_some_and(|data| data.in_part);
        SeenKey {
            data: self.derived.data_memo.revision(),
            filter: self.query.filter.clone(),
            view,
            function: chosen.filter(|_| view == View::Function).map(|chosen| chosen.key),
            expanded: in_part.then(|| self.views.expanded.revision()),
        }
    }

    /// The threads whose numbers the current view shows. Slow calls are told apart in all threads, and so are the functions
    /// with a tail.
    fn threads_in_view(&self) -> &ThreadChoice {
        match self.views.current {
            View::Slow | View::Timeline => &ThreadChoice::All,
            View::Tree
            | View::Hot
            | View::Function
            | View::Threads
            | View::Flame
            | View::Sites
            | View::Tasks => &self.query.threads,
        }
    }

    fn rows_key(&self) -> RowsKey {
        let view = self.views.current;
        let search = self.views.search.as_ref().filter(|search| search.is_set());
        let flame = &self.views.flame;
        RowsKey {
            seen: self.derived.seen_memo.revision(),
            order: self.order_key(),
            expanded: self.views.expanded.revision(),
            search: search.map(|search| search.text().to_string()),
            headings: view == View::Function && self.page() >= listing::ROOM_FOR_HEADINGS,
            are_beside: self.lists_beside(self.layout().rows).is_some(),
            lanes: self.views.timeline.lanes,
            below: self.below(),
            watch: self.views.slow.function.clone().filter(|_| view == View::Slow),
            flame: match view {
                View::Flame => {
                    let rows = self.layout().rows;
                    Some(((rows.width, rows.height), flame.zoom.clone()))
                }
                View::Tree
                | View::Hot
                | View::Function
                | View::Threads
                | View::Sites
                | View::Tasks
                | View::Slow
                | View::Timeline => self
                    .layout()
                    .second
                    .map(|area| ((area.width, area.height), Vec::new())),
            },
        }
    }

    fn order_key(&self) -> OrderKey {
        let query = &self.query;
        OrderKey {
            view: self.views.current,
            sort: self.list().sort,
            percent_of: self.percent_of(),
            matches_only: self.views.search.as_ref().is_some_and(|search| search.only),
            threads: query.threads.clone(),
            filter: query.filter.clone(),
            window: query.window,
            against: query.against,
            measure: self.measure(),
            counted_from: self.derived.data.as_ref().map(counted_from),
        }
    }

    fn derive_data(&mut self) {
        let former = self.derived.data.take();
        let began = former.as_ref().map(counted_from);
        let measure = self.measure();
        let code = &self.views.source.known;
        let side = |snapshot: Rc<Snapshot>| {
            let snapshot = code.with_rows(snapshot);
            match measure.of(&snapshot) {
                Cow::Owned(by) => Rc::new(by),
                Cow::Borrowed(_) => snapshot,
            }
        };
        let sides = self.shown().map(|shown| self.playback.sides(&self.query, shown));
        let grouped = self.is_grouped();
        let stretch = sides.as_ref().and_then(|sides| sides.stretch);
        let before_ns = sides.as_ref().and_then(|sides| sides.before_ns);
        let mut data = sides.map(|sides| {
            let threads = self.threads_in_view();
            let ascii = self.screen.ascii;
            let mut data = Data::of(side(sides.now), threads, former.as_ref(), ascii, grouped);
            data.known.clone_from(&self.program.functions);
            data.traces = Rc::clone(&self.program.traces);
            data.utc_offset = self.screen.utc_offset;
            data.then = sides
                .then
                .map(|then| Box::new(Data::of(side(then), threads, Some(&data), ascii, grouped)));
            data
        });
        if let (Some(data), Some(shown)) = (&mut data, self.shown()) {
            data.cpu_history = self.program.cpu_history.until(shown);
        }
        let begins = data.as_ref().map(counted_from);
        if began.is_some() && begins.is_some() && begins != began {
            // Rows of other counters sort at once, and those of their first moment are not held by an earlier key.
            self.screen.last_key = self.screen.last_key.map(|_| Duration::ZERO);
        }
        self.derived.stretch = stretch;
        self.derived.before_ns = before_ns;
        self.derived.data = data;
    }

    fn derive_detail(&mut self) {
        if self.layout().detail.is_none() {
            return;
        }
        let is_large = self.layout().has_large_pane;
        let rows = self.derived.rows_memo.revision();
        let selected = self.selected();
        let Some(what) = selected.map(|(data, row)| data.in_full(row).what) else {
            self.derived.detail = None;
            self.derived.detail_memo = Memo::default();
            return;
        };
        let key = DetailKey { rows, what, is_large };
        if self.derived.detail_memo.is_new(key) {
            let data = self.derived.data.as_ref();
            self.derived.detail = data.map(|data| Detail::of(data, what, is_large));
        }
    }

    /// Makes of the data what the view shows of it.
    fn look(&mut self) {
        let view = self.views.current;
        let chosen = self.views.function.chosen.as_ref();
        let chosen = chosen.filter(|_| view == View::Function);
        let (filter, open) = (&self.query.filter, self.views.expanded.paths());
        let see = |data: &mut Data| {
            data.see(filter.look(data.whole(), view, open));
            data.around = chosen.and_then(|chosen| Around::of(data.whole(), chosen.key));
        };
        let Some(data) = &mut self.derived.data else {
            return;
        };
        see(data);
        if let Some(then) = &mut data.then {
            see(then);
        }
    }

    pub(in crate::app) fn rebuild_rows(&mut self) {
        let order = self.order_key();
        let forced = self.derived.order_memo.is_new(order);
        let area = self.layout().rows;
        let (page, width, rows) = (self.page(), area.width, area.height);
        let (view, now, base, hold_until) = (
            self.views.current,
            self.screen.now,
            self.percent_of(),
            self.hold_until(),
        );
        let second = self.layout().second.map(|area| (area, self.below()));
        let are_beside = self.lists_beside(self.layout().rows).is_some();
        let Some(data) = self.derived.data.take() else {
            self.list_mut().rows.clear();
            self.list_mut().second = None;
            self.list_mut().is_held = false;
            return;
        };
        // Keys of the view Slow choose calls and move in time: what its column of the order says is always true.
        let offers_tails = view == View::Slow && data.slow().watches.is_empty();
        let holds = view != View::Slow || offers_tails;
        let hold = holds && !forced && now < hold_until && !self.list().rows.is_empty();
        let mut flame = std::mem::take(&mut self.views.flame);
        let mut below = std::mem::take(&mut self.views.second);
        let mut lanes = std::mem::take(&mut self.views.lanes);
        let mut before = Before::of(&self.list().rows, hold);
        before.calm = !forced;
        let text = self
            .views
            .search
            .as_ref()
            .filter(|search| search.is_set())
            .map(Search::text);
        let matcher = text.map(|text| Matcher::of(&data, text));
        let selected = self.list().selected().map(|row| row.id);
        let shape = Shape {
            sort: if offers_tails {
                Sort::of(view)
            } else {
                self.list().sort
            },
            before: &before,
            open: self.views.expanded.paths(),
            matcher: matcher.as_ref(),
            only: self.views.search.as_ref().is_some_and(|search| search.only),
            outside: base == PercentOf::Wall,
            selected,
        };
        let listing = match view {
            View::Tree => listing::tree(&data, &shape),
            View::Hot => listing::hot(&data, &shape),
            View::Function => {
                listing::function(&data, &shape, page >= listing::ROOM_FOR_HEADINGS, are_beside)
            }
            View::Threads => listing::threads(&data, &shape),
            View::Sites => listing::sites(&data, &shape),
            View::Tasks => listing::tasks(&data, &shape),
            View::Slow if offers_tails => listing::tails(&data, &shape),
            View::Slow => {
                let watch = data.slow().place_of(self.views.slow.function.as_deref());
                watch.map_or_else(Listing::default, |watch| listing::slow(&data, &shape, watch))
            }
            View::Timeline => match self.views.timeline.lanes {
                Lanes::Threads => listing::threads(&data, &shape),
                Lanes::Functions => {
                    let sort = Sort::of(View::Hot);
                    listing::hot(&data, &Shape { sort, ..shape })
                }
            },
            View::Flame => flame.list(&data, &shape, (width, rows)),
        };
        match second {
            Some((area, Below::Flame)) => {
                let plain = Shape {
                    matcher: None,
                    ..shape
                };
                below.list(&data, &plain, (area.width, area.height.saturating_sub(1)));
                below.colour = flame.colour;
            }
            Some((_, Below::Timeline)) => {
                let mut before = Before::of(&lanes, hold);
                before.calm = !forced;
                let plain = Shape {
                    sort: Sort::of(View::Timeline),
                    before: &before,
                    matcher: None,
                    ..shape
                };
                lanes = listing::threads(&data, &plain).rows;
            }
            Some((_, Below::Nothing)) | None => {}
        }
        self.views.flame = flame;
        self.views.second = below;
        self.views.lanes = lanes;
        let list = self.list_mut();
        list.rows = listing.rows;
        list.second = listing.second;
        list.is_held = hold;
        if !hold {
            list.sorted_at = now;
        }
        let first = match view {
            View::Flame => flame::largest(&data, &list.rows),
            View::Tree
            | View::Hot
            | View::Function
            | View::Threads
            | View::Sites
            | View::Tasks
            | View::Slow
            | View::Timeline => list.rows.first(),
        };
        // Until the first key the cursor is on the top row, whichever that is.
        let stays =
            !list.cursor.touched && matches!(view, View::Tree | View::Hot | View::Threads | View::Timeline);
        if (list.cursor.want.is_empty() || stays)
            && let Some(row) = first
        {
            list.cursor.want = vec![row.id];
        }
        list.settle(page);
        if let Some(search) = &mut self.views.search {
            search.hits = listing.hits;
            search.before = listing.before;
            search.counted_at = selected;
            search.time_ns = matcher.as_ref().map_or(0, |matcher| matcher.time_ns(&data));
        }
        self.derived.data = Some(data);
        self.flame_settle();
    }

    /// Finds what was chosen among the rows there are.
    pub(in crate::app) fn settle_cursor(&mut self) {
        let page = self.page();
        self.list_mut().settle(page);
    }

    /// Opens what is hot, once, as soon as the data says what it is.
    fn greet(&mut self) {
        let Some(data) = self.derived.data.as_ref().filter(|_| !self.views.greeted) else {
            return;
        };
        let settled =
            data.snapshot.capture.since_reset_ns >= FIRST_LOOK_NS || self.program.status != Status::Live;
        if !settled || data.measured_ns == 0 {
            return;
        }
        self.views.greeted = true;
        // The line for the first look soon leaves its place to the list.
        let page = self.page() + usize::from(self.is_first_look() && self.banner().is_none());
        let open = travel::first_look(data, page);
        self.views.expanded.extend(open);
    }

    /// Another second may be over.
    pub(in crate::app) fn beat(&mut self) {
        let Some(newest) = &self.program.newest else {
            return;
        };
        let activity = &mut self.playback.activity;
        if !activity.is_due(newest.capture.unix_ns) {
            return;
        }
        // The tables on screen are those of the newest snapshot, unless they show something else of it.
        let same = |data: &&Data| Rc::ptr_eq(&data.snapshot, newest);
        match self.derived.data.as_ref().filter(same) {
            // All of the calls, whatever part of them is on screen.
            Some(data) if data.whole().rows.len() > ROWS_MAX => activity.note(newest, data.whole(), &[]),
            Some(data) if data.shows_all_calls() => activity.note(newest, data.whole(), data.hot()),
            Some(data) => activity.note(newest, data.whole(), &hot(data.whole())),
            None => activity.note_all(newest, &self.query.threads),
        }
    }
}

/// The process and its reset epoch: counters of another pair began at zero.
fn counted_from(data: &Data) -> (u32, u64) {
    let snapshot = &data.snapshot;
    (snapshot.process.pid, snapshot.capture.reset_epoch)
}

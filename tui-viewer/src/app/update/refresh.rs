//! Derives tables, trees, rows and details from the moment on screen and the query. Also drops expired notices and
//! requests.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use tickscope_analysis::hotspots::hot;
use tickscope_format::Snapshot;
use tickscope_programs::status::Status;

use crate::app::data::Data;
use crate::app::derived::{DataKey, Identity, Memo, OrderKey, RowsKey, SeenKey};
use crate::app::detail::Detail;
use crate::app::function::Around;
use crate::app::listing::Shape;
use crate::app::past::activity::ROWS_MAX;
use crate::app::query::Query;
use crate::app::row::PercentOf;
use crate::app::search::Matcher;
use crate::app::sort::Before;
use crate::app::state::App;
use crate::app::threads::ThreadChoice;
use crate::app::update::travel;
use crate::app::window::{Against, Window};

/// Time after a key press during which rows keep their order.
const HOLD_AFTER_KEY: Duration = Duration::from_secs(2);

/// Minimum time between two changes of the order of rows.
const BETWEEN_SORTS: Duration = Duration::from_secs(1);

/// Minimum time in ns since the reset. After less time, the counters say little about the hot path.
const FIRST_LOOK_NS: u64 = 300_000_000;

impl App {
    /// Returns the time at which the state will change next, even without an event.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let resort = self.list().is_held.then(|| self.hold_until());
        let notice = self.notices.current.as_ref().map(|notice| notice.until);
        let requests = self.requests.deadline();
        let unread = self.reads_times().then_some(self.screen.now);
        [resort, notice, requests, unread].into_iter().flatten().min()
    }

    /// Returns the time until which rows keep their order.
    pub(crate) fn hold_until(&self) -> Duration {
        let last_key = self.screen.last_key;
        let after_key = last_key.map_or(Duration::ZERO, |key| key + HOLD_AFTER_KEY);
        after_key.max(self.list().sorted_at + BETWEEN_SORTS)
    }

    /// Whether rows have kept their order, but may be sorted now.
    fn may_sort(&self) -> bool {
        self.list().is_held && self.hold_until() <= self.screen.now
    }

    /// Sets the time, and drops expired notices and requests.
    pub(crate) fn tick(&mut self, now: Duration) {
        self.screen.now = now;
        self.screen.dirty |= self.notices.expire(now) || self.may_sort();
        self.screen.dirty |= self.reads_times();
        let request = self.requests.expire(now, self.program.status.answers());
        for why in [request.map(str::to_string), self.requests.expire_rules(now)]
            .into_iter()
            .flatten()
        {
            self.complain(why);
        }
    }

    /// Derives each part whose key has changed: data, then the trees that the view shows, then rows, then details.
    pub(crate) fn refresh(&mut self) {
        let key = self.data_key();
        if self.derived.data_memo.is_new(key) {
            self.derive_data();
            self.greet();
        }
        self.find_traces();
        self.count_calls();
        if self.derived.data.is_some() {
            self.views.current.kind().begin(self);
        }
        let key = self.seen_key();
        if self.derived.seen_memo.is_new(key) {
            self.look();
            // Only the new data shows whether opening rows adds rows to the tree, and the key depends on this.
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
        // While the screen stands still, new records do not change its numbers.
        let follows = !self.playback.stands_still() && *window != Window::Reset;
        DataKey {
            shown: self.shown().cloned().map(Identity),
            mark: mark.map(|mark| Identity(Rc::clone(&mark.snapshot))),
            history: follows.then(|| self.playback.past.history.revision()),
            threads: self.threads_in_view().clone(),
            window: *window,
            against: *against,
            measure: self.measure(),
            grouped: self.is_grouped(),
            code: self.views.source.known.revision(),
        }
    }

    /// Whether groups are shown in place of their members in the current view.
    fn is_grouped(&self) -> bool {
        self.query.filter.grouped && !self.views.current.about().is_of_all
    }

    fn seen_key(&self) -> SeenKey {
        let view = self.views.current;
        let in_part = self.data().is_some_and(|data| data.in_part);
        SeenKey {
            data: self.derived.data_memo.revision(),
            filter: self.query.filter.clone(),
            view,
            function: view.kind().subject(self),
            expanded: in_part.then(|| self.views.expanded.revision()),
        }
    }

    /// Returns the threads whose numbers the current view shows.
    fn threads_in_view(&self) -> &ThreadChoice {
        match self.views.current.about().is_of_all_threads {
            true => &ThreadChoice::All,
            false => &self.query.threads,
        }
    }

    fn rows_key(&self) -> RowsKey {
        let search = self.searched();
        RowsKey {
            seen: self.derived.seen_memo.revision(),
            order: self.order_key(),
            expanded: self.views.expanded.revision(),
            search: search.map(|search| search.text().to_string()),
            choices: self.views.current.kind().choices(self),
        }
    }

    fn order_key(&self) -> OrderKey {
        OrderKey {
            view: self.views.current,
            sort: self.list().sort,
            matches_only: self.views.search.as_ref().is_some_and(|search| search.only),
            query: Query {
                percent_of: self.percent_of(),
                measure: self.measure(),
                per_call: None,
                in_ticks: false,
                ..self.query.clone()
            },
            counted_from: self.data().map(counted_from),
        }
    }

    fn derive_data(&mut self) {
        let former = self.derived.data.take();
        let began = former.as_ref().map(counted_from);
        let measure = self.measure();
        let side = |snapshot: Rc<Snapshot>| match measure.of(&snapshot) {
            Cow::Owned(by) => Rc::new(by),
            Cow::Borrowed(_) => snapshot,
        };
        let code = &self.views.source.known;
        let shown = self.shown();
        let sides = shown.map(|shown| self.playback.sides(&self.query, shown, code));
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
            data.cpu_history = self.playback.past.cpu.until(shown);
        }
        let begins = data.as_ref().map(counted_from);
        if began.is_some() && begins.is_some() && begins != began {
            // The counters have started again from zero, so rows are sorted immediately, even just after a key press.
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
        if self.derived.detail_memo.is_new((rows, what, is_large)) {
            let data = self.data();
            self.derived.detail = data.map(|data| Detail::of(data, what, is_large));
        }
    }

    /// Builds the trees of the current view from the data.
    fn look(&mut self) {
        let view = self.views.current;
        let subject = view.kind().subject(self);
        let (filter, open) = (&self.query.filter, self.views.expanded.paths());
        let see = |data: &mut Data| {
            data.see(filter.look(data.whole(), view, open));
            data.around = subject.and_then(|key| Around::of(data.whole(), key));
        };
        let Some(data) = &mut self.derived.data else {
            return;
        };
        see(data);
        if let Some(then) = &mut data.then {
            see(then);
        }
    }

    pub(crate) fn rebuild_rows(&mut self) {
        let order = self.order_key();
        let forced = self.derived.order_memo.is_new(order);
        let (page, now) = (self.page(), self.screen.now);
        let kind = self.views.current.kind();
        let Some(data) = &self.derived.data else {
            let list = self.list_mut();
            list.rows.clear();
            (list.second, list.is_held) = (None, false);
            return;
        };
        let list = self.list();
        let hold = kind.holds(self) && !forced && now < self.hold_until() && !list.rows.is_empty();
        let before = Before::of(&list.rows, hold, !forced);
        let search = self.searched();
        let matcher = search.map(|search| Matcher::of(data, search.text()));
        let selected = list.selected().map(|row| row.id);
        let shape = Shape {
            sort: list.sort,
            before: &before,
            open: self.views.expanded.paths(),
            matcher: matcher.as_ref(),
            only: self.views.search.as_ref().is_some_and(|search| search.only),
            outside: self.percent_of() == PercentOf::Wall,
            selected,
        };
        let listing = kind.list(self, data, &shape);
        // Until the user moves the cursor, it stays on the top row, whichever row that is.
        let stays = !list.cursor.touched && self.views.current.about().stays_at_top;
        let first = (list.cursor.want.is_empty() || stays)
            .then(|| kind.first(data, &listing.rows).map(|row| row.id))
            .flatten();
        let time_ns = matcher.as_ref().map_or(0, |matcher| matcher.time_ns(data));
        let list = self.list_mut();
        list.rows = listing.rows;
        list.second = listing.second;
        list.is_held = hold;
        if !hold {
            list.sorted_at = now;
        }
        if let Some(first) = first {
            list.cursor.want = vec![first];
        }
        list.settle(page);
        if let Some(frames) = listing.frames {
            self.views.flame.frames = frames;
        }
        if let Some(lanes) = listing.lanes {
            self.views.lanes = lanes;
        }
        if let Some(search) = &mut self.views.search {
            search.hits = listing.hits;
            search.before = listing.before;
            search.counted_at = selected;
            search.time_ns = time_ns;
        }
        kind.settle(self);
    }

    /// Finds the chosen row in the list.
    pub(crate) fn settle_cursor(&mut self) {
        let page = self.page();
        self.list_mut().settle(page);
    }

    /// Opens the hot rows. This happens once, as soon as there is enough data to tell which rows are hot.
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
        // The banner that is shown until the first key press soon disappears, so its line counts as a line of the list.
        let page = self.page() + usize::from(self.is_first_look() && self.banner().is_none());
        let open = travel::first_look(data, page);
        self.views.expanded.extend(open);
    }

    /// Records the activity of the last second, once a second has passed.
    pub(crate) fn beat(&mut self) {
        let Some(newest) = &self.program.newest else {
            return;
        };
        let activity = &mut self.playback.past.activity;
        if !activity.is_due(newest.capture.unix_ns) {
            return;
        }
        // The tables on screen can be reused if they show the newest snapshot, and not a window, a comparison or an
        // older moment.
        let same = |data: &&Data| Rc::ptr_eq(&data.snapshot, newest);
        match self.derived.data.as_ref().filter(same) {
            // The activity covers all calls, even while only some of them are on screen.
            Some(data) if data.whole().rows.len() > ROWS_MAX => activity.note(newest, data.whole(), &[]),
            Some(data) if data.shows_all_calls() => activity.note(newest, data.whole(), data.hot()),
            Some(data) => activity.note(newest, data.whole(), &hot(data.whole())),
            None => activity.note_all(newest, &self.query.threads),
        }
    }
}

/// Returns the process id and the reset epoch. If either changes, the counters have started again from zero.
fn counted_from(data: &Data) -> (u32, u64) {
    let snapshot = &data.snapshot;
    (snapshot.process.pid, snapshot.capture.reset_epoch)
}

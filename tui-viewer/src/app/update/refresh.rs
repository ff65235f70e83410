//! What becomes stale, by time or by news, and deriving it anew: data, then rows, then details.

use std::rc::Rc;
use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::profile::compensate::compensated;

use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::flame;
use crate::app::function::Around;
use crate::app::listing;
use crate::app::listing::Shape;
use crate::app::percent_of::Base;
use crate::app::row::past_headings;
use crate::app::search::{Filter, Search};
use crate::app::sort::Before;
use crate::app::state::Model;
use crate::app::update::travel;
use crate::app::view::View;
use crate::source::status::Status;

/// Nothing moves under a finger for so long after a key.
const HOLD_AFTER_KEY: Duration = Duration::from_secs(2);

/// Rows change places at most this often.
const BETWEEN_SORTS: Duration = Duration::from_secs(1);

/// Counters that ran for less than this say little about which path is hot.
const FIRST_LOOK_NS: u64 = 300_000_000;

// === impl Model ===

impl Model {
    /// When something changes although nothing happens.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let resort = self.list().sort_due.then(|| self.hold_until());
        let notice = self.notice.as_ref().map(|notice| notice.until);
        let pending = self.pending.map(|pending| pending.deadline());
        let switching = self.switching_deadline();
        [resort, notice, pending, switching].into_iter().flatten().min()
    }

    pub(in crate::app) fn hold_until(&self) -> Duration {
        let after_key = self.last_key.map_or(Duration::ZERO, |key| key + HOLD_AFTER_KEY);
        after_key.max(self.list().sorted_at + BETWEEN_SORTS)
    }

    /// Time has passed: what was to end ends.
    pub(in crate::app) fn tick(&mut self, now: Duration) {
        self.now = now;
        if self.notice.as_ref().is_some_and(|notice| notice.until <= now) {
            self.notice = None;
            self.dirty = true;
        }
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.deadline() <= now) {
            if pending.epoch.is_some() && !self.status.answers() {
                self.pending = None;
                self.complain("the program has answered, but it ended before a snapshot of it came");
            } else if pending.epoch.is_some() {
                // It is done, only not here yet: the header goes on saying so.
                pending.asked = now;
                self.complain("the program has answered, but no snapshot of it has come in 2 s");
            } else {
                self.pending = None;
                self.complain("no answer from the program in 2 s: it may be stopped, or too busy to publish");
            }
            self.dirty = true;
        }
        self.give_up_switching();
        if self.list().sort_due && self.hold_until() <= now {
            self.rows_stale = true;
            self.dirty = true;
        }
    }

    /// Derives what has become stale: data, then rows, then details.
    pub(in crate::app) fn refresh(&mut self) {
        if std::mem::take(&mut self.data_stale) {
            let former = self.data.take();
            let counted_from = |data: &Data| {
                let snapshot = &data.snapshot;
                (snapshot.process.pid, snapshot.capture.reset_epoch)
            };
            let began = former.as_ref().map(counted_from);
            let side = |snapshot: Rc<Snapshot>| match self.compensated {
                true => Rc::new(compensated(&snapshot)),
                false => snapshot,
            };
            let sides = self.shown.as_ref().map(|shown| self.sides(shown));
            // A site is a place and no group.
            let grouped = self.lens.grouped && self.view != View::Sites;
            self.time.stretch = sides.as_ref().and_then(|sides| sides.stretch);
            self.time.before_ns = sides.as_ref().and_then(|sides| sides.before_ns);
            self.data = sides.map(|sides| {
                let (scope, ascii) = (&self.scope, self.ascii);
                let mut data = Data::of(side(sides.now), scope, former.as_ref(), ascii, grouped);
                data.then = sides
                    .then
                    .map(|then| Box::new(Data::of(side(then), scope, Some(&data), ascii, grouped)));
                data
            });
            if let (Some(data), Some(shown)) = (&mut self.data, &self.shown) {
                data.cpu_history = self.cpu_history.until(shown);
            }
            let begins = self.data.as_ref().map(counted_from);
            if began.is_some() && begins.is_some() && begins != began {
                // Other counters: the order of the former ones would say nothing, nor would that of their first moment
                // for as long as a key holds it.
                self.sort_now = true;
                self.last_key = self.last_key.map(|_| Duration::ZERO);
            }
            self.rows_stale = true;
            self.detail_of = None;
            self.count_calls();
            self.look();
            self.greet();
        }
        let more = self.rows_stale && self.data.as_ref().is_some_and(|data| data.in_part);
        if more || self.lens_stale {
            self.look();
            self.rows_stale = true;
        }
        self.beat();
        if std::mem::take(&mut self.rows_stale) {
            self.rebuild_rows();
        }
        let (rows, page) = (self.list().rows.len(), self.page());
        self.list_mut().cursor.keep_on_screen(rows, page);
        let selected = self.data.as_ref().zip(self.list().selected());
        let selected = selected.map(|(data, row)| data.in_full(row).what);
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

    /// Makes of the data what the view shows of it.
    fn look(&mut self) {
        self.lens_stale = false;
        if self.view == View::Function && self.data.is_some() {
            self.choose_function();
        }
        let chosen = self.function.chosen.as_ref();
        let chosen = chosen.filter(|_| self.view == View::Function);
        let (lens, view, open) = (&self.lens, self.view, &self.open);
        let see = |data: &mut Data| {
            data.see(lens.look(data.whole(), view, open));
            data.around = chosen.and_then(|chosen| Around::of(data.whole(), chosen.key));
        };
        let Some(data) = &mut self.data else { return };
        see(data);
        if let Some(then) = &mut data.then {
            see(then);
        }
    }

    fn rebuild_rows(&mut self) {
        let forced = std::mem::take(&mut self.sort_now);
        let (page, width) = (self.page(), self.size.width);
        let (view, now, base, hold_until) = (self.view, self.now, self.base(), self.hold_until());
        let Some(data) = self.data.take() else {
            self.list_mut().rows.clear();
            self.list_mut().sort_due = false;
            return;
        };
        let hold = !forced && now < hold_until && !self.list().rows.is_empty();
        let mut flame = std::mem::take(&mut self.flame);
        let mut before = Before::of(&self.list().rows, hold);
        before.calm = !forced;
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
            View::Function => listing::function(&data, &shape, page >= listing::ROOM_FOR_HEADINGS),
            View::Threads => listing::threads(&data, &shape),
            View::Sites => listing::sites(&data, &shape),
            View::Flame => flame.list(&data, &shape, width),
        };
        self.flame = flame;
        let list = self.list_mut();
        list.rows = listing.rows;
        list.sort_due = hold;
        if !hold {
            list.sorted_at = now;
        }
        let first = match view {
            View::Flame => flame::largest(&data, &list.rows),
            View::Tree | View::Hot | View::Function | View::Threads | View::Sites => list.rows.first(),
        };
        if list.cursor.want.is_empty()
            && let Some(row) = first
        {
            list.cursor.want = vec![row.id];
        }
        list.cursor.settle(&list.rows, page);
        let beside = past_headings(&list.rows, list.cursor.index, true);
        if beside != list.cursor.index {
            list.cursor.index = beside;
            list.cursor.keep_on_screen(list.rows.len(), page);
        }
        if let Some(search) = &mut self.search {
            search.hits = listing.hits;
            search.before = listing.before;
            search.time_ns = filter.as_ref().map_or(0, |filter| filter.time_ns(&data));
        }
        self.data = Some(data);
        self.detail_of = None;
        self.flame_settle();
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
        // The line for the first look soon leaves its place to the list.
        let page = self.page() + usize::from(self.is_first_look() && self.banner().is_none());
        let open = travel::first_look(data, page);
        self.open.extend(open);
    }
}

//! Watched calls: their events are written into a journal, and added up by node when the call ends.
//!
//! While a watched call is open, its thread's path is [`Path::Watched`] or [`Path::WatchedExact`], so the usual paths of other
//! calls do not change. Only the outermost watched call of a thread is watched: calls inside are part of it.

mod cause;
mod futures;

use tickscope_format::snapshot::Quantity;

use super::{Path, Tree};
use crate::enabled::platform::os;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::journal::{Kind, MORE_MAX, More, Record, TICKS_MAX};
use crate::enabled::record::kept_calls::Facts;
use crate::enabled::record::measures::Amounts;
use crate::enabled::record::node::Node;
use crate::enabled::record::path_sums::{PathSums, Sums, SumsOfWatch};
use crate::enabled::record::site::Site;
use crate::enabled::record::watch::{self, Lost, Watch};

/// Number of events above which the time to add up a call is charged to no scope.
const EVENTS_UNCHARGED: u32 = 256;

/// The sums to which records are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Typical,
    Pending,
}

impl Tree {
    /// Watches the call of `root`, which has just begun, if it is timed, in no other watched call, and the threshold of slow
    /// calls is known.
    #[inline(never)]
    pub(crate) fn watch_call(&self, root: &'static Node) {
        let Some(slot) = root
            .site
            .get()
            .filter(|site| !site.is_future())
            .and_then(Site::watch)
        else {
            return;
        };
        if !Self::is_in_call_of(root, slot) {
            self.begin_watching(root, slot, Kind::Enter);
        }
    }

    /// Returns whether a call around the call of `root` belongs to a function that is watched in this place. Such a
    /// call began before it could be watched, and the call of `root` is part of it.
    fn is_in_call_of(root: &'static Node, slot: u32) -> bool {
        let mut at = root.parent.get();
        while let Some(node) = at {
            if node.site.get().is_some_and(|site| site.watch() == Some(slot)) {
                return true;
            }
            at = node.parent.get();
        }
        false
    }

    /// Watches the call of `root` from now on, if possible. `before` is the kind of the event that has just happened.
    fn begin_watching(&self, root: &'static Node, slot: u32, before: Kind) -> bool {
        let Some(watch) = watch::get(slot) else {
            return false;
        };
        let outside = self.path();
        let inside = match outside {
            Path::Fast | Path::Adaptive => Path::Watched,
            Path::Exact | Path::AdaptiveExact => Path::WatchedExact,
            Path::Alarm | Path::Watched | Path::WatchedExact | Path::Off | Path::Sampled => return false,
        };
        let number = watch.number();
        if watch.threshold() == 0 || number == 0 || !root.is_timed() {
            return false;
        }
        let watching = &self.watching;
        // A signal handler may have interrupted the end of the previous call.
        if watching.busy.load(Ordering::Relaxed) != 0 {
            watch.lose(Lost::Missed);
            return false;
        }
        let Some(current) = self.take() else { return false };
        let mut begins = false;
        if let Some(sums) = watching.sums.get(slot as usize)
            && watching.journal.begin()
        {
            sums.belong_to(number, self.nodes.len());
            watching.slot.store(slot, Ordering::Relaxed);
            watching.outside.store(outside as u32, Ordering::Relaxed);
            watching.number.store(number, Ordering::Relaxed);
            watching
                .began
                .store(self.last.load(Ordering::Relaxed), Ordering::Relaxed);
            watching.before.store(before as u64, Ordering::Relaxed);
            watching.broken.store(0, Ordering::Relaxed);
            watching.carried.set(None);
            watching.ending.store(0, Ordering::Relaxed);
            watching.awaited.clear();
            watching.root.set(Some(root));
            // An alarm that was raised meanwhile stays.
            begins = self.exchange_path(outside, inside);
            if !begins {
                watching.root.set(None);
            }
        }
        self.put(current);
        begins
    }

    /// Begins `child` in a watched call, at tick `now`. Must be called with `current` taken out.
    #[inline(always)]
    pub(crate) fn begin_watched(&self, current: &'static Node, child: &'static Node, now: u64, calls: u64) {
        let kind = if calls == 0 { Kind::GoOn } else { Kind::Enter };
        let now = self.charge_noted(current, kind, now).unwrap_or(now);
        child.began.store(now, Ordering::Relaxed);
        if self.is_adaptive_outside()
            && let Some(latency) = child.latency.get()
        {
            add(&latency.timed, calls);
        }
        add(&child.calls, calls);
        self.put(child);
    }

    /// Ends the innermost call, in a watched call, at the tick that `now` reads. Returns true if the call belongs to `node`;
    /// otherwise does nothing and returns false.
    #[inline(always)]
    pub(crate) fn end_watched(&self, node: &'static Node, clock: impl Fn() -> u64) -> bool {
        let Some(parent) = node.parent.get().filter(|_| self.current.is(node)) else {
            return false;
        };
        self.mark();
        let now = clock();
        let charged = self.charge_noted(node, Kind::Exit, now);
        self.finish_watched(node, parent, now, charged, clock);
        true
    }

    /// Ends a call of `node` in a watched call, or the watched call itself, at tick `now`. `charged` is the result of charging
    /// its time.
    #[inline(always)]
    pub(super) fn finish_watched(
        &self,
        node: &'static Node,
        parent: &'static Node,
        now: u64,
        charged: Option<u64>,
        clock: impl Fn() -> u64,
    ) {
        let now = charged.unwrap_or(now);
        if charged.is_some() {
            if self.is_adaptive_outside() {
                self.count_timed(node, parent, now);
            } else if let Some(latency) = node.latency.get() {
                let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
                if !latency.buffer(node.calls.load(Ordering::Relaxed), ticks) {
                    latency.flush(node.lasted(now), &self.latencies);
                }
            }
        }
        if self.watching.root.is(node) {
            self.end_watched_call(node, parent, now, clock);
        } else {
            self.put(parent);
        }
    }

    #[inline(always)]
    pub(crate) fn is_adaptive_outside(&self) -> bool {
        self.watching.outside.load(Ordering::Relaxed) >= Path::AdaptiveExact as u32
    }

    /// Charges the time since the last event to `node`, and notes it in the journal. Returns the same as [`Self::charge`].
    #[inline(always)]
    pub(super) fn charge_noted(&self, node: &'static Node, kind: Kind, now: u64) -> Option<u64> {
        let before = node.self_ticks.load(Ordering::Relaxed);
        let charged = self.charge(node, now);
        let ticks = node.self_ticks.load(Ordering::Relaxed).wrapping_sub(before);
        self.note_event(node, kind, ticks);
        if charged.is_none() {
            self.note_not_charged();
        }
        charged
    }

    /// Notes the end of a stretch of time in `node`.
    #[inline(always)]
    pub(crate) fn note_event(&self, node: &'static Node, kind: Kind, ticks: u64) {
        let journal = &self.watching.journal;
        if ticks <= TICKS_MAX && journal.has_space(1) {
            let node = node.index();
            journal.push(Record::Event { node, kind, ticks }.word());
        } else {
            self.note_event_rarely(node, kind, ticks);
        }
    }

    /// Handles a full journal, and times that are longer than a record holds.
    #[cold]
    #[inline(never)]
    fn note_event_rarely(&self, node: &'static Node, kind: Kind, mut ticks: u64) {
        while ticks > TICKS_MAX {
            self.note_more(node, More::Stay, MORE_MAX);
            ticks -= MORE_MAX;
        }
        self.make_space(1);
        let node = node.index();
        self.watching
            .journal
            .push(Record::Event { node, kind, ticks }.word());
    }

    /// Notes a record that is not an event. A number that does not fit into one record becomes several records.
    #[cold]
    fn note_more(&self, node: &'static Node, what: More, mut number: u64) {
        let node = node.index();
        loop {
            self.make_space(1);
            let part = number.min(MORE_MAX);
            self.watching.journal.push(
                Record::More {
                    node,
                    what,
                    number: part,
                }
                .word(),
            );
            number -= part;
            if number == 0 {
                return;
            }
        }
    }

    /// Charges the time since the last event to `node`, without an event. Returns the same as [`Self::charge`].
    pub(super) fn charge_staying(&self, node: &'static Node, now: u64) -> Option<u64> {
        let before = node.self_ticks.load(Ordering::Relaxed);
        let charged = self.charge(node, now);
        if self.watching.is_open() {
            let ticks = node.self_ticks.load(Ordering::Relaxed).wrapping_sub(before);
            self.note_more(node, More::Stay, ticks);
        }
        charged
    }

    /// Notes amounts that are counted in `node`.
    #[cold]
    pub(super) fn note_amounts<const N: usize>(&self, node: &'static Node, amounts: Amounts<N>) {
        if !self.watching.is_open() {
            return;
        }
        let of = |wanted: Quantity| {
            let found = amounts.iter().find(|(quantity, _)| *quantity == wanted);
            found.map_or(0, |&(_, amount)| amount)
        };
        for (quantity, what) in [(Quantity::Waiting, More::Waiting), (Quantity::Ready, More::Ready)] {
            if of(quantity) > 0 {
                self.note_more(node, what, of(quantity));
            }
        }
        let allocations = of(Quantity::Allocations);
        let mut bytes = of(Quantity::AllocatedBytes);
        for _ in 0..allocations {
            self.note_more(node, More::Allocation, bytes.min(MORE_MAX));
            bytes = 0;
        }
    }

    /// Notes a key and a value in front of the next event of the watched call that is open.
    pub(crate) fn note_value(&self, key: &str, value: &str) {
        let Some(current) = self.take() else { return };
        if self.watching.is_open() {
            let count = 1 + key.len().div_ceil(8) + value.len().div_ceil(8);
            self.make_space(count as u32 + 1);
            let journal = &self.watching.journal;
            let record = Record::More {
                node: current.index(),
                what: More::Note,
                number: count as u64,
            };
            journal.push(record.word());
            journal.push(key.len() as u64 | (value.len() as u64) << 32);
            for chunk in [key, value].iter().flat_map(|text| text.as_bytes().chunks(8)) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                journal.push(u64::from_le_bytes(word));
            }
        }
        self.put(current);
    }

    /// Continues in the next area of the journal, if this area has no space for `words` words.
    fn make_space(&self, words: u32) {
        let journal = &self.watching.journal;
        if journal.has_space(words) {
            return;
        }
        let node = self.watching.root.get().map_or(0, Node::index);
        while journal.has_space(1) {
            let nothing = Record::More {
                node,
                what: More::Stay,
                number: 0,
            };
            journal.push(nothing.word());
        }
        self.add_up_area();
        journal.next_area();
    }

    /// Marks the open call as broken: not all of its time is known, so it cannot be compared.
    #[cold]
    fn note_not_charged(&self) {
        self.watching.broken.store(1, Ordering::Relaxed);
    }

    /// Stops watching the open call, if there is one, because its end will not be seen, or the mode was switched during
    /// it.
    #[cold]
    pub(crate) fn discard_watched(&self) {
        let watching = &self.watching;
        if !watching.is_open() {
            return;
        }
        watching.root.set(None);
        self.leave_watched_path();
        self.forget_pending();
        if let Some(carried) = watching.carried.get() {
            carried.give_back();
        }
        if let Some((watch, _)) = watching.of_slot() {
            watch.lose(Lost::Discarded);
        }
    }

    /// Restores the path from before the watched call. An alarm that was raised meanwhile stays.
    fn leave_watched_path(&self) {
        let outside = self.watching.outside.load(Ordering::Relaxed);
        let of_outside = [
            (Path::Fast, Path::Watched),
            (Path::Adaptive, Path::Watched),
            (Path::Exact, Path::WatchedExact),
            (Path::AdaptiveExact, Path::WatchedExact),
        ];
        for (path, inside) in of_outside {
            if path as u32 == outside {
                self.exchange_path(inside, path);
            }
        }
    }

    fn exchange_path(&self, from: Path, to: Path) -> bool {
        self.path
            .compare_exchange(from as u32, to as u32, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Returns whether the open watched call is one of the calls from `innermost` up to `outermost`, without `outermost`.
    pub(super) fn is_watched_inside(&self, innermost: &'static Node, outermost: &'static Node) -> bool {
        let mut at = Some(innermost);
        while let Some(node) = at.filter(|node| !std::ptr::eq(*node, outermost)) {
            if self.watching.root.is(node) {
                return true;
            }
            at = node.parent.get();
        }
        false
    }

    /// Ends the watched call, of `node`, after its time was charged.
    #[inline(never)]
    fn end_watched_call(
        &self,
        node: &'static Node,
        parent: &'static Node,
        now: u64,
        clock: impl Fn() -> u64,
    ) {
        let watching = &self.watching;
        watching.root.set(None);
        self.leave_watched_path();
        watching.busy.store(1, Ordering::Relaxed);
        // Signal handlers and captures find the thread in the parent meanwhile.
        self.put(parent);
        if let Some((watch, sums)) = watching.of_slot() {
            let is_whole = watching.broken.load(Ordering::Relaxed) == 0;
            let counts = watch.number() == watching.number.load(Ordering::Relaxed);
            let is_sound = is_whole && counts;
            let lasted = node.lasted(now).filter(|_| is_sound);
            let events = watching.journal.area().1;
            let is_long = events > EVENTS_UNCHARGED || watching.journal.was_full();
            let ended = if node.site.get().is_some_and(Site::is_future) {
                let lasted = lasted.or_else(|| self.noted_ticks().filter(|_| is_sound));
                self.end_watched_poll(node, now, lasted)
            } else {
                lasted.ok_or(Lost::Discarded).map(Some)
            };
            match ended {
                Err(why) => {
                    self.forget_pending();
                    watch.lose(why);
                }
                Ok(None) => {
                    if is_long {
                        self.go_on_after(now, clock);
                    }
                }
                Ok(Some(ticks)) if ticks < watch.threshold() => {
                    self.add_typical(sums);
                    if is_long {
                        self.go_on_after(now, clock);
                    }
                }
                Ok(Some(ticks)) => {
                    self.add_slow(watch, sums, node, ticks);
                    self.go_on_after(now, clock);
                }
            }
        }
        watching.busy.store(0, Ordering::Relaxed);
    }

    /// Charges the time since `then`, the last event, to no scope. Otherwise the parent would be charged for it.
    fn go_on_after(&self, then: u64, clock: impl Fn() -> u64) {
        let Some(current) = self.take() else { return };
        if self.last.load(Ordering::Relaxed) == then {
            let now = clock();
            if let Some(passed) = now.checked_sub(then) {
                self.leave_out(current, then, passed);
            }
        }
        self.put(current);
    }

    /// Adds a typical call to the sums.
    fn add_typical(&self, sums: &SumsOfWatch) {
        let journal = &self.watching.journal;
        if journal.was_full() {
            self.add_up_area();
            self.take_pending(sums, |sums| &sums.typical);
        } else {
            self.add_up(journal.area(), Side::Typical);
        }
    }

    /// Adds a slow call to the sums, finds its cause, and keeps it if it is one of the calls to keep.
    fn add_slow(&self, watch: &Watch, sums: &SumsOfWatch, root: &'static Node, ticks: u64) {
        let journal = &self.watching.journal;
        self.add_up_area();
        let cause = self.cause(sums, root, ticks, watch.threshold());
        let count = watch.slow_calls.fetch_add(1, Ordering::Relaxed) + 1;
        let random = self.next_random();
        let is_kept = watch.kept.keep(ticks, count, random >> 32, |call| {
            let left = journal.left();
            let facts = Facts {
                ticks,
                began: self.watching.began.load(Ordering::Relaxed),
                tid: os::thread_id(),
                name: os::thread_name(),
                cause,
                gap: left.has_gap.then(|| (left.parts[0].1, journal.missing())),
            };
            let touched = (0..self.watching.touched_count.load(Ordering::Relaxed)).map(|at| {
                let index = self.touched(at);
                let node = self.nodes.get(index);
                let parent = node.and_then(|node| node.parent.get()).map_or(0, Node::index);
                (index, parent, node.and_then(|node| node.site.get()))
            });
            call.write(&facts, left.words(journal), touched);
        });
        if !is_kept {
            watch.lose(Lost::NotKept);
        }
        self.take_pending(sums, |sums| &sums.slow);
    }

    fn touched(&self, at: u32) -> u32 {
        self.watching
            .touched
            .get(at)
            .map_or(0, |index| index.load(Ordering::Relaxed))
    }

    /// Calls `with` for each node with pending sums.
    fn each_touched(&self, sums: &SumsOfWatch, mut with: impl FnMut(u32, &'static PathSums)) {
        for at in 0..self.watching.touched_count.load(Ordering::Relaxed) {
            let index = self.touched(at);
            if let Some(of_node) = sums.nodes.get(index) {
                with(index, of_node);
            }
        }
    }

    fn take_pending(&self, sums: &SumsOfWatch, side: fn(&PathSums) -> &Sums) {
        self.each_touched(sums, |_, of_node| {
            side(of_node).take(&of_node.pending);
            of_node.is_touched.store(0, Ordering::Relaxed);
        });
        self.watching.touched_count.store(0, Ordering::Relaxed);
    }

    fn forget_pending(&self) {
        if let Some((_, sums)) = self.watching.of_slot() {
            self.each_touched(sums, |_, of_node| {
                for count in of_node.pending.all() {
                    count.store(0, Ordering::Relaxed);
                }
                of_node.is_touched.store(0, Ordering::Relaxed);
            });
        }
        self.watching.touched_count.store(0, Ordering::Relaxed);
    }

    /// Adds up the area of the journal that is being written.
    fn add_up_area(&self) {
        self.add_up(self.watching.journal.area(), Side::Pending);
    }

    /// Adds up the records between two places of the journal.
    fn add_up(&self, (begin, end): (u32, u32), side: Side) {
        let watching = &self.watching;
        let journal = &watching.journal;
        let Some((_, sums)) = watching.of_slot() else {
            return;
        };
        let mut before = watching.before.load(Ordering::Relaxed);
        let mut at = begin;
        while at < end {
            let record = Record::of(journal.word(at));
            at += 1;
            let (Record::Event { node, .. } | Record::More { node, .. }) = record;
            let Some(of_node) = sums.nodes.get(node).or_else(|| sums.nodes.make(node)) else {
                self.note_not_charged();
                continue;
            };
            let to = match side {
                Side::Typical => &of_node.typical,
                Side::Pending => {
                    if of_node.is_touched.load(Ordering::Relaxed) == 0 {
                        self.touch(of_node, node);
                    }
                    &of_node.pending
                }
            };
            match record {
                Record::Event { kind, ticks, .. } => {
                    add(&to.ticks, ticks);
                    add(&to.calls, u64::from(before == Kind::Enter as u64));
                    before = kind as u64;
                }
                Record::More { what, number, .. } => match what {
                    More::Stay => add(&to.ticks, number),
                    More::Waiting => add(&to.waiting, number),
                    More::Ready => add(&to.ready, number),
                    More::Allocation => {
                        add(&to.allocations, 1);
                        add(&to.allocated_bytes, number);
                    }
                    More::Note => at += number as u32,
                    More::Calls => add(&to.calls, number),
                    More::Allocations => add(&to.allocations, number),
                    More::Nodes => {}
                },
            }
        }
        watching.before.store(before, Ordering::Relaxed);
    }

    fn touch(&self, of_node: &PathSums, node: u32) {
        let count = &self.watching.touched_count;
        let at = count.load(Ordering::Relaxed);
        if let Some(place) = self.watching.touched.make(at) {
            place.store(node, Ordering::Relaxed);
            count.store(at + 1, Ordering::Relaxed);
            of_node.is_touched.store(1, Ordering::Relaxed);
            of_node.excess.store(0, Ordering::Relaxed);
            of_node.excess_waiting.store(0, Ordering::Relaxed);
            of_node.whole.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::path_sums::COUNTS;
    use crate::enabled::record::site::Site;

    static ROOT: Site = Site::named("root", "m", "f.rs", 1);
    static OTHERS: [Site; 5] = [
        Site::named("a", "m", "f.rs", 2),
        Site::named("b", "m", "f.rs", 3),
        Site::named("c", "m", "f.rs", 4),
        Site::named("d", "m", "f.rs", 5),
        Site::named("e", "m", "f.rs", 6),
    ];

    /// A random program of calls on a thread, which counts its watched calls itself.
    struct Program {
        tree: Box<Tree>,
        now: std::cell::Cell<u64>,
        random: u64,
        /// Expected sums of typical and of slow calls, by node.
        expected: [Vec<[u64; COUNTS]>; 2],
        slow_calls: u64,
        /// Amounts counted before the watched call.
        before: Option<(u64, Vec<[u64; COUNTS]>)>,
        paused: u64,
        left: u32,
    }

    impl Program {
        fn below(&mut self, most: u64) -> u64 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            (self.random >> 11) % most
        }

        fn pass(&mut self) -> u64 {
            let ticks = self.below(1 << (self.random % 24));
            self.now.set(self.now.get() + ticks);
            self.now.get()
        }

        /// Returns the tree's amounts of each node.
        fn counted(&self) -> Vec<[u64; COUNTS]> {
            (0..self.tree.nodes.len())
                .map(|index| {
                    let node = self.tree.nodes.get(index).unwrap();
                    let of = |quantity| {
                        let measures = self.tree.measures.get(index);
                        measures.map_or(0, |measures| measures.of(quantity).load(Ordering::Relaxed))
                    };
                    [
                        node.calls.load(Ordering::Relaxed),
                        node.self_ticks.load(Ordering::Relaxed),
                        of(Quantity::Waiting),
                        of(Quantity::Ready),
                        of(Quantity::Allocations),
                        of(Quantity::AllocatedBytes),
                    ]
                })
                .collect()
        }

        fn enter(&mut self, site: &'static Site) -> &'static Node {
            self.pass();
            let tree = &*self.tree;
            let current = tree.take().unwrap();
            let child = tree
                .known_child(current, site)
                .or_else(|| tree.add_child(current, site, || true))
                .unwrap();
            let is_root = site.watch().is_some() && self.before.is_none();
            let before = is_root.then(|| self.counted());
            if tree.is(Path::Watched) {
                tree.begin_watched(current, child, self.now.get(), 1);
            } else {
                tree.begin(current, child, self.now.get(), 1);
                if let Some(mut before) = before {
                    // The time until now belongs to the parent, and the call itself to the watched call.
                    before.resize(tree.nodes.len() as usize, [0; COUNTS]);
                    before[current.index() as usize] = self.counted()[current.index() as usize];
                    self.before = Some((self.now.get(), before));
                    self.paused = 0;
                    tree.watch_call(child);
                    assert!(tree.is(Path::Watched));
                }
            }
            child
        }

        fn exit(&mut self, node: &'static Node) {
            let now = self.pass();
            let is_root = node.site.get().is_some_and(|site| site.watch().is_some())
                && self.tree.watching.root.is(node);
            let clock = || self.now.get();
            let ended = match self.tree.is(Path::Watched) {
                true => self.tree.end_watched(node, clock),
                false => self.tree.end_innermost(node, clock),
            };
            if !ended {
                self.tree.end_out_of_order(node, clock);
            }
            if is_root {
                let (began, before) = self.before.take().unwrap();
                let ticks = now - began - self.paused;
                let side = usize::from(ticks >= watch::get(3).unwrap().threshold());
                self.slow_calls += side as u64;
                let after = self.counted();
                let expected = &mut self.expected[side];
                expected.resize(after.len(), [0; COUNTS]);
                for (index, counts) in after.iter().enumerate() {
                    let before = before.get(index).copied().unwrap_or_default();
                    for (to, (now, then)) in expected[index].iter_mut().zip(counts.iter().zip(before)) {
                        *to += now - then;
                    }
                }
            }
        }

        fn work(&mut self, depth: u32) {
            for _ in 0..self.below(6) {
                if depth > 12 || self.left == 0 {
                    return;
                }
                self.left -= 1;
                let site = &OTHERS[self.below(5) as usize];
                match self.below(13) {
                    0 => {
                        let root = self.enter(&ROOT);
                        self.work(depth + 1);
                        self.exit(root);
                    }
                    1 => {
                        let node = self.enter(site);
                        self.pass();
                        self.tree.pause(|| self.now.get());
                        let begin = self.now.get();
                        let end = self.pass();
                        self.tree.resume(end);
                        self.paused += end - begin;
                        self.exit(node);
                    }
                    2 => {
                        // These calls are closed out of order.
                        let (outer, inner) = (self.enter(site), self.enter(&OTHERS[0]));
                        self.exit(outer);
                        self.exit(inner);
                    }
                    3 if depth > 1 => {
                        let _leaked = self.enter(site);
                        self.work(depth + 1);
                    }
                    4 => self
                        .tree
                        .note_value("step", &"x".repeat((self.left % 40) as usize)),
                    5 => {
                        let amounts = [(Quantity::Allocations, 1), (Quantity::AllocatedBytes, 24)];
                        self.tree.measure(amounts, || Path::Fast);
                    }
                    6 => {
                        let node = self.enter(site);
                        self.now.set(self.now.get() + 1_000);
                        // Imitates a gap off the CPU.
                        let current = self.tree.take().unwrap();
                        self.tree
                            .measure_at(current, [(Quantity::Waiting, 600), (Quantity::Ready, 300)]);
                        self.tree.put(current);
                        self.exit(node);
                    }
                    7 if self.below(160) == 0 => {
                        for _ in 0..40_000 {
                            let node = self.enter(&OTHERS[1]);
                            self.exit(node);
                        }
                    }
                    _ => {
                        let node = self.enter(site);
                        self.work(depth + 1);
                        self.exit(node);
                    }
                }
            }
        }
    }

    /// Typical and slow calls together are all calls, to the call and the tick. `PROGRAMS=100` in the environment plays more.
    #[test]
    fn sums_are_those_of_the_tree_in_random_programs() {
        let of_slot = watch::get(3).unwrap();
        ROOT.set_watch(Some(3));
        let (mut discarded, mut overflows, mut kept) = (0, 0, 0);
        let programs = std::env::var("PROGRAMS").map_or(4, |number| number.parse().unwrap());
        for seed in 1..=programs {
            of_slot.begin(0);
            of_slot.begin(seed);
            let tree = Box::new(Tree::new());
            assert!(tree.open(0, super::super::NO_LIMIT, 100, 10_000));
            tree.set_path(Path::Fast);
            let mut program = Program {
                tree,
                now: std::cell::Cell::new(1),
                random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                expected: Default::default(),
                slow_calls: 0,
                before: None,
                paused: 0,
                left: 0,
            };
            for _ in 0..40 {
                let threshold = [1, 1 << 14, 1 << 22, u64::MAX][program.below(4) as usize];
                of_slot.set_threshold(threshold);
                program.left = 300;
                let outer = program.enter(&OTHERS[4]);
                let root = program.enter(&ROOT);
                program.work(1);
                program.exit(root);
                program.exit(outer);
                overflows += u32::from(program.tree.watching.journal.was_full());
                assert!(program.tree.is(Path::Fast) && program.before.is_none());
            }
            let sums = program.tree.watching.sums_of(3).unwrap();
            assert_eq!(
                program.slow_calls,
                of_slot.slow_calls.load(Ordering::Relaxed),
                "{seed}"
            );
            for index in 0..program.tree.nodes.len() {
                let node = program.tree.nodes.get(index).unwrap();
                let name = node.site.get().map(|site| site.describe().name);
                let read = sums
                    .nodes
                    .get(index)
                    .map_or([[0; COUNTS]; 2], |sums| [sums.typical.read(), sums.slow.read()]);
                let expected = [0, 1].map(|side: usize| {
                    let of_side: &Vec<_> = &program.expected[side];
                    of_side.get(index as usize).copied().unwrap_or_default()
                });
                assert_eq!(read, expected, "seed {seed}, node {index} {name:?}");
            }
            discarded += of_slot.lost().discarded;
            of_slot.kept.read(|_, _, call| {
                let copied = call.copied();
                let mut ticks = 0;
                let mut words = copied.words.iter().copied();
                while let Some(word) = words.next() {
                    match Record::of(word) {
                        Record::Event { ticks: more, .. } => ticks += more,
                        Record::More { what, number, .. } => match what {
                            More::Stay => ticks += number,
                            More::Note => words.by_ref().take(number as usize).for_each(drop),
                            More::Waiting
                            | More::Ready
                            | More::Allocation
                            | More::Nodes
                            | More::Calls
                            | More::Allocations => {}
                        },
                    }
                }
                if copied.facts.gap.is_none() {
                    assert_eq!(
                        ticks, copied.facts.ticks,
                        "a call that is kept is as long as it was"
                    );
                }
                kept += 1;
            });
        }
        ROOT.set_watch(None);
        of_slot.begin(0);
        assert_eq!(discarded, 0);
        assert!(overflows > 1 && kept > 5 * programs, "{overflows} {kept}");
    }
}

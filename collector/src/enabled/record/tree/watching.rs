//! Watched calls: their events are written into a journal, and added up by node when the call ends.
//!
//! While a watched call is open, its thread's path is [`Path::Watched`] or [`Path::WatchedExact`], so events on other paths need
//! no additional check. Only the outermost watched call of a thread is watched: calls inside are part of it.

mod cause;
mod futures;
mod notes;
mod sums;

use super::{Path, Tree};
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::journal::Kind;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::record::watch::{self, Lost};

/// If a call has more events than this, the time for adding them up is charged to no scope.
const EVENTS_UNCHARGED: u32 = 256;

impl Tree {
    /// Watches the call of `root`, which has just begun. The call must be timed and in no other watched call, and the threshold
    /// of slow calls must be known; otherwise this does nothing.
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

    /// Returns whether a call around the call of `root` belongs to a function that is watched in this slot. Such a call
    /// began before it could be watched, and the call of `root` is part of it.
    fn is_in_call_of(root: &'static Node, slot: u32) -> bool {
        let mut around = root.up().skip(1);
        around.any(|node| node.site.get().and_then(Site::watch) == Some(slot))
    }

    /// Watches the call of `root` from now on, if possible. `before` is the kind of the event that has just happened.
    fn begin_watching(&self, root: &'static Node, slot: u32, before: Kind) -> bool {
        let Some(watch) = watch::get(slot) else {
            return false;
        };
        let outside = self.path();
        let Some(inside) = outside.when_watched() else {
            return false;
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

    /// Begins `child` in a watched call, at tick `now`. Must be called while `current` is taken out.
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

    /// Ends the innermost call, in a watched call, at the tick that `clock` reads. Returns true if the call belongs to `node`;
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

    /// Ends a call of `node` inside a watched call, or the watched call itself, at tick `now`. `charged` is the result of
    /// charging the call's time.
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

    /// Stops watching the open call, if there is one, because its end will not be seen, or because the mode was switched
    /// meanwhile.
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
        let outside = Path::numbered(self.watching.outside.load(Ordering::Relaxed));
        if let Some(inside) = outside.when_watched() {
            self.exchange_path(inside, outside);
        }
    }

    fn exchange_path(&self, from: Path, to: Path) -> bool {
        self.path
            .compare_exchange(from as u32, to as u32, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Returns whether the open watched call is one of the calls from `innermost` up to `outermost`, without `outermost`.
    pub(super) fn is_watched_inside(&self, innermost: &'static Node, outermost: &'static Node) -> bool {
        let mut inside = innermost.up().take_while(|node| !std::ptr::eq(*node, outermost));
        inside.any(|node| self.watching.root.is(node))
    }

    /// Ends the watched call of `node`, after its time was charged.
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

    /// Charges the time since the last event, at tick `then`, to no scope. Otherwise the parent would be charged with it.
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
}

#[cfg(test)]
mod tests;

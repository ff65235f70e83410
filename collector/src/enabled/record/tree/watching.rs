//! Watched calls: while such a call is open, its events are written into a journal, which is summed up by node when the call
//! ends.
//!
//! An open watched call changes its thread's path to [`Path::Watched`] or [`Path::WatchedExact`], so events on other paths need
//! no additional check. A thread watches only one call at a time, the outermost one. Calls of watched functions inside it are
//! part of it.

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

/// If a call has more events than this, the time spent summing them up is not charged to any scope.
const EVENTS_UNCHARGED: u32 = 256;

impl Tree {
    /// Starts watching the call of `root`, which has just begun. Does nothing if the call is not timed or is inside another
    /// watched call, or if the threshold for slow calls is not known yet.
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

    /// Returns whether the call of `root` is inside a call of the function that is watched in this slot. That outer call began
    /// before it could be watched, and the call of `root` is part of it.
    fn is_in_call_of(root: &'static Node, slot: u32) -> bool {
        let mut around = root.up().skip(1);
        around.any(|node| node.site.get().and_then(Site::watch) == Some(slot))
    }

    /// Starts watching the call of `root`, if possible, and returns whether it did. `before` is the kind of the event that has
    /// just happened, which comes before the first event in the journal.
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
            // If an alarm has been raised in the meantime, it stays in place, and the call is not watched.
            begins = self.exchange_path(outside, inside);
            if !begins {
                watching.root.set(None);
            }
        }
        self.put(current);
        begins
    }

    /// Begins `child` at tick `now`, inside a watched call. The caller must already have taken `current` out.
    #[inline(always)]
    pub(crate) fn begin_watched(&self, current: &'static Node, child: &'static Node, now: u64, calls: u64) {
        let now = self
            .charge_noted(current, Kind::of_beginning(calls), now)
            .unwrap_or(now);
        child.began.store(now, Ordering::Relaxed);
        if self.is_adaptive_outside()
            && let Some(latency) = child.latency.get()
        {
            add(&latency.timed, calls);
        }
        add(&child.calls, calls);
        self.put(child);
    }

    /// Ends the innermost call at the tick that `clock` reads, while a watched call is open. Returns true if the innermost call
    /// belongs to `node`; otherwise does nothing and returns false.
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

    /// Ends a call of `node` inside a watched call, or the watched call itself, at tick `now`. `charged` is what [`Self::charge`]
    /// returned for the time up to this end.
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

    /// Stops watching the open watched call, if there is one. This is needed if the call's end will not be seen, or if the mode
    /// was switched while the call was open.
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

    /// Restores the path that events took before the watched call. If an alarm has been raised in the meantime, it stays in
    /// place.
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

    /// Returns whether the open watched call is `innermost` or a call around it that is still inside `outermost`.
    pub(super) fn is_watched_inside(&self, innermost: &'static Node, outermost: &'static Node) -> bool {
        let mut inside = innermost.up().take_while(|node| !std::ptr::eq(*node, outermost));
        inside.any(|node| self.watching.root.is(node))
    }

    /// Ends the watched call of `node`. The call's time must already have been charged.
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
        // From here on, signal handlers and captures find the thread in the parent node.
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

    /// Excludes the time since the last event, which was at tick `then`, from all scopes. Otherwise the parent would be charged
    /// for it.
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

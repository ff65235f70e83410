//! When a thread's clock stands still: pauses, exclusion, modes without time.

use super::{PAUSED, Tree};
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::mode_switch;

impl Tree {
    /// Lets the clock stand still from the tick on that `now` reads; nests.
    pub(crate) fn pause(&self, now: impl FnOnce() -> u64) {
        let Some(current) = self.take() else { return };
        // Behind the mark: what passes until the charge is nobody's, and no capture may have shown it.
        let now = now();
        self.charge(Self::charged(current), now);
        let pauses = self.pauses.load(Ordering::Relaxed);
        if pauses == 0 {
            self.paused_at.store(now, Ordering::Relaxed);
        }
        self.pauses.store(pauses + 1, Ordering::Relaxed);
        self.stop();
        self.put(current);
    }

    /// Ends one `pause`; the clock goes on at tick `now` when it was the last. What was open meanwhile has not
    /// taken that long: its beginning moves on.
    pub(crate) fn resume(&self, now: u64) {
        let Some(current) = self.take() else { return };
        let pauses = self.pauses.load(Ordering::Relaxed).saturating_sub(1);
        self.pauses.store(pauses, Ordering::Relaxed);
        if pauses == 0 {
            let paused_at = self.paused_at.load(Ordering::Relaxed);
            let mut at = Some(current);
            while let Some(node) = at {
                if let Some(began) = node.known_beginning() {
                    let paused = now.saturating_sub(began.max(paused_at));
                    node.began.store(began + paused, Ordering::Relaxed);
                }
                at = node.parent.get();
            }
            self.go_on(now);
        }
        self.put(current);
    }

    /// True while a pause is in force.
    pub(crate) fn is_paused(&self) -> bool {
        self.pauses.load(Ordering::Relaxed) > 0
    }

    /// Leaves the thread out, or takes it in again from tick `now` on.
    pub(crate) fn set_excluded(&self, excluded: bool, now: u64) {
        self.excluded.store(u32::from(excluded), Ordering::Relaxed);
        self.stop();
        self.go_on(now);
    }

    /// True while no mode charges time: in a pause, or while the thread is excluded.
    pub(crate) fn stands_still(&self) -> bool {
        self.is_paused() || self.excluded.load(Ordering::Relaxed) != 0
    }

    /// Charges nothing until [`Self::go_on`].
    pub(crate) fn stop(&self) {
        self.limit.store(0, Ordering::Relaxed);
        self.last.store(PAUSED, Ordering::Release);
    }

    /// Charges from tick `now` on, unless paused, excluded or in a mode without time.
    pub(crate) fn go_on(&self, now: u64) {
        if !self.stands_still() && mode_switch::is_timed(self.caught_up_to.load(Ordering::Relaxed)) {
            self.limit
                .store(self.limit_set.load(Ordering::Relaxed), Ordering::Relaxed);
            self.last.store(now, Ordering::Release);
        }
    }
}

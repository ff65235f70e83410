//! Stops a thread's clock: during pauses, while the thread is excluded, and in modes that measure no time.

use super::{PAUSED, Tree};
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::mode_switch;

impl Tree {
    /// Stops the clock at the tick that `now` returns. Pauses nest.
    pub(crate) fn pause(&self, now: impl FnOnce() -> u64) {
        let Some(current) = self.take() else { return };
        // The clock is read after `take` has marked the event. Otherwise a capture could show the time between the clock read and
        // the charge, which belongs to no scope.
        let now = now();
        let now = self.charge_staying(Self::charged(current), now).unwrap_or(now);
        let pauses = self.pauses.load(Ordering::Relaxed);
        if pauses == 0 {
            self.paused_at.store(now, Ordering::Relaxed);
        }
        self.pauses.store(pauses + 1, Ordering::Relaxed);
        self.stop();
        self.put(current);
    }

    /// Ends one pause. After the last pause, the clock continues at tick `now`, and the beginnings of the open calls are moved
    /// forward by the length of the pause.
    pub(crate) fn resume(&self, now: u64) {
        let Some(current) = self.take() else { return };
        let pauses = self.pauses.load(Ordering::Relaxed).saturating_sub(1);
        self.pauses.store(pauses, Ordering::Relaxed);
        if pauses == 0 {
            let paused_at = self.paused_at.load(Ordering::Relaxed);
            for node in current.up() {
                if let Some(began) = node.known_beginning() {
                    let paused = now.saturating_sub(began.max(paused_at));
                    node.began.store(began + paused, Ordering::Relaxed);
                }
            }
            self.go_on(now);
            self.read_clocks(now);
        }
        self.put(current);
    }

    /// Returns whether the thread is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.pauses.load(Ordering::Relaxed) > 0
    }

    /// Excludes the thread, or includes it again from tick `now` on.
    pub(crate) fn set_excluded(&self, excluded: bool, now: u64) {
        self.excluded.store(u32::from(excluded), Ordering::Relaxed);
        self.stop();
        self.go_on(now);
        self.read_clocks(now);
    }

    /// Returns whether the thread is paused or excluded, so that it is charged no time in any mode.
    pub(crate) fn stands_still(&self) -> bool {
        self.is_paused() || self.excluded.load(Ordering::Relaxed) != 0
    }

    /// Stops charging time until [`Self::go_on`] is called.
    pub(crate) fn stop(&self) {
        self.limit.store(0, Ordering::Relaxed);
        self.last.store(PAUSED, Ordering::Release);
    }

    /// Resumes charging time at tick `now`, unless the thread is paused or excluded, or its mode measures no time.
    pub(crate) fn go_on(&self, now: u64) {
        if !self.stands_still() && mode_switch::is_timed(self.caught_up_to.load(Ordering::Relaxed)) {
            self.forget_step();
            self.last.store(now, Ordering::Release);
        }
    }
}

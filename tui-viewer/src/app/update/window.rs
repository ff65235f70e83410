//! Choosing the stretch of time, and what it begins with.

use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::profile::between::{between, same_epoch};

use crate::app::compare::Against;
use crate::app::state::App;
use crate::app::window::{Stretch, Window};

/// Two clocks tell when a reset was; they differ by less.
pub(crate) const CLOCKS_DIFFER_NS: u64 = 50_000_000;

impl App {
    /// The next stretch of time.
    pub(in crate::app) fn next_window(&mut self) {
        let before = matches!(self.query.against, Some(Against::Before { .. }));
        self.query.window = self.query.window.next(self.playback.mark.is_some(), before);
        let unknown = self
            .compared_mark()
            .is_some_and(|mark| !mark.has_window(self.query.window));
        self.tell(match unknown {
            true => "what is compared with has no such window: both since the reset",
            false if before && self.query.window == Window::Ten => "the last 10 s and the 10 s before",
            false if before => "the last second and the one before; w: 10 s",
            false => self.query.window.says(),
        });
    }

    /// What happened in the window that ends with this snapshot of the program on screen.
    pub(in crate::app) fn in_window(&self, shown: &Rc<Snapshot>) -> (Rc<Snapshot>, Option<Stretch>) {
        let window = self.query.window;
        let stretch_of = |cut: &Snapshot| Stretch {
            window,
            ns: cut.capture.since_reset_ns,
            since_reset: !cut.window,
        };
        if window == Window::Reset {
            // A window that was written to a file is one again.
            return (Rc::clone(shown), shown.window.then(|| stretch_of(shown)));
        }
        let base = match (window.length_ns(), &self.playback.mark) {
            (Some(length_ns), _) => self.begin_of(shown, length_ns),
            (None, mark) => {
                let mark = mark.as_ref().map(|mark| Rc::clone(&mark.snapshot));
                mark.filter(|mark| same_epoch(shown, mark))
            }
        };
        let cut = match &base {
            Some(base) => Rc::new(between(shown, base)),
            None => Rc::clone(shown),
        };
        let stretch = stretch_of(&cut);
        (cut, Some(stretch))
    }

    /// What happened in the window before the one that ends with this snapshot, and how long it was; none where the
    /// past does not reach so far back.
    pub(in crate::app) fn window_before(&self, shown: &Snapshot) -> Option<(Rc<Snapshot>, u64)> {
        let length_ns = self.query.window.length_ns()?;
        let end = self.begin_of(shown, length_ns)?;
        let before = match self.begin_of(&end, length_ns) {
            Some(begin) => Rc::new(between(&end, &begin)),
            // All since the reset, which may well be longer.
            None => end,
        };
        let ns = before.capture.since_reset_ns;
        // Snapshots do not come to the microsecond, and long ago not each second.
        let alike = (length_ns - length_ns / 10..=length_ns * 2).contains(&ns);
        alike.then_some((before, ns))
    }

    /// Whether there may be such a window: the footer does not look closely.
    pub(in crate::app) fn reaches_back(&self, window: Window) -> bool {
        let length_ns = window.length_ns().unwrap_or_default();
        let shown = self.shown().map(|shown| shown.capture.unix_ns);
        let oldest = self.playback.history.times().next();
        shown
            .zip(oldest)
            .is_some_and(|(shown, oldest)| shown.saturating_sub(oldest) >= 2 * length_ns)
    }

    /// What a window of this length begins with, counted from the same reset; none where a reset lies in it.
    fn begin_of(&self, shown: &Snapshot, length_ns: u64) -> Option<Rc<Snapshot>> {
        let base = self.base_of(shown, length_ns)?;
        if same_epoch(shown, &base) {
            return Some(base);
        }
        // It began while a reset held that was taken back: what counts on stands before that.
        shown.capture.withdraws?;
        let reset = base.capture.unix_ns.saturating_sub(base.capture.since_reset_ns);
        let before = self
            .playback
            .history
            .at_or_before(reset.saturating_add(CLOCKS_DIFFER_NS));
        let before = self.playback.history.get(before?)?;
        same_epoch(shown, &before).then_some(before)
    }

    /// The snapshot that a window of this length begins with: the newest that is old enough, or where none is the
    /// oldest there is.
    pub(in crate::app) fn base_of(&self, shown: &Snapshot, length_ns: u64) -> Option<Rc<Snapshot>> {
        let history = &self.playback.history;
        let end = shown.capture.unix_ns;
        // Snapshots do not come to the microsecond.
        let slack = length_ns / 200;
        let begin = history.at_or_before(end.saturating_sub(length_ns) + slack);
        let oldest = || history.times().next().filter(|&at| at < end);
        history.get(begin.or_else(oldest)?)
    }
}

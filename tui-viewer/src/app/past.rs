//! Past of the program: its records, and the figures taken from each record when it arrives.

use std::rc::Rc;

use tickscope_analysis::window::{between, same_epoch};
use tickscope_format::Snapshot;
use tickscope_programs::history::History;

use crate::app::past::activity::Activity;
use crate::app::past::cpu_history::CpuHistory;
use crate::app::threads::ThreadChoice;
use crate::app::window::Window;

pub(crate) mod activity;
pub(crate) mod cpu_history;
mod moment;
pub(crate) mod slots;

/// The past of one run of the program.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// Records of the run.
    pub(crate) history: History,
    /// Unix time in ns at which the open recording begins; part of the recording may still be unread.
    pub(crate) begin_ns: Option<u64>,
    /// Time of each row in the seconds before the newest snapshot.
    pub(crate) activity: Activity,
    /// CPU times of the threads at the last snapshots.
    pub(crate) cpu: CpuHistory,
}

impl Past {
    /// Takes a snapshot that has just arrived. Its activity is noted later, when its tables have been made.
    pub(crate) fn note(&mut self, snapshot: &Snapshot) {
        self.cpu.note(snapshot);
        self.history.note(snapshot);
    }

    /// Reads the activity of rows from the records again, after a choice of other threads or the arrival of older records.
    pub(crate) fn restart_activity(&mut self, newest: Option<&Rc<Snapshot>>, threads: &ThreadChoice) {
        let activity = newest.and_then(|newest| Activity::until(&self.history, newest, threads));
        self.activity = activity.unwrap_or_default();
    }

    /// Drops the past, because another run has begun.
    pub(crate) fn forget(&mut self) {
        self.history.clear();
        self.begin_ns = None;
        self.activity = Activity::default();
    }

    /// Returns the calls in the window before the window that ends with `shown`, and the length of that earlier window in
    /// ns. Returns `None` if the history does not reach back that far.
    pub(crate) fn window_before(&self, window: Window, shown: &Snapshot) -> Option<(Rc<Snapshot>, u64)> {
        let length_ns = window.length_ns()?;
        let end = self.begin_of(shown, length_ns)?;
        let before = match self.begin_of(&end, length_ns) {
            Some(begin) => Rc::new(between(&end, &begin)),
            // Without a first snapshot, the earlier window is all time since the reset, which may be longer than `length_ns`.
            None => end,
        };
        let ns = before.capture.since_reset_ns;
        // The lengths may differ, because snapshots do not arrive at exact times and older ones are not kept for every second.
        let alike = (length_ns - length_ns / 10..=length_ns * 2).contains(&ns);
        alike.then_some((before, ns))
    }

    /// Whether the past seems to reach back two windows; the footer needs no exact answer.
    pub(crate) fn reaches_back(&self, shown: &Snapshot, window: Window) -> bool {
        let length_ns = window.length_ns().unwrap_or_default();
        let oldest = self.history.times().next();
        oldest.is_some_and(|oldest| shown.capture.unix_ns.saturating_sub(oldest) >= 2 * length_ns)
    }

    /// Returns the snapshot at which a window of this length begins; `None` if a reset lies in the window.
    pub(in crate::app) fn begin_of(&self, shown: &Snapshot, length_ns: u64) -> Option<Rc<Snapshot>> {
        let base = self.base_of(shown, length_ns)?;
        if same_epoch(shown, &base) {
            return Some(base);
        }
        // The window began during a reset that was undone, so the counters continue from a snapshot before that reset.
        let mut before = self.history.epochs(0, base.capture.unix_ns);
        let before = before.rfind(|(_, epoch)| epoch.begin() == shown.capture.begin());
        let before = self.history.get(before?.0)?;
        same_epoch(shown, &before).then_some(before)
    }

    /// Returns the snapshot at which a window of this length begins: the newest snapshot that is old enough, else the
    /// oldest.
    pub(crate) fn base_of(&self, shown: &Snapshot, length_ns: u64) -> Option<Rc<Snapshot>> {
        let history = &self.history;
        let end = shown.capture.unix_ns;
        // There is some slack, because snapshots do not arrive at exact times.
        let slack = length_ns / 200;
        let begin = history.at_or_before(end.saturating_sub(length_ns) + slack);
        let oldest = || history.times().next().filter(|&at| at < end);
        history.get(begin.or_else(oldest)?)
    }
}

//! The past of the program: its records, and the data taken from each record when it arrived.

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
    /// Start of the recording that the program is read from, in nanoseconds since the Unix epoch. Part of the recording
    /// may not have been read yet.
    pub(crate) begin_ns: Option<u64>,
    /// How much time each row took in each of the last seconds before the newest snapshot.
    pub(crate) activity: Activity,
    /// CPU times of the threads in the most recent snapshots.
    pub(crate) cpu: CpuHistory,
}

impl Past {
    /// Adds a snapshot that has just arrived. It is added to the activity later, when its tables have been made.
    pub(crate) fn note(&mut self, snapshot: &Snapshot) {
        self.cpu.note(snapshot);
        self.history.note(snapshot);
    }

    /// Reads the activity of rows from the records again, after other threads were chosen or older records arrived.
    pub(crate) fn restart_activity(&mut self, newest: Option<&Rc<Snapshot>>, threads: &ThreadChoice) {
        let activity = newest.and_then(|newest| Activity::until(&self.history, newest, threads));
        self.activity = activity.unwrap_or_default();
    }

    /// Drops the past, because another run has begun.
    pub(crate) fn forget(&mut self) {
        self.history.clear();
        self.begin_ns = None;
        self.activity = Activity::default();
        self.cpu = CpuHistory::default();
    }

    /// Returns the calls in the window just before the window that ends at `shown`, and the length of that earlier
    /// window in ns. Returns `None` if the history does not reach back that far.
    pub(crate) fn window_before(&self, window: Window, shown: &Snapshot) -> Option<(Rc<Snapshot>, u64)> {
        let length_ns = window.length_ns()?;
        let end = self.begin_of(shown, length_ns)?;
        let before = match self.begin_of(&end, length_ns) {
            Some(begin) => Rc::new(between(&end, &begin)),
            // There is no snapshot to subtract, so the earlier window is all time since the reset, which may be longer
            // than `length_ns`.
            None => end,
        };
        let ns = before.capture.since_reset_ns;
        // The lengths may differ, because snapshots do not arrive at exact times, and old ones are kept less often than
        // every second.
        let alike = (length_ns - length_ns / 10..=length_ns * 2).contains(&ns);
        alike.then_some((before, ns))
    }

    /// Whether the past seems to reach back two windows. An estimate is enough, because only the footer depends on it.
    pub(crate) fn reaches_back(&self, shown: &Snapshot, window: Window) -> bool {
        let length_ns = window.length_ns().unwrap_or_default();
        let oldest = self.history.times().next();
        oldest.is_some_and(|oldest| shown.capture.unix_ns.saturating_sub(oldest) >= 2 * length_ns)
    }

    /// Returns the snapshot at which a window of this length begins if it ends at `shown`; `None` if there was a reset
    /// within the window.
    pub(in crate::app) fn begin_of(&self, shown: &Snapshot, length_ns: u64) -> Option<Rc<Snapshot>> {
        let base = self.base_of(shown, length_ns)?;
        if same_epoch(shown, &base) {
            return Some(base);
        }
        // The window may begin in an epoch that was discarded by undoing its reset. In that case, the counters continue
        // from the last snapshot before that reset.
        let mut before = self.history.epochs(0, base.capture.unix_ns);
        let before = before.rfind(|(_, epoch)| epoch.begin() == shown.capture.begin());
        let before = self.history.get(before?.0)?;
        same_epoch(shown, &before).then_some(before)
    }

    /// Returns the snapshot at which a window of this length begins if it ends at `shown`: the newest one that is old
    /// enough or, if there is none, the oldest of all.
    pub(crate) fn base_of(&self, shown: &Snapshot, length_ns: u64) -> Option<Rc<Snapshot>> {
        let history = &self.history;
        let end = shown.capture.unix_ns;
        // Allow some slack, because snapshots do not arrive at exact times.
        let slack = length_ns / 200;
        let begin = history.at_or_before(end.saturating_sub(length_ns) + slack);
        let oldest = || history.times().next().filter(|&at| at < end);
        history.get(begin.or_else(oldest)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook::snapshot;

    /// The next program may be an older ring of the same run, whose snapshots have smaller numbers.
    #[test]
    fn after_the_past_was_dropped_earlier_snapshots_of_the_run_have_a_load() {
        let mut past = Past::default();
        past.note(&snapshot(20));
        past.forget();
        past.note(&snapshot(10));
        past.note(&snapshot(11));
        assert!(past.cpu.until(&snapshot(11)).load().is_some());
    }
}

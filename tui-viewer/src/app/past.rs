//! Past of the program: its records, and the figures that are taken from each record as it comes.
//!
//! Counts between two records depend on what lies between them:
//!
//! | between them | counts |
//! |---|---|
//! | nothing, or a reset and its undo | the later record's less the earlier one's |
//! | a reset, or a clock that broke | the later record's, which are counted since then; the timeline adds the closing record's |
//! | an undo of a reset before both | unknown: the later record also has counts from before the earlier one |
//! | a lost ring | as above: the next ring goes on with the same counts, and the time without records is a gap |
//! | another run of the program | none: all of the past is dropped |

use std::rc::Rc;

use tickscope_analysis::series::{Origin, RecordEpoch};
use tickscope_analysis::window::{between, same_epoch};
use tickscope_format::Snapshot;
use tickscope_programs::history::History;

use crate::app::past::activity::Activity;
use crate::app::past::cpu_history::CpuHistory;
use crate::app::query::ThreadChoice;
use crate::app::window::Window;

pub(crate) mod activity;
pub(crate) mod cpu_history;
pub(crate) mod slots;

/// The past of one run of the program.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// Records.
    pub(crate) history: History,
    /// Unix time in ns at which the open recording begins; a part of it may not be read yet.
    pub(crate) begin_ns: Option<u64>,
    /// Time of each row in the seconds before the newest snapshot.
    pub(crate) activity: Activity,
    /// CPU times of the threads at the last snapshots.
    pub(crate) cpu: CpuHistory,
}

/// Place of a record in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    run: (u32, u64),
    unix_ns: u64,
    since_reset_ns: u64,
    epoch: RecordEpoch,
}

/// Time between two records in which counts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since {
    /// Length in ns; not 0.
    pub(crate) ns: u64,
    /// Whether the counters began at zero in between, so that all counts of the later record are counts of this time.
    pub(crate) from_zero: bool,
}

impl From<&Snapshot> for Moment {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            run: (snapshot.process.pid, snapshot.process.started_unix_ns),
            unix_ns: snapshot.capture.unix_ns,
            since_reset_ns: snapshot.capture.since_reset_ns,
            epoch: RecordEpoch::from(&snapshot.capture),
        }
    }
}

impl Moment {
    /// Returns the time since an earlier moment; `None` where its counts are unknown.
    fn since(self, earlier: Self) -> Option<Since> {
        let (ns, from_zero) = match self.epoch.origin(earlier.epoch) {
            _ if self.run != earlier.run => return None,
            Origin::Same => (self.since_reset_ns.checked_sub(earlier.since_reset_ns)?, false),
            Origin::Later => (self.since_reset_ns, true),
            Origin::Earlier => return None,
        };
        (ns > 0).then_some(Since { ns, from_zero })
    }
}

impl Past {
    /// Takes a snapshot that has just come. Its activity follows once its tables are made.
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

    /// Returns the calls in the window before the window that ends with this snapshot, and its length in ns. Returns `None` where
    /// the past does not reach so far back.
    pub(crate) fn window_before(&self, window: Window, shown: &Snapshot) -> Option<(Rc<Snapshot>, u64)> {
        let length_ns = window.length_ns()?;
        let end = self.begin_of(shown, length_ns)?;
        let before = match self.begin_of(&end, length_ns) {
            Some(begin) => Rc::new(between(&end, &begin)),
            // The window before has all time since the reset, which may well be longer.
            None => end,
        };
        let ns = before.capture.since_reset_ns;
        // Snapshots do not arrive at exact times, and older snapshots are not kept for every second.
        let alike = (length_ns - length_ns / 10..=length_ns * 2).contains(&ns);
        alike.then_some((before, ns))
    }

    /// Whether the past may reach back two windows; an estimate is enough for the footer.
    pub(crate) fn reaches_back(&self, shown: &Snapshot, window: Window) -> bool {
        let length_ns = window.length_ns().unwrap_or_default();
        let oldest = self.history.times().next();
        oldest.is_some_and(|oldest| shown.capture.unix_ns.saturating_sub(oldest) >= 2 * length_ns)
    }

    /// Returns the start of a window of this length, counted from the same reset; `None` if a reset lies in it.
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
        // Snapshots do not arrive at exact times.
        let slack = length_ns / 200;
        let begin = history.at_or_before(end.saturating_sub(length_ns) + slack);
        let oldest = || history.times().next().filter(|&at| at < end);
        history.get(begin.or_else(oldest)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook;

    /// Returns the moment at a tenth of a second since the begin of the counts.
    fn moment(tenths: u64, reset_epoch: u64, withdraws: Option<u64>) -> Moment {
        let mut snapshot = orderbook::snapshot(tenths);
        snapshot.capture.reset_epoch = reset_epoch;
        snapshot.capture.withdraws = withdraws;
        Moment::from(&snapshot)
    }

    #[test]
    fn the_time_between_two_records_is_the_time_of_their_counts() {
        let before = moment(100, 1, None);
        let since = |ns, from_zero| Some(Since { ns, from_zero });
        assert_eq!(moment(103, 1, None).since(before), since(300_000_000, false));
        assert_eq!(moment(2, 2, None).since(before), since(200_000_000, true));
        let undone = moment(105, 3, Some(1));
        assert_eq!(undone.since(before), since(500_000_000, false));
        assert_eq!(undone.since(moment(2, 2, None)), None);
        assert_eq!(before.since(before), None);
        let other = Moment {
            run: (7, 7),
            ..undone
        };
        assert_eq!(other.since(before), None);
    }
}

//! What one process has counted since the screen started counting, across all resets of the process itself.

use std::borrow::Cow;
use std::rc::Rc;

use tickscope_analysis::merge::sum;
use tickscope_analysis::series::{RecordEpoch, Series, counts};
use tickscope_format::Snapshot;

/// Maximum number of links in the series. The oldest links are joined; the newest must stay separate, because an undo
/// replaces them.
const LINKS_MOST: usize = 5;

/// The records of a process, joined across its resets.
#[derive(Debug, Default)]
pub(super) struct Counted {
    series: Series<Rc<Snapshot>>,
    /// State of `series` when the screen started counting; empty if that was when the process started.
    begin: Series<Rc<Snapshot>>,
    before: Option<Before>,
}

/// State before the screen's last reset.
#[derive(Debug)]
struct Before {
    begin: Series<Rc<Snapshot>>,
    /// Snapshot that was shown just before the reset.
    shown: Option<Snapshot>,
    /// Whether the process itself was reset too.
    was_reset: bool,
}

impl Counted {
    /// Returns the newest record.
    pub(super) fn newest(&self) -> Option<&Rc<Snapshot>> {
        self.series.newest().map(|newest| &newest.counts)
    }

    /// Takes a record that is newer than all earlier ones.
    pub(super) fn take(&mut self, snapshot: Rc<Snapshot>) {
        self.series.take(RecordEpoch::from(&snapshot.capture), snapshot);
        self.series
            .join_oldest(LINKS_MOST, |one, other| Rc::new(sum(&[one, other])));
    }

    /// Returns the counts that are shown; `None` before the first record.
    pub(super) fn shown(&self) -> Option<Cow<'_, Snapshot>> {
        self.newest()?;
        Some(between(&self.begin, &self.series))
    }

    /// Restarts the counts on the screen. If the process itself was reset, `epoch` is its first epoch after that.
    /// Otherwise, `epoch` is `None`: the process keeps counting, and the screen subtracts its earlier counts.
    pub(super) fn turn(&mut self, epoch: Option<u64>) {
        if self.newest().is_none() {
            self.before = None;
            return;
        }
        let end = match epoch {
            Some(epoch) => self.series.before(epoch),
            None => self.series.clone(),
        };
        let shown = end.newest().map(|_| between(&self.begin, &end).into_owned());
        self.before = Some(Before {
            begin: std::mem::replace(&mut self.begin, end),
            shown,
            was_reset: epoch.is_some(),
        });
    }

    /// Whether the screen's last reset also reset the process itself.
    pub(super) fn was_reset(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.was_reset)
    }

    /// Returns the snapshot that was shown just before the screen's last reset.
    pub(super) fn shown_before(&self) -> Option<&Snapshot> {
        self.before.as_ref()?.shown.as_ref()
    }

    /// Undoes the last reset. The process itself may undo its reset before or after this.
    pub(super) fn turn_back(&mut self) {
        if let Some(before) = self.before.take() {
            self.begin = before.begin;
        }
    }
}

/// Returns the counts between two states of a series.
fn between<'a>(earlier: &'a Series<Rc<Snapshot>>, later: &'a Series<Rc<Snapshot>>) -> Cow<'a, Snapshot> {
    let terms = later.since(earlier).map(|counts| &**counts);
    match (&terms.plus[..], &terms.minus[..]) {
        (&[one], []) => Cow::Borrowed(one),
        (plus, minus) => Cow::Owned(Snapshot {
            window: false,
            ..counts(plus, minus)
        }),
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::CaptureKind;
    use tickscope_testkit::fixture::programs;

    use super::*;

    /// Takes a record, and returns the number of calls that are then shown.
    fn take(counted: &mut Counted, reset_epoch: u64, withdraws: Option<u64>, calls: u64) -> u64 {
        let mut snapshot = programs::run(&[(0, "work", calls, 1000 * calls)]);
        snapshot.capture.reset_epoch = reset_epoch;
        snapshot.capture.withdraws = withdraws;
        snapshot.capture.kind = CaptureKind::Closing;
        counted.take(Rc::new(snapshot));
        calls_of(counted)
    }

    fn calls_of(counted: &Counted) -> u64 {
        let shown = counted.shown().unwrap();
        assert!(!shown.window);
        shown.calls()
    }

    #[test]
    fn a_reset_that_the_process_takes_back_late_counts_once() {
        let mut counted = Counted::default();
        assert_eq!(take(&mut counted, 0, None, 5), 5);
        assert_eq!(take(&mut counted, 1, None, 2), 7);
        counted.turn(Some(1));
        let before = counted.shown_before().unwrap();
        assert_eq!(before.calls(), 5);
        assert_eq!(calls_of(&counted), 2);
        assert!(counted.was_reset());
        // The process has not yet reported that it undid its reset.
        counted.turn_back();
        assert_eq!(calls_of(&counted), 7);
        assert_eq!(take(&mut counted, 2, Some(0), 8), 8);
    }

    #[test]
    fn a_process_that_did_not_reset_is_counted_from_here() {
        let mut counted = Counted::default();
        take(&mut counted, 0, None, 5);
        counted.turn(None);
        assert_eq!((calls_of(&counted), counted.was_reset()), (0, false));
        // The process resets again and again by itself.
        let shown: Vec<u64> = (1..9).map(|epoch| take(&mut counted, epoch, None, 1)).collect();
        assert_eq!(shown, [1, 2, 3, 4, 5, 6, 7, 8]);
        counted.turn_back();
        assert_eq!(calls_of(&counted), 13);
    }
}

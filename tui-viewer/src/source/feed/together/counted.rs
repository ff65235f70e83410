//! Counts of one process since counting began on the screen, over all of its resets since then.

use std::borrow::Cow;
use std::rc::Rc;

use tickscope_analysis::history_window::across;
use tickscope_analysis::merge::sum;
use tickscope_format::Snapshot;

/// Number of ends of epochs that stay apart, so that an undo can take the last of them back.
const ENDS_MOST: usize = 4;

/// The records of a process, put together over its resets.
#[derive(Debug, Default)]
pub(super) struct Counted {
    newest: Option<Rc<Snapshot>>,
    /// Last snapshots of earlier epochs, with the epochs' numbers, the oldest first.
    ends: Vec<(u64, Snapshot)>,
    /// Part of the counts that is not shown: it was counted before a reset that did not reach this process.
    base: Option<Snapshot>,
    /// State before the last reset from here.
    before: Option<Before>,
}

#[derive(Debug)]
struct Before {
    ends: Vec<(u64, Snapshot)>,
    base: Option<Snapshot>,
    /// Snapshot that was shown at its end.
    shown: Option<Snapshot>,
    /// Whether the process did the reset.
    was_reset: bool,
}

impl Counted {
    /// Returns the newest record.
    pub(super) fn newest(&self) -> Option<&Rc<Snapshot>> {
        self.newest.as_ref()
    }

    /// Takes a record that is newer than all before.
    pub(super) fn take(&mut self, snapshot: Rc<Snapshot>) {
        let epoch = snapshot.capture.reset_epoch;
        if let Some(before) = self.newest.take()
            && before.capture.reset_epoch != epoch
        {
            let end = Rc::unwrap_or_clone(before);
            self.ends.push((end.capture.reset_epoch, end));
            if let Some(withdrawn) = snapshot.capture.withdraws {
                self.ends.retain(|(epoch, _)| *epoch < withdrawn);
            }
            if self.ends.len() > ENDS_MOST {
                let (oldest, one) = self.ends.remove(0);
                let other = &mut self.ends[0];
                *other = (oldest, sum(&[&one, &other.1]));
            }
        }
        self.newest = Some(snapshot);
    }

    /// Returns the counts that are shown; none before the first record.
    pub(super) fn shown(&self) -> Option<Cow<'_, Snapshot>> {
        let newest = self.newest.as_deref()?;
        if self.ends.is_empty() && self.base.is_none() {
            return Some(Cow::Borrowed(newest));
        }
        Some(Cow::Owned(self.all_but_base(&self.ends, Some(newest))))
    }

    fn all_but_base(&self, ends: &[(u64, Snapshot)], newest: Option<&Snapshot>) -> Snapshot {
        let all = in_turn(ends, newest);
        let mut shown = match &self.base {
            Some(base) => across(&all, &[base]),
            None => sum(&all),
        };
        shown.window = false;
        shown
    }

    /// Begins counting anew: the process has done that in this epoch, or has not done it, and is counted from here alone.
    pub(super) fn turn(&mut self, epoch: Option<u64>) {
        let Some(newest) = self.newest.clone() else {
            self.before = None;
            return;
        };
        let Some(epoch) = epoch else {
            let shown = self.shown().map(Cow::into_owned);
            let base = Some(sum(&in_turn(&self.ends, Some(&newest))));
            self.before = Some(Before {
                ends: self.ends.clone(),
                base: std::mem::replace(&mut self.base, base),
                shown,
                was_reset: false,
            });
            return;
        };
        let since = self.ends.iter().position(|(of, _)| *of >= epoch);
        let since = self.ends.split_off(since.unwrap_or(self.ends.len()));
        let ends = std::mem::replace(&mut self.ends, since);
        let shown = (!ends.is_empty()).then(|| self.all_but_base(&ends, None));
        self.before = Some(Before {
            ends,
            base: self.base.take(),
            shown,
            was_reset: true,
        });
    }

    /// Whether the process did the last reset from here.
    pub(super) fn was_reset(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.was_reset)
    }

    /// Returns the snapshot that was shown when counting last began anew.
    pub(super) fn shown_before(&self) -> Option<&Snapshot> {
        self.before.as_ref()?.shown.as_ref()
    }

    /// Takes the last reset back; `is_undone` where the process has done that.
    pub(super) fn turn_back(&mut self, is_undone: bool) {
        let Some(before) = self.before.take() else { return };
        if !before.was_reset {
            self.base = before.base;
        } else if is_undone {
            let withdrawn = self.newest.as_ref().and_then(|newest| newest.capture.withdraws);
            let mut ends = before.ends;
            ends.retain(|(epoch, _)| withdrawn.is_none_or(|withdrawn| *epoch < withdrawn));
            ends.append(&mut self.ends);
            (self.ends, self.base) = (ends, before.base);
        } else if let Some(shown) = before.shown {
            self.ends.insert(0, (0, shown));
        }
    }
}

/// Returns the ends of epochs, and the newest record after them.
fn in_turn<'a>(ends: &'a [(u64, Snapshot)], newest: Option<&'a Snapshot>) -> Vec<&'a Snapshot> {
    ends.iter().map(|(_, end)| end).chain(newest).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_testkit::fixture::programs;

    use super::*;

    /// A process that counts calls of one row, and the screen that follows it.
    #[derive(Default)]
    struct Process {
        counted: Counted,
        seq: u64,
        epoch: u64,
        withdraws: Option<u64>,
        calls: u64,
        before_reset: Option<(u64, u64)>,
        /// Calls that the screen should show, and calls before the last reset from there.
        wanted: u64,
        wanted_before: Option<u64>,
    }

    impl Process {
        fn call(&mut self, calls: u64) {
            self.calls += calls;
            self.wanted += calls;
        }

        fn look(&mut self) {
            self.seq += 1;
            let mut snapshot = programs::run(&[(0, "work", self.calls, 1000 * self.calls)]);
            snapshot.capture.seq = self.seq;
            snapshot.capture.reset_epoch = self.epoch;
            snapshot.capture.withdraws = self.withdraws;
            self.counted.take(Rc::new(snapshot));
        }

        /// The screen looks before each reset, because rings tell the end of each epoch.
        fn reset(&mut self) -> u64 {
            self.look();
            self.before_reset = Some((self.epoch, self.calls));
            (self.calls, self.withdraws) = (0, None);
            self.epoch += 1;
            self.epoch
        }

        fn undo(&mut self) {
            if let Some((epoch, calls)) = self.before_reset.take() {
                self.look();
                self.calls += calls;
                self.withdraws = Some(epoch);
                self.epoch += 1;
            }
        }
    }

    proptest! {
        /// Checks that the screen shows all calls since counting began there. The process may reset by itself, undo that, and
        /// ignore requests of the screen.
        #[test]
        fn all_calls_since_counting_began_are_shown(steps in prop::collection::vec((0u8..7, 0u64..9), 1..40)) {
            let mut process = Process::default();
            process.look();
            for (step, calls) in steps {
                process.call(calls);
                match step {
                    // The process resets by itself, or for another viewer.
                    0 => {
                        process.reset();
                        // The screen's undo would take back more than this.
                        process.wanted_before = None;
                    }
                    1 if process.wanted_before.is_none() => process.undo(),
                    // The screen resets.
                    2 => {
                        let epoch = process.reset();
                        process.look();
                        process.counted.turn(Some(epoch));
                        process.wanted_before = Some(std::mem::take(&mut process.wanted));
                    }
                    3 => {
                        process.look();
                        process.counted.turn(None);
                        process.wanted_before = Some(std::mem::take(&mut process.wanted));
                        process.before_reset = None;
                    }
                    4 => if let Some(before) = process.wanted_before.take() {
                        let asked = process.counted.was_reset();
                        if asked {
                            process.undo();
                            process.look();
                        }
                        process.counted.turn_back(asked);
                        process.wanted += before;
                    }
                    // The process was asked, and does not answer.
                    5 => if let Some(before) = process.wanted_before.take() {
                        process.counted.turn_back(false);
                        process.wanted += before;
                        process.before_reset = None;
                    }
                    _ => {}
                }
                process.look();
                let shown = process.counted.shown().unwrap();
                prop_assert_eq!((shown.calls(), shown.window), (process.wanted, false));
            }
        }
    }
}

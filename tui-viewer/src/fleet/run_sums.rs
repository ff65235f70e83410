//! Counts of one run of a program since its start, from records that begin anew with each reset.
//!
//! The counts of a run are its newest record plus the last records of earlier epochs. An undo drops the ends that it takes back,
//! as in `tickscope_analysis::history_window`. A collector can undo only the last reset, so all older ends are one sum.

use serde::{Deserialize, Serialize};
use tickscope_format::snapshot::{CaptureInfo, CaptureKind};

use crate::fleet::amounts::Amounts;

/// Sums of a run, by the number of a function, counter or group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunSums {
    /// Epoch and number of the newest record, and whether it is the last one of its epoch.
    newest: Option<(u64, u64, bool)>,
    /// Counts at the ends of epochs that no undo can take back.
    closed: Vec<Amounts>,
    /// Previous epoch, and the counts at its end.
    before: Option<(u64, Vec<Amounts>)>,
    /// Counts that the epoch of the newest record has shown.
    shown: Vec<Amounts>,
    /// Counts that were handed on.
    handed_on: Vec<Amounts>,
    /// Whether the latencies of each number are tracked.
    tracked: Vec<bool>,
    unclosed: u64,
}

impl RunSums {
    /// Returns whether a record is older than one that was taken, or the same.
    pub fn knows(&self, capture: &CaptureInfo) -> bool {
        self.newest.is_some_and(|(_, seq, _)| capture.seq <= seq)
    }

    /// Returns the epoch of the newest record; none before the first one.
    pub fn epoch(&self) -> Option<u64> {
        self.newest.map(|(epoch, ..)| epoch)
    }

    /// Returns the number of resets that took numbers away which no record shows any more.
    pub fn unclosed(&self) -> u64 {
        self.unclosed
    }

    /// Takes a record that is newer than all before, and hands new counts on to `add`, each by its number.
    pub fn take(&mut self, capture: &CaptureInfo, now: Vec<Amounts>, mut add: impl FnMut(usize, &Amounts)) {
        let is_first = self.newest.is_none();
        self.turn_to_epoch_of(capture, now.len());
        for lists in [&mut self.shown, &mut self.handed_on] {
            if lists.len() < now.len() {
                lists.resize(now.len(), Amounts::default());
            }
        }
        if self.tracked.len() < now.len() {
            self.tracked.resize(now.len(), false);
        }
        for (index, now) in now.iter().enumerate() {
            self.shown[index].raise_to(now);
            let mut all = self.shown[index].clone();
            let ends = [Some(&self.closed), self.before.as_ref().map(|(_, end)| end)];
            for end in ends.into_iter().flatten() {
                if let Some(end) = end.get(index) {
                    all.add(end);
                }
            }
            let handed_on = &mut self.handed_on[index];
            // Counts from before the first look are the start of the latencies.
            if now.has_latencies() && !std::mem::replace(&mut self.tracked[index], true) && !is_first {
                handed_on.set_latencies(&all);
            }
            let mut more = all.clone();
            more.subtract(handed_on);
            handed_on.raise_to(&all);
            if more != Amounts::default() {
                add(index, &more);
            }
        }
        let is_end = capture.kind == CaptureKind::Closing;
        self.newest = Some((capture.reset_epoch, capture.seq, is_end));
    }

    fn turn_to_epoch_of(&mut self, capture: &CaptureInfo, count: usize) {
        let Some((epoch, _, is_end)) = self.newest else {
            return;
        };
        if epoch == capture.reset_epoch {
            return;
        }
        let shown = std::mem::take(&mut self.shown);
        let Some(withdrawn) = capture.withdraws else {
            let is_unclosed = !is_end || capture.reset_epoch > epoch.saturating_add(1);
            self.unclosed += u64::from(is_unclosed);
            self.close(epoch, shown);
            return;
        };
        // The record holds the restored epoch, and all counts since.
        if epoch < withdrawn {
            self.close(epoch, shown);
        }
        self.before.take_if(|(epoch, _)| *epoch >= withdrawn);
        // Latencies that were not tracked in the restored epoch come back with it.
        self.tracked.clear();
        self.tracked.resize(count, false);
    }

    fn close(&mut self, epoch: u64, shown: Vec<Amounts>) {
        if let Some((_, end)) = self.before.replace((epoch, shown)) {
            if self.closed.len() < end.len() {
                self.closed.resize(end.len(), Amounts::default());
            }
            for (closed, end) in self.closed.iter_mut().zip(&end) {
                closed.add(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fleet::amounts::Kind;

    /// Program that counts calls, is reset and undoes resets, with all calls that it ever counted.
    #[derive(Default)]
    struct Program {
        seq: u64,
        epoch: u64,
        counted: u64,
        before_reset: Option<(u64, u64)>,
        withdraws: Option<u64>,
        ever: u64,
    }

    impl Program {
        fn record(&mut self, kind: CaptureKind) -> (CaptureInfo, Vec<Amounts>) {
            self.seq += 1;
            let mut amounts = Amounts::default();
            amounts.put(Kind::Calls, self.counted);
            let capture = CaptureInfo {
                kind,
                seq: self.seq,
                reset_epoch: self.epoch,
                withdraws: self.withdraws,
                ..CaptureInfo::default()
            };
            (capture, vec![Amounts::default(), amounts])
        }

        fn call(&mut self, calls: u64) {
            self.counted += calls;
            self.ever += calls;
        }

        fn reset(&mut self) {
            self.before_reset = Some((self.epoch, self.counted));
            (self.counted, self.withdraws) = (0, None);
            self.epoch += 1;
        }

        fn undo(&mut self) {
            if let Some((epoch, counted)) = self.before_reset.take() {
                self.counted += counted;
                self.withdraws = Some(epoch);
                self.epoch += 1;
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_counts_twice_over_resets_and_undos(steps in prop::collection::vec((0u8..8, any::<bool>()), 1..60)) {
            let mut program = Program::default();
            let mut sums = RunSums::default();
            let mut all = 0;
            let mut is_seen = false;
            for (step, is_read) in steps {
                let record = match step {
                    0 => {
                        let closing = program.record(CaptureKind::Closing);
                        program.reset();
                        // A reader looks for the ends of epochs.
                        Some(closing)
                    }
                    1 => {
                        program.undo();
                        is_read.then(|| program.record(CaptureKind::Periodic))
                    }
                    calls => {
                        program.call(calls.into());
                        is_read.then(|| program.record(CaptureKind::Periodic))
                    }
                };
                let Some((capture, now)) = record else { continue };
                let ever = program.ever;
                let before = all;
                sums.take(&capture, now, |index, more| {
                    assert_eq!(index, 1);
                    all += more.get(Kind::Calls);
                });
                prop_assert!(all >= before);
                is_seen = true;
                prop_assert_eq!(all, ever, "{:?}", capture);
            }
            let (capture, now) = program.record(CaptureKind::Final);
            prop_assert!(!sums.knows(&capture));
            sums.take(&capture, now, |_, more| all += more.get(Kind::Calls));
            prop_assert!(sums.knows(&capture));
            prop_assert_eq!(all, program.ever);
            prop_assert!(!is_seen || sums.epoch() == Some(program.epoch));
        }
    }

    #[test]
    fn an_end_that_no_record_shows_is_counted() {
        let mut program = Program::default();
        let mut sums = RunSums::default();
        let mut all = 0;
        let mut take = |sums: &mut RunSums, (capture, now): (CaptureInfo, Vec<Amounts>)| {
            sums.take(&capture, now, |_, more| all += more.get(Kind::Calls));
            all
        };
        program.call(5);
        assert_eq!(take(&mut sums, program.record(CaptureKind::Periodic)), 5);
        program.call(2);
        program.reset();
        program.call(3);
        assert_eq!(
            take(&mut sums, program.record(CaptureKind::Periodic)),
            8,
            "two are lost"
        );
        assert_eq!(sums.unclosed(), 1);
    }

    #[test]
    fn a_number_that_is_corrected_downward_stays_and_goes_on() {
        let mut sums = RunSums::default();
        let mut all = Vec::new();
        for (seq, shown) in (1..).zip([10, 7, 9, 12]) {
            let mut amounts = Amounts::default();
            amounts.put(Kind::Time, shown);
            let capture = CaptureInfo {
                seq,
                ..CaptureInfo::default()
            };
            sums.take(&capture, vec![amounts], |_, more| all.push(more.get(Kind::Time)));
        }
        assert_eq!(all, [10, 2]);
    }
}

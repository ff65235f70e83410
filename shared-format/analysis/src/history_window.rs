//! Counts between two moments of a run, across resets. No count that a reset removed is lost, and no count that an undo
//! restored counts twice.
//!
//! All counts of a program up to a moment are the counts that the moment shows, plus the last counts of each earlier
//! epoch. An undo continues the counts of the epoch that it restores, so the ends of that epoch and of later epochs no
//! longer count. The counts between two moments are therefore one sum of snapshots minus another.

use tickscope_format::snapshot::{CaptureKind, Snapshot};

use crate::merge::sum;
use crate::window::less;

/// The reset epoch of a record, which can be read without its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordEpoch {
    /// Reset epoch of the record.
    pub reset_epoch: u64,
    /// The reset epoch that an undo continues.
    pub withdraws: Option<u64>,
    /// Reason for the capture.
    pub kind: CaptureKind,
}

/// Records to add, and records to subtract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Indexes of the records to add, the oldest first.
    pub plus: Vec<usize>,
    /// Indexes of the records to subtract, the oldest first.
    pub minus: Vec<usize>,
    /// Whether the closing record of an epoch is missing, so that its last counts are not included.
    pub unclosed: bool,
    /// Whether an undo restored counts from before the first record, so that they are included as well.
    pub more: bool,
}

/// The ends of the epochs before a record, as far as they count.
#[derive(Clone, Debug, Default)]
struct Ends {
    /// Epoch, and its last record.
    ends: Vec<(u64, usize)>,
    unclosed: bool,
    more: bool,
}

impl Ends {
    /// Goes on to the record at `at`.
    fn step(&mut self, records: &[RecordEpoch], at: usize) {
        let (before, now) = (records[at - 1], records[at]);
        if now.reset_epoch == before.reset_epoch {
            return;
        }
        self.ends.push((before.reset_epoch, at - 1));
        let first = records.iter().map(|record| record.reset_epoch).min();
        let Some(withdrawn) = now.withdraws else {
            // Each reset closes one epoch.
            self.unclosed |=
                before.kind != CaptureKind::Closing || now.reset_epoch > before.reset_epoch.saturating_add(1);
            return;
        };
        self.ends.retain(|(epoch, _)| *epoch < withdrawn);
        self.more |= first.is_some_and(|first| withdrawn < first);
    }
}

/// Returns the records whose sums and difference give the counts between two records.
///
/// The records are of one run, in order, and `from` is before `to`.
pub fn terms(records: &[RecordEpoch], from: usize, to: usize) -> Terms {
    let mut ends = Ends::default();
    let mut then = Ends::default();
    for at in 1..=to.min(records.len().saturating_sub(1)) {
        ends.step(records, at);
        if at == from {
            then = ends.clone();
            (ends.unclosed, ends.more) = (false, false);
        }
    }
    let of = |one: &Ends, other: &Ends, shown: usize| -> Vec<usize> {
        let own = one.ends.iter().filter(|end| !other.ends.contains(end));
        own.map(|(_, at)| *at).chain([shown]).collect()
    };
    Terms {
        plus: of(&ends, &then, to),
        minus: of(&then, &ends, from),
        unclosed: ends.unclosed,
        more: ends.more,
    }
}

/// Returns the counts between two moments, from the snapshots that [`terms`] names.
pub fn across(plus: &[&Snapshot], minus: &[&Snapshot]) -> Snapshot {
    less(&sum(plus), &sum(minus))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_testkit::fixture;

    use super::*;

    /// A program that counts calls of one row, and its records.
    #[derive(Default)]
    struct Program {
        records: Vec<RecordEpoch>,
        shown: Vec<u64>,
        /// All calls ever counted, at each record.
        ever: Vec<u64>,
        epoch: u64,
        counted: u64,
        before_reset: Option<(u64, u64)>,
        withdraws: Option<u64>,
    }

    impl Program {
        fn record(&mut self, kind: CaptureKind) {
            self.records.push(RecordEpoch {
                reset_epoch: self.epoch,
                withdraws: self.withdraws,
                kind,
            });
            self.shown.push(self.counted);
            let ever = self.ever.last().copied().unwrap_or(0);
            self.ever.push(ever);
        }

        fn step(&mut self, step: u8) {
            match step {
                0 => {
                    self.record(CaptureKind::Closing);
                    self.before_reset = Some((self.epoch, self.counted));
                    (self.counted, self.withdraws) = (0, None);
                    self.epoch += 1;
                }
                1 => {
                    let Some((epoch, counted)) = self.before_reset.take() else {
                        return;
                    };
                    self.counted += counted;
                    self.withdraws = Some(epoch);
                    self.epoch += 1;
                }
                calls => {
                    self.counted += u64::from(calls);
                    self.record(CaptureKind::Periodic);
                    *self.ever.last_mut().unwrap() += u64::from(calls);
                }
            }
        }

        fn snapshot(&self, at: usize) -> Snapshot {
            let mut snapshot = fixture::recursion();
            snapshot.capture.reset_epoch = self.records[at].reset_epoch;
            snapshot.nodes.calls.fill(0);
            snapshot.nodes.self_ticks.fill(0);
            snapshot.nodes.calls[1] = self.shown[at];
            snapshot.nodes.self_ticks[1] = 10 * self.shown[at];
            snapshot
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_counts_twice(steps in prop::collection::vec(0u8..8, 2..40), a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
            let mut program = Program::default();
            program.step(2);
            steps.iter().for_each(|&step| program.step(step));
            program.step(3);
            let count = program.records.len();
            let (a, b) = (a.index(count), b.index(count));
            let (from, to) = (a.min(b), a.max(b));
            let parts = terms(&program.records, from, to);
            let of = |at: &[usize]| at.iter().map(|&at| program.snapshot(at)).collect::<Vec<_>>();
            let (plus, minus) = (of(&parts.plus), of(&parts.minus));
            let window = across(&plus.iter().collect::<Vec<_>>(), &minus.iter().collect::<Vec<_>>());
            let expected = program.ever[to] - program.ever[from];
            prop_assert_eq!(window.calls(), expected);
            prop_assert_eq!(window.measured_ticks(), 10 * expected);
            prop_assert!(!parts.more);
            if !steps.contains(&1) {
                prop_assert!(!parts.unclosed);
            }
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let record = |reset_epoch, withdraws, kind| RecordEpoch {
            reset_epoch,
            withdraws,
            kind,
        };
        let periodic = CaptureKind::Periodic;
        let records = [record(2, None, periodic), record(3, None, periodic)];
        assert!(terms(&records, 0, 1).unclosed);
        let records = [record(2, None, periodic), record(3, Some(1), periodic)];
        let undone = terms(&records, 0, 1);
        assert_eq!((undone.more, undone.unclosed), (true, false));
        assert_eq!((undone.plus, undone.minus), (vec![1], vec![0]));
        let records = [
            record(2, None, CaptureKind::Closing),
            record(3, None, periodic),
            record(3, None, periodic),
        ];
        let before = terms(&records, 1, 2);
        assert_eq!((before.plus, before.minus), (vec![2], vec![1]));
        assert_eq!(terms(&records, 0, 2).plus, [0, 2]);
    }
}

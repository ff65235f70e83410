//! Checks the records of one program in order: everything counted up to a record is what the record shows, plus what
//! the epochs before it showed at their ends.

use tickscope_format::snapshot::CaptureKind;

use crate::counted::Counted;
use crate::moment::{Moment, Sum};

/// Adds up epochs, record by record.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    /// Epochs that have ended and count, oldest first, each with the sum up to its end.
    ends: Vec<(u64, Sum, Counted)>,
    last: Option<Moment>,
    /// All that was counted up to the last record.
    all: Counted,
    /// Records that were not seen. The sum is unknown from there on.
    missed: u64,
}

impl Epochs {
    /// Takes the next record. `withdraws` is the epoch that an undo withdrew, if this is the first record after one.
    ///
    /// # Errors
    /// What is wrong with the record.
    pub(crate) fn take(&mut self, now: Moment, withdraws: Option<u64>) -> Result<(), String> {
        let before = self.last.replace(now);
        let expected = before.map_or(1, |before| before.sequence + 1);
        self.missed += now.sequence.saturating_sub(expected);
        if let Some(before) = before {
            now.follows(&before)?;
            if now.epoch > before.epoch {
                self.end(&before, &now, withdraws)?;
            }
        }
        let (ended, ended_counted) = self.ended();
        let all = ended_counted.and(&now.counted);
        let before = std::mem::replace(&mut self.all, all);
        if self.missed == 0 {
            all.follows(&before)
                .map_err(|why| format!("record {} of epoch {}: {why}", now.sequence, now.epoch))?;
        }
        let counted = (ended.0 + now.shown.0, ended.1 + now.shown.1);
        if self.missed == 0 && counted != now.lifetime {
            return Err(format!(
                "record {} of epoch {}: the epochs add up to {counted:?} calls and ticks, ever counted were {:?}",
                now.sequence, now.epoch, now.lifetime
            ));
        }
        Ok(())
    }

    /// Returns how many records were not seen.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns all that was counted, if all records were seen.
    pub(crate) fn counted(&self) -> Option<Counted> {
        (self.missed == 0).then_some(self.all)
    }

    /// Ends an epoch, or handles an undo that withdraws the epoch before and all since.
    fn end(&mut self, before: &Moment, now: &Moment, withdraws: Option<u64>) -> Result<(), String> {
        let (ended, counted) = self.ended();
        let sum = (ended.0 + before.shown.0, ended.1 + before.shown.1);
        self.ends.push((before.epoch, sum, counted.and(&before.counted)));
        if let Some(withdrawn) = withdraws {
            self.ends.retain(|(epoch, ..)| *epoch < withdrawn);
        } else if before.kind != CaptureKind::Closing || now.epoch != before.epoch + 1 {
            return Err(format!("{now:?} after {before:?}: an epoch ended unseen"));
        }
        Ok(())
    }

    fn ended(&self) -> (Sum, Counted) {
        let last = self.ends.last();
        last.map_or(((0, 0), Counted::default()), |&(_, sum, counted)| (sum, counted))
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Mode;

    use super::*;

    /// Makes a record from its number, its epoch, what it shows, and everything that was counted.
    fn moment(sequence: u64, epoch: u64, kind: CaptureKind, shown: u64, ever: u64) -> Moment {
        Moment {
            sequence,
            capture: sequence,
            epoch,
            kind,
            mode: Mode::Exact,
            shown: (shown, 10 * shown),
            lifetime: (ever, 10 * ever),
            counted: Counted {
                calls: shown,
                started: shown,
                ended: shown,
                ..Counted::default()
            },
        }
    }

    fn take(moments: &[(Moment, Option<u64>)]) -> (Result<(), String>, u64) {
        let mut epochs = Epochs::default();
        let mut moments = moments.iter();
        let taken = moments.try_for_each(|(moment, withdraws)| epochs.take(*moment, *withdraws));
        (taken, epochs.missed())
    }

    #[test]
    fn epochs_add_up_over_resets_and_undos_and_what_does_not_is_told() {
        let (open, closing) = (CaptureKind::Periodic, CaptureKind::Closing);
        let moments = [
            (moment(1, 0, open, 3, 3), None),
            (moment(2, 0, closing, 5, 5), None),
            (moment(3, 1, open, 1, 6), None),
            // The reset is withdrawn.
            (moment(4, 2, open, 7, 7), Some(0)),
            (moment(5, 2, closing, 8, 8), Some(0)),
            (moment(6, 3, open, 0, 8), None),
        ];
        assert_eq!(take(&moments), (Ok(()), 0));

        for (at, with, why) in [
            (2, moment(3, 1, open, 0, 6), "add up to (5, 50)"),
            (2, moment(1, 1, open, 1, 6), "cannot come after"),
            (5, moment(6, 1, open, 0, 8), "cannot come after"),
            (5, moment(6, 4, open, 0, 8), "ended unseen"),
        ] {
            let mut moments = moments;
            moments[at].0 = with;
            let (taken, _) = take(&moments);
            assert!(
                taken.as_ref().is_err_and(|error| error.contains(why)),
                "{taken:?}"
            );
        }
        for (mode, holds) in [(Mode::Exact, false), (Mode::Adaptive, true)] {
            let mut later = [moments[0].0, moment(2, 0, open, 4, 4)];
            later[1].shown.1 = 29;
            later[1].lifetime.1 = 29;
            let taken = take(&later.map(|moment| (Moment { mode, ..moment }, None))).0;
            assert_eq!(taken.is_ok(), holds, "{mode:?}: {taken:?}");
        }
        let mut lost = moments;
        lost[2].0.counted.ended = 0;
        assert!(
            take(&lost)
                .0
                .is_err_and(|error| error.contains("ended + cancelled + in flight"))
        );
        let mut fewer = [moments[0], moments[1]];
        fewer[1].0.counted.calls = 1;
        assert!(
            take(&fewer)
                .0
                .is_err_and(|error| error.contains("less was counted"))
        );
        let unseen = [moments[0], moments[3]];
        assert_eq!(take(&unseen), (Ok(()), 2), "without the others nothing is known");
    }
}

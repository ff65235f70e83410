//! Checks the records of one program. Each is reduced to a few numbers; in order, everything counted up to a record is what the
//! record shows, plus what the epochs before it showed at their ends.

use anyhow::{Context, ensure};
use tickscope_format::Snapshot;
use tickscope_format::ring::{Record, Stamp};
use tickscope_format::snapshot::{CaptureInfo, CaptureKind, Mode};

use crate::counted::Counted;

/// Calls and ticks.
type Sum = (u64, u64);

/// What is compared of a record.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) sequence: u64,
    pub(crate) capture: CaptureInfo,
    pub(crate) shown: Sum,
    pub(crate) lifetime: Sum,
    pub(crate) counted: Counted,
}

impl Moment {
    /// Makes the moment of a record.
    ///
    /// # Errors
    /// How the record and the snapshot contradict each other.
    pub(crate) fn of(record: &Record, snapshot: &Snapshot) -> anyhow::Result<Self> {
        let moment = Self {
            sequence: record.sequence,
            capture: snapshot.capture.clone(),
            shown: (snapshot.calls(), snapshot.measured_ticks()),
            lifetime: (snapshot.lifetime.calls, snapshot.lifetime.ticks),
            counted: Counted::of(snapshot)?,
        };
        let (stamp, rows) = (record.stamp, snapshot.nodes.len() as u64);
        ensure!(stamp == Stamp::from(&moment.capture), "{moment:?} has {stamp:?}");
        let of_threads = snapshot.threads.iter().map(|thread| u64::from(thread.rows));
        ensure!(
            of_threads.sum::<u64>() == rows,
            "threads have other rows than {rows}: {moment:?}"
        );
        let Self { shown, lifetime, .. } = moment;
        let fits = shown.0 <= lifetime.0 && shown.1 <= lifetime.1;
        ensure!(fits, "{moment:?}: shows more than was ever counted");
        Ok(moment)
    }

    /// Checks whether a program can have written this record after the other.
    ///
    /// # Errors
    /// What contradicts that.
    pub(crate) fn follows(&self, before: &Self) -> anyhow::Result<()> {
        let (old, new) = (&before.capture, &self.capture);
        let same = self.sequence == before.sequence && new.seq == old.seq;
        let later = self.sequence > before.sequence && new.seq > old.seq;
        // In adaptive mode the time of calls that were not timed is an estimate, which later calls correct.
        let estimated = [old.mode, new.mode] == [Mode::Adaptive; 2];
        let grown = old.reset_epoch <= new.reset_epoch
            && before.lifetime.0 <= self.lifetime.0
            && (before.lifetime.1 <= self.lifetime.1 || estimated);
        ensure!((same || later) && grown, "{self:?} cannot come after {before:?}");
        Ok(())
    }
}

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
    /// Takes the next record.
    ///
    /// # Errors
    /// What is wrong with the record.
    pub(crate) fn take(&mut self, now: Moment) -> anyhow::Result<()> {
        let before = self.last.replace(now.clone());
        let expected = before.as_ref().map_or(1, |before| before.sequence + 1);
        self.missed += now.sequence.saturating_sub(expected);
        if let Some(before) = before {
            now.follows(&before)?;
            if now.capture.reset_epoch > before.capture.reset_epoch {
                self.end(&before, &now)?;
            }
        }
        let (sum, counted) = self.with_ended(&now);
        let before = std::mem::replace(&mut self.all, counted);
        if self.missed == 0 {
            let follows = self.all.follows(&before);
            follows.with_context(|| format!("record {}", now.sequence))?;
            ensure!(
                sum == now.lifetime,
                "the epochs add up to {sum:?} calls and ticks: {now:?}"
            );
        }
        Ok(())
    }

    /// Returns how many records were not seen.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns all that was counted, if all records were seen.
    pub(crate) fn counted(self) -> Option<Counted> {
        (self.missed == 0).then_some(self.all)
    }

    /// Ends an epoch, or handles an undo that withdraws the epoch before and all since.
    fn end(&mut self, before: &Moment, now: &Moment) -> anyhow::Result<()> {
        let (sum, counted) = self.with_ended(before);
        let epoch = before.capture.reset_epoch;
        self.ends.push((epoch, sum, counted));
        if let Some(withdrawn) = now.capture.withdraws {
            self.ends.retain(|(epoch, ..)| *epoch < withdrawn);
            return Ok(());
        }
        let is_next = now.capture.reset_epoch == epoch + 1;
        let is_closed = before.capture.kind == CaptureKind::Closing;
        ensure!(
            is_next && is_closed,
            "{now:?} after {before:?}: an epoch ended unseen"
        );
        Ok(())
    }

    /// Returns what a record shows, plus all that epochs before it showed at their ends.
    fn with_ended(&self, now: &Moment) -> (Sum, Counted) {
        let Some((_, ended, counted)) = self.ends.last() else {
            return (now.shown, now.counted.clone());
        };
        let sum = (ended.0 + now.shown.0, ended.1 + now.shown.1);
        (sum, counted.and(now.counted.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a record from its number, its epoch, what it shows, and everything that was counted.
    fn moment(sequence: u64, reset_epoch: u64, kind: CaptureKind, shown: u64, ever: u64) -> Moment {
        let counted = ["calls", "started", "ended"].map(|name| (name.to_owned(), shown as i64));
        Moment {
            sequence,
            capture: CaptureInfo {
                seq: sequence,
                reset_epoch,
                kind,
                mode: Mode::Exact,
                ..Snapshot::default().capture
            },
            shown: (shown, 10 * shown),
            lifetime: (ever, 10 * ever),
            counted: Counted(counted.into()),
        }
    }

    /// Makes one that an undo has withdrawn an epoch before.
    fn undone(moment: Moment, withdraws: u64) -> Moment {
        let mut moment = moment;
        moment.capture.withdraws = Some(withdraws);
        moment
    }

    fn take(moments: &[Moment]) -> (Result<(), String>, u64) {
        let mut epochs = Epochs::default();
        let mut moments = moments.iter();
        let taken = moments.try_for_each(|moment| epochs.take(moment.clone()));
        (taken.map_err(|why| format!("{why:#}")), epochs.missed())
    }

    #[test]
    fn epochs_add_up_over_resets_and_undos_and_what_does_not_is_told() {
        let (open, closing) = (CaptureKind::Periodic, CaptureKind::Closing);
        let moments = [
            moment(1, 0, open, 3, 3),
            moment(2, 0, closing, 5, 5),
            moment(3, 1, open, 1, 6),
            // The reset is withdrawn.
            undone(moment(4, 2, open, 7, 7), 0),
            undone(moment(5, 2, closing, 8, 8), 0),
            moment(6, 3, open, 0, 8),
        ];
        assert_eq!(take(&moments), (Ok(()), 0));

        for (at, with, why) in [
            (2, moment(3, 1, open, 0, 6), "add up to (5, 50)"),
            (2, moment(1, 1, open, 1, 6), "cannot come after"),
            (5, moment(6, 1, open, 0, 8), "cannot come after"),
            (5, moment(6, 4, open, 0, 8), "ended unseen"),
        ] {
            let mut moments = moments.clone();
            moments[at] = with;
            let (taken, _) = take(&moments);
            assert!(
                taken.as_ref().is_err_and(|error| error.contains(why)),
                "{taken:?}"
            );
        }
        for (mode, holds) in [(Mode::Exact, false), (Mode::Adaptive, true)] {
            let mut later = [moments[0].clone(), moment(2, 0, open, 4, 4)];
            later[1].shown.1 = 29;
            later[1].lifetime.1 = 29;
            later.iter_mut().for_each(|moment| moment.capture.mode = mode);
            let taken = take(&later).0;
            assert_eq!(taken.is_ok(), holds, "{mode:?}: {taken:?}");
        }
        let mut lost = moments.clone();
        lost[2].counted.0.insert("ended".into(), 0);
        assert!(
            take(&lost)
                .0
                .is_err_and(|error| error.contains("ended + cancelled + in flight"))
        );
        let mut fewer = [moments[0].clone(), moments[1].clone()];
        fewer[1].counted.0.insert("calls".into(), 1);
        assert!(
            take(&fewer)
                .0
                .is_err_and(|error| error.contains("less was counted"))
        );
        let unseen = [moments[0].clone(), moments[3].clone()];
        assert_eq!(take(&unseen), (Ok(()), 2), "without the others nothing is known");
    }
}

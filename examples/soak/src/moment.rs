//! Reduces a record to a few numbers, and checks them.

use tickscope_format::Snapshot;
use tickscope_format::ring::{Record, Stamp};
use tickscope_format::snapshot::{CaptureKind, Mode};

use crate::counted::Counted;

/// Calls and ticks.
pub(crate) type Sum = (u64, u64);

/// What is compared of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) sequence: u64,
    pub(crate) capture: u64,
    pub(crate) epoch: u64,
    pub(crate) kind: CaptureKind,
    pub(crate) mode: Mode,
    pub(crate) shown: Sum,
    pub(crate) lifetime: Sum,
    pub(crate) counted: Counted,
}

impl Moment {
    /// Makes the moment of a record.
    ///
    /// # Errors
    /// How the record and the snapshot contradict each other.
    pub(crate) fn of(record: &Record, snapshot: &Snapshot) -> Result<Self, String> {
        let capture = &snapshot.capture;
        let moment = Self {
            sequence: record.sequence,
            capture: capture.seq,
            epoch: capture.reset_epoch,
            kind: capture.kind,
            mode: capture.mode,
            shown: (snapshot.calls(), snapshot.measured_ticks()),
            lifetime: (snapshot.lifetime.calls, snapshot.lifetime.ticks),
            counted: Counted::of(snapshot).map_err(|why| format!("record {}: {why}", record.sequence))?,
        };
        if record.stamp != Stamp::from(capture) {
            return Err(format!("{moment:?}: its record says {:?}", record.stamp));
        }
        let rows: u64 = snapshot.threads.iter().map(|thread| u64::from(thread.rows)).sum();
        if rows != snapshot.nodes.len() as u64 {
            return Err(format!(
                "{moment:?}: threads have {rows} rows of {}",
                snapshot.nodes.len()
            ));
        }
        if moment.shown.0 > moment.lifetime.0 || moment.shown.1 > moment.lifetime.1 {
            return Err(format!("{moment:?}: shows more than was ever counted"));
        }
        Ok(moment)
    }

    /// Checks whether a program can have written this record after the other.
    ///
    /// # Errors
    /// What contradicts that.
    pub(crate) fn follows(&self, before: &Self) -> Result<(), String> {
        let same = self.sequence == before.sequence && self.capture == before.capture;
        let later = self.sequence > before.sequence && self.capture > before.capture;
        // In adaptive mode the time of calls that were not timed is an estimate, which later calls correct.
        let estimated = [before.mode, self.mode] == [Mode::Adaptive; 2];
        let grown = before.epoch <= self.epoch
            && before.lifetime.0 <= self.lifetime.0
            && (before.lifetime.1 <= self.lifetime.1 || estimated);
        if (same || later) && grown {
            return Ok(());
        }
        Err(format!("{self:?} cannot come after {before:?}"))
    }
}

//! Selects the records for the coarse ring, which keeps an hour of history. It gets a record every ten seconds, the
//! records that close a reset epoch, and the last record, all of them without latencies.

use std::time::Duration;

use tickscope_format::file::create::OwnRing;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, Snapshot, codec};

use crate::enabled::publish::prune;

/// The time between two records of the coarse ring: 360 an hour.
const EVERY: Duration = Duration::from_secs(10);

/// Maximum number of closing records in a row. After that, each periodic record allows one more closing record. So a
/// program that resets all the time does not overwrite its hour of history with closing records.
const CLOSINGS_MOST: u32 = 16;

/// Decides which records go into the coarse ring. Keeps them until they are written, which happens after viewers have
/// been answered.
pub(super) struct Coarse {
    /// How many whole periods of [`EVERY`] the publisher had been running at the last periodic record.
    passed: u64,
    /// Number of closing records that are still allowed.
    closings: u32,
    waiting: Vec<Snapshot>,
    /// Whether a failure to write to the current ring has been reported.
    pub(super) has_failed: bool,
}

impl Coarse {
    pub(super) fn new() -> Self {
        Self {
            passed: 0,
            closings: CLOSINGS_MOST,
            waiting: Vec::new(),
            has_failed: false,
        }
    }

    /// Returns whether a record goes into the coarse ring, given its kind and how long the publisher has been running.
    fn is_due(&mut self, kind: CaptureKind, ran: Duration) -> bool {
        match kind {
            CaptureKind::Closing => {
                let due = self.closings > 0;
                self.closings -= u32::from(due);
                due
            }
            CaptureKind::Final => true,
            CaptureKind::Periodic | _ => {
                let passed = ran.as_secs() / EVERY.as_secs();
                let due = passed > self.passed;
                if due {
                    self.passed = passed;
                    self.closings = (self.closings + 1).min(CLOSINGS_MOST);
                }
                due
            }
        }
    }

    /// Keeps a record that was just published, if it goes into the coarse ring as well.
    pub(super) fn offer(&mut self, snapshot: Snapshot, ran: Duration) {
        if self.is_due(snapshot.capture.kind, ran) {
            self.waiting.push(snapshot);
        }
    }

    /// Writes the waiting records, or drops them if there is no ring. `payload` is used as a buffer. After an error,
    /// the remaining records are still written. Returns the first error, unless the ring is damaged or an earlier
    /// failure of this ring has already been reported.
    pub(super) fn write(&mut self, ring: Option<&mut OwnRing>, payload: &mut Vec<u8>) -> Option<FormatError> {
        let waiting = std::mem::take(&mut self.waiting);
        let ring = ring?;
        let mut failed = None;
        for snapshot in waiting {
            // If the coarse ring is still empty when the program ends, the last record is not written to it.
            if snapshot.capture.kind != CaptureKind::Final || ring.has_coarse() {
                failed = failed.or(publish(&snapshot, ring, payload).err());
            }
        }
        failed.filter(|_| ring.is_whole() && !std::mem::replace(&mut self.has_failed, true))
    }
}

fn publish(snapshot: &Snapshot, ring: &mut OwnRing, payload: &mut Vec<u8>) -> Result<(), FormatError> {
    payload.clear();
    codec::encode_small(snapshot, payload)?;
    let longest = ring.coarse_space(payload.len() as u64)?;
    prune::shorten(snapshot, payload, longest, codec::encode_small)?;
    ring.publish_coarse(Stamp::from(&snapshot.capture), payload)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(schedule: &mut Coarse, kind: CaptureKind, ms: u64) -> bool {
        schedule.is_due(kind, Duration::from_millis(ms))
    }

    #[test]
    fn one_is_due_each_ten_seconds_however_often_there_are_records() {
        use CaptureKind::Periodic;
        for between_ms in [10, 100, 1_000, 1_003, 3_000, 7_000, 10_000] {
            let mut schedule = Coarse::new();
            let times = (0..=3_600_000).step_by(between_ms);
            let due: Vec<u64> = times.filter(|&ms| due(&mut schedule, Periodic, ms)).collect();
            assert!((10_000..10_000 + between_ms as u64).contains(&due[0]), "{due:?}");
            assert!((359..=360).contains(&due.len()), "{}", due.len());
        }
        // If records come less often than every ten seconds, all of them go into the coarse ring.
        let mut schedule = Coarse::new();
        assert!((1..100).all(|minute| due(&mut schedule, Periodic, minute * 60_000)));
        assert!(due(&mut schedule, CaptureKind::Final, 0));
    }

    #[test]
    fn closing_records_leave_half_of_it_to_the_others() {
        let mut schedule = Coarse::new();
        let mut counts = [0, 0];
        for ms in 0..3_600_000 {
            counts[0] += u32::from(due(&mut schedule, CaptureKind::Closing, ms));
            counts[1] += u32::from(due(&mut schedule, CaptureKind::Periodic, ms));
            if ms == 20 {
                assert_eq!(counts, [CLOSINGS_MOST, 0]);
            }
        }
        assert_eq!(counts, [359 + CLOSINGS_MOST, 359]);
    }
}

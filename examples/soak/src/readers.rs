//! Read the snapshots of the program that is watched: one thread reads all of them, others read the newest as often as
//! they can.

use std::time::Duration;

use tickscope_format::codec::{self, Decoder};
use tickscope_format::file::open::RingFile;
use tickscope_format::ring::Record;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, Snapshot};

use crate::counted::{Counted, Held};
use crate::epochs::Epochs;
use crate::moment::Moment;
use crate::over::Over;
use crate::tally::Tally;

/// The time between two looks for records that have not been added up.
const LOOK: Duration = Duration::from_millis(100);
/// The time between two reads of the newest snapshot.
const REST: Duration = Duration::from_millis(2);

/// Adds up all records until the run is over and the last one is read. Returns all that was counted, if no record was missed.
pub(crate) fn follow(ring: &RingFile, over: &Over, tally: &Tally) -> Option<Counted> {
    let mut epochs = Epochs::default();
    let mut decoder = Decoder::default();
    let mut done = 0;
    loop {
        let last = over.sleep(LOOK);
        for record in since(ring, done, tally) {
            done = record.sequence;
            let Some((moment, snapshot)) = checked(&record, &mut decoder, tally) else {
                continue;
            };
            tally.records.add(1);
            // Viewers keep sites once.
            if let Ok((without_sites, _)) = codec::split_sites(&record.payload) {
                tally.past().take(record.stamp.unix_ns, without_sites.len());
            }
            tally.epochs.add(u64::from(moment.kind == CaptureKind::Closing));
            if let Some(held) = Held::of(&snapshot) {
                tally.live.add(1);
                tally.live_off.add(u64::from(!held.is_within(1)));
                if !held.is_within(4) {
                    tally.off.add(1);
                    tally.error(format!("record {}: {held:?}", moment.sequence));
                }
            }
            if let Err(why) = epochs.take(moment, snapshot.capture.withdraws) {
                tally.off.add(1);
                tally.error(why);
            }
            // The warnings stay in all snapshots after the first.
            if moment.kind == CaptureKind::Final {
                for warning in &snapshot.process.warnings {
                    tally.error(format!("the program says: {warning}"));
                }
            }
        }
        if last {
            tally.missed.add(epochs.missed());
            return epochs.counted();
        }
    }
}

/// Returns the records after number `done`, oldest first.
fn since(ring: &RingFile, done: u64, tally: &Tally) -> Vec<Record> {
    let newest = match ring.newest() {
        Ok(newest) => newest,
        Err(error) => {
            failed(&error, tally);
            return Vec::new();
        }
    };
    let mut records: Vec<Record> = ring.between(done, &newest).collect();
    records.reverse();
    records.extend((newest.sequence > done).then_some(newest));
    records
}

/// Reads the newest snapshot repeatedly until the run is over.
pub(crate) fn read(ring: &RingFile, over: &Over, tally: &Tally) {
    let mut decoder = Decoder::default();
    let mut last: Option<Moment> = None;
    while !over.sleep(REST) {
        let record = match ring.newest() {
            Ok(record) => record,
            Err(error) => {
                failed(&error, tally);
                continue;
            }
        };
        let Some((moment, _)) = checked(&record, &mut decoder, tally) else {
            continue;
        };
        if let Some(Err(why)) = last.map(|last| moment.follows(&last)) {
            tally.inconsistent.add(1);
            tally.error(why);
        }
        last = Some(moment);
    }
}

/// Returns a record if it is consistent, and counts it.
fn checked(record: &Record, decoder: &mut Decoder, tally: &Tally) -> Option<(Moment, Snapshot)> {
    let decoded = decoder.decode(&record.payload).map_err(|error| error.to_string());
    let checked = decoded.and_then(|snapshot| Ok((Moment::of(record, &snapshot)?, snapshot)));
    match checked {
        Ok(checked) => {
            tally.reads.add(1);
            Some(checked)
        }
        Err(why) => {
            tally.inconsistent.add(1);
            tally.error(why);
            None
        }
    }
}

/// Counts a read that gave no record. Being overtaken by the writer is not an error.
fn failed(error: &FormatError, tally: &Tally) {
    if matches!(error, FormatError::Lapped { .. }) {
        tally.lapped.add(1);
    } else {
        tally.inconsistent.add(1);
        tally.error(format!("the ring cannot be read: {error}"));
    }
}

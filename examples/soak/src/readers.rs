//! Read the snapshots of the program that is watched: one thread reads all of them, others read the newest as often as
//! they can.

use anyhow::Context;
use tickscope_format::codec::{self, Decoder};
use tickscope_format::file::open::RingFile;
use tickscope_format::ring::Record;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, Snapshot};

use crate::counted::{Counted, check_live};
use crate::epochs::{Epochs, Moment};
use crate::memory::Past;
use crate::soak::{Over, Soak, Tally};

/// The milliseconds between two looks for records that have not been added up, and between two reads of the newest snapshot.
const LOOK_MS: u64 = 100;
const REST_MS: u64 = 2;

/// Adds up all records until the run is over and the last one is read. Returns all that was counted, if no record was missed.
pub(crate) fn follow(tally: &Tally, ring: &RingFile, over: &Over) -> Option<Counted> {
    let mut decoder = Decoder::default();
    let (mut epochs, mut past, mut done) = (Epochs::default(), Past::default(), 0);
    loop {
        let last = over.sleep(LOOK_MS);
        for record in since(ring, done, tally) {
            done = record.sequence;
            let checked = checked(&record, &mut decoder);
            let Some((moment, snapshot)) = tally.check(&tally.reads, checked) else {
                continue;
            };
            tally.records.all.add(1);
            // Viewers keep sites once.
            if let Ok((without_sites, _)) = codec::split_sites(&record.payload) {
                past.take(record.stamp.unix_ns, without_sites.len());
            }
            tally.did("epochs", u64::from(moment.capture.kind == CaptureKind::Closing));
            tally.check(&tally.records, check_live(&snapshot, tally));
            // The warnings stay in all snapshots after the first.
            if moment.capture.kind == CaptureKind::Final {
                let warnings = snapshot.process.warnings.iter();
                warnings.for_each(|warning| tally.error(format!("the program says: {warning}")));
            }
            tally.check(&tally.records, epochs.take(moment));
        }
        tally.kept.raise(past.bytes());
        if last {
            tally.missed.add(epochs.missed());
            tally.did("records missed", epochs.missed());
            return epochs.counted();
        }
    }
}

/// Returns the records after number `done`, oldest first.
fn since(ring: &RingFile, done: u64, tally: &Tally) -> Vec<Record> {
    let newest = newest(ring, tally);
    let Some(newest) = newest.filter(|newest| newest.sequence > done) else {
        return Vec::new();
    };
    let mut records: Vec<Record> = ring.between(done, &newest).collect();
    records.reverse();
    records.push(newest);
    records
}

/// Reads the newest snapshot repeatedly until the run is over.
pub(crate) fn read(soak: &Soak, ring: &RingFile) {
    let (tally, mut decoder) = (&soak.tally, Decoder::default());
    let mut last: Option<Moment> = None;
    while !soak.over.sleep(REST_MS) {
        let Some(record) = newest(ring, tally) else {
            continue;
        };
        let checked = checked(&record, &mut decoder);
        if let Some((moment, _)) = tally.check(&tally.reads, checked) {
            let follows = last.map_or(Ok(()), |last| moment.follows(&last));
            tally.check(&tally.reads, follows);
            last = Some(moment);
        }
    }
}

/// Returns a record if it is consistent.
fn checked(record: &Record, decoder: &mut Decoder) -> anyhow::Result<(Moment, Snapshot)> {
    let snapshot = decoder.decode(&record.payload)?;
    let moment = Moment::of(record, &snapshot);
    Ok((
        moment.with_context(|| format!("record {}", record.sequence))?,
        snapshot,
    ))
}

/// Returns the newest record. Being overtaken by the writer is not an error.
fn newest(ring: &RingFile, tally: &Tally) -> Option<Record> {
    let newest = match ring.newest() {
        Err(FormatError::Lapped { .. }) => {
            tally.did("overtaken reads tried again", 1);
            return None;
        }
        other => other.context("the ring cannot be read"),
    };
    tally.reads.all.add(1);
    tally.check(&tally.reads, newest)
}

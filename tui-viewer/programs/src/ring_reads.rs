//! Reads the new records of a ring, and identifies the run of the program that writes it.

use serde::{Deserialize, Serialize};
use tickscope_format::codec::Decoder;
use tickscope_format::file::open::RingFile;
use tickscope_format::ring::Record;
use tickscope_format::snapshot::CaptureKind;
use tickscope_format::{FormatError, Snapshot};

/// One run of a program. If a process loses its ring and creates another, that is still the same run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The program's name.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Start time of the process, as the kernel reports it.
    pub start_time: u64,
    /// Start time of the collector: nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
}

impl RunKey {
    /// Returns the run that writes a ring.
    pub fn of(ring: &RingFile) -> Self {
        let header = ring.header();
        Self {
            name: header.name.clone(),
            pid: header.pid,
            start_time: header.start_time,
            started_unix_ns: header.started_unix_ns,
        }
    }
}

/// Reads the new records of a run: its newest record, and before it the last record of every ended reset epoch.
#[derive(Debug, Default)]
pub struct NewRecords {
    /// Kept between reads, so that unchanged sites are decoded only once.
    decoder: Decoder,
    /// Nonce of the ring that was read last, and the position and sequence number of the newest record read from it.
    read: Option<(u64, u64, u64)>,
    /// Sequence number and reset epoch of the newest snapshot that was read.
    newest: Option<(u64, u64)>,
}

impl NewRecords {
    /// Returns a reader that continues after the snapshot with this sequence number and reset epoch.
    pub fn after(newest: Option<(u64, u64)>) -> Self {
        Self {
            newest,
            ..Self::default()
        }
    }

    /// Returns the sequence number and the reset epoch of the newest snapshot that was read.
    pub fn newest(&self) -> Option<(u64, u64)> {
        self.newest
    }

    /// Returns the new snapshots, oldest first. If the run has lost its ring, `ring` may be the replacement.
    /// `from_start` decides whether the first call also returns the last snapshot of each earlier epoch.
    ///
    /// # Errors
    /// Returns an error if the newest record cannot be read.
    pub fn read(&mut self, ring: &RingFile, from_start: bool) -> Result<Vec<Snapshot>, FormatError> {
        let (nonce, latest) = (ring.header().nonce, ring.latest()?);
        if self
            .read
            .is_some_and(|(of, position, _)| (of, position) == (nonce, latest))
        {
            return Ok(Vec::new());
        }
        let record = ring.newest()?;
        let newest = self.decoder.decode(&record.payload)?;
        let (seq, epoch) = self.newest.unwrap_or_default();
        let mut records = Vec::new();
        // A ring that was replaced may still exist. It has nothing new, and the next read will be from its replacement.
        if newest.capture.seq <= seq {
            return Ok(records);
        }
        let before = self.read.replace((nonce, record.position, record.sequence));
        let after = before
            .filter(|(of, ..)| *of == nonce)
            .map_or(0, |(.., number)| number);
        if newest.capture.reset_epoch != epoch && (self.newest.is_some() || from_start) {
            for end in ends_between(ring, after, &record).iter().rev() {
                // Skip records that the program has overwritten in the meantime.
                if let Ok(end) = self.decoder.decode(&end.payload)
                    && (seq + 1..newest.capture.seq).contains(&end.capture.seq)
                {
                    records.push(end);
                }
            }
        }
        self.newest = Some((newest.capture.seq, newest.capture.reset_epoch));
        records.push(newest);
        Ok(records)
    }
}

/// Returns the last record of each epoch that ended between the record with sequence number `after` and the record
/// `newest`. The most recent comes first. Records that the fine ring no longer holds come from the coarse ring and have
/// no latencies.
fn ends_between(ring: &RingFile, after: u64, newest: &Record) -> Vec<Record> {
    let mut oldest = (newest.sequence, newest.stamp.unix_ns);
    let mut ends = Vec::new();
    for record in ring.between(after, newest) {
        oldest = (record.sequence, record.stamp.unix_ns);
        if record.stamp.kind == CaptureKind::Closing {
            ends.push(record);
        }
    }
    if oldest.0 > after.saturating_add(1) {
        let mut coarse = ring.coarse_newest().ok().flatten();
        while let Some(record) = coarse {
            coarse = ring.coarse_before(&record).ok().flatten();
            if record.stamp.kind == CaptureKind::Closing && record.stamp.unix_ns < oldest.1 {
                ends.push(record);
            }
        }
    }
    ends
}

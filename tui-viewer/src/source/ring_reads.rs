//! Reads of a ring's older records, and the identity of the run that writes it.

use serde::{Deserialize, Serialize};
use tickscope_format::file::open::RingFile;
use tickscope_format::ring::Record;
use tickscope_format::snapshot::CaptureKind;

/// One run of a program. A process that makes another ring in place of one that was lost is the same run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The program's name.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Start time of the process, from the kernel.
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

/// Returns the last records of the epochs between one record and the newest, the newest first. The coarse ring, which has no
/// latencies, supplies the records that the ring no longer holds.
pub fn ends_between(ring: &RingFile, after: u64, newest: &Record) -> Vec<Record> {
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

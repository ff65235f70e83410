//! What stands in a series of records: the newest at once, then those before it, a slice at a time.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tickscope_format::FormatError;
use tickscope_format::Snapshot;
use tickscope_format::series::{Moment, Series};
use tickscope_format::snapshot::CaptureKind;

use crate::model::history::BYTES_MAX;
use crate::news::Past;

/// A file of records that is being read.
#[derive(Debug)]
pub(super) struct Recorded {
    series: Series,
    /// So many of its records are still to be looked at: all before the newest.
    left: usize,
    /// At least so much time lies between two that are taken.
    gap_ns: u64,
    /// When the one was captured that was taken last.
    taken_ns: u64,
}

// === impl Recorded ===

impl Recorded {
    /// Opens a file and gives its newest snapshot.
    pub(super) fn open(path: &Path) -> Result<(Self, Snapshot), FormatError> {
        let series = Series::open(path)?;
        let (newest, snapshot) = series.newest()?;
        let moments = series.moments();
        let at = moments.iter().position(|moment| *moment == newest).unwrap_or(0);
        let bytes = series.payload(&newest)?.len();
        let recorded = Self {
            left: at,
            gap_ns: gap_ns(moments, bytes),
            taken_ns: newest.stamp.unix_ns,
            series,
        };
        Ok((recorded, snapshot))
    }

    /// Nothing is left to read.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Reads for so long, one record at least: the next older ones, oldest first.
    pub(super) fn slice(&mut self, time: Duration) -> Vec<Past> {
        let begin = Instant::now();
        let mut taken = Vec::new();
        while let Some(at) = self.left.checked_sub(1) {
            self.left = at;
            let moment = self.series.moments()[at];
            let stamp = moment.stamp;
            let near = self.taken_ns.abs_diff(stamp.unix_ns) < self.gap_ns;
            // What closes an epoch is taken in any case, and so is the beginning. What cannot be read is not there.
            if near && stamp.kind == CaptureKind::Periodic && at > 0 {
                continue;
            }
            if let Ok(payload) = self.series.payload(&moment) {
                self.taken_ns = stamp.unix_ns;
                taken.push(Past {
                    unix_ns: stamp.unix_ns,
                    kind: stamp.kind,
                    payload: Rc::from(payload),
                });
            }
            if begin.elapsed() >= time {
                break;
            }
        }
        taken.reverse();
        taken
    }
}

/// The time between records at which all of them fit into the history, if they are as long as the newest: none where
/// they do as they are.
fn gap_ns(moments: &[Moment], bytes: usize) -> u64 {
    let all = moments.len().saturating_mul(bytes);
    let times = moments.iter().map(|moment| moment.stamp.unix_ns);
    let span_ns = times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
    if all <= BYTES_MAX {
        return 0;
    }
    (span_ns as f64 * bytes as f64 / BYTES_MAX as f64) as u64
}

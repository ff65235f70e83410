//! Records of a recording: the newest immediately, then older ones, slice by slice.

use std::path::Path;
use std::time::{Duration, Instant};

use tickscope_format::FormatError;
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::recording::{Moment, Recording};
use tickscope_format::snapshot::CaptureKind;

use crate::events::Past;
use crate::history::BYTES_MAX;

/// A recording that is being read.
#[derive(Debug)]
pub(super) struct Recorded {
    series: Recording,
    /// Number of records that are still to be read. The newest are read first, so these are the oldest.
    left: usize,
    /// Minimum time between two records that are taken.
    gap_ns: u64,
    /// Capture time of the record that was taken last.
    taken_ns: u64,
}

impl Recorded {
    /// Opens a file and returns its newest snapshot.
    pub(super) fn open(path: &Path) -> Result<(Self, Snapshot), FormatError> {
        let series = Recording::open(path)?;
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

    /// Returns the names of code addresses that the file contains.
    pub(super) fn addresses(&self) -> Addresses {
        self.series.addresses()
    }

    /// Returns the capture time of the first record: nanoseconds since the Unix epoch.
    pub(super) fn begin_ns(&self) -> Option<u64> {
        let times = self.series.moments().iter().map(|moment| moment.stamp.unix_ns);
        times.min()
    }

    /// Whether nothing is left to read.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Reads at least one record, and more until `time` has passed. Returns the records taken, oldest first.
    pub(super) fn slice(&mut self, time: Duration) -> Vec<Past> {
        let begin = Instant::now();
        let mut taken = Vec::new();
        while let Some(at) = self.left.checked_sub(1) {
            self.left = at;
            let moment = self.series.moments()[at];
            let stamp = moment.stamp;
            let near = self.taken_ns.abs_diff(stamp.unix_ns) < self.gap_ns;
            // Records that close an epoch, and the first record, are always taken. Unreadable records are left out.
            if near && stamp.kind == CaptureKind::Periodic && at > 0 {
                continue;
            }
            if let Ok(payload) = self.series.payload(&moment) {
                self.taken_ns = stamp.unix_ns;
                taken.push(Past::of(stamp, payload));
            }
            if begin.elapsed() >= time {
                break;
            }
        }
        taken.reverse();
        taken
    }
}

/// Returns how far apart the taken records must at least be to fit into the history, assuming that each is as large as
/// the newest one. Returns 0 if all records fit.
fn gap_ns(moments: &[Moment], bytes: usize) -> u64 {
    let all = moments.len().saturating_mul(bytes);
    let times = moments.iter().map(|moment| moment.stamp.unix_ns);
    let span_ns = times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
    if all <= BYTES_MAX {
        return 0;
    }
    (span_ns as f64 * bytes as f64 / BYTES_MAX as f64) as u64
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::orderbook;

    use super::*;
    use crate::events::Feed;
    use crate::feed::RingFeed;
    use crate::history::History;
    use crate::status::Status;
    use crate::target::wanted::Wanted;
    use crate::test_recording;

    /// Writes a recording with ten records per second, whose payloads are `longer` bytes larger than usual.
    fn recorded(path: &Path, records: u64, longer: usize) {
        let snapshot = |at| {
            let mut snapshot = orderbook::snapshot(100 + at);
            snapshot.process.warnings.push("x".repeat(longer));
            if at == 5 {
                snapshot.capture.kind = CaptureKind::Closing;
            }
            snapshot
        };
        test_recording::recorded(path, (0..records).map(snapshot));
    }

    /// Reads a file as the screen does, and returns the history that the screen would keep.
    fn history(path: &Path) -> History {
        let mut feed = RingFeed::new(Wanted::File(path.into()), None, None);
        let first = feed.poll();
        assert_eq!(first.status, Status::Kept);
        let newest = first.snapshot.unwrap();
        assert!(first.past.is_empty(), "the newest comes first, and at once");
        let mut history = History::default();
        history.recorded = true;
        history.note(&newest);
        while feed.next_look() <= crate::feed::PAST_REST {
            let events = feed.poll();
            assert!(events.snapshot.is_none());
            history.remember(events.past);
        }
        history
    }

    #[test]
    fn all_of_a_small_one_is_there_however_long_ago() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.tks");
        recorded(&path, 1_200, 0);
        let history = history(&path);
        assert_eq!(history.times().count(), 1_200);
        let oldest = history.times().next().unwrap();
        let first = RingFeed::new(Wanted::File(path), None, None).poll();
        assert_eq!(first.begin_ns, Some(oldest), "said at the first look");
        let mut expected = orderbook::snapshot(100);
        expected.process.warnings.push(String::new());
        assert_eq!(*history.get(oldest).unwrap(), expected);
    }

    #[test]
    fn a_large_one_is_thinned_evenly_and_keeps_its_ends_and_closings() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.tks");
        recorded(&path, 200, 500_000);
        let history = history(&path);
        assert!(history.bytes() <= BYTES_MAX);
        let at = |tenth: u64| orderbook::snapshot(100 + tenth).capture.unix_ns;
        let times: Vec<u64> = history.times().collect();
        assert!((50..90).contains(&times.len()), "{}", times.len());
        assert_eq!((times[0], times[times.len() - 1]), (at(0), at(199)));
        assert!(times.contains(&at(5)), "what closes an epoch");
        let widest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(widest <= 500_000_000, "{widest}");
    }
}

//! The most recent records of a program, back to the start of the window, and the counts accumulated over the window.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tickscope_analysis::series::{RecordEpoch, counts, terms};
use tickscope_analysis::trigger::Verdict;
use tickscope_format::Snapshot;
use tickscope_format::codec;
use tickscope_format::codec::Decoder;
use tickscope_format::snapshot::CaptureKind;
use tickscope_programs::events::Past;

/// Maximum total size of all payloads, in bytes. The two records that a window needs are kept even if they exceed this
/// limit.
const BYTES_MAX: usize = 64 << 20;

/// Records closer together than the window's length divided by this number are merged.
const PARTS: u64 = 32;

/// A record whose payload has not been decoded.
#[derive(Debug)]
struct Record {
    unix_ns: u64,
    epoch: RecordEpoch,
    payload: Rc<[u8]>,
}

/// The records of one run of a program, oldest first.
#[derive(Debug)]
pub(super) struct Recent {
    length_ns: u64,
    records: VecDeque<Record>,
    bytes: usize,
    /// Sequence number of the newest record.
    seq: u64,
    /// Whether it took the newest record to make the records span a full window.
    pub(super) fills: bool,
    decoder: RefCell<Decoder>,
}

/// Why there is no window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoWindow {
    /// The records do not span a full window yet.
    TooShort {
        /// Time span of the records, in nanoseconds.
        ns: u64,
    },
    /// Within the window, the counts were reset or a reset was undone, and the record with the counts from just before
    /// that is missing.
    Gap,
    /// A record cannot be read. The string says why.
    Unreadable(String),
}

/// A verdict, and the length of the window that it applies to.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    /// Length of the window, in nanoseconds.
    pub(crate) window_ns: u64,
}

impl Recent {
    /// Returns an empty list for windows of the given length.
    pub(super) fn new(length: Duration) -> Self {
        Self {
            length_ns: length.as_nanos() as u64,
            records: VecDeque::new(),
            bytes: 0,
            seq: 0,
            fills: false,
            decoder: RefCell::default(),
        }
    }

    /// Returns the capture time of the newest record.
    pub(super) fn newest_ns(&self) -> Option<u64> {
        self.records.back().map(|record| record.unix_ns)
    }

    /// Adds a record unless it is already known or older than the newest one. Returns whether it was added.
    pub(super) fn push(&mut self, past: &Past) -> bool {
        let Ok(capture) = codec::capture(&past.payload) else {
            return false;
        };
        if capture.seq <= self.seq {
            return false;
        }
        self.seq = capture.seq;
        if self.newest_ns().is_some_and(|newest| past.unix_ns < newest) {
            // The wall clock was set back, so the age of the older records is unknown.
            self.records.clear();
            self.bytes = 0;
        }
        let was_short = self.is_short();
        self.merge_newest(past.unix_ns, capture.reset_epoch);
        self.bytes += past.payload.len();
        self.records.push_back(Record {
            unix_ns: past.unix_ns,
            epoch: RecordEpoch::from(&capture),
            payload: Rc::clone(&past.payload),
        });
        self.fills = was_short && !self.is_short();
        // The first window starts at the first record, because otherwise no window would contain the earliest events.
        if !self.fills {
            self.forget_old();
        }
        self.thin();
        true
    }

    /// Returns whether the records still span less than a full window.
    fn is_short(&self) -> bool {
        let ends = self.records.front().zip(self.begin_ns());
        ends.is_none_or(|(first, begin_ns)| first.unix_ns > begin_ns)
    }

    /// Drops the newest record if the second newest one is still close to `unix_ns`, the capture time of the record
    /// about to be added.
    fn merge_newest(&mut self, unix_ns: u64, reset_epoch: u64) {
        let Some(at) = self.records.len().checked_sub(1) else {
            return;
        };
        let is_close = at
            .checked_sub(1)
            .is_some_and(|before| unix_ns - self.records[before].unix_ns < self.length_ns / PARTS);
        if is_close && self.is_needless(at) && self.records[at].epoch.reset_epoch == reset_epoch {
            self.remove(at);
        }
    }

    /// Returns whether a record can be dropped. A record just before or after a reset cannot, because its counts are
    /// needed.
    fn is_needless(&self, at: usize) -> bool {
        let epoch = |at: usize| self.records.get(at).map(|record| record.epoch.reset_epoch);
        let own = self.records[at].epoch;
        let before = at.checked_sub(1).and_then(epoch);
        own.kind == CaptureKind::Periodic
            && before.is_none_or(|before| before == own.reset_epoch)
            && epoch(at + 1).is_none_or(|next| next == own.reset_epoch)
    }

    /// Drops the records that are older than the one at which the window starts.
    fn forget_old(&mut self) {
        while let (Some(begin), Some(second)) = (self.begin_ns(), self.records.get(1))
            && second.unix_ns <= begin
        {
            self.remove(0);
        }
    }

    /// Returns the latest time at which a window that ends at the newest record may start.
    fn begin_ns(&self) -> Option<u64> {
        // Capture times jitter by milliseconds, so the window may be slightly shorter than requested.
        let slack = self.length_ns / 200;
        Some(
            self.newest_ns()?
                .saturating_sub(self.length_ns)
                .saturating_add(slack),
        )
    }

    /// Drops records until the payloads fit into [`BYTES_MAX`], starting with those whose neighbours are closest
    /// together.
    fn thin(&mut self) {
        while self.bytes > BYTES_MAX && self.records.len() > 2 {
            let gap = |at: &usize| self.records[at + 1].unix_ns - self.records[at - 1].unix_ns;
            let inner = (1..self.records.len() - 1).filter(|&at| self.is_needless(at));
            let at = inner.min_by_key(gap).unwrap_or(0);
            self.remove(at);
        }
    }

    fn remove(&mut self, at: usize) {
        if let Some(record) = self.records.remove(at) {
            self.bytes -= record.payload.len();
        }
    }

    /// Returns a snapshot with the counts accumulated over the window.
    pub(super) fn window(&self) -> Result<Snapshot, NoWindow> {
        let (Some(first), Some(begin_ns)) = (self.records.front(), self.begin_ns()) else {
            return Err(NoWindow::TooShort { ns: 0 });
        };
        if first.unix_ns > begin_ns {
            let newest_ns = self.newest_ns().unwrap_or_default();
            return Err(NoWindow::TooShort {
                ns: newest_ns - first.unix_ns,
            });
        }
        let epochs = self.records.iter().map(|record| record.epoch);
        let terms = terms(epochs, 0, self.records.len() - 1);
        if terms.unclosed || terms.more {
            return Err(NoWindow::Gap);
        }
        let (plus, minus) = (self.decode(&terms.plus)?, self.decode(&terms.minus)?);
        let (plus, minus): (Vec<_>, Vec<_>) = (plus.iter().collect(), minus.iter().collect());
        Ok(counts(&plus, &minus))
    }

    /// Decodes the newest snapshot.
    pub(super) fn newest(&self) -> Result<Snapshot, NoWindow> {
        let newest = self.records.len().checked_sub(1);
        let decoded = newest.map(|at| self.decode(&[at])).transpose()?;
        let snapshot = decoded.into_iter().flatten().next();
        snapshot.ok_or(NoWindow::TooShort { ns: 0 })
    }

    fn decode(&self, parts: &[usize]) -> Result<Vec<Snapshot>, NoWindow> {
        let mut decoder = self.decoder.borrow_mut();
        let decoded = parts.iter().map(|&at| decoder.decode(&self.records[at].payload));
        decoded
            .collect::<Result<_, _>>()
            .map_err(|error| NoWindow::Unreadable(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook;
    use crate::test_driver::past;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_window_is_as_long_as_asked_and_few_records_are_kept_for_it() {
        let mut recent = Recent::new(Duration::from_secs(20));
        for tenths in 1_000..=1_198 {
            assert!(recent.push(&past(&orderbook::snapshot(tenths))));
            assert!(matches!(recent.window(), Err(NoWindow::TooShort { .. })));
        }
        for tenths in 1_200..1_400 {
            recent.push(&past(&orderbook::snapshot(tenths)));
            let window = recent.window().unwrap();
            let length = window.capture.since_reset_ns;
            assert!((199 * SECOND / 10..=21 * SECOND).contains(&length), "{length}");
        }
        assert!(
            recent.records.len() <= 2 * PARTS as usize + 2,
            "{}",
            recent.records.len()
        );
        // A record that is already known or older than the newest one changes nothing.
        assert!(!recent.push(&past(&orderbook::snapshot(1_399))));
        assert!(!recent.push(&past(&orderbook::snapshot(900))));
    }

    #[test]
    fn a_clock_that_was_set_back_begins_the_window_anew() {
        let mut recent = Recent::new(Duration::from_secs(1));
        for tenths in 1_000..1_020 {
            recent.push(&past(&orderbook::snapshot(tenths)));
        }
        assert!(recent.window().is_ok());
        let mut early = orderbook::snapshot(1_020);
        early.capture.unix_ns -= 3_600 * SECOND;
        recent.push(&past(&early));
        assert_eq!(recent.window(), Err(NoWindow::TooShort { ns: 0 }));
    }

    #[test]
    fn large_records_are_fewer_and_the_window_stays() {
        let mut recent = Recent::new(Duration::from_secs(5));
        for tenths in 1_000..1_200 {
            let mut large = past(&orderbook::snapshot(tenths));
            // Append a section of an unknown kind to make the record large.
            let head = |word: u64| word.to_le_bytes();
            let more = [&head(99), &head(6 << 20), &vec![0; 6 << 20][..]].concat();
            large.payload = [&large.payload[..], &more].concat().into();
            recent.push(&large);
            assert!(recent.bytes <= BYTES_MAX);
        }
        let length = recent.window().unwrap().capture.since_reset_ns;
        assert!((5 * SECOND..7 * SECOND).contains(&length), "{length}");
    }
}

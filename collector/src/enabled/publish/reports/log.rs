//! The log that the program writes to standard error: how long each thread was inside each group.

use std::time::{Duration, Instant};

use tickscope_analysis::intervals::{Choice, Interval, Intervals};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::CaptureKind;
use tickscope_report::log::{LogOptions, header, lines};

use super::log_writer;
use crate::enabled::platform::descriptors;

pub(crate) struct Log {
    every: Duration,
    intervals: Intervals,
    /// Time at which the current interval ends.
    due: Instant,
    /// Whether nothing has been written yet.
    new: bool,
}

impl Log {
    pub(crate) fn new(every: Duration) -> Option<Self> {
        log_writer::open();
        Some(Self {
            every,
            intervals: Intervals::from_start(every, Choice::default()),
            due: Instant::now() + every,
            new: true,
        })
    }

    /// Prints on standard error that there is no log, because there is no ring.
    pub(crate) fn missed() {
        let line = b"tickscope: no log: there is no place for a ring; set TICKSCOPE_DIR\n";
        let _ = descriptors::write_all(libc::STDERR_FILENO, line, -1);
    }

    /// Returns the time until the interval ends.
    pub(crate) fn rest(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_due(&self) -> bool {
        self.rest().is_zero()
    }

    /// Adds a snapshot to the log if it is the first one, or if an interval or a reset epoch ends with it. Returns
    /// false if the log's lines cannot be written.
    pub(crate) fn note(&mut self, snapshot: &Snapshot) -> bool {
        let due = self.is_due();
        let wanted = due || !self.intervals.has_begun() || snapshot.capture.kind != CaptureKind::Periodic;
        if !wanted {
            return true;
        }
        let done = self.intervals.take(snapshot);
        if due {
            self.due = Instant::now() + self.every;
        }
        done.is_none_or(|interval| self.write(&interval))
    }

    /// Writes the last interval, even if it is not complete, and ends the log.
    pub(crate) fn end(&mut self) {
        if let Some(interval) = self.intervals.finish() {
            self.write(&interval);
        }
        log_writer::close();
    }

    fn write(&mut self, interval: &Interval) -> bool {
        let utc = LogOptions::default();
        let mut text = lines(interval, &utc);
        if std::mem::take(&mut self.new) {
            text.insert_str(0, &header(&utc));
        }
        log_writer::put(&text)
    }
}

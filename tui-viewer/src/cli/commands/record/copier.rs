//! Copies the records of a ring into a file, each record once and in order.

use std::io;

use anyhow::{anyhow, bail};
use tickscope_command::console::{about, printable, say};
use tickscope_format::FormatError;
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::recording::Writer;
use tickscope_format::ring::Record;
use tickscope_format::slots::Op;
use tickscope_programs::clock_time::seconds;
use tickscope_programs::feed::result_of;
use tickscope_symbols::symbolizer::Names;

use crate::cli::commands::live_snapshot;

/// What a recording begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// A record that is captured when the recording starts.
    Now,
    /// The oldest record in the ring.
    Oldest,
}

pub(super) struct Copier {
    pub(super) ring: RingFile,
    /// Slot with the request for the publishing interval, which the program follows while the slot is held. `None` if
    /// the program takes no requests.
    slot: Option<Slot>,
    pub(super) writer: Writer,
    /// Names of sampled code. They are recorded too, because the program's files may be missing where the recording is read.
    names: Names,
    begin: Begin,
    /// Sequence number of the last copied record.
    copied: Option<u64>,
    /// Position of the newest record at the last call of `copy`.
    latest: Option<u64>,
    /// Capture times of the first and the last copied record, in nanoseconds since the Unix epoch.
    times: Option<(u64, u64)>,
    /// Number of records that the program overwrote before they could be read.
    lost: u64,
}

impl Copier {
    /// Attaches to a program. If `rate` is given, requests that many records per second.
    pub(super) fn new(ring: RingFile, writer: Writer, begin: Begin, rate: Option<u64>) -> Self {
        let mut slot = ring.take_slot().ok().flatten();
        match (&mut slot, rate) {
            (Some(slot), Some(hz)) => {
                let answer = live_snapshot::answer(&ring, slot, Op::Interval(1_000_000_000 / hz.max(1)));
                let done = answer.and_then(|reply| reply.as_ref().map_or(Ok(0), result_of));
                if let Err(why) = done {
                    say(&format!("{why}; recording at the program's rate"));
                }
            }
            (None, _) => {
                say("the program takes no requests from this viewer; recording at the program's rate")
            }
            (Some(_), None) => {}
        }
        let mut copier = Self {
            names: Names::of(ring.header().pid),
            ring,
            slot,
            writer,
            begin,
            copied: None,
            latest: None,
            times: None,
            lost: 0,
        };
        if begin == Begin::Now {
            copier.publish();
        }
        copier
    }

    /// Continues with the ring that the program created to replace a lost one, starting at the oldest record of the new ring.
    pub(super) fn go_on_with(&mut self, ring: RingFile) {
        self.slot = ring.take_slot().ok().flatten();
        // Names are looked up again, because a module without a build id may contain other code by now.
        self.names = Names::of(ring.header().pid);
        self.ring = ring;
        self.begin = Begin::Oldest;
        (self.copied, self.latest) = (None, None);
    }

    /// Makes the program publish. If it does not answer, the newest record is used.
    fn publish(&mut self) {
        if let Some(slot) = &mut self.slot {
            let _ = live_snapshot::publish_by(&self.ring, slot);
        }
    }

    /// Makes the program capture a last record, and copies it like [`Self::copy`].
    pub(super) fn last_moment(&mut self) -> anyhow::Result<bool> {
        self.publish();
        self.copy()
    }

    /// Copies the records that are new since the last call. Returns false if the recording is a stream whose reader has
    /// closed it.
    ///
    /// # Errors
    /// The file cannot be written, or the ring can no longer be read.
    pub(super) fn copy(&mut self) -> anyhow::Result<bool> {
        let unreadable = |error: FormatError| anyhow!(about(self.ring.path(), &error));
        let latest = self.ring.latest().map_err(unreadable)?;
        if self.latest == Some(latest) {
            return Ok(true);
        }
        let newest = match self.ring.newest() {
            Ok(newest) => newest,
            // No record was published yet, or the program is overwriting the record.
            Err(FormatError::NoRecord | FormatError::Lapped { .. }) => return Ok(true),
            Err(error) => return Err(unreadable(error)),
        };
        self.latest = Some(newest.position);
        if self.copied.is_some_and(|copied| newest.sequence <= copied) {
            return Ok(true);
        }
        let new = self.new_up_to(newest);
        if let (Some(copied), Some(first)) = (self.copied, new.last()) {
            self.lost += first.sequence.saturating_sub(copied + 1);
        }
        for record in new.iter().rev() {
            if !self.append(record)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `newest` and the earlier records that were not copied yet, newest first.
    fn new_up_to(&self, newest: Record) -> Vec<Record> {
        let after = match (self.copied, self.begin) {
            (Some(copied), _) => copied,
            (None, Begin::Now) => newest.sequence,
            (None, Begin::Oldest) => 0,
        };
        let before: Vec<Record> = self.ring.between(after, &newest).collect();
        std::iter::once(newest).chain(before).collect()
    }

    fn append(&mut self, record: &Record) -> anyhow::Result<bool> {
        self.writer.name(self.names.new_in(&record.payload));
        match self.writer.append(record.stamp, &record.payload) {
            Ok(()) => {}
            Err(FormatError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(false);
            }
            // The error already names the file.
            Err(error @ FormatError::Io { .. }) => bail!("cannot {error}"),
            Err(error) => bail!(about(self.ring.path(), &error)),
        }
        self.copied = Some(record.sequence);
        let unix_ns = record.stamp.unix_ns;
        let (first, _) = self.times.unwrap_or((unix_ns, unix_ns));
        self.times = Some((first, unix_ns));
        Ok(true)
    }

    /// Describes the recording: its path, number of records, duration and size.
    pub(super) fn summary(&self) -> String {
        let long_ns = self.times.map_or(0, |(first, last)| last.saturating_sub(first));
        let lost = match self.lost {
            0 => String::new(),
            lost => format!(" ({lost} more were overwritten before they could be read)"),
        };
        format!(
            "{}: {} of {}, {}{lost}",
            printable(&self.writer.path().display().to_string()),
            records(self.writer.records()),
            seconds(long_ns),
            bytes(self.writer.bytes()),
        )
    }
}

/// Formats `1 record`, `120 records`.
pub(super) fn records(count: u64) -> String {
    match count {
        1 => "1 record".into(),
        many => format!("{many} records"),
    }
}

/// Formats `812 B`, `14.2 kB`, `3.1 MB`.
pub(super) fn bytes(count: u64) -> String {
    match count as f64 {
        few if few < 1e3 => format!("{few} B"),
        some if some < 999_950.0 => format!("{:.1} kB", some / 1e3),
        many if many < 999_950_000.0 => format!("{:.1} MB", many / 1e6),
        huge => format!("{:.1} GB", huge / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        let said: Vec<String> = [0, 999, 1_000, 999_949, 999_950, 12_345_678, 3_000_000_000]
            .map(bytes)
            .to_vec();
        let wanted = [
            "0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "12.3 MB", "3.0 GB",
        ];
        assert_eq!(said, wanted);
        assert_eq!([records(1), records(2)], ["1 record", "2 records"]);
    }
}

//! Moments at which a target can be viewed. A recording has one for each of its records. A ring has its coarse records,
//! and after them its fine records.

use std::iter::successors;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail};
use tickscope_analysis::sampled_rows::with_unscaled_rows;
use tickscope_analysis::series::{self, RecordEpoch, Terms};
use tickscope_command::console::{Misuse, about};
use tickscope_format::addresses::Addresses;
use tickscope_format::file::open::RingFile;
use tickscope_format::latency::Latencies;
use tickscope_format::recording::Recording;
use tickscope_format::ring::Record;
use tickscope_format::{FormatError, Snapshot, codec, snapshot_file};
use tickscope_report::slots::Slots;

use crate::clock_time::{UtcOffset, clock_tenths, clock_time, last_time_of_day, nanos, seconds};
use crate::moment::When;
use crate::target::wanted::{Found, one_alone};

const SECOND_NS: u64 = 1_000_000_000;

/// Moments of one target, oldest first. There is always at least one.
#[derive(Debug)]
pub struct Timeline {
    records: Records,
    facts: Vec<RecordEpoch>,
    /// Capture time of each moment: nanoseconds since the Unix epoch.
    unix_ns: Vec<u64>,
    /// Number of moments from the coarse ring. These are the oldest, and have no latencies.
    coarse: usize,
    offset: UtcOffset,
}

/// Source of the moments.
#[derive(Debug)]
enum Records {
    Series(Recording),
    Ring(PathBuf, Vec<Record>),
}

/// The difference between two moments, and its description.
#[derive(Debug)]
pub struct Between {
    /// Difference, as a snapshot.
    pub snapshot: Snapshot,
    /// Description of the time between the moments: how long it is, and when it starts and ends.
    pub words: String,
    /// Warnings that some counts are missing from the difference, or that it includes counts from before the first moment.
    pub doubts: Vec<&'static str>,
}

impl Timeline {
    /// Reads the moments of a target.
    ///
    /// # Errors
    /// The target has no moments, or they cannot be read.
    pub fn of(found: &Found, offset: UtcOffset) -> anyhow::Result<Self> {
        match found {
            Found::Ring(ring, _) => Self::of_ring(ring, offset),
            Found::Kept(path) if snapshot_file::is_snapshot_file(path) => Self::of_series(path, offset),
            Found::Kept(path) => Err(single(path)),
            Found::Together(name, _) => Err(one_alone(name, "looking back needs a program").into()),
            Found::Streamed(_) => Err(anyhow!(
                "of standard input only the newest moment is kept; record into a file to look back: tickscope record -o run.tks"
            )),
        }
    }

    fn of_series(path: &Path, offset: UtcOffset) -> anyhow::Result<Self> {
        let series = Recording::open(path).map_err(|error| anyhow!(about(path, &error)))?;
        let moments = series.moments();
        let facts = moments.iter().map(|moment| RecordEpoch {
            reset_epoch: moment.reset_epoch,
            withdraws: moment.withdraws,
            kind: moment.stamp.kind,
        });
        let timeline = Self {
            facts: facts.collect(),
            unix_ns: moments.iter().map(|moment| moment.stamp.unix_ns).collect(),
            records: Records::Series(series),
            coarse: 0,
            offset,
        };
        match timeline.facts.len() {
            0 => Err(anyhow!(about(path, &FormatError::NoRecord))),
            1 => Err(single(path)),
            _ => Ok(timeline),
        }
    }

    fn of_ring(ring: &RingFile, offset: UtcOffset) -> anyhow::Result<Self> {
        let failed = |error: FormatError| anyhow!(about(ring.path(), &error));
        let newest = ring.newest().map_err(failed)?;
        // The list ends at the first record that has been overwritten in the meantime.
        let fine = successors(Some(newest), |last| ring.before(last).ok().flatten());
        let mut records = Vec::from_iter(fine);
        let fine = records.len();
        let oldest = records[fine - 1].stamp.unix_ns;
        let coarse = successors(ring.coarse_newest().ok().flatten(), |last| {
            ring.coarse_before(last).ok().flatten()
        });
        records.extend(coarse.filter(|record| record.stamp.unix_ns < oldest));
        if records.len() == 1 {
            return Err(single(ring.path()));
        }
        records.reverse();
        let mut facts = Vec::with_capacity(records.len());
        for record in &records {
            let capture = codec::capture(&record.payload).map_err(failed)?;
            facts.push(RecordEpoch::from(&capture));
        }
        Ok(Self {
            facts,
            unix_ns: records.iter().map(|record| record.stamp.unix_ns).collect(),
            coarse: records.len() - fine,
            records: Records::Ring(ring.path().to_path_buf(), records),
            offset,
        })
    }

    fn path(&self) -> &Path {
        match &self.records {
            Records::Series(series) => series.path(),
            Records::Ring(path, _) => path,
        }
    }

    fn first(&self) -> u64 {
        self.unix_ns[0]
    }

    fn last(&self) -> u64 {
        self.unix_ns[self.unix_ns.len() - 1]
    }

    /// Returns the index of the newest moment.
    pub fn newest(&self) -> usize {
        self.unix_ns.len() - 1
    }

    /// Returns the capture time of a moment: nanoseconds since the Unix epoch.
    pub fn unix_ns(&self, at: usize) -> u64 {
        self.unix_ns[at]
    }

    /// Reads the snapshot that was captured at a moment.
    ///
    /// # Errors
    /// Returns an error if the snapshot cannot be read.
    pub fn snapshot(&self, at: usize) -> anyhow::Result<Snapshot> {
        let snapshot = match &self.records {
            Records::Series(series) => series.snapshot(&series.moments()[at]),
            Records::Ring(_, records) => codec::decode(&records[at].payload),
        };
        snapshot.map_err(|error| anyhow!(about(self.path(), &error)))
    }

    /// Finds the last moment at or before a time.
    ///
    /// # Errors
    /// Returns an error if the time is before the oldest moment, or more than a second after the newest.
    pub fn find(&self, when: When) -> anyhow::Result<usize> {
        // A recording of 30 s may end slightly early, so times up to one second after its end are accepted.
        let inside = self.first()..=self.last().saturating_add(SECOND_NS);
        let wanted = self.unix_ns_of(when).filter(|wanted| inside.contains(wanted));
        wanted
            .map(|wanted| self.at_or_before(wanted))
            .ok_or_else(|| self.not_of_then())
    }

    /// Finds the moment nearest to the start of a span, or the oldest moment if the span would start before it.
    ///
    /// # Errors
    /// Returns an error if the span would start more than a second after the newest moment, or if its start is given as
    /// a clock time before the oldest moment.
    pub fn find_from(&self, when: When) -> anyhow::Result<usize> {
        match self.unix_ns_of(when) {
            Some(wanted) if wanted >= self.first() => self.nearest(wanted),
            // A clock time before the oldest moment is probably a mistake.
            _ if matches!(when, When::Clock(_)) => Err(self.not_of_then()),
            _ => Ok(0),
        }
    }

    /// Finds the moment nearest to the end of a span, or the newest moment if the span would end after it.
    ///
    /// # Errors
    /// Returns an error if the span would end before the oldest moment.
    pub fn find_to(&self, when: When) -> anyhow::Result<usize> {
        match self.unix_ns_of(when) {
            Some(wanted) if wanted >= self.first() => self.nearest(wanted.min(self.last())),
            _ => Err(self.not_of_then()),
        }
    }

    /// Converts a time to nanoseconds since the Unix epoch. Returns `None` for a time before the epoch.
    fn unix_ns_of(&self, when: When) -> Option<u64> {
        let (first, last) = (self.first(), self.last());
        match when {
            When::After(time) => Some(first.saturating_add(nanos(time))),
            When::Before(time) => last.checked_sub(nanos(time)),
            // A clock time means the first moment within that second.
            When::Clock(of_day) => {
                last_time_of_day(last, of_day, self.offset).map(|second| self.first_in_second(second))
            }
        }
    }

    fn not_of_then(&self) -> anyhow::Error {
        Misuse(format!("there is no record from then; {}", self.extent())).into()
    }

    fn nearest(&self, wanted: u64) -> anyhow::Result<usize> {
        if wanted > self.last().saturating_add(SECOND_NS) {
            return Err(self.not_of_then());
        }
        let before = self.at_or_before(wanted);
        let after = (before + 1).min(self.newest());
        let away = |at: usize| self.unix_ns[at].abs_diff(wanted);
        Ok(if away(after) < away(before) { after } else { before })
    }

    fn first_in_second(&self, second: u64) -> u64 {
        let within = second..second.saturating_add(SECOND_NS);
        let first = self.unix_ns.iter().find(|at| within.contains(at));
        first.copied().unwrap_or(second)
    }

    fn at_or_before(&self, unix_ns: u64) -> usize {
        self.unix_ns.iter().rposition(|&at| at <= unix_ns).unwrap_or(0)
    }

    /// Returns the moment at which a span begins if it ends at the moment `end` and is `length` long, or the oldest
    /// moment if the span would begin earlier.
    pub fn begin_of(&self, end: usize, length: Duration) -> usize {
        let length_ns = nanos(length);
        // Records come slightly early or late, so half a percent of slack is allowed.
        let slack = length_ns / 200;
        let begin = self.unix_ns[end].saturating_sub(length_ns).saturating_add(slack);
        self.at_or_before(begin).min(end)
    }

    /// Describes the time that the moments cover: how long it is, and when it starts and ends.
    pub fn extent(&self) -> String {
        let (first, last) = (self.first(), self.last());
        format!(
            "{} holds {}, from {} to {}",
            self.path().display(),
            seconds(last.saturating_sub(first)),
            clock_time(first, self.offset),
            clock_time(last, self.offset),
        )
    }

    /// Describes when a moment was captured.
    pub fn words(&self, at: usize) -> String {
        format!(
            "{}, {} after the beginning of what is recorded",
            clock_tenths(self.unix_ns[at], self.offset),
            seconds(self.unix_ns[at].saturating_sub(self.first()))
        )
    }

    /// Describes where in a recording a span lies. Empty for a ring, whose beginning moves as old records are overwritten.
    fn after_the_beginning(&self, from: usize, to: usize) -> String {
        let since = |at: usize| seconds(self.unix_ns[at].saturating_sub(self.first()));
        match self.records {
            Records::Series(_) => format!("{} to {} after the beginning, ", since(from), since(to)),
            Records::Ring(..) => String::new(),
        }
    }

    /// Returns the activity of threads between the two moments `ends`. Each snapshot first gets rows for the functions
    /// sampled at `addresses`, and is then passed through `change`.
    ///
    /// # Errors
    /// Returns an error if a snapshot cannot be read.
    pub fn slots(
        &self,
        ends: (usize, usize),
        addresses: &Addresses,
        change: impl Fn(Snapshot) -> Snapshot,
    ) -> anyhow::Result<Slots> {
        Slots::of(&self.facts, &self.unix_ns, ends, |at| {
            let snapshot = self.snapshot(at)?;
            Ok(change(with_unscaled_rows(&snapshot, addresses).into_owned()))
        })
    }

    /// Returns the difference between two moments.
    ///
    /// # Errors
    /// Returns an error if `from` is not before `to`, if the moments belong to two processes, or if they cannot be read.
    pub fn between(&self, from: usize, to: usize) -> anyhow::Result<Between> {
        if from >= to {
            let why = format!("there is no time between these two moments; {}", self.extent());
            return Err(Misuse(why).into());
        }
        let Terms {
            plus,
            minus,
            unclosed,
            more,
        } = series::terms(self.facts.iter().copied(), from, to);
        let blind = plus.iter().chain(&minus).any(|&at| at < self.coarse);
        let read = |parts: &[usize]| -> anyhow::Result<Vec<Snapshot>> {
            parts.iter().map(|&at| self.snapshot(at)).collect()
        };
        let (plus, minus) = (read(&plus)?, read(&minus)?);
        let run = |snapshot: &Snapshot| (snapshot.process.pid, snapshot.process.started_unix_ns);
        let mut runs = plus.iter().chain(&minus).map(run);
        let first = runs.next();
        if runs.any(|run| Some(run) != first) {
            bail!(
                "{}: found records of two processes, wanted one process, as `tickscope record` writes",
                self.path().display()
            );
        }
        let (plus, minus): (Vec<_>, Vec<_>) = (plus.iter().collect(), minus.iter().collect());
        let mut snapshot = series::counts(&plus, &minus);
        if blind {
            // Coarse records have no latencies and no samples, so those of the whole span are unknown.
            snapshot.latencies = Latencies::default();
            snapshot.lines = snapshot.lines.without_samples();
        }
        let doubts = [
            unclosed.then_some("counts just before a reset are in no record, so they are missing here"),
            more.then_some(
                "an undo brought back counts from before the first record, which are included here",
            ),
        ];
        Ok(Between {
            words: format!(
                "{}, from {}{} to {}",
                seconds(snapshot.capture.since_reset_ns),
                self.after_the_beginning(from, to),
                clock_tenths(self.unix_ns[from], self.offset),
                clock_tenths(self.unix_ns[to], self.offset),
            ),
            snapshot,
            doubts: doubts.into_iter().flatten().collect(),
        })
    }
}

/// Returns the error for a file that contains only one snapshot and therefore has no past.
fn single(path: &Path) -> anyhow::Error {
    anyhow!(
        "{} holds one moment, without a past; `tickscope record` keeps a series",
        path.display()
    )
}

#[cfg(test)]
mod tests;

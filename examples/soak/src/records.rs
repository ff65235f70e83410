//! Checks the records of one program, reducing each record to a few numbers. The total up to a record is the sum of its
//! own counts and the final counts of all earlier epochs.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use tickscope_analysis::series::{RecordEpoch, Series};
use tickscope_format::codec::{self, Decoder};
use tickscope_format::file::open::RingFile;
use tickscope_format::ring::{Record, Stamp};
use tickscope_format::snapshot::{CaptureInfo, CaptureKind, Mode, Quantity};
use tickscope_format::{FormatError, Snapshot};

use crate::account::Account;
use crate::checks::{KEPT_BYTES, MISSED_RECORDS, READS, RECORDS, Tally};
use crate::soak::Over;

/// Milliseconds between two checks for new records.
const LOOK_MS: u64 = 100;

/// Names of levels: calls in flight and live bytes. They include what began before a reset, whereas all other numbers
/// count only from the reset on.
const IN_FLIGHT: &str = "in flight";
const LIVE: &str = "live bytes";
const NOW: [&str; 2] = [IN_FLIGHT, LIVE];

/// Numbers by their names.
#[derive(Clone, Debug, Default)]
struct Numbers(BTreeMap<&'static str, i64>);

impl Numbers {
    /// Returns the numbers of a snapshot.
    fn of(snapshot: &Snapshot) -> Self {
        let mut numbers = Self::default();
        for (row, &site) in (0..).zip(&snapshot.nodes.site) {
            let calls = snapshot.nodes.calls[row as usize];
            let name = &*snapshot.sites[site as usize].name;
            let mut add = |name, number: u64| *numbers.0.entry(name).or_default() += number.cast_signed();
            add(if name.starts_with('[') { "waits" } else { "calls" }, calls);
            add("ticks", snapshot.nodes.self_ticks[row as usize]);
            let of_row = |quantity| snapshot.measures.of_row(quantity, row);
            add("ended", of_row(Quantity::FutureEnds));
            add("cancelled", of_row(Quantity::FutureCancels));
            add(IN_FLIGHT, of_row(Quantity::InFlight));
            add(IN_FLIGHT, of_row(Quantity::EndedElsewhere).wrapping_neg());
            match name {
                "request" | "answer" => add("started", calls),
                "hoard" => add(LIVE, of_row(Quantity::LiveBytes)),
                _ => {}
            }
        }
        numbers
    }

    fn number(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Adds up the numbers of two records. Levels are not added; they come from `later`.
    fn and(&self, mut later: Self) -> Self {
        for (&name, number) in self.0.iter().filter(|(name, _)| !NOW.contains(name)) {
            *later.0.entry(name).or_default() += number;
        }
        later
    }
}

/// The parts of a record that are checked.
#[derive(Clone, Debug)]
struct Moment {
    sequence: u64,
    capture: CaptureInfo,
    /// Calls and ticks since the program's start.
    lifetime: [i64; 2],
    numbers: Numbers,
}

impl Moment {
    fn of(sequence: u64, snapshot: &Snapshot) -> Self {
        let lifetime = [snapshot.lifetime.calls, snapshot.lifetime.ticks];
        Self {
            sequence,
            capture: snapshot.capture.clone(),
            lifetime: lifetime.map(u64::cast_signed),
            numbers: Numbers::of(snapshot),
        }
    }
}

/// Adds up the epochs, one record at a time.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    series: Series<Numbers>,
    last: Option<Moment>,
    /// Sums of all counts up to the last record.
    all: Numbers,
    /// Number of records that were not read. If there are any, the sums are unknown.
    missed: u64,
}

impl Epochs {
    /// Adds the next record and checks it.
    ///
    /// # Errors
    /// An error that says what is wrong with the record.
    fn take(&mut self, now: Moment) -> Result<()> {
        let before = self.last.replace(now.clone());
        let expected = before.as_ref().map_or(1, |before| before.sequence + 1);
        self.missed += now.sequence.saturating_sub(expected);
        let mut is_estimated = false;
        if let Some(before) = before {
            let (old, new) = (&before.capture, &now.capture);
            let is_later = now.sequence > before.sequence && new.seq > old.seq;
            ensure!(
                is_later && new.reset_epoch >= old.reset_epoch,
                "{now:?} cannot come after {before:?}"
            );
            // In adaptive mode, the time of untimed calls is an estimate, which is corrected as more calls are timed.
            is_estimated = [old.mode, new.mode] == [Mode::Adaptive; 2];
        }
        let epoch = RecordEpoch::from(&now.capture);
        let follows = self.series.take(epoch, now.numbers.clone());
        ensure!(follows, "{now:?}: the epoch before it ended unseen");
        self.series.join_oldest(3, |one, other| one.and(other.clone()));
        let links = self.series.links().iter();
        let all = links.fold(Numbers::default(), |all, link| all.and(link.counts.clone()));
        let before = std::mem::replace(&mut self.all, all);
        if self.missed > 0 {
            return Ok(());
        }
        let (all, sequence) = (&self.all, now.sequence);
        let sum = [all.number("calls") + all.number("waits"), all.number("ticks")];
        ensure!(
            sum == now.lifetime,
            "the epochs add up to {sum:?} calls and ticks: {now:?}"
        );
        for (&name, &number) in &before.0 {
            let may_shrink = NOW.contains(&name) || name == "ticks" && is_estimated;
            ensure!(
                may_shrink || all.number(name) >= number,
                "less was counted than before, {name}: {all:?} after {before:?} in record {sequence}"
            );
        }
        let over = ["ended", "cancelled", IN_FLIGHT].map(|name| all.number(name));
        ensure!(
            all.number("started") == over.iter().sum::<i64>(),
            "started is not ended + cancelled + in flight: {all:?} in record {sequence}"
        );
        Ok(())
    }

    /// Checks all counts against the load's own account, unless records were missed.
    ///
    /// # Errors
    /// An error that shows the first difference.
    pub(crate) fn are_those_of(&self, account: &Account) -> Result<()> {
        // The load's own account does not include waits or time, so these are not compared.
        let all = self.all.0.iter();
        let all = all.filter(|(name, _)| !["waits", "ticks"].contains(name));
        for (&name, &number) in all.filter(|_| self.missed == 0) {
            let did = account.get(name).map_or(0, |[did, _]| *did);
            ensure!(
                number == did,
                "{name}: the load did {account:?}, records have {:?}",
                self.all
            );
        }
        Ok(())
    }
}

/// Reads and adds up all records until the run is over and the last one has been read.
pub(crate) fn follow(tally: &Tally, ring: &RingFile, over: &Over) -> Epochs {
    let (mut epochs, mut decoder, mut done) = (Epochs::default(), Decoder::default(), 0);
    loop {
        let last = over.sleep(LOOK_MS);
        for record in since(ring, done, tally) {
            done = record.sequence;
            if let Some(snapshot) = tally.check(READS, decoded(&record, &mut decoder)) {
                tally.check(RECORDS, epochs.take(Moment::of(record.sequence, &snapshot)));
                note(&record, &snapshot, tally);
            }
        }
        if last {
            tally.did(MISSED_RECORDS, epochs.missed);
            return epochs;
        }
    }
}

/// Counts epochs and bytes, and reports the program's warnings as errors. Each snapshot contains all warnings so far,
/// so only the final one is searched for them.
fn note(record: &Record, snapshot: &Snapshot, tally: &Tally) {
    // Viewers keep only one copy of the sites, so these are not counted here.
    if let Ok((without_sites, _)) = codec::split_sites(&record.payload) {
        tally.did(KEPT_BYTES, without_sites.len() as u64);
    }
    let kind = snapshot.capture.kind;
    tally.did("epochs", u64::from(kind == CaptureKind::Closing));
    if kind == CaptureKind::Final {
        let warnings = snapshot.process.warnings.iter();
        warnings.for_each(|warning| tally.error(format!("the program says: {warning}")));
    }
}

/// Returns the records after sequence number `done`, oldest first. It is not an error if the writer overtakes the read.
fn since(ring: &RingFile, done: u64, tally: &Tally) -> Vec<Record> {
    let newest = match ring.newest() {
        Err(FormatError::Lapped { .. }) => return Vec::new(),
        other => tally.check("looks for records", other.context("the ring cannot be read")),
    };
    let Some(newest) = newest.filter(|newest| newest.sequence > done) else {
        return Vec::new();
    };
    let mut records: Vec<Record> = ring.between(done, &newest).collect();
    records.reverse();
    records.push(newest);
    records
}

fn decoded(record: &Record, decoder: &mut Decoder) -> Result<Snapshot> {
    let snapshot = decoder.decode(&record.payload)?;
    let (stamp, capture) = (record.stamp, &snapshot.capture);
    ensure!(stamp == Stamp::from(capture), "{capture:?} has {stamp:?}");
    Ok(snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a record from its sequence number, its epoch, the number of calls since the reset (`shown`), and the
    /// number since the program's start (`ever`).
    fn moment(sequence: u64, reset_epoch: u64, kind: CaptureKind, shown: u64, ever: u64) -> Moment {
        let shown = shown as i64;
        let counted = ["calls", "started", "ended"].map(|name| (name, shown));
        let numbers = counted.into_iter().chain([("ticks", 10 * shown)]).collect();
        Moment {
            sequence,
            capture: CaptureInfo {
                seq: sequence,
                reset_epoch,
                kind,
                mode: Mode::Exact,
                ..Snapshot::default().capture
            },
            lifetime: [ever as i64, 10 * ever as i64],
            numbers: Numbers(numbers),
        }
    }

    /// Turns a record into one that follows an undo, which made the epoch `withdraws` continue.
    fn undone(moment: Moment, withdraws: u64) -> Moment {
        let mut moment = moment;
        moment.capture.withdraws = Some(withdraws);
        moment
    }

    fn take(moments: &[Moment]) -> (Result<(), String>, u64) {
        let mut epochs = Epochs::default();
        let mut moments = moments.iter();
        let taken = moments.try_for_each(|moment| epochs.take(moment.clone()));
        (taken.map_err(|why| format!("{why:#}")), epochs.missed)
    }

    #[test]
    fn epochs_add_up_over_resets_and_undos_and_what_does_not_is_told() {
        let (open, closing) = (CaptureKind::Periodic, CaptureKind::Closing);
        let moments = [
            moment(1, 0, open, 3, 3),
            moment(2, 0, closing, 5, 5),
            moment(3, 1, open, 1, 6),
            // An undo has withdrawn the reset, so epoch 0 continues.
            undone(moment(4, 2, open, 7, 7), 0),
            undone(moment(5, 2, closing, 8, 8), 0),
            moment(6, 3, open, 0, 8),
        ];
        assert_eq!(take(&moments), (Ok(()), 0));

        for (at, with, why) in [
            (2, moment(3, 1, open, 0, 6), "add up to [5, 50]"),
            (2, moment(1, 1, open, 1, 6), "cannot come after"),
            (5, moment(6, 1, open, 0, 8), "cannot come after"),
            (5, moment(6, 4, open, 0, 8), "ended unseen"),
        ] {
            let mut moments = moments.clone();
            moments[at] = with;
            let (taken, _) = take(&moments);
            assert!(
                taken.as_ref().is_err_and(|error| error.contains(why)),
                "{taken:?}"
            );
        }
        for (mode, holds) in [(Mode::Exact, false), (Mode::Adaptive, true)] {
            let mut later = [moments[0].clone(), moment(2, 0, open, 4, 4)];
            later[1].numbers.0.insert("ticks", 29);
            later[1].lifetime[1] = 29;
            later.iter_mut().for_each(|moment| moment.capture.mode = mode);
            let taken = take(&later).0;
            assert_eq!(taken.is_ok(), holds, "{mode:?}: {taken:?}");
        }
        let mut lost = moments.clone();
        lost[2].numbers.0.insert("ended", 0);
        assert!(
            take(&lost)
                .0
                .is_err_and(|error| error.contains("ended + cancelled + in flight"))
        );
        let mut fewer = [moments[0].clone(), moments[1].clone()];
        fewer[0].numbers.0.extend([("ended", 1), ("cancelled", 2)]);
        assert!(
            take(&fewer)
                .0
                .is_err_and(|error| error.contains("less was counted"))
        );
        let unseen = [moments[0].clone(), moments[3].clone()];
        assert_eq!(take(&unseen), (Ok(()), 2), "without the others nothing is known");
    }
}

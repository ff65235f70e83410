//! Counts between any two records of a run, even if there are resets, undos, lost records or broken clocks between them.
//!
//! The counts of a record start at a reset. After an undo they start at an earlier reset again, so a record can hold the counts
//! of several epochs, from [`RecordEpoch::begin`] to its own. To get all counts up to a record, a chain of records is needed:
//! this record, the last record of the epoch before its first epoch, and so on. The counts between two records are the difference
//! between their chains, which have most records in common.
//!
//! When a clock breaks, a new reset epoch begins that cannot be undone. So if the counts of two records start at the same epoch,
//! their ticks come from the same clock.

use std::borrow::Cow;

use tickscope_format::snapshot::{CaptureInfo, CaptureKind, Snapshot};

use crate::merge::sum;
use crate::window::less;

/// The epochs whose counts a record holds. They can be read without decoding the rows of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordEpoch {
    /// Reset epoch of the record.
    pub reset_epoch: u64,
    /// If an undo began the record's own epoch, the earlier epoch at which the record's counts start. `None` if a reset began it.
    pub withdraws: Option<u64>,
    /// Why the record was written.
    pub kind: CaptureKind,
}

/// Where a record's counts start, relative to an earlier record of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The counts of both records start at the same reset, so their difference covers the time between the two records.
    Same,
    /// There was a reset between the records, so everything in the later record was counted after the earlier record.
    Later,
    /// There was an undo between the records, so the later record also holds counts from before the earlier record.
    Earlier,
}

impl RecordEpoch {
    /// Returns the reset epoch at which the record's counts start.
    pub fn begin(self) -> u64 {
        self.withdraws.unwrap_or(self.reset_epoch)
    }

    /// Returns where this record's counts start, relative to an earlier record.
    pub fn origin(self, earlier: Self) -> Origin {
        match self.begin() {
            begin if begin == earlier.begin() => Origin::Same,
            begin if begin > earlier.reset_epoch => Origin::Later,
            _ => Origin::Earlier,
        }
    }
}

impl From<&CaptureInfo> for RecordEpoch {
    fn from(capture: &CaptureInfo) -> Self {
        Self {
            reset_epoch: capture.reset_epoch,
            withdraws: capture.withdraws,
            kind: capture.kind,
        }
    }
}

/// The last record that holds the counts of some consecutive epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link<T> {
    /// First epoch whose counts the record holds.
    pub begin: u64,
    /// Last epoch whose counts the record holds.
    pub epoch: u64,
    /// Whether the record closed its last epoch.
    pub is_end: bool,
    /// Whether the previous link ends exactly where this one starts, so that no counts are missing between them. For the first
    /// link, whether it starts with epoch 0.
    pub follows: bool,
    /// Position of this record among all records that the series has taken, counted from 1.
    pub number: u64,
    /// The counts of these epochs.
    pub counts: T,
}

/// The records that together hold all counts of a run, up to the newest record.
#[derive(Clone, Debug)]
pub struct Series<T> {
    /// Links in ascending order of `begin`. The newest record is last.
    links: Vec<Link<T>>,
    taken: u64,
}

/// The counts to add and to subtract to get the counts between two records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms<T> {
    /// Counts to add, oldest first.
    pub plus: Vec<T>,
    /// Counts to subtract, oldest first. The first element of `plus` contains all of them.
    pub minus: Vec<T>,
    /// Whether the closing record of an epoch is missing, so that counts from the end of that epoch are not included.
    pub unclosed: bool,
    /// Whether an undo restored counts from before the earlier record that cannot be separated from the others and so are
    /// included too.
    pub more: bool,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl<T> Series<T> {
    /// Returns a series that starts out with these links.
    pub fn of(links: Vec<Link<T>>) -> Self {
        let taken = links.iter().map(|link| link.number).max().unwrap_or(0);
        Self { links, taken }
    }

    /// Returns the links; the newest record is last.
    pub fn links(&self) -> &[Link<T>] {
        &self.links
    }

    /// Returns the newest record.
    pub fn newest(&self) -> Option<&Link<T>> {
        self.links.last()
    }

    /// Adds the next record to the series. Returns false if counts from before the record's first epoch are lost.
    pub fn take(&mut self, record: RecordEpoch, counts: T) -> bool {
        let holds = |link: &&Link<T>| link.begin < record.begin() && record.begin() <= link.epoch;
        // After a second undo, older collectors recorded that the counts start at the epoch of the first undo, although the
        // counts of that epoch start even earlier.
        let held = self.links.iter().find(holds);
        let begin = held.map_or(record.begin(), |link| link.begin);
        let mut before = None;
        // The new record holds the counts of these links too, so it replaces them.
        while let Some(held) = self.links.pop_if(|link| link.begin >= begin) {
            before = (held.begin == begin).then_some(held.follows);
        }
        let below = self.links.last();
        let is_end_of_before = |below: &Link<T>| below.is_end && below.epoch.saturating_add(1) == begin;
        let follows = before.unwrap_or_else(|| below.map_or(begin == 0, is_end_of_before));
        let is_lost = !follows && before.is_none() && below.is_some();
        self.taken += 1;
        self.links.push(Link {
            begin,
            epoch: record.reset_epoch,
            is_end: record.kind == CaptureKind::Closing,
            follows,
            number: self.taken,
            counts,
        });
        !is_lost
    }

    /// Returns the series up to the last record before `epoch`.
    pub fn before(&self, epoch: u64) -> Self
    where
        T: Clone,
    {
        let links = self.links.iter().take_while(|link| link.epoch < epoch);
        Self::of(links.cloned().collect())
    }

    /// Joins the oldest links until at most `most` remain. At least 3 links are kept, because an undo replaces the newest two.
    pub fn join_oldest(&mut self, most: usize, join: impl Fn(&T, &T) -> T) {
        while self.links.len() > most.max(3) {
            let oldest = self.links.remove(0);
            let next = &mut self.links[0];
            next.counts = join(&oldest.counts, &next.counts);
            (next.begin, next.follows) = (oldest.begin, oldest.follows);
        }
    }

    /// Returns the terms for the counts since `earlier`, which is an earlier state of this series. If `earlier` is empty, the
    /// terms cover all counts.
    pub fn since<'a>(&'a self, earlier: &'a Self) -> Terms<&'a T> {
        let (links, old) = (&self.links[..], &earlier.links[..]);
        let shared = links.iter().enumerate().rev().find_map(|(at, link)| {
            let then = old.binary_search_by_key(&link.begin, |link| link.begin).ok()?;
            Some((at, then))
        });
        let (mut plus, mut minus) = shared.map_or((links, old), |(now, then)| (&links[now..], &old[then..]));
        // If a link does not follow the previous one, counts are missing from `plus` or `minus`.
        let lost = |links: &[Link<T>]| links.iter().any(|link| !link.follows);
        let above = usize::from(shared.is_some());
        let (mut unclosed, mut more) = (lost(&plus[above..]), lost(&minus[above..]));
        match shared {
            // The earlier record closed the epoch that both chains share, so the shared counts cancel out.
            Some(_) if plus[0].number == minus[0].number && plus.len() > 1 => {
                (plus, minus) = (&plus[1..], &minus[1..]);
            }
            Some(_) => {}
            None if old.is_empty() => {}
            // No link has the same begin, so an undo has merged epochs. The first link then also holds counts from before
            // anything in `earlier`.
            None => (unclosed, more) = (lost(links.get(1..).unwrap_or_default()), true),
        }
        let counts = |links: &'a [Link<T>]| links.iter().map(|link| &link.counts).collect();
        Terms {
            plus: counts(plus),
            minus: counts(minus),
            unclosed,
            more,
        }
    }
}

/// Returns the terms for the counts between two records of one run. `from`, `to` and the terms are indices into `records`.
pub fn terms(records: impl IntoIterator<Item = RecordEpoch>, from: usize, to: usize) -> Terms<usize> {
    let mut series = Series::default();
    let mut earlier = Series::default();
    for (at, record) in records.into_iter().enumerate().take(to.saturating_add(1)) {
        series.take(record, at);
        if at == from {
            earlier = series.clone();
        }
    }
    series.since(&earlier).map(|&at| at)
}

impl<T> Terms<T> {
    /// Converts each of the counts with `of`.
    pub fn map<U>(self, of: impl Fn(T) -> U) -> Terms<U> {
        Terms {
            plus: self.plus.into_iter().map(&of).collect(),
            minus: self.minus.into_iter().map(&of).collect(),
            unclosed: self.unclosed,
            more: self.more,
        }
    }
}

/// Returns the sum of the snapshots `plus` minus the sum of the snapshots `minus`, as a window.
pub fn counts(plus: &[&Snapshot], minus: &[&Snapshot]) -> Snapshot {
    Snapshot {
        window: true,
        ..difference(plus, minus)
    }
}

fn difference(plus: &[&Snapshot], minus: &[&Snapshot]) -> Snapshot {
    let (Some((&first, rest)), Some(last)) = (plus.split_first(), minus.last()) else {
        return sum(plus);
    };
    let before = match minus {
        &[one] => Cow::Borrowed(one),
        several => Cow::Owned(sum(several)),
    };
    let since = match last.clock.epoch == first.clock.epoch {
        true => less(first, &before),
        // `before` was joined from links with different clocks. Adding `first` and subtracting it again converts `before` to the
        // ticks of `first`.
        false => less(first, &less(&sum(&[&before, first]), first)),
    };
    if rest.is_empty() {
        return since;
    }
    sum(&[&[&since], rest].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_testkit::fixture;

    use super::*;

    /// Duration of a call in ticks of the first clock. Each clock that replaces a broken one runs at half the rate.
    const CALL: u64 = 1 << 10;

    /// A step that a program takes. A reader may miss its record.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Calls(u64),
        Reset,
        Undo,
        ClockBreaks,
    }

    fn any_step() -> impl Strategy<Value = (Step, bool)> {
        let step = prop_oneof![
            4 => (1u64..8).prop_map(Step::Calls),
            2 => Just(Step::Reset),
            2 => Just(Step::Undo),
            1 => Just(Step::ClockBreaks),
        ];
        (step, prop::bool::weighted(0.7))
    }

    /// A program that counts the calls of a single row. `ever` is the number of all calls so far, regardless of resets.
    #[derive(Clone, Debug, Default)]
    struct Program {
        epoch: u64,
        withdraws: Option<u64>,
        counted: u64,
        /// The first epoch and the counts from before the last reset, which an undo restores.
        before_reset: Option<(u64, u64)>,
        clock: u32,
        ever: u64,
    }

    /// A record seen by a reader, with the true number of calls at that moment.
    #[derive(Clone, Debug)]
    struct Seen {
        epoch: RecordEpoch,
        snapshot: Snapshot,
        ever: u64,
    }

    impl Program {
        fn record(&self, kind: CaptureKind) -> Seen {
            let mut snapshot = fixture::recursion();
            snapshot.capture.reset_epoch = self.epoch;
            snapshot.capture.withdraws = self.withdraws;
            snapshot.capture.kind = kind;
            snapshot.clock.epoch = self.clock;
            snapshot.clock.ticks_per_second = (CALL >> self.clock) as f64;
            snapshot.nodes.calls.fill(0);
            snapshot.nodes.self_ticks.fill(0);
            snapshot.nodes.calls[1] = self.counted;
            snapshot.nodes.self_ticks[1] = (CALL >> self.clock) * self.counted;
            Seen {
                epoch: RecordEpoch::from(&snapshot.capture),
                snapshot,
                ever: self.ever,
            }
        }

        fn step(&mut self, step: Step) -> Option<Seen> {
            match step {
                Step::Calls(calls) => {
                    self.counted += calls;
                    self.ever += calls;
                    return Some(self.record(CaptureKind::Periodic));
                }
                Step::Undo => {
                    let (begin, counted) = self.before_reset.take()?;
                    self.counted += counted;
                    self.withdraws = Some(begin);
                    self.epoch += 1;
                    return None;
                }
                Step::Reset | Step::ClockBreaks => {}
            }
            let closing = self.record(CaptureKind::Closing);
            self.before_reset = Some((closing.epoch.begin(), self.counted));
            (self.counted, self.withdraws) = (0, None);
            self.epoch += 1;
            if matches!(step, Step::ClockBreaks) && self.clock < 9 {
                self.clock += 1;
                self.before_reset = None;
            }
            Some(closing)
        }
    }

    fn seen(steps: &[(Step, bool)]) -> Vec<Seen> {
        let mut program = Program::default();
        let mut seen: Vec<Seen> = Vec::new();
        for &(step, is_seen) in steps {
            let record = program.step(step);
            seen.extend(record.filter(|_| is_seen));
        }
        seen.push(program.record(CaptureKind::Final));
        seen
    }

    /// Returns the number of calls in a window, after checking that its ticks agree with it.
    fn calls(terms: Terms<&Snapshot>) -> u64 {
        let window = counts(&terms.plus, &terms.minus);
        assert!(window.window);
        let got = window.measured_ticks();
        assert_eq!(got, (CALL >> window.clock.epoch) * window.calls());
        window.calls()
    }

    #[test]
    fn an_undo_of_an_older_collector_counts_once() {
        let mut series = Series::default();
        let mut take = |reset_epoch, withdraws, kind, calls: u64| {
            let record = RecordEpoch {
                reset_epoch,
                withdraws,
                kind,
            };
            assert!(series.take(record, calls));
            series.links().iter().map(|link| link.counts).sum::<u64>()
        };
        assert_eq!(take(0, None, CaptureKind::Closing, 5), 5);
        assert_eq!(take(2, Some(0), CaptureKind::Closing, 12), 12);
        assert_eq!(take(3, None, CaptureKind::Periodic, 1), 13);
        // The undo restored epoch 2, whose counts start at epoch 0.
        assert_eq!(take(4, Some(2), CaptureKind::Periodic, 14), 14);
    }

    proptest! {
        /// The counts between any two records agree with the true number of calls. If records are lost, the terms tell whether
        /// the counts may be too low or too high.
        #[test]
        fn nothing_is_lost_and_nothing_counts_twice(steps in prop::collection::vec(any_step(), 1..40), most in 3usize..6) {
            let seen = seen(&steps);
            let is_whole = steps.iter().all(|&(_, is_seen)| is_seen);
            let (mut all, mut bounded) = (vec![Series::default()], vec![Series::default()]);
            for record in &seen {
                let (mut series, mut few) = (all[all.len() - 1].clone(), bounded[bounded.len() - 1].clone());
                prop_assert!(series.take(record.epoch, &record.snapshot) || !is_whole);
                few.take(record.epoch, record.snapshot.clone());
                few.join_oldest(most, |one, other| sum(&[one, other]));
                prop_assert!(few.links().len() <= most);
                all.push(series);
                bounded.push(few);
            }
            for (to, later) in (1..).zip(&seen) {
                for (from, earlier) in (1..).zip(&seen[..to - 1]) {
                    let wanted = later.ever - earlier.ever;
                    let terms = all[to].since(&all[from]);
                    let (unclosed, more) = (terms.unclosed, terms.more);
                    let found = calls(terms.map(|&counts| counts));
                    prop_assert!(found >= wanted || unclosed, "{} to {}: {} of {}", from, to, found, wanted);
                    prop_assert!(found <= wanted || more, "{} to {}: {} of {}", from, to, found, wanted);
                    if is_whole {
                        prop_assert!(!unclosed && !more);
                        prop_assert_eq!(calls(bounded[to].since(&bounded[from])), wanted);
                    }
                    let (now, then) = (later.snapshot.calls(), earlier.snapshot.calls());
                    match later.epoch.origin(earlier.epoch) {
                        Origin::Same => prop_assert_eq!(now - then, wanted),
                        Origin::Later => prop_assert!(now <= wanted),
                        Origin::Earlier => prop_assert!(later.epoch.withdraws.is_some()),
                    }
                }
                let ever = all[to].since(&all[0]);
                let found: u64 = ever.plus.iter().map(|snapshot| snapshot.calls()).sum();
                prop_assert!(ever.minus.is_empty() && !ever.more);
                prop_assert!(found == later.ever || found < later.ever && ever.unclosed);
            }
        }
    }
}

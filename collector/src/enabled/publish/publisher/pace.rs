//! Decides how often a record is made: as often as the program and the viewers request, unless records would cost more
//! than their share of a core.

use std::time::{Duration, Instant};

use tickscope_format::layout::slot;

/// Interval of records for a viewer that has not requested another interval.
const WATCHED: Duration = Duration::from_millis(100);

/// The intervals that viewers may request, in nanoseconds. They range from 100 records a second down to one.
const WISHES: std::ops::RangeInclusive<u64> = 10_000_000..=1_000_000_000;

/// The interval is at least this many times the cost of a record, so records cost at most 1 % of a core.
const COST_SHARE: u32 = 100;

/// Replaces [`COST_SHARE`] in sampled and adaptive mode, where samples may cost as much again.
const COST_SHARE_SAMPLED: u32 = 200;

/// Replaces [`COST_SHARE`] while there are no viewers, so that records cost at most 0.1 % of a core.
const COST_SHARE_UNWATCHED: u32 = 1000;

/// Usual interval while there are no viewers. If a program requests a shorter interval, only [`COST_SHARE`] limits it,
/// as it does while there are viewers.
const UNWATCHED_USUAL: Duration = Duration::from_secs(1);

/// The longest interval that [`COST_SHARE_UNWATCHED`] can impose. It is limited because a program that is killed loses
/// the counts since its last record. If records are very expensive, [`COST_SHARE`] can still impose a longer interval.
const UNWATCHED_LONGEST: Duration = Duration::from_secs(10);

pub(super) struct Pace {
    /// The interval that the program requests.
    usual: Duration,
    /// The interval that the viewer of each slot requests.
    wishes: [Duration; slot::COUNT],
    /// The slots that have a viewer.
    watched: Vec<usize>,
    pub(super) interval: Duration,
    /// The CPU time of the most expensive of the last records.
    record_cost: Duration,
    last_record: Instant,
}

impl Pace {
    pub(super) fn new(usual: Duration) -> Self {
        Self {
            usual,
            wishes: [WATCHED; slot::COUNT],
            watched: Vec::new(),
            interval: usual,
            record_cost: Duration::ZERO,
            last_record: Instant::now(),
        }
    }

    pub(super) fn viewers(&self) -> u32 {
        self.watched.len() as u32
    }

    /// Returns the time until a record is due.
    pub(super) fn rest(&self) -> Duration {
        self.interval.saturating_sub(self.last_record.elapsed())
    }

    /// Sets the interval that the viewer of a slot requests. It applies from the next [`look`](Self::look) on.
    pub(super) fn wish(&mut self, slot: usize, ns: u64) {
        self.wishes[slot] = Duration::from_nanos(ns.clamp(*WISHES.start(), *WISHES.end()));
    }

    /// Sets the interval for the viewers of these slots. A new viewer gets a record at once.
    pub(super) fn look(&mut self, watched: Vec<usize>, takes_samples: bool) {
        let is_new = watched.len() > self.watched.len();
        self.watched = watched;
        for (slot, wish) in self.wishes.iter_mut().enumerate() {
            if !self.watched.contains(&slot) {
                *wish = WATCHED;
            }
        }
        let wishes = self.watched.iter().map(|&slot| self.wishes[slot]);
        let share = if takes_samples {
            COST_SHARE_SAMPLED
        } else {
            COST_SHARE
        };
        self.interval = wishes
            .fold(self.usual, Duration::min)
            .max(self.record_cost * share);
        if self.watched.is_empty() && self.usual >= UNWATCHED_USUAL {
            let cheap = self.record_cost * COST_SHARE_UNWATCHED;
            self.interval = self.interval.max(cheap.min(UNWATCHED_LONGEST));
        }
        if is_new {
            let due = self.last_record.checked_sub(self.interval);
            self.last_record = due.unwrap_or(self.last_record);
        }
    }

    /// Notes that a record was made, and what it cost.
    pub(super) fn note_record(&mut self, cost: Duration) {
        // An expensive record is forgotten slowly, so that the interval does not swing.
        self.record_cost = cost.max(self.record_cost * 7 / 8);
        self.last_record = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn interval(pace: &mut Pace, watched: &[usize], takes_samples: bool) -> Duration {
        pace.look(watched.to_vec(), takes_samples);
        pace.interval
    }

    #[test]
    fn the_shortest_wish_of_a_viewer_counts_while_it_watches() {
        let mut pace = Pace::new(SECOND);
        assert_eq!(interval(&mut pace, &[], false), SECOND);
        pace.wish(3, 20_000_000);
        assert_eq!(interval(&mut pace, &[0, 3], false), Duration::from_millis(20));
        assert_eq!(pace.viewers(), 2);
        // The viewer has left, so the interval that it requested does not apply.
        assert_eq!(interval(&mut pace, &[0], false), WATCHED);
        assert_eq!(interval(&mut pace, &[0, 3], false), WATCHED);
        pace.wish(3, 0);
        assert_eq!(interval(&mut pace, &[3], false), Duration::from_millis(10));
        // The program requests a shorter interval than the viewers.
        let mut pace = Pace::new(Duration::from_millis(5));
        assert_eq!(interval(&mut pace, &[0], false), Duration::from_millis(5));
    }

    #[test]
    fn expensive_records_come_rarely_and_a_new_viewer_gets_one_at_once() {
        let mut pace = Pace::new(SECOND);
        pace.note_record(Duration::from_millis(4));
        let last_record = pace.last_record;
        assert_eq!(interval(&mut pace, &[], false), SECOND * 4);
        assert_eq!(pace.last_record, last_record);
        assert_eq!(interval(&mut pace, &[0], false), Duration::from_millis(400));
        assert!(pace.rest().is_zero());
        assert_eq!(interval(&mut pace, &[0], true), Duration::from_millis(800));
        pace.note_record(Duration::ZERO);
        assert_eq!(interval(&mut pace, &[], false), Duration::from_micros(3_500_000));
        pace.note_record(SECOND);
        assert_eq!(interval(&mut pace, &[], false), SECOND * 100);
        // A program that requests more records gets them without viewers as well.
        let mut pace = Pace::new(SECOND / 2);
        pace.note_record(Duration::from_millis(4));
        assert_eq!(interval(&mut pace, &[], false), SECOND / 2);
    }
}

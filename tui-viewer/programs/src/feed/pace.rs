//! Decides when to check for the next record: shortly before it is due, but only rarely once no more records come.

use std::time::{Duration, Instant};

/// Time between two checks if the publishing rate is unknown or high. It is too short for the eye to notice.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// The first check takes place this long before a record is due, and further checks follow at this interval. It is
/// short, so that a late record is still seen soon and the checks do not fall behind the program.
const STEP: Duration = Duration::from_millis(4);

/// Time between two checks once records have stopped coming.
const SELDOM: Duration = Duration::from_millis(200);

/// Time when the last record was seen, and the interval after which the next one is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    seen: Instant,
    interval: Duration,
}

impl Pace {
    /// Returns the pace to use before the first record is seen.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            seen: now,
            interval: Duration::ZERO,
        }
    }

    /// Notes that a record was seen, and that the next one is due after `interval_ns`.
    pub(super) fn saw(&mut self, now: Instant, interval_ns: u64) {
        self.seen = now;
        self.interval = Duration::from_nanos(interval_ns);
    }

    /// Returns the longest time that may pass before the next check.
    pub(super) fn rest(&self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.seen);
        let overdue = since.saturating_sub(self.interval);
        if overdue > self.interval.saturating_mul(3).max(SELDOM * 3) {
            SELDOM
        } else if self.interval < LOOK * 2 || overdue > LOOK {
            LOOK
        } else if since + STEP < self.interval {
            // At most `SELDOM`, because another viewer may request a record before it is due.
            (self.interval - STEP - since).min(SELDOM)
        } else {
            STEP
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Simulates a viewer of a program that publishes a hundred records at this interval, each a little late. Returns
    /// the longest time from when a record was due to when it was seen, apart from the first twenty records, and the
    /// number of checks per record.
    fn watch(interval: Duration) -> (Duration, f64) {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        let (mut now, mut last, mut looks, mut latest) = (begin, 0, 0, Duration::ZERO);
        while now < begin + interval * 100 {
            // Timers fire late as well.
            now += pace.rest(now) + MS;
            looks += 1;
            let jitter = MS * (looks * 7 % 3);
            let newest = (now - begin).saturating_sub(jitter).as_millis() / interval.as_millis();
            if newest > last {
                last = newest;
                pace.saw(now, interval.as_nanos() as u64);
                let published = begin + interval * newest as u32;
                if newest > 20 {
                    latest = latest.max(now - published);
                }
            }
        }
        (latest, f64::from(looks) / 100.0)
    }

    #[test]
    fn records_are_seen_at_once_with_few_looks() {
        for (ms, most) in [(50, 4.0), (100, 4.0), (200, 5.0), (500, 8.0), (1_000, 13.0)] {
            let (late, looks) = watch(MS * ms);
            assert!(late <= MS * 10, "{ms} ms: {late:?} late");
            assert!(looks <= most, "{ms} ms: {looks} looks for each");
        }
        let (late, looks) = watch(MS * 10);
        assert!(late <= LOOK + MS * 10 && looks <= 0.5, "{late:?} {looks}");
    }

    #[test]
    fn where_nothing_comes_looks_are_rare() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        assert_eq!(pace.rest(begin), LOOK);
        pace.saw(begin, 100_000_000);
        assert_eq!(pace.rest(begin), MS * 96);
        assert_eq!(pace.rest(begin + MS * 97), STEP);
        assert_eq!(pace.rest(begin + MS * 130), LOOK);
        assert_eq!(pace.rest(begin + MS * 1_000), SELDOM);
        pace.saw(begin, 3_600_000_000_000);
        assert_eq!(pace.rest(begin), SELDOM);
    }
}

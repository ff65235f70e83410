//! When the ends of functions that were switched off are switched off as well: some time after the beginnings, so that most
//! calls that are open then end with an event.

use std::time::{Duration, Instant};

/// How long ends stay on where a rule or the mode decides: such a call may be long.
const BY_RULE: Duration = Duration::from_millis(100);

/// The same where the budget decides. Calls of such functions last microseconds, and an end that is on costs half as much as
/// the whole call did: a short program that had its ends on to its last moment paid for a third of all calls.
const BY_BUDGET: Duration = Duration::from_millis(5);

/// The time until which some ends stay on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    until: Option<Instant>,
}

impl Leaving {
    pub(crate) const fn none() -> Self {
        Self { until: None }
    }

    /// Returns whether ends have stayed on long enough.
    pub(crate) fn is_due(self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Returns how long until then; `None` if no ends wait.
    pub(crate) fn rest(self, now: Instant) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(now))
    }

    /// Notes that the ends of one more function begin to wait.
    pub(crate) fn begin(&mut self, now: Instant, by_budget: bool) {
        let until = now + if by_budget { BY_BUDGET } else { BY_RULE };
        self.until = Some(self.until.map_or(until, |before| before.max(until)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_of_all_that_leave_counts() {
        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut leaving = Leaving::none();
        assert!(leaving.rest(now).is_none() && !leaving.is_due(at(1_000_000)));
        leaving.begin(now, true);
        assert!(!leaving.is_due(at(4)) && leaving.is_due(at(5)));
        leaving.begin(at(1), false);
        leaving.begin(at(2), true);
        assert!(!leaving.is_due(at(100)) && leaving.is_due(at(101)));
        assert_eq!(leaving.rest(at(100)), Some(Duration::from_millis(1)));
        assert_eq!(leaving.rest(at(200)), Some(Duration::ZERO));
    }
}

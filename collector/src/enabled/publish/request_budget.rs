//! Limits the cost of viewers' requests. Any process that may write into the ring file can send requests without pause.
//! Each request takes CPU time, and each answer needs an extra record.

use std::time::Duration;

/// The long-term limit is 1/`SHARE` of a core: 5 %.
const SHARE: u64 = 20;

/// Maximum CPU time that accumulates while there are no requests. Normal use costs far less.
const SAVED_MOST: Duration = Duration::from_millis(250);

pub(crate) struct RequestBudget {
    /// CPU time left for requests, in nanoseconds. It is negative if the last request cost more than was left.
    left: i64,
    /// Time of the last update of `left`, on the monotonic clock in nanoseconds.
    reckoned_ns: u64,
    /// The slot whose request is carried out first.
    turn: usize,
}

impl RequestBudget {
    pub(crate) fn new(now_ns: u64) -> Self {
        Self {
            left: SAVED_MOST.as_nanos() as i64,
            reckoned_ns: now_ns,
            turn: 0,
        }
    }

    /// Returns whether another request may be carried out.
    pub(crate) fn is_left(&mut self, now_ns: u64) -> bool {
        let passed = now_ns.saturating_sub(self.reckoned_ns);
        let saved = i64::try_from(passed / SHARE).unwrap_or(i64::MAX);
        self.left = self.left.saturating_add(saved).min(SAVED_MOST.as_nanos() as i64);
        self.reckoned_ns = now_ns;
        self.left > 0
    }

    pub(crate) fn spend(&mut self, cost_ns: u64) {
        self.left = self.left.saturating_sub_unsigned(cost_ns);
    }

    /// Orders requests so that each slot gets its turn, even if the budget never suffices for all requests.
    pub(crate) fn in_turn<T>(&self, requests: &mut [T], slot: impl Fn(&T) -> usize) {
        requests.sort_by_key(|request| (slot(request) < self.turn, slot(request)));
    }

    /// Notes that a slot's request was carried out, so that the next slot is first.
    pub(crate) fn had_turn(&mut self, slot: usize) {
        self.turn = slot + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn in_the_long_run_it_is_a_twentieth_however_much_is_asked() {
        let mut budget = RequestBudget::new(0);
        let (mut spent, mut now) = (0u64, 0);
        while now < 1_000 * SECOND {
            now += SECOND / 100;
            if budget.is_left(now) {
                budget.spend(37_000_000);
                spent += 37_000_000;
            }
        }
        let share = spent as f64 / now as f64;
        assert!((0.049..0.051).contains(&share), "{share}");
    }

    #[test]
    fn what_was_not_used_is_saved_but_not_for_ever() {
        let mut budget = RequestBudget::new(0);
        assert!(budget.is_left(3_600 * SECOND));
        budget.spend(SAVED_MOST.as_nanos() as u64);
        assert!(!budget.is_left(3_600 * SECOND));
        // A clock that goes backward changes nothing.
        assert!(!budget.is_left(0));
        assert!(budget.is_left(1_000));
    }

    #[test]
    fn each_slot_has_its_turn() {
        let mut budget = RequestBudget::new(0);
        for expected in [0, 3, 9, 0] {
            let mut slots = [9, 0, 3];
            budget.in_turn(&mut slots, |&slot| slot);
            assert_eq!(slots[0], expected);
            budget.had_turn(slots[0]);
        }
    }
}

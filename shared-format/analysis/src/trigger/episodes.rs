//! Decides which of the judgements in a series call for an action.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Largest number of actions that a limit may allow.
const COUNT_MAX: usize = 1_000;

/// A rate limit: at most `count` actions within any period of length `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Maximum number of actions.
    pub count: usize,
    /// Length of the period.
    pub per: Duration,
}

/// The error for text that is not a valid limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitError;

/// Units of the period, with their length in seconds.
const PERIODS: [(&str, u64); 4] = [("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)];

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "wanted a limit, 1 to {COUNT_MAX} times a second, minute, hour or day: 1/s, 2/min, 6/h, 10/d"
        )
    }
}

impl Error for LimitError {}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let (count, unit) = text.trim().split_once('/').ok_or(LimitError)?;
        let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let count = count.parse().ok().filter(|_| is_number).ok_or(LimitError)?;
        let period = PERIODS.iter().find(|(name, _)| *name == unit);
        match period {
            Some(&(_, seconds)) if (1..=COUNT_MAX).contains(&count) => Ok(Self {
                count,
                per: Duration::from_secs(seconds),
            }),
            _ => Err(LimitError),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.per.as_secs();
        let name = PERIODS.iter().find(|(_, period)| *period == seconds);
        match name {
            Some((name, _)) => write!(f, "{}/{name}", self.count),
            None => write!(f, "{}/{seconds}s", self.count),
        }
    }
}

/// What to do after a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Do nothing: the condition is false, or the current episode has already been handled.
    Nothing,
    /// Act: the condition has become true.
    Act,
    /// Do nothing: the condition has become true, but the limit allows no action yet.
    HeldBack {
        /// Earliest time of the next action, on the same clock as the `now` of [`Episodes::step`].
        until: Duration,
    },
}

/// Groups judgements into episodes, with one action for each. An episode begins when the condition becomes true, and ends once
/// the condition has been false for the duration `rest`. If the condition is false for a shorter time, the episode goes on.
#[derive(Debug)]
pub struct Episodes {
    limit: Limit,
    rest: Duration,
    state: State,
    /// When the most recent actions happened; at most `limit.count` entries.
    acted: VecDeque<Duration>,
    held_back: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between episodes.
    Armed,
    /// In an episode; the condition was true at the last judgement.
    True,
    /// In an episode; the condition has been false since this time.
    FalseSince(Duration),
}

impl Episodes {
    /// Creates the state before the first judgement. If the first judgement is true, an action is due.
    pub fn new(limit: Limit, rest: Duration) -> Self {
        Self {
            limit,
            rest,
            state: State::Armed,
            acted: VecDeque::new(),
            held_back: 0,
        }
    }

    /// Takes the next judgement and returns what to do. `now` is the time of the judgement on a monotonic clock.
    pub fn step(&mut self, now: Duration, is_true: bool) -> Step {
        let is_over = match self.state {
            State::Armed => true,
            State::True => false,
            State::FalseSince(since) => now.saturating_sub(since) >= self.rest,
        };
        self.state = match (is_true, self.state) {
            (true, _) => State::True,
            (false, _) if is_over => State::Armed,
            (false, State::FalseSince(since)) => State::FalseSince(since),
            (false, State::Armed | State::True) => State::FalseSince(now),
        };
        if !(is_true && is_over) {
            return Step::Nothing;
        }
        if self.acted.len() == self.limit.count
            && let Some(&oldest) = self.acted.front()
        {
            let until = oldest.saturating_add(self.limit.per);
            if now < until {
                self.held_back += 1;
                return Step::HeldBack { until };
            }
            self.acted.pop_front();
        }
        self.acted.push_back(now);
        Step::Act
    }

    /// Returns the number of episodes in which the limit prevented the action.
    pub fn held_back(&self) -> u64 {
        self.held_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn episodes(limit: &str, rest_s: u32) -> Episodes {
        Episodes::new(limit.parse().unwrap(), rest_s * SECOND)
    }

    /// Returns the seconds at which an action was due. `judgements` has one character per second; `#` is true.
    fn acted(episodes: &mut Episodes, judgements: &str) -> Vec<usize> {
        let steps = judgements.chars().enumerate().map(|(second, c)| {
            let now = second as u32 * SECOND;
            (second, episodes.step(now, c == '#'))
        });
        let acts = steps.filter(|(_, step)| *step == Step::Act);
        acts.map(|(second, _)| second).collect()
    }

    #[test]
    fn what_stays_true_is_one_action_and_what_becomes_true_again_another() {
        assert_eq!(acted(&mut episodes("100/h", 1), "..####...###"), [2, 9]);
        // The condition is true at the first judgement.
        assert_eq!(acted(&mut episodes("100/h", 1), "##"), [0]);
        assert_eq!(acted(&mut episodes("100/h", 1), "......"), [0usize; 0]);
    }

    #[test]
    fn an_episode_is_over_when_it_was_false_for_a_whole_rest() {
        // The condition is false for two seconds, then for three, then for four.
        assert_eq!(acted(&mut episodes("100/h", 4), "#..#...#....#"), [0, 12]);
        // After `rest`, a single false judgement also ends the episode.
        assert_eq!(acted(&mut episodes("100/h", 4), "#.....#"), [0, 6]);
        assert_eq!(acted(&mut episodes("100/h", 4), "#.#.#.#.#.#"), [0], "flapping");
    }

    #[test]
    fn the_limit_counts_actions_in_any_stretch_of_its_length() {
        let mut held = episodes("2/min", 1);
        let at = |episodes: &mut Episodes, second: u32, is_true| episodes.step(second * SECOND, is_true);
        for (second, step) in [
            (0, Step::Act),
            (10, Step::Act),
            (20, Step::HeldBack { until: 60 * SECOND }),
            (59, Step::HeldBack { until: 60 * SECOND }),
            (60, Step::Act),
            (65, Step::HeldBack { until: 70 * SECOND }),
            (70, Step::Act),
        ] {
            assert_eq!(at(&mut held, second, true), step, "{second}");
            assert_eq!(at(&mut held, second + 1, false), Step::Nothing);
            assert_eq!(at(&mut held, second + 2, false), Step::Nothing);
        }
        assert_eq!(held.held_back(), 3);
        // If an action was held back, its episode never gets one, even if the limit would allow an action before the episode
        // ends.
        let mut long = episodes("1/min", 1);
        assert_eq!(at(&mut long, 0, true), Step::Act);
        assert_eq!(at(&mut long, 2, false), Step::Nothing);
        assert_eq!(at(&mut long, 30, true), Step::HeldBack { until: 60 * SECOND });
        assert_eq!(at(&mut long, 61, true), Step::Nothing);
    }

    #[test]
    fn limits_are_read_and_said() {
        for (text, count, seconds) in [
            ("1/s", 1, 1),
            ("2/min", 2, 60),
            ("6/h", 6, 3_600),
            ("10/d", 10, 86_400),
        ] {
            let limit: Limit = text.parse().unwrap();
            assert_eq!((limit.count, limit.per.as_secs()), (count, seconds), "{text}");
            assert_eq!(limit.to_string(), text);
        }
        for bad in [
            "", "1", "/h", "0/h", "-1/h", "+1/h", "1/m", "1/hour", "1001/s", "1.5/h",
        ] {
            assert_eq!(bad.parse::<Limit>(), Err(LimitError), "{bad}");
        }
    }
}

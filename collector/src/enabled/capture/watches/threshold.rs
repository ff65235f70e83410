//! The shortest duration for which a call of a watched function counts as slow.

use tickscope_format::latency::{Histogram, lower_edge, upper_edge};
use tickscope_format::snapshot::{Mode, Over, WatchState};

/// Minimum number of ended calls needed to tell which calls are slow.
const CALLS_LEAST: u64 = 200;

/// Maximum share of calls that may be slow. It does not apply if a fixed duration was requested as the threshold.
const SHARE_MOST: f64 = 0.02;

/// Minimum ratio between two neighbouring durations for the gap between them to count as the beginning of a tail.
const GAP_LEAST: f64 = 1.25;

/// Minimum number of calls above such a gap.
const TAIL_LEAST: u64 = 3;

/// Factor by which a threshold rises if too many calls are slow.
const RISE: f64 = 1.25;

/// A threshold and how it was determined.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Threshold {
    /// Threshold in ticks; 0 while it is unknown.
    ticks: u64,
    /// Whether the threshold was raised above the requested one because too many calls were slow.
    is_raised: bool,
    has_no_tail: bool,
    /// Number of typical and slow calls when the share of slow calls was last checked.
    compared: (u64, u64),
}

impl Threshold {
    pub(super) fn ticks(self) -> u64 {
        self.ticks
    }

    /// Returns the initial threshold, before any call has ended: a requested duration, or 0.
    pub(super) fn of(over: Over, ticks_per_second: f64) -> Self {
        let ticks = match over {
            Over::Ns(ns) => ((ns as f64 * ticks_per_second / 1e9) as u64).max(1),
            Over::Tail | Over::P99 | Over::P999 => 0,
        };
        Self {
            ticks,
            ..Self::default()
        }
    }

    /// Returns the threshold to continue with after the counts of calls were reset.
    pub(super) fn after_reset(self) -> Self {
        Self {
            compared: (0, 0),
            ..self
        }
    }

    /// Adjusts the threshold to the durations of the calls, and to the number of typical and slow calls so far.
    pub(super) fn update(
        &mut self,
        over: Over,
        durations: &Histogram,
        calls: (u64, u64),
        (mode, histograms): (Mode, bool),
        ticks_per_second: f64,
    ) -> WatchState {
        if !mode.charges_time() || mode.is_sampling() {
            self.ticks = 0;
            return WatchState::NoTime;
        }
        if matches!(over, Over::Ns(_)) {
            *self = Self::of(over, ticks_per_second);
            return WatchState::Watching;
        }
        if !histograms {
            return WatchState::NoHistograms;
        }
        let ended = durations.count();
        if ended < CALLS_LEAST {
            return match self.ticks {
                0 => WatchState::Learning(ended),
                _ => self.state(),
            };
        }
        let (wanted, has_tail) = wanted(over, durations);
        self.has_no_tail = !has_tail;
        self.ticks = match self.ticks {
            0 => wanted,
            // The threshold moves only a quarter of the way each time, so that a short burst of unusual calls does not
            // move it far.
            ticks if !self.is_raised => (ticks - ticks / 4).saturating_add(wanted / 4).max(1),
            ticks => ticks.max(wanted),
        };
        let (typical, slow) = (
            calls.0.saturating_sub(self.compared.0),
            calls.1.saturating_sub(self.compared.1),
        );
        if typical + slow >= CALLS_LEAST {
            self.compared = calls;
            let share = slow as f64 / (typical + slow) as f64;
            if share > SHARE_MOST {
                self.ticks = (self.ticks as f64 * RISE) as u64;
                self.is_raised = true;
            } else if share < SHARE_MOST / 4.0 {
                self.is_raised = false;
            }
        }
        self.state()
    }

    fn state(self) -> WatchState {
        if self.is_raised {
            WatchState::Raised
        } else if self.has_no_tail {
            WatchState::NoTail
        } else {
            WatchState::Watching
        }
    }
}

/// Returns the threshold that `over` requests, and whether there is a tail above it.
fn wanted(over: Over, durations: &Histogram) -> (u64, bool) {
    let quantile = |share: f64| durations.quantile(share).unwrap_or(0).max(1);
    if let Some(share) = over.share() {
        return (quantile(1.0 - share), true);
    }
    let twice_the_median = quantile(0.5).saturating_mul(2);
    let least = quantile(0.98).max(twice_the_median);
    let p90 = quantile(0.9);
    let behind_least = TAIL_LEAST.max(durations.count() / 1000);
    let mut widest = None;
    let mut behind = durations.count();
    for pair in durations.buckets.windows(2) {
        let [(below, count), (above, _)] = [pair[0], pair[1]];
        behind = behind.saturating_sub(count);
        let (end, begin) = (upper_edge(below.into()), lower_edge(above.into()));
        let width = begin as f64 / end.max(1) as f64;
        let is_wider = widest.is_none_or(|(known, _)| width > known);
        if end >= p90 && begin >= least && behind >= behind_least && width >= GAP_LEAST && is_wider {
            widest = Some((width, begin));
        }
    }
    match widest {
        Some((_, begin)) => (begin, true),
        None => {
            let p99 = quantile(0.99);
            (p99, p99 >= twice_the_median.max(p90 + p90 / 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(groups: &[(u64, u64)]) -> Histogram {
        let mut durations = Histogram::default();
        for &(ticks, count) in groups {
            for number in 0..count {
                durations.insert(ticks + ticks * (number % 10) / 50);
            }
        }
        durations
    }

    fn update(threshold: &mut Threshold, over: Over, durations: &Histogram, calls: (u64, u64)) -> WatchState {
        threshold.update(over, durations, calls, (Mode::Exact, true), 1e9)
    }

    #[test]
    fn the_tail_begins_behind_the_widest_gap_and_not_before_a_single_call() {
        let tail = |groups: &[(u64, u64)]| wanted(Over::Tail, &of(groups));
        // One call in 200 is slow, and one call of 10 000 is slower still.
        let (ticks, has_tail) = tail(&[(1_000, 9_950), (8_000, 49), (90_000, 1)]);
        assert!(has_tail && (7_000..=8_000).contains(&ticks), "{ticks}");
        // The gap between the two groups is at the median, not within the slowest tenth of the calls.
        let (ticks, has_tail) = tail(&[(1_000, 5_000), (30_000, 5_000)]);
        assert!(!has_tail && ticks >= 30_000, "{ticks}");
        let (ticks, has_tail) = tail(&[(1_000, 10_000)]);
        assert!(!has_tail && (1_000..1_300).contains(&ticks), "{ticks}");
    }

    #[test]
    fn a_threshold_needs_calls_moves_slowly_and_rises_where_too_many_are_slow() {
        let mut threshold = Threshold::default();
        let few = of(&[(1_000, 199)]);
        let state = update(&mut threshold, Over::P99, &few, (0, 0));
        assert_eq!((state, threshold.ticks()), (WatchState::Learning(199), 0));
        let state = update(&mut threshold, Over::Ns(500), &few, (0, 0));
        assert_eq!((state, threshold.ticks()), (WatchState::Watching, 500));
        let mut threshold = Threshold::default();
        let calls = of(&[(1_000, 990), (5_000, 20)]);
        update(&mut threshold, Over::P99, &calls, (0, 0));
        let first = threshold.ticks();
        assert!((4_500..6_500).contains(&first), "{first}");
        let slower = of(&[(10_000, 990), (50_000, 20)]);
        update(&mut threshold, Over::P99, &slower, (0, 0));
        let before = threshold.ticks();
        assert!((first..20_000).contains(&before), "{before}");
        let state = update(&mut threshold, Over::P99, &slower, (300, 100));
        assert!(state == WatchState::Raised && threshold.ticks() > before);
        let state = update(&mut threshold, Over::P99, &slower, (1_300, 101));
        assert_eq!(state, WatchState::Watching, "few are slow again");
    }

    #[test]
    fn without_times_or_histograms_it_says_so() {
        let mut threshold = Threshold::default();
        let calls = of(&[(1_000, 500)]);
        let mut state =
            |over, mode, histograms| threshold.update(over, &calls, (0, 0), (mode, histograms), 1e9);
        assert_eq!(state(Over::P99, Mode::Sampled, true), WatchState::NoTime);
        assert_eq!(state(Over::Ns(5), Mode::Off, true), WatchState::NoTime);
        assert_eq!(state(Over::P99, Mode::Exact, false), WatchState::NoHistograms);
        assert_eq!(state(Over::Ns(5), Mode::Exact, false), WatchState::Watching);
    }
}

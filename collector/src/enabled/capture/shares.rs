//! Combines two estimates of how time is shared out: timed calls, and samples of where the thread is.
//!
//! The cost of reading the clock distorts the timing of calls that are short or wait for memory. Sampling does not slow down
//! the code with clock reads, but has random errors, and errors at the borders of very short calls. Each part of a call (its
//! own time, and each call in it) gets the mean of the two estimates, weighted by the inverse of their variances. The
//! uncertainty of the clock counts as an error of timed calls. From the outermost calls inward, the parts of each call are then
//! adjusted so that they add up to the call's time. The part with the largest variance is adjusted most.

use crate::enabled::capture::baseline::Baseline;
use crate::enabled::capture::estimate::{Estimated, border_ticks};
use crate::enabled::capture::row::{Epoch, Row};

/// Minimum number of samples. Fewer samples tell too little and are not used.
const SAMPLES_LEAST: f64 = 30.0;

/// A part of a call: its estimated share of the call's time, and the variance of that estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    share: f64,
    variance: f64,
}

impl Part {
    /// Returns the mean of two estimates of a part, weighted by the inverse of their variances.
    fn with(self, other: Self) -> Self {
        let both = self.variance + other.variance;
        if both <= 0.0 {
            return self;
        }
        Self {
            share: (self.share * other.variance + other.share * self.variance) / both,
            variance: self.variance * other.variance / both,
        }
    }
}

/// Combines the times of rows, which come from timed calls, with samples. Each call's time remains the sum of its
/// parts, and the total time of each thread does not change.
pub(crate) fn with_samples(rows: &[Row], baseline: &Baseline, epoch: &Epoch, estimated: &mut [Estimated]) {
    let period = epoch.period_ticks.max(1.0);
    let mut found: Vec<f64> = (0..rows.len())
        .map(|index| baseline.shown(index).found as f64 / period)
        .collect();
    if rows.is_empty() || found.iter().sum::<f64>() < SAMPLES_LEAST {
        return;
    }
    // Goes from the innermost calls outward, so that a row passes on to its callees only its own samples, and none that it is
    // given by its caller.
    for index in (1..rows.len())
        .rev()
        .filter(|&index| !rows[index].kind.is_counter())
    {
        let parent = rows[index].parent as usize;
        let callees = baseline.shown(index).calls as f64 * epoch.callees_ticks / period;
        let moved = callees.min(found[parent]);
        found[parent] -= moved;
        found[index] += moved;
    }
    // The ticks and samples of each row, including all rows below it.
    let mut ticks: Vec<u64> = estimated.iter().map(|row| row.ticks).collect();
    let mut samples = found.clone();
    let doubt = |index: usize| baseline.shown(index).calls as f64 * epoch.doubt_ticks;
    let mut doubt_below = vec![0.0; rows.len()];
    let borders = border_ticks(rows, baseline, epoch);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for index in (1..rows.len())
        .rev()
        .filter(|&index| !rows[index].kind.is_counter())
    {
        let parent = rows[index].parent as usize;
        ticks[parent] = ticks[parent].saturating_add(ticks[index]);
        samples[parent] += samples[index];
        doubt_below[parent] += doubt(index);
        children[parent].push(index);
    }
    let before: Vec<u64> = estimated.iter().map(|row| row.ticks).collect();
    // The final total ticks of each row, and the error of that total.
    let mut has = vec![(0_u64, 0.0); rows.len()];
    has[0].0 = ticks[0];
    for index in (0..rows.len()).filter(|&index| !rows[index].kind.is_counter()) {
        let (all, all_error) = has[index];
        let (whole, count) = (ticks[index].max(1) as f64, samples[index]);
        let part = |ticks: u64, error: f64, doubt: f64, found: f64, border: f64| {
            let timed = Part {
                share: ticks as f64 / whole,
                // A share cannot be off by more than 1.
                variance: ((error * error + doubt * doubt) / (whole * whole)).min(1.0),
            };
            if count < SAMPLES_LEAST {
                timed
            } else {
                timed.with(sampled(found, count, border / whole))
            }
        };
        let own = estimated[index];
        let [_, border_below] = borders[index];
        let mut parts = vec![part(
            own.ticks,
            own.self_error,
            doubt_below[index],
            found[index],
            border_below,
        )];
        parts.extend(children[index].iter().map(|&child| {
            part(
                ticks[child],
                estimated[child].total_error,
                doubt(child),
                samples[child],
                borders[child][0],
            )
        }));
        reconcile(&mut parts);
        let error = |part: &Part| (part.variance.sqrt() * all as f64).hypot(part.share * all_error);
        let mut left = all;
        for (&child, part) in children[index].iter().zip(&parts[1..]) {
            let child_has = ((part.share * all as f64) as u64).min(left);
            left -= child_has;
            has[child] = (child_has, error(part));
            estimated[child].total_error = error(part);
        }
        // Time may move from outside of all scopes into rows, but never back.
        if index == 0
            && left > own.ticks
            && let Some(most) = children[index].iter().copied().max_by_key(|&child| has[child].0)
        {
            has[most].0 += left - own.ticks;
            left = own.ticks;
        }
        estimated[index].ticks = left;
        estimated[index].self_error = error(&parts[0]);
    }
    move_off_cpu(&before, estimated);
}

/// Moves off-CPU time from rows that have lost ticks to rows that have gained ticks, in proportion.
fn move_off_cpu(before: &[u64], estimated: &mut [Estimated]) {
    let mut lost = [0_u64; 2];
    let mut gained = 0_u64;
    for (row, &before) in estimated.iter_mut().zip(before) {
        gained = gained.saturating_add(row.ticks.saturating_sub(before));
        if row.ticks < before {
            let left = row.ticks as f64 / before as f64;
            for (off, lost) in row.off_cpu.iter_mut().zip(&mut lost) {
                let stays = (*off as f64 * left) as u64;
                *lost = lost.saturating_add(off.saturating_sub(stays));
                *off = stays;
            }
        }
    }
    for (row, &before) in estimated.iter_mut().zip(before) {
        let part = row.ticks.saturating_sub(before) as f64 / gained.max(1) as f64;
        for (off, lost) in row.off_cpu.iter_mut().zip(lost) {
            *off = off.saturating_add((lost as f64 * part) as u64);
        }
    }
}

/// Returns the share of a part that contains `found` of `count` samples. Up to `border` of that share may belong to
/// other parts. One extra sample is added, half of it here and half elsewhere, so that no share is certain.
fn sampled(found: f64, count: f64, border: f64) -> Part {
    let share = (found + 0.5) / (count + 1.0);
    Part {
        share,
        variance: share * (1.0 - share).max(0.0) / (count + 1.0) + border * border,
    }
}

/// Makes parts add up to 1, by spreading the difference over them in proportion to their variances.
fn reconcile(parts: &mut [Part]) {
    for _ in 0..4 {
        let left = 1.0 - parts.iter().map(|part| part.share).sum::<f64>();
        let variance: f64 = parts
            .iter()
            .filter(|part| part.share > 0.0)
            .map(|part| part.variance)
            .sum();
        if left.abs() < 1e-12 {
            return;
        }
        for part in parts.iter_mut().filter(|part| part.share > 0.0) {
            let weight = if variance > 0.0 {
                part.variance / variance
            } else {
                0.0
            };
            part.share = (part.share + left * weight).max(0.0);
        }
        if variance <= 0.0 {
            break;
        }
    }
    let sum: f64 = parts.iter().map(|part| part.share).sum();
    for part in parts.iter_mut() {
        part.share = if sum > 0.0 { part.share / sum } else { 0.0 };
    }
    if sum <= 0.0
        && let Some(own) = parts.first_mut()
    {
        own.share = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::enabled::capture::baseline::Counts;

    fn row(parent: u32) -> Row {
        Row {
            parent,
            ..Row::default()
        }
    }

    /// Combines rows. For each row, `of` has its calls, its ticks according to the timed calls, and its samples of 100
    /// ticks each. In each call, `doubt_ticks` are uncertain, and `callees_ticks` were charged to the caller.
    fn combined(
        rows: &[Row],
        of: &[(u64, u64, u64)],
        [doubt_ticks, callees_ticks]: [f64; 2],
    ) -> Vec<Estimated> {
        let mut baseline = Baseline::default();
        let counts = of.iter().map(|&(calls, ticks, samples)| Counts {
            calls,
            ticks,
            timed: calls,
            found: 100 * samples,
            ..Counts::default()
        });
        baseline.show(&counts.collect::<Vec<_>>(), &[], None);
        let epoch = Epoch {
            period_ticks: 100.0,
            doubt_ticks,
            callees_ticks,
            ..Epoch::default()
        };
        let mut estimated: Vec<Estimated> = of
            .iter()
            .map(|&(calls, ticks, _)| Estimated {
                ticks,
                timed: calls,
                ..Estimated::default()
            })
            .collect();
        with_samples(rows, &baseline, &epoch, &mut estimated);
        estimated
    }

    fn ticks(estimated: &[Estimated]) -> Vec<u64> {
        estimated.iter().map(|row| row.ticks).collect()
    }

    #[test]
    fn long_calls_are_what_the_clock_says_and_short_ones_what_samples_say() {
        // `frame` is called twice, and calls `a` a million times.
        let rows = [row(0), row(0), row(1)];
        let of = [(0, 0, 100), (2, 500_000, 300), (1_000_000, 500_000, 600)];
        let combined = combined(&rows, &of, [30.0, 0.0]);
        let found = ticks(&combined);
        // `frame` has 900 of 1 000 samples, but its timed calls leave no doubt that it has all the time.
        assert_eq!(found[0], 0);
        assert_eq!(found.iter().sum::<u64>(), 1_000_000);
        // `a` has two thirds of the samples in `frame`, and its share is known to within 1.6 percentage points.
        assert!((650_000..680_000).contains(&found[2]), "{found:?}");
        assert!(
            (10_000.0..20_000.0).contains(&combined[2].self_error),
            "{combined:?}"
        );
    }

    #[test]
    fn what_stands_in_front_of_a_scope_is_the_callees() {
        // `frame` calls `a` 1 000 times. In each call 20 ticks pass before the scope begins, so 200 of the 500 samples of
        // `frame` belong to `a`.
        let rows = [row(0), row(0), row(1)];
        let of = [(0, 0, 0), (1, 50_000, 500), (1_000, 50_000, 500)];
        let sure = |callees_ticks| ticks(&combined(&rows, &of, [1e6, callees_ticks]))[2];
        assert!((49_000..51_000).contains(&sure(0.0)), "{}", sure(0.0));
        assert!((69_000..71_000).contains(&sure(20.0)), "{}", sure(20.0));
    }

    #[test]
    fn few_samples_change_nothing() {
        let rows = [row(0), row(0), row(1)];
        let of = [(0, 5, 0), (2, 10, 9), (1_000, 20, 20)];
        assert_eq!(ticks(&combined(&rows, &of, [30.0, 0.0])), [5, 10, 20]);
    }

    proptest! {
        #[test]
        fn the_sum_stays_and_no_time_is_taken_for_outside(
            nodes in proptest::collection::vec((any::<u32>(), 0u64..1000, 0u64..1_000_000, 0u64..500), 1..40),
            doubt in 0.0..50.0f64,
        ) {
            let rows: Vec<Row> = nodes
                .iter()
                .enumerate()
                .map(|(index, &(parent, ..))| row(parent % index.max(1) as u32))
                .collect();
            let of: Vec<(u64, u64, u64)> = nodes
                .iter()
                .map(|&(_, calls, ticks, samples)| (calls, ticks, samples))
                .collect();
            let combined = combined(&rows, &of, [doubt, 0.0]);
            let before: u64 = of.iter().map(|of| of.1).sum();
            prop_assert_eq!(ticks(&combined).iter().sum::<u64>(), before);
            prop_assert!(rows.len() == 1 || combined[0].ticks <= of[0].1);
            prop_assert!(combined.iter().all(|row| row.self_error.is_finite() && row.total_error.is_finite()));
        }
    }
}

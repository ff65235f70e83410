//! The rank test for times. It tells whether the runs after a change are slower than those before it, or differ only by chance.
//!
//! The test was published by Mann and Whitney, "On a test of whether one of two random variables is stochastically
//! larger than the other", Annals of Mathematical Statistics 18 (1947), 50-60. It uses only the order of the runs, so a
//! run that was very slow because the machine was busy counts no more than one that was slightly slower. It does not
//! assume a normal distribution, because the times of programs are far from normally distributed.
//!
//! Equal times share the mean of their ranks. For up to [`EXACT_RUNS`] runs, the probability is exact, with or without ties: all
//! ways to choose which of the runs are those after the change are counted. For more runs, the normal approximation is used,
//! corrected for ties and for continuity (Lehmann, "Nonparametrics", 1975, section 1.3 and appendix).

/// Minimum number of runs on each side that is needed to judge times.
pub const RUNS: usize = 5;

/// Significance level: the maximum probability that an unchanged program fails by chance.
pub const LEVEL: f64 = 0.05;

/// Maximum number of runs, both sides together, for which the probability is computed exactly.
pub const EXACT_RUNS: usize = 40;

/// Returns the one-sided probability that chance alone puts the values in `after` this far above those in `before`. It is near 0
/// if they are clearly above, and at most 1 if they are not.
pub fn chance_of_greater(before: &[f64], after: &[f64]) -> f64 {
    if before.is_empty() || after.is_empty() {
        return 1.0;
    }
    let ranks = Ranks::of(before, after);
    match before.len() + after.len() <= EXACT_RUNS {
        true => ranks.exact(),
        false => ranks.approximate(),
    }
}

/// Returns the smallest result that [`chance_of_greater`] can have for these numbers of runs. This is the result if every run
/// after the change is above all runs before it.
pub fn least_chance(before: usize, after: usize) -> f64 {
    (1..=after).fold(1.0, |chance, k| chance * k as f64 / (before + k) as f64)
}

/// Ranks of all runs in ascending order. They are doubled, so that the mean ranks of ties are whole numbers.
struct Ranks {
    doubled: Vec<usize>,
    after: usize,
    /// The sum of the doubled ranks of all runs after the change.
    sum: usize,
    /// The sum of t^3 - t over all groups of t equal values.
    ties: f64,
}

impl Ranks {
    fn of(before: &[f64], after: &[f64]) -> Self {
        let mut all: Vec<(f64, bool)> = before.iter().map(|&value| (value, false)).collect();
        all.extend(after.iter().map(|&value| (value, true)));
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranks = Self {
            doubled: Vec::with_capacity(all.len()),
            after: after.len(),
            sum: 0,
            ties: 0.0,
        };
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let first = ranks.doubled.len() + 1;
            let doubled = 2 * first + group.len() - 1;
            ranks.sum += doubled * group.iter().filter(|(_, is_after)| *is_after).count();
            ranks.ties += (group.len() as f64).powi(3) - group.len() as f64;
            ranks.doubled.extend(group.iter().map(|_| doubled));
        }
        ranks
    }

    /// Returns the probability of a rank sum of at least `sum`, if all ways to choose the runs after the change are equally
    /// likely.
    fn exact(&self) -> f64 {
        let most: usize = self.doubled.iter().sum();
        // `choices[k][s]` is the number of ways to choose `k` runs with the rank sum `s`. It is below 2^53, so `f64` is exact.
        let mut choices = vec![vec![0.0f64; most + 1]; self.after + 1];
        choices[0][0] = 1.0;
        for &rank in &self.doubled {
            for chosen in (1..=self.after).rev() {
                for sum in (rank..=most).rev() {
                    choices[chosen][sum] += choices[chosen - 1][sum - rank];
                }
            }
        }
        let all: f64 = choices[self.after].iter().sum();
        let as_far: f64 = choices[self.after][self.sum..].iter().sum();
        as_far / all
    }

    fn approximate(&self) -> f64 {
        let all = self.doubled.len() as f64;
        let after = self.after as f64;
        let before = all - after;
        let u = self.sum as f64 / 2.0 - after * (after + 1.0) / 2.0;
        let variance = before * after / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0;
        }
        upper_tail((u - before * after / 2.0 - 0.5) / variance.sqrt())
    }
}

/// Returns the probability that a normal variable is more than `deviations` standard deviations above its mean. The error is at
/// most 7.5e-8 (Abramowitz and Stegun, "Handbook of Mathematical Functions", formula 26.2.17).
fn upper_tail(deviations: f64) -> f64 {
    const FACTORS: [f64; 5] = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let x = deviations.abs();
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let tail = density * t * FACTORS.iter().rev().fold(0.0, |sum, factor| sum * t + factor);
    if deviations < 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns runs without ties, such that the old run is above the new run in exactly `u` pairs.
    fn runs_with(before: usize, after: usize, u: usize) -> (Vec<f64>, Vec<f64>) {
        // Each new run is placed below as many old runs as are left of `u`, and above the others.
        let old: Vec<f64> = (1..=before).map(|n| n as f64).collect();
        let mut left = u;
        let new = (0..after).map(|n| {
            let below = left.min(before);
            left -= below;
            (before - below) as f64 + 0.5 + n as f64 / 1_000.0
        });
        (old, new.collect())
    }

    fn chance(before: usize, after: usize, u: usize) -> f64 {
        let (old, new) = runs_with(before, after, u);
        chance_of_greater(&old, &new)
    }

    #[test]
    fn critical_values() {
        // The numbers of runs, and the largest U that is significant at 5 % and at 1 % in the usual one-sided tables.
        let table = [
            (5, 5, 4, 1),
            (6, 6, 7, 3),
            (7, 7, 11, 6),
            (8, 8, 15, 9),
            (9, 9, 21, 14),
            (10, 10, 27, 19),
            (5, 10, 11, 6),
            (15, 15, 72, 56),
            (20, 20, 138, 114),
        ];
        for (before, after, five, one) in table {
            for (level, u) in [(0.05, five), (0.01, one)] {
                let (at, above) = (chance(before, after, u), chance(before, after, u + 1));
                assert!(at <= level, "{before} {after} at U {u}: {at}");
                assert!(above > level, "{before} {after} at U {}: {above}", u + 1);
            }
        }
    }

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(chance_of_greater(&[1.0; 5], &[1.0; 5]), 1.0);
        // Of the six ways to choose two of 1, 2, 2, 3, only two give a sum of at least 2 + 3: the 3 with either of the twos.
        let found = chance_of_greater(&[1.0, 2.0], &[2.0, 3.0]);
        assert!((found - 2.0 / 6.0).abs() < 1e-12, "{found}");
        assert_eq!(chance_of_greater(&[], &[1.0]), 1.0);
    }

    #[test]
    fn the_least_chance_is_that_of_sides_apart() {
        for (before, after) in [(5, 5), (5, 9), (7, 6), (20, 20)] {
            let (least, found) = (least_chance(before, after), chance(before, after, 0));
            assert!((least - found).abs() < 1e-12, "{least} {found}");
        }
    }

    #[test]
    fn the_approximation_goes_on_where_counting_ends() {
        for u in [100, 138, 160, 200, 240] {
            let (old, new) = runs_with(20, 20, u);
            let ranks = Ranks::of(&old, &new);
            let (exact, near) = (ranks.exact(), ranks.approximate());
            assert!((exact - near).abs() < 0.002, "U {u}: {exact} {near}");
        }
        // Known tail probabilities of the normal distribution.
        for (deviations, tail) in [
            (0.0, 0.5),
            (1.644_854, 0.05),
            (-1.644_854, 0.95),
            (3.090_232, 0.001),
        ] {
            assert!((upper_tail(deviations) - tail).abs() < 1e-6, "{deviations}");
        }
        let (old, new) = runs_with(30, 30, 0);
        assert!(chance_of_greater(&old, &new) < 1e-9);
        assert_eq!(chance_of_greater(&[2.0; 30], &[2.0; 30]), 1.0, "nothing but ties");
    }

    proptest! {
        #[test]
        fn whatever_the_runs_it_is_a_probability_and_the_order_alone_counts(
            before in prop::collection::vec(0u32..20, 1..9),
            after in prop::collection::vec(0u32..20, 1..9),
        ) {
            let values = |runs: &[u32], of: fn(u32) -> f64| runs.iter().map(|&run| of(run)).collect::<Vec<f64>>();
            let plain = |run: u32| f64::from(run);
            let curved = |run: u32| f64::from(run).powi(3) * 1e6 - 5.0;
            let chance = chance_of_greater(&values(&before, plain), &values(&after, plain));
            prop_assert!((0.0..=1.0).contains(&chance));
            prop_assert!(chance >= least_chance(before.len(), after.len()) - 1e-12);
            let other = chance_of_greater(&values(&before, curved), &values(&after, curved));
            prop_assert_eq!(chance, other);
        }
    }
}

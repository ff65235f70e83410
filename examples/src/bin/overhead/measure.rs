//! Pairs in the order ABBA, so that a machine that gets slower or faster does not favour either side.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crate::cases::{Case, Mode};

/// Pairs of plain and measured runs.
const PAIRS: usize = 40;

/// A case in a mode.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) case: &'static str,
    pub(crate) mode: Mode,
    pub(crate) threads: usize,
    /// Nanoseconds of a scope with the work in it, per core.
    pub(crate) ns_per_scope: f64,
    /// Nanoseconds above plain.
    pub(crate) added_ns: f64,
    /// Median of the pairs' ratios.
    pub(crate) ratio: f64,
    /// 95 % interval of that median.
    pub(crate) interval: (f64, f64),
}

/// Measures a case in a mode against plain.
pub(crate) fn measure(case: &Case, mode: Mode, threads: usize) -> Measured {
    let scopes = case.scopes as f64;
    // Nodes are made, caches and predictors warm.
    run(case, Mode::Plain, threads);
    run(case, mode, threads);
    let pairs: Vec<(f64, f64)> = (0..PAIRS)
        .map(|_| {
            let order = [Mode::Plain, mode, mode, Mode::Plain];
            let [a, b, c, d] = order.map(|mode| run(case, mode, threads));
            ((a + d) / 2.0 / scopes, (b + c) / 2.0 / scopes)
        })
        .collect();
    let ratios = sorted(pairs.iter().map(|(plain, measured)| measured / plain));
    Measured {
        case: case.name,
        mode,
        threads,
        ns_per_scope: median(&sorted(pairs.iter().map(|pair| pair.1))),
        added_ns: median(&sorted(pairs.iter().map(|(plain, measured)| measured - plain))),
        ratio: median(&ratios),
        interval: interval(&ratios),
    }
}

/// Nanoseconds of one run, the mean over its threads.
fn run(case: &Case, mode: Mode, threads: usize) -> f64 {
    let timed = || {
        let begin = Instant::now();
        case.run(mode);
        begin.elapsed().as_nanos() as f64
    };
    if threads == 1 {
        return timed();
    }
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let both: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    // A thread's first scopes make its nodes: once outside of what is timed.
                    case.run(mode);
                    barrier.wait();
                    timed()
                })
            })
            .collect();
        let times = both.into_iter().map(|thread| thread.join().unwrap_or(f64::NAN));
        times.sum::<f64>() / threads as f64
    })
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle of sorted values.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted {
        [] => f64::NAN,
        _ if sorted.len().is_multiple_of(2) => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

/// The 95 % interval of the median by order statistics: the ranks are those of a binomial distribution, near
/// enough n/2 -+ 0.98 sqrt(n).
fn interval(sorted: &[f64]) -> (f64, f64) {
    let n = sorted.len() as f64;
    let half = 0.98 * n.sqrt();
    let low = (n / 2.0 - half).floor().max(0.0) as usize;
    let high = ((n / 2.0 + half).ceil() as usize).min(sorted.len().saturating_sub(1));
    (sorted[low], sorted[high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_intervals() {
        assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
        let forty: Vec<f64> = (1..=40).map(f64::from).collect();
        assert_eq!(median(&forty), 20.5);
        assert_eq!(interval(&forty), (14.0, 28.0));
    }
}

//! A case with a peer against the same without: pairs in the order ABBA, so that a machine that gets slower or
//! faster does not favour either side.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tickscope_examples::Plain;

use crate::peer::{Counted, Peer};
use crate::{cases, child};

/// Pairs of plain and measured runs; each is two of either.
const PAIRS: usize = 40;

/// A case with a peer.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Nanoseconds of a scope with the work in it.
    pub(crate) ns_per_scope: f64,
    /// Nanoseconds above plain.
    pub(crate) added_ns: f64,
    /// Median of the pairs' ratios to plain.
    pub(crate) ratio: f64,
    /// 95 % interval of that median.
    pub(crate) interval: (f64, f64),
    /// CPU nanoseconds of all other threads, while scopes ran and at the end, for each scope.
    pub(crate) background_ns: f64,
    /// Scopes that were opened in all runs.
    pub(crate) scopes: u64,
    /// Scopes that the peer says it has; None if it cannot say.
    pub(crate) recorded: Option<u64>,
    /// KiB of memory at the highest.
    pub(crate) peak_kib: u64,
}

/// Measures a case of this process' peer. None for an unknown case.
pub(crate) fn measure<P: Peer>(case: &str) -> Option<Measured> {
    let plain = cases::case::<Plain>(case)?;
    let measured = cases::case::<P>(case)?;
    let scopes = count(cases::case::<Counted>(case)?);

    let peer = P::start();
    let cpu_before = background_cpu();
    // Nodes are made, caches and predictors warm.
    run(plain);
    run(measured);
    let pairs: Vec<(f64, f64)> = (0..PAIRS)
        .map(|_| {
            let [a, b, c, d] = [plain, measured, measured, plain].map(run);
            let mean = |one, other| (one + other) / 2.0 / scopes as f64;
            (mean(a, d), mean(b, c))
        })
        .collect();
    child::end_begins();
    let recorded = peer.finish();

    let all_scopes = scopes * (2 * PAIRS as u64 + 1);
    let ratios = sorted(pairs.iter().map(|(plain, measured)| measured / plain));
    Some(Measured {
        ns_per_scope: median(&sorted(pairs.iter().map(|pair| pair.1))),
        added_ns: median(&sorted(pairs.iter().map(|(plain, measured)| measured - plain))),
        ratio: median(&ratios),
        interval: interval(&ratios),
        background_ns: (background_cpu() - cpu_before) / all_scopes as f64,
        scopes: all_scopes,
        recorded,
        peak_kib: peak_kib(),
    })
}

/// Scopes in one run of a case.
fn count(case: fn()) -> u64 {
    let counted = Counted::start();
    case();
    counted.finish().unwrap_or(0)
}

/// Nanoseconds of one run, less those that this thread stood ready and no core was free: others build and test on
/// the same machine. What it sleeps or waits for by itself counts.
fn run(case: fn()) -> f64 {
    let waited_before = waited_for_core();
    let begin = Instant::now();
    case();
    let elapsed = begin.elapsed().as_nanos() as f64;
    elapsed - (waited_for_core() - waited_before)
}

/// Nanoseconds that this thread has waited for a core so far, as the kernel counts them; 0 where it does not say.
fn waited_for_core() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    waited.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

/// CPU nanoseconds so far of all threads but this one.
fn background_cpu() -> f64 {
    let [process, thread] = [ClockId::ProcessCPUTime, ClockId::ThreadCPUTime].map(|clock| {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    });
    process.saturating_sub(thread).as_nanos() as f64
}

/// KiB of memory at the highest, as the kernel counts them; 0 where it does not say.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle of sorted values.
fn median(sorted: &[f64]) -> f64 {
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

    #[test]
    fn cases_open_the_scopes_they_say() {
        for case in cases::NAMES {
            let scopes = cases::case::<Counted>(case).map(count);
            assert!(scopes.is_some_and(|scopes| scopes >= 2_000), "{case}: {scopes:?}");
        }
    }
}

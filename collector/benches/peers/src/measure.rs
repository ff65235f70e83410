//! Measures a case with and without a peer. The four runs of a pair are in the order ABBA (plain, measured, measured,
//! plain), so that a machine that gets slower or faster favours neither side.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tickscope_bench::Plain;
use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::timing::timed;

use crate::peer::{Counted, Peer};
use crate::{cases, lines};

/// Number of ABBA pairs; each has two plain and two measured runs.
const PAIRS: usize = 40;

/// Measurements of a case with a peer.
pub(crate) struct Measured {
    /// Time per scope in ns, including the work in it.
    pub(crate) ns_per_scope: f64,
    /// Time per scope in ns that the profiler adds to the plain run.
    pub(crate) added_ns: f64,
    /// Median over all pairs of the measured time divided by the plain time.
    pub(crate) ratio: f64,
    /// 95 % confidence interval of `ratio`.
    pub(crate) interval: (f64, f64),
    /// CPU time in ns per scope that all other threads used while the scopes ran and while the profiler finished.
    pub(crate) background_ns: f64,
    /// Number of scopes that the peer opened in all runs.
    pub(crate) scopes: u64,
    /// Number of scopes that the peer recorded; `None` if it keeps no count.
    pub(crate) recorded: Option<u64>,
    /// Peak memory use in KiB.
    pub(crate) peak_kib: u64,
}

/// Measures a case with the peer `P`. Returns `None` for an unknown case.
pub(crate) fn measure<P: Peer>(case: &str) -> Option<Measured> {
    let plain = cases::case::<Plain>(case)?;
    let measured = cases::case::<P>(case)?;
    let scopes = count(cases::case::<Counted>(case)?);

    let peer = P::start();
    let cpu_before = background_cpu();
    // The first runs create the peer's data, and warm up caches and branch predictors.
    timed(plain);
    timed(measured);
    let pairs: Vec<(f64, f64)> = (0..PAIRS)
        .map(|_| {
            let [a, b, c, d] = [plain, measured, measured, plain].map(timed);
            let mean = |one, other| (one + other) / 2.0 / scopes as f64;
            (mean(a, d), mean(b, c))
        })
        .collect();
    lines::end_begins();
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

/// Returns the number of scopes in one run of a case.
fn count(case: fn()) -> u64 {
    let counted = Counted::start();
    case();
    counted.finish().unwrap_or(0)
}

/// Returns the CPU time in ns that all threads but this one have used so far.
fn background_cpu() -> f64 {
    let [process, thread] = [ClockId::ProcessCPUTime, ClockId::ThreadCPUTime].map(|clock| {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    });
    process.saturating_sub(thread).as_nanos() as f64
}

/// Returns the peak memory use in KiB as reported by the kernel, or 0 if it is not reported.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_open_the_scopes_they_say() {
        for case in cases::NAMES {
            let scopes = cases::case::<Counted>(case).map(count);
            assert!(scopes.is_some_and(|scopes| scopes >= 2_000), "{case}: {scopes:?}");
        }
    }
}

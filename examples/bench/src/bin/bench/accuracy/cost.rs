//! Cost of a scope: what tickscope claims, compared with the measured difference between a workload with and without scopes.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use tickscope_bench::statistics::{Middle, abba};
use tickscope_bench::timing::{run_for, timed_on_cpu};

use crate::cases::Case;
use crate::modes::Mode;
use crate::workers::Workers;

/// Number of units in a run.
const UNITS: u64 = 3;

/// Minimum number of turns before and after tickscope's own measurement, even if the time is up.
const TURNS_LEAST: usize = 8;

/// How the time of a row is divided: adaptive mode learns for the fraction `LEARNING`, and tickscope measures the cost
/// that it claims for the fraction `CLAIM`. The turns get the rest.
const LEARNING: f64 = 0.15;
const CLAIM: f64 = 0.4;

/// Cases that are also measured without histograms or in adaptive mode, with one thread.
const WITHOUT_HISTOGRAM: [&str; 4] = ["empty", "work20ns", "sphereflake", "memory"];
const IN_ADAPTIVE: [&str; 4] = ["work20ns", "body1us", "sphereflake", "memory"];

/// A case, its number of threads, and the mode of its scopes.
type Row = (&'static Case, usize, Mode);

/// A case, and whether it runs with scopes.
type Task = (&'static Case, bool);

/// The costs of a row, in nanoseconds per scope.
#[derive(Clone, Copy, Debug)]
struct Costs {
    claimed: Middle,
    /// What the claim is based on: `samples` or `calibration`.
    from: &'static str,
    measured: Middle,
}

/// Measures all rows of the cases, each for `time`. Prints a JSON object for each row, and a final one that sums up all rows.
pub(crate) fn print(all: &[&'static Case], time: Duration) {
    let (mut cases, mut inside, mut overlapping) = (0, 0, 0);
    for (case, threads, mode) in all.iter().flat_map(|case| rows(case)) {
        let costs = measure((case, threads, mode), time);
        let Costs {
            claimed, measured, ..
        } = costs;
        println!(
            r#"{{"kind":"cost","case":"{}","threads":{threads},"mode":"{}","claimed_low_ns":{:.2},"claimed_ns":{:.2},"claimed_high_ns":{:.2},"claimed_from":"{}","measured_ns":{:.2},"measured_low_ns":{:.2},"measured_high_ns":{:.2}}}"#,
            case.name,
            mode.name(),
            claimed.low,
            claimed.middle,
            claimed.high,
            costs.from,
            measured.middle,
            measured.low,
            measured.high,
        );
        cases += 1;
        inside += u32::from((claimed.low..=claimed.high).contains(&measured.middle));
        overlapping += u32::from(claimed.low <= measured.high && measured.low <= claimed.high);
    }
    println!(r#"{{"kind":"cost-summary","cases":{cases},"inside":{inside},"overlapping":{overlapping}}}"#);
}

fn rows(case: &'static Case) -> impl Iterator<Item = Row> {
    let more = |mode, names: &[&str]| names.contains(&case.name).then_some((case, 1, mode));
    let rows = [
        Some((case, 1, Mode::Exact)),
        Some((case, 2, Mode::Exact)),
        more(Mode::ExactWithoutHistogram, &WITHOUT_HISTOGRAM),
        more(Mode::Adaptive, &IN_ADAPTIVE),
    ];
    rows.into_iter().flatten()
}

/// Measures a row. Half of the turns run before tickscope's own measurement and half after it, because the machine's
/// speed drifts.
fn measure((case, threads, mode): Row, time: Duration) -> Costs {
    mode.enter();
    let workers = Workers::start(threads, |(case, scoped): Task| {
        timed_on_cpu(|| (0..UNITS).for_each(|_| case.run_unit(scoped)))
    });
    let scoped_for = |share| run_for(time.mul_f64(share), || _ = workers.run((case, true)));
    workers.run((case, false));
    scoped_for(LEARNING);
    let half = (1.0 - LEARNING - CLAIM) / 2.0;
    let mut added = Vec::new();
    turns(&workers, case, time.mul_f64(half), &mut added);
    tickscope::reset();
    scoped_for(CLAIM);
    let snapshot = tickscope::snapshot();
    let claim = snapshot.scope_cost();
    turns(&workers, case, time.mul_f64(half), &mut added);
    Costs {
        claimed: Middle {
            low: claim.low_ns,
            middle: claim.middle_ns,
            high: claim.high_ns,
        },
        from: snapshot.scope_cost_seen().map_or("calibration", |_| "samples"),
        measured: Middle::of(added),
    }
}

/// Measures plain and scoped runs alternately, and appends the nanoseconds that each scope adds.
fn turns(workers: &Workers<Task>, case: &'static Case, time: Duration, added: &mut Vec<f64>) {
    let scopes = (case.scopes_of_unit() * UNITS) as f64;
    let (begin, least) = (Instant::now(), added.len() + TURNS_LEAST);
    while begin.elapsed() < time || added.len() < least {
        let Ok::<_, Infallible>((plain, scoped)) = abba(|scoped| Ok(workers.run((case, scoped))));
        added.push((scoped - plain) / scopes);
    }
}

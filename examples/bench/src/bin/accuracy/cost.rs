//! What a scope costs: as tickscope claims it, and as the difference from the plain copy of the same workload.

use std::thread;
use std::time::{Duration, Instant};

use tickscope::Mode;
use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::timing::timed_on_cpu;
use tickscope_bench::workers::Workers;

use crate::cases::{CASES, Case};

/// Units in a run.
const UNITS: u64 = 3;

/// Turns at least, whatever the time.
const TURNS_LEAST: usize = 8;

/// The share of a row's time in which adaptive mode learns, that of the turns, and that of the turns with all scopes off;
/// in the rest tickscope takes samples.
const LEARNING: f64 = 0.15;
const TURNS: f64 = 0.35;
const TURNS_OFF: f64 = 0.1;

/// How long the publisher may need for a switch.
const SETTLED: Duration = Duration::from_millis(5);

/// How scopes are measured.
#[derive(Clone, Copy, Debug)]
struct How {
    name: &'static str,
    mode: Mode,
    histogram: bool,
}

const EXACT: How = How {
    name: "exact",
    mode: Mode::Exact,
    histogram: true,
};
const NO_HISTOGRAM: How = How {
    name: "exact_nohist",
    mode: Mode::Exact,
    histogram: false,
};
const ADAPTIVE: How = How {
    name: "adaptive",
    mode: Mode::Adaptive,
    histogram: true,
};

/// Cases that are also measured in other ways, with one thread.
const WITHOUT_HISTOGRAM: [&str; 4] = ["empty", "work20ns", "sphereflake", "memory"];
const IN_ADAPTIVE: [&str; 4] = ["work20ns", "body1us", "sphereflake", "memory"];

/// A case, the number of its threads, and how its scopes are measured.
type Row = (&'static Case, usize, How);

/// What a run does.
type Task = (&'static Case, bool);

/// A scope's cost in nanoseconds: the most likely, and a 95 % interval.
#[derive(Clone, Copy, Debug)]
struct Cost {
    low: f64,
    middle: f64,
    high: f64,
}

/// What tickscope says, and what it says it from.
#[derive(Clone, Copy, Debug)]
struct Claim {
    cost: Cost,
    /// `samples` or `calibration`.
    from: &'static str,
}

/// The costs of a row.
#[derive(Clone, Copy, Debug)]
struct Costs {
    claim: Claim,
    measured: Cost,
    /// What a scope costs with the mode off: the branch, and what other code the compiler makes for the copy with scopes.
    off: Cost,
}

/// Measures all rows of the chosen cases, each for so long, and prints an object for each, and one for all.
pub(crate) fn print(chosen: impl Fn(&Case) -> bool, time: Duration) {
    let (mut cases, mut inside, mut overlapping) = (0, 0, 0);
    for row in rows().filter(|row| chosen(row.0)) {
        let Costs { claim, measured, off } = measure(row, time);
        let claimed = claim.cost;
        let (case, threads, how) = row;
        println!(
            r#"{{"kind":"cost","case":"{}","threads":{threads},"mode":"{}","claimed_low_ns":{:.2},"claimed_ns":{:.2},"claimed_high_ns":{:.2},"claimed_from":"{}","measured_ns":{:.2},"measured_low_ns":{:.2},"measured_high_ns":{:.2},"off_ns":{:.2}}}"#,
            case.name,
            how.name,
            claimed.low,
            claimed.middle,
            claimed.high,
            claim.from,
            measured.middle,
            measured.low,
            measured.high,
            off.middle,
        );
        cases += 1;
        inside += u32::from((claimed.low..=claimed.high).contains(&measured.middle));
        overlapping += u32::from(claimed.low <= measured.high && measured.low <= claimed.high);
    }
    println!(r#"{{"kind":"cost-summary","cases":{cases},"inside":{inside},"overlapping":{overlapping}}}"#);
}

fn rows() -> impl Iterator<Item = Row> {
    CASES.iter().flat_map(|case| {
        let more = |how, names: &[&str]| names.contains(&case.name).then_some((case, 1, how));
        [
            Some((case, 1, EXACT)),
            Some((case, 2, EXACT)),
            more(NO_HISTOGRAM, &WITHOUT_HISTOGRAM),
            more(ADAPTIVE, &IN_ADAPTIVE),
        ]
        .into_iter()
        .flatten()
    })
}

/// Measures a row: half of the turns before tickscope takes samples, half after it, as machines change.
fn measure((case, threads, how): Row, time: Duration) -> Costs {
    enter(how.mode);
    tickscope::set_histogram(how.histogram);
    let workers = Workers::start(threads, |(case, scoped): Task| {
        let unit = if scoped { case.scoped } else { case.plain };
        timed_on_cpu(|| (0..UNITS).for_each(|_| unit()))
    });
    workers.run((case, false));
    let begin = Instant::now();
    while begin.elapsed() < time.mul_f64(LEARNING) {
        workers.run((case, true));
    }
    let mut added = Vec::new();
    turns(&workers, case, time.mul_f64(TURNS / 2.0), &mut added);
    let claim = claim(&workers, case, time.mul_f64(1.0 - LEARNING - TURNS - TURNS_OFF));
    turns(&workers, case, time.mul_f64(TURNS / 2.0), &mut added);
    enter(Mode::Off);
    workers.run((case, true));
    let mut added_off = Vec::new();
    turns(&workers, case, time.mul_f64(TURNS_OFF), &mut added_off);
    Costs {
        claim,
        measured: Cost::of(added),
        off: Cost::of(added_off),
    }
}

fn enter(mode: Mode) {
    tickscope::set_mode(mode);
    thread::sleep(SETTLED);
}

impl Cost {
    /// Returns the median of turns, and its interval.
    fn of(turns: Vec<f64>) -> Self {
        let turns = sorted(turns);
        let (low, high) = interval(&turns);
        let middle = median(&turns);
        Self { low, middle, high }
    }
}

/// Measures plain and scoped runs in the order ABBA, and adds the nanoseconds that a scope takes more.
fn turns(workers: &Workers<Task>, case: &'static Case, time: Duration, added: &mut Vec<f64>) {
    let scopes = (case.scopes() * UNITS) as f64;
    let (begin, least) = (Instant::now(), added.len() + TURNS_LEAST);
    while begin.elapsed() < time || added.len() < least {
        let order = [false, true, true, false];
        let [a, b, c, d] = order.map(|scoped| workers.run((case, scoped)));
        added.push((b + c - a - d) / 2.0 / scopes);
    }
}

/// Returns what tickscope says, after scopes have run for so long.
fn claim(workers: &Workers<Task>, case: &'static Case, time: Duration) -> Claim {
    tickscope::reset();
    let begin = Instant::now();
    while begin.elapsed() < time {
        workers.run((case, true));
    }
    let snapshot = tickscope::snapshot();
    let cost = snapshot.scope_cost();
    Claim {
        cost: Cost {
            low: cost.low_ns,
            middle: cost.middle_ns,
            high: cost.high_ns,
        },
        from: match snapshot.scope_cost_seen() {
            Some(_) => "samples",
            None => "calibration",
        },
    }
}

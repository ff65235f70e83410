//! Measures in pairs in the order ABBA, so that a gradual change in the machine's speed favours neither side. All modes
//! take turns, so that their results are comparable.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use tickscope_bench::statistics::{Middle, abba};
use tickscope_bench::timing::{timed, timed_on_cpu};

use crate::cases::{Case, Clock};
use crate::modes::Mode;
use crate::workers::Workers;

/// Number of turns of each mode.
const ROUNDS: usize = 4;

/// Number of pairs in a turn; each pair has two plain and two measured runs.
const PAIRS: usize = 12;

/// Number of untimed runs after a mode switch. After them, most nodes have seen their usual latencies.
const WARM: usize = 12;

/// Adaptive mode times most calls until it has learned how long they take. It runs for the first of these durations
/// before its first measurement, and for the second one before each later measurement.
const LEARNING: [Duration; 2] = [Duration::from_millis(1500), Duration::from_millis(100)];

/// The result of a case in a mode.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) case: &'static str,
    pub(crate) mode: Mode,
    pub(crate) threads: usize,
    /// Whether a viewer was attached.
    pub(crate) watched: bool,
    /// Nanoseconds that a scope adds to plain code.
    pub(crate) added_ns: f64,
    /// Ratio of the measured time to the plain time, over all pairs.
    pub(crate) ratio: Middle,
    /// Instructions that a scope adds to plain code, if they were counted.
    pub(crate) instructions: Option<f64>,
}

/// Case and mode of one run.
pub(crate) type Task = (&'static Case, Mode);

/// The measurements of a case in a mode so far.
struct Turns {
    /// Number of scopes in a run.
    scopes: f64,
    /// Nanoseconds per scope of each pair, first of the plain runs and then of the measured ones.
    pairs: Vec<(f64, f64)>,
}

/// Starts threads that run a case at the same time.
pub(crate) fn start(threads: usize) -> Workers<Task> {
    Workers::start(threads, |(case, mode): Task| {
        let run = || case.run(mode, case.amount);
        match case.clock {
            Clock::Wall => timed(run),
            Clock::Cpu => timed_on_cpu(run),
        }
    })
}

/// Compares a case in each of `modes` with plain code. `watched` says whether the caller has attached a viewer.
pub(crate) fn measure(case: &'static Case, threads: usize, modes: &[Mode], watched: bool) -> Vec<Measured> {
    let workers = start(threads);
    let mut turns: Vec<(Mode, Turns)> = modes.iter().map(|&mode| (mode, Turns::new(case))).collect();
    for round in 0..ROUNDS {
        for (mode, turns) in &mut turns {
            prepare(&workers, case, *mode, round == 0);
            turns.take(&workers, case, *mode);
        }
    }
    let rows = turns.iter();
    rows.map(|(mode, turns)| turns.row(case, *mode, threads, watched))
        .collect()
}

/// Switches to a mode and does some untimed runs, which create nodes, warm up caches and predictors, and let adaptive
/// mode learn.
fn prepare(workers: &Workers<Task>, case: &'static Case, mode: Mode, first: bool) {
    mode.enter();
    workers.run((case, Mode::Plain));
    let begin = Instant::now();
    for _ in 0..WARM {
        workers.run((case, mode));
    }
    let learning = LEARNING[usize::from(!first)];
    while mode == Mode::Adaptive && begin.elapsed() < learning {
        workers.run((case, mode));
    }
}

impl Turns {
    fn new(case: &Case) -> Self {
        Self {
            scopes: case.scopes(case.amount) as f64,
            pairs: Vec::new(),
        }
    }

    fn take(&mut self, workers: &Workers<Task>, case: &'static Case, mode: Mode) {
        for _ in 0..PAIRS {
            let mode_of = |measured| if measured { mode } else { Mode::Plain };
            let run = |measured| Ok(workers.run((case, mode_of(measured))) / self.scopes);
            let Ok::<_, Infallible>(pair) = abba(run);
            self.pairs.push(pair);
        }
    }

    fn row(&self, case: &'static Case, mode: Mode, threads: usize, watched: bool) -> Measured {
        let middle = |value: fn(&(f64, f64)) -> f64| Middle::of(self.pairs.iter().map(value));
        Measured {
            case: case.name,
            mode,
            threads,
            watched,
            added_ns: middle(|(plain, measured)| measured - plain).middle,
            ratio: middle(|(plain, measured)| measured / plain),
            instructions: None,
        }
    }
}

impl Measured {
    /// Returns the name of the mode, and whether a viewer was attached.
    pub(crate) fn label(&self) -> String {
        let watched = if self.watched { "+viewer" } else { "" };
        format!("{}{watched}", self.mode.name())
    }

    /// Returns the time that a scope adds in this mode, as a multiple of what the floor adds to the same case. `rows`
    /// must contain the floor's row.
    pub(crate) fn of_floor(&self, rows: &[Self]) -> Option<f64> {
        let wanted = (self.case, self.threads, Mode::Floor);
        let floor = rows
            .iter()
            .find(|row| (row.case, row.threads, row.mode) == wanted)?;
        (floor.added_ns > 0.0).then(|| self.added_ns / floor.added_ns)
    }
}

//! Two costs of the same scopes: against code without them, and as the running program finds it by itself.

use std::time::Duration;

use tickscope::Mode;
use tickscope_examples::timing::timed;

use crate::statistics::Estimate;
use crate::workloads::{Function, Workload};

/// Longer than the publisher takes for its next record, before which it calibrates the mode in force.
const CALIBRATION: Duration = Duration::from_millis(1300);

/// What the product says a scope costs, in nanoseconds, lower and upper.
pub(crate) type Bounds = (f64, f64);

/// The bounds of each mode that is used here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibrated {
    pub(crate) exact: Bounds,
    /// Counted only.
    pub(crate) sampled: Bounds,
    pub(crate) off: Bounds,
}

/// Which scopes a cost is that of, and what the stretches with them are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scopes {
    /// All of a workload, against the same counted only.
    Counted,
    /// All of a workload, against mode off.
    Off,
    /// Those of one function, against its site switched off.
    Function(&'static str),
}

/// What the scopes of a workload, or of one of its functions, cost: nanoseconds of a scope.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) workload: &'static str,
    pub(crate) scopes: Scopes,
    /// Scopes in a unit.
    pub(crate) calls: u64,
    /// Nanoseconds of a unit without them, for one of them.
    pub(crate) plain: f64,
    pub(crate) truth: Estimate,
    pub(crate) in_place: Estimate,
}

// === impl Scopes ===

impl Scopes {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Counted => "(all:counted)",
            Self::Off => "(all:off)",
            Self::Function(name) => name,
        }
    }
}

// === impl Calibrated ===

impl Calibrated {
    /// Asks the product in each mode.
    pub(crate) fn ask() -> Self {
        let of = |mode| {
            tickscope::set_mode(mode);
            std::thread::sleep(CALIBRATION);
            let cost = tickscope::snapshot().capture.cost;
            (cost.lower_ns, cost.upper_ns)
        };
        let calibrated = Self {
            off: of(Mode::Off),
            sampled: of(Mode::Sampled),
            exact: of(Mode::Exact),
        };
        tickscope::set_mode(Mode::Exact);
        calibrated
    }
}

/// All scopes of a workload, against a mode that costs little.
pub(crate) fn whole(workload: &Workload, scopes: Scopes, calibrated: Calibrated, rounds: usize) -> Measured {
    let (mode, bounds) = match scopes {
        Scopes::Counted => (Mode::Sampled, calibrated.sampled),
        Scopes::Off | Scopes::Function(_) => (Mode::Off, calibrated.off),
    };
    let light = || tickscope::set_mode(mode);
    let full = || tickscope::set_mode(Mode::Exact);
    let calls = calls_in(workload.scoped);
    let found = compare(workload.scoped, workload.plain, (&light, &full), calls, rounds);
    measured(workload, scopes, calls, found, bounds)
}

/// One function of a workload: its site on against off.
pub(crate) fn function(
    workload: &Workload,
    function: &Function,
    calibrated: Calibrated,
    rounds: usize,
) -> Measured {
    let off = || {
        tickscope::off(function.name);
    };
    // All rules go with it: there may be no more than 256.
    let on = || {
        tickscope::on("*");
    };
    let all = calls_in(workload.scoped);
    off();
    let others = calls_in(workload.scoped);
    on();
    let calls = all - others;
    let found = compare(workload.scoped, function.without, (&off, &on), calls, rounds);
    measured(
        workload,
        Scopes::Function(function.name),
        calls,
        found,
        calibrated.off,
    )
}

fn measured(
    workload: &Workload,
    scopes: Scopes,
    calls: u64,
    (plain, truth, in_place): (Vec<f64>, Vec<f64>, Vec<f64>),
    light: Bounds,
) -> Measured {
    Measured {
        workload: workload.name,
        scopes,
        calls,
        plain: Estimate::of(plain).median,
        truth: Estimate::of(truth),
        in_place: Estimate::of(in_place).above(light),
    }
}

/// Nanoseconds a call: of plain units, above them, and above light units. Plain and light have their ABBA turns one
/// after the other, so that both meet the same machine.
fn compare(
    scoped: fn(),
    plain: fn(),
    (light, full): (&dyn Fn(), &dyn Fn()),
    calls: u64,
    rounds: usize,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut found = (Vec::new(), Vec::new(), Vec::new());
    let a_call = |sum: f64| sum / 2.0 / calls as f64;
    for _ in 0..rounds {
        plain();
        scoped();
        let [a, b, c, d] = [plain, scoped, scoped, plain].map(timed);
        found.0.push(a_call(a + d));
        found.1.push(a_call(b + c - a - d));
        let [a, d] = [true, false].map(|first| {
            let before = if first { None } else { Some(timed(scoped)) };
            light();
            // The first scopes after a switch make up for it; caches get warm again.
            scoped();
            let light_time = timed(scoped);
            full();
            scoped();
            (light_time, before.unwrap_or_else(|| timed(scoped)))
        });
        found.2.push(a_call(a.1 + d.1 - a.0 - d.0));
    }
    found
}

/// Scopes that are counted in a unit.
fn calls_in(unit: fn()) -> u64 {
    unit();
    let before = tickscope::snapshot().lifetime.calls;
    unit();
    tickscope::snapshot().lifetime.calls - before
}

//! The workloads that `overhead` and `accuracy` measure.

use tickscope_bench::truth::Function;
use tickscope_bench::workloads::memory::memory;
use tickscope_bench::workloads::{
    SPHEREFLAKE_SIZE, body1us, busy20us, busy100us, cold5000, empty, nested8, recursion, sites8, sleepy,
    sphereflake, work20ns,
};
use tickscope_bench::{Counted, Floor, Plain, Probe, Scoped, probe};

use crate::modes::Mode;

/// Name of the scope around a unit.
const UNIT: &str = "unit";

/// A workload with scopes.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Size of one run of `overhead`, in scopes or in rows of the picture; 0 if `overhead` does not measure this case.
    pub(crate) amount: u64,
    /// Size of one unit of `accuracy`, which repeats units; 0 if `accuracy` does not measure this case.
    pub(crate) unit: u64,
    pub(crate) clock: Clock,
    /// Functions with scopes; empty if shares are not compared.
    pub(crate) functions: &'static [Function],
    plain: fn(u64),
    floor: fn(u64),
    scoped: fn(u64),
    counted: fn(u64),
}

/// Clock that times a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Wall,
    /// CPU time, because the wall time of waits differs from run to run.
    Cpu,
}

impl Case {
    pub(crate) fn named(name: &str) -> Result<&'static Self, String> {
        let case = CASES.iter().find(|case| case.name == name);
        case.ok_or_else(|| format!("{name}: no such case"))
    }

    pub(crate) fn run(&self, mode: Mode, amount: u64) {
        let body = match mode {
            Mode::Plain => self.plain,
            Mode::Floor => self.floor,
            Mode::Exact | Mode::ExactWithoutHistogram | Mode::Adaptive | Mode::Sampled | Mode::Off => {
                self.scoped
            }
        };
        body(amount);
    }

    pub(crate) fn scopes(&self, amount: u64) -> u64 {
        Counted::scopes_in(|| (self.counted)(amount))
    }

    pub(crate) fn run_unit(&self, scoped: bool) {
        if scoped {
            unit::<Scoped>(self.scoped, self.unit);
        } else {
            unit::<Plain>(self.plain, self.unit);
        }
    }

    pub(crate) fn scopes_of_unit(&self) -> u64 {
        Counted::scopes_in(|| unit::<Counted>(self.counted, self.unit))
    }
}

/// Runs a unit: a workload of this size, inside a scope.
#[inline(never)]
fn unit<P: Probe>(workload: fn(u64), amount: u64) {
    probe!(P, "unit");
    workload(amount);
}

macro_rules! cases {
    ($($name:ident $clock:ident $amount:expr, $unit:expr, [$($function:expr),*];)*) => {
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            amount: $amount,
            unit: $unit,
            clock: Clock::$clock,
            functions: &[$($function),*],
            plain: $name::<Plain>,
            floor: $name::<Floor>,
            scoped: $name::<Scoped>,
            counted: $name::<Counted>,
        }),*];
    };
}

// A run takes about 2 ms, or longer if it renders or sleeps. That is short compared with the time between two
// interruptions by the system, and long compared with reading the clock. A unit with scopes takes 0.5 to 5 ms.
cases! {
    empty Wall 100_000, 50_000, [];
    work20ns Wall 60_000, 50_000, [];
    sites8 Wall 100_000, 50_000, [];
    nested8 Wall 100_000, 50_000, [];
    recursion Wall 100_000, 50_000, [];
    body1us Wall 2_000, 1_000, [];
    busy20us Wall 100, 0, [];
    busy100us Wall 20, 0, [];
    sleepy Cpu 24, 0, [];
    cold5000 Wall 60_000, 30_000, [];
    sphereflake Wall SPHEREFLAKE_SIZE, SPHEREFLAKE_SIZE / 2, [
        Function { name: "worker", symbol: "work" },
        Function::new("ray_trace"),
        Function::new("intersect_primary"),
        Function::new("intersect_shadow"),
        Function::new(UNIT)
    ];
    memory Wall 0, 8_000, [
        Function::new("look_up"),
        Function::new("follow"),
        Function::new("gather"),
        Function::new("mix"),
        Function::new(UNIT)
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_open_as_many_scopes_as_they_are_asked_to() {
        for case in CASES.iter().filter(|case| case.amount > 0) {
            let [half, whole] = [case.amount / 2, case.amount].map(|amount| case.scopes(amount));
            let least = if case.amount < 1_000 && case.name != "sphereflake" {
                case.amount
            } else {
                2_000
            };
            assert!(whole >= least && half < whole, "{}: {half}, {whole}", case.name);
            let ratio = whole as f64 / half as f64;
            // Half a picture consists of the middle rows, where more rays hit something, so the ratio is not exactly 2.
            assert!((1.2..2.3).contains(&ratio), "{}: {half}, {whole}", case.name);
        }
        for case in CASES.iter().filter(|case| case.unit > 0) {
            let scopes = case.scopes_of_unit();
            assert!(scopes > 1_000, "{}: {scopes}", case.name);
        }
    }
}

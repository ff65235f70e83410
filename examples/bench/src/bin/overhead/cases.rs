//! The cases: what is inside and around the scopes.

use tickscope_bench::workloads::{
    SPHEREFLAKE_SIZE, body1us, busy20us, busy100us, cold5000, empty, nested8, recursion, sites8, sleepy,
    sphereflake, work20ns,
};
use tickscope_bench::{Counted, Floor, Plain, Scoped};

use crate::modes::Mode;

/// A workload with scopes.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The amount of one run: scopes, or rows of the picture.
    pub(crate) amount: u64,
    pub(crate) clock: Clock,
    plain: fn(u64),
    floor: fn(u64),
    scoped: fn(u64),
    counted: fn(u64),
}

/// What a run is timed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Wall,
    /// CPU time: of waits nothing else is as long each time.
    Cpu,
}

impl Case {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Runs the case once.
    pub(crate) fn run(&self, mode: Mode) {
        self.run_so_much(mode, self.amount);
    }

    /// Runs another amount of the case.
    pub(crate) fn run_so_much(&self, mode: Mode, amount: u64) {
        let body = match mode {
            Mode::Plain => self.plain,
            Mode::Floor => self.floor,
            Mode::Exact | Mode::ExactWithoutHistogram | Mode::Adaptive | Mode::Sampled | Mode::Off => {
                self.scoped
            }
        };
        body(amount);
    }

    /// Returns the number of scopes in one run.
    pub(crate) fn scopes(&self) -> u64 {
        self.scopes_in(self.amount)
    }

    /// Returns the number of scopes in another amount.
    pub(crate) fn scopes_in(&self, amount: u64) -> u64 {
        Counted::scopes_in(|| (self.counted)(amount))
    }
}

macro_rules! cases {
    ($($name:ident $amount:expr, $clock:ident;)*) => {
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            amount: $amount,
            clock: Clock::$clock,
            plain: $name::<Plain>,
            floor: $name::<Floor>,
            scoped: $name::<Scoped>,
            counted: $name::<Counted>,
        }),*];
    };
}

// Each run takes about 2 ms, the picture and the waits more: short compared to interruptions, and long compared to the clock.
cases! {
    empty 100_000, Wall;
    work20ns 60_000, Wall;
    sites8 100_000, Wall;
    nested8 100_000, Wall;
    recursion 100_000, Wall;
    body1us 2_000, Wall;
    busy20us 100, Wall;
    busy100us 20, Wall;
    sleepy 24, Cpu;
    cold5000 60_000, Wall;
    sphereflake SPHEREFLAKE_SIZE, Wall;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_open_as_many_scopes_as_they_are_asked_to() {
        for case in CASES {
            let [half, whole] = [case.amount / 2, case.amount].map(|amount| case.scopes_in(amount));
            let least = if case.amount < 1_000 && case.name != "sphereflake" {
                case.amount
            } else {
                2_000
            };
            assert!(whole >= least && half < whole, "{}: {half}, {whole}", case.name);
            let ratio = whole as f64 / half as f64;
            // In the middle of the picture more rays hit something.
            assert!((1.2..2.3).contains(&ratio), "{}: {half}, {whole}", case.name);
        }
    }
}

//! Threads that run a case at the same time.

use tickscope_bench::timing::{timed, timed_on_cpu};
use tickscope_bench::workers;

use crate::cases::{Case, Clock};
use crate::modes::Mode;

/// What to run once.
type Task = (&'static Case, Mode);

/// Threads that run a case at the same time.
#[derive(Debug)]
pub(crate) struct Workers(workers::Workers<Task>);

impl Workers {
    pub(crate) fn start(count: usize) -> Self {
        Self(workers::Workers::start(count, |(case, mode): Task| {
            let run = || case.run(mode);
            match case.clock {
                Clock::Wall => timed(run),
                Clock::Cpu => timed_on_cpu(run),
            }
        }))
    }

    /// Returns the nanoseconds of one run, as the mean over the threads; NaN if one has panicked.
    pub(crate) fn run(&self, case: &'static Case, mode: Mode) -> f64 {
        self.0.run((case, mode))
    }
}

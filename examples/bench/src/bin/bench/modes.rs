//! The modes of the benchmark: what surrounds the work, and how to switch the process to a mode.

use std::thread;
use std::time::Duration;

use clap::ValueEnum;

/// Code around the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Nothing surrounds the work.
    Plain,
    /// Two bare reads of the time stamp counter surround the work.
    Floor,
    /// A scope surrounds the work, in this mode and all modes below.
    Exact,
    #[value(name = "exact_nohist")]
    ExactWithoutHistogram,
    Adaptive,
    Sampled,
    Off,
}

/// Time that the publisher may need to switch modes.
const SETTLED: Duration = Duration::from_millis(5);

impl Mode {
    pub(crate) fn all() -> &'static [Self] {
        Self::value_variants()
    }

    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        Self::from_str(name, false).map_err(|_| format!("{name}: no such mode"))
    }

    /// Switches the process to the mode.
    pub(crate) fn enter(self) {
        tickscope::set_mode(self.of_tickscope());
        tickscope::set_histogram(self.has_histogram());
        thread::sleep(SETTLED);
    }

    /// Returns the corresponding mode of tickscope. `Plain` and `Floor` open no scopes, and the publisher works as in
    /// exact mode.
    pub(crate) fn of_tickscope(self) -> tickscope::Mode {
        match self {
            Self::Plain | Self::Floor | Self::Exact | Self::ExactWithoutHistogram => tickscope::Mode::Exact,
            Self::Adaptive => tickscope::Mode::Adaptive,
            Self::Sampled => tickscope::Mode::Sampled,
            Self::Off => tickscope::Mode::Off,
        }
    }

    pub(crate) fn has_histogram(self) -> bool {
        self != Self::ExactWithoutHistogram
    }
}

//! The modes: the code around the work, and the switch to a mode.

use std::thread;
use std::time::Duration;

/// Code around the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing surrounds the work.
    Plain,
    /// Two bare reads of the time stamp counter.
    Floor,
    /// A scope, as in all modes below.
    Exact,
    ExactWithoutHistogram,
    Adaptive,
    Sampled,
    Off,
}

/// Time that the publisher may need for a switch.
const SETTLED: Duration = Duration::from_millis(5);

impl Mode {
    pub(crate) const ALL: [Self; 7] = [
        Self::Plain,
        Self::Floor,
        Self::Exact,
        Self::ExactWithoutHistogram,
        Self::Adaptive,
        Self::Sampled,
        Self::Off,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Floor => "floor",
            Self::Exact => "exact",
            Self::ExactWithoutHistogram => "exact_nohist",
            Self::Adaptive => "adaptive",
            Self::Sampled => "sampled",
            Self::Off => "off",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let mode = Self::ALL.into_iter().find(|mode| mode.name() == name);
        mode.ok_or_else(|| format!("{name}: no such mode"))
    }

    /// Switches the process to the mode.
    pub(crate) fn enter(self) {
        tickscope::set_mode(self.of_tickscope());
        tickscope::set_histogram(self.has_histogram());
        thread::sleep(SETTLED);
    }

    /// Returns the mode of tickscope. Plain and floor open no scopes, so the publisher works as in exact mode.
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

//! The modes of measuring, and their differences.

use bincode::{Decode, Encode};

/// Way in which scopes are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum Mode {
    /// Two clock reads a scope. This is the oldest mode, so records without a mode have it.
    #[default]
    Exact,
    /// Exact counts. Calls of short functions are timed now and then, so their times are estimates.
    Adaptive,
    /// Exact counts and no clock reads. Times come from sampling the position of each thread many times a second.
    Sampled,
    /// Nothing is measured.
    Off,
}

/// Source of a mode's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The clock is read at both ends of every call.
    EveryCall,
    /// The clock is read in some calls; the times of the other calls are estimated.
    SomeCalls,
    /// The position of each thread is sampled.
    Samples,
    /// There are no times.
    Never,
}

/// Properties of a mode. All code except the hot path uses them, so that a new mode is one entry in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeTraits {
    /// The name in settings, commands, JSON and reports.
    pub name: &'static str,
    /// Whether calls are counted.
    pub is_counting: bool,
    /// Source of times.
    pub timing: Timing,
    /// Meaning of the mode for a reader of the numbers, as part of a sentence.
    pub meaning: &'static str,
    /// Benefit and cost of the mode, in at most 39 characters.
    pub summary: &'static str,
}

impl Mode {
    /// Default mode of programs. [`Mode::default`] is the mode of a record without one.
    pub const USUAL: Self = Self::Adaptive;

    /// All variants.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Adaptive, Self::Sampled, Self::Off];

    /// Returns the properties of this mode.
    pub const fn traits(self) -> ModeTraits {
        match self {
            Self::Exact => ModeTraits {
                name: "exact",
                is_counting: true,
                timing: Timing::EveryCall,
                meaning: "every call is timed",
                summary: "each call timed: two clock reads a call",
            },
            Self::Adaptive => ModeTraits {
                name: "adaptive",
                is_counting: true,
                timing: Timing::SomeCalls,
                meaning: "calls are counted, times are estimates (~ if rough)",
                summary: "short calls timed in part (~): cheaper",
            },
            Self::Sampled => ModeTraits {
                name: "sampled",
                is_counting: true,
                timing: Timing::Samples,
                meaning: "calls are counted, times are shares of samples (~ if rough)",
                summary: "calls counted, times sampled (~): cheap",
            },
            Self::Off => ModeTraits {
                name: "off",
                is_counting: false,
                timing: Timing::Never,
                meaning: "nothing is measured",
                summary: "nothing counted: next to no cost",
            },
        }
    }

    /// Returns the name in settings, commands, JSON and reports.
    pub const fn as_str(self) -> &'static str {
        self.traits().name
    }

    /// Returns the mode of this name, or `None` if there is no such mode.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// Returns whether each event charges time to the scope that it leaves.
    pub const fn charges_time(self) -> bool {
        matches!(self.traits().timing, Timing::EveryCall | Timing::SomeCalls)
    }

    /// Returns whether times come from samples of the positions of threads.
    pub const fn is_sampling(self) -> bool {
        matches!(self.traits().timing, Timing::Samples)
    }

    /// Returns whether any time may be an estimate.
    pub const fn has_estimated_times(self) -> bool {
        matches!(self.traits().timing, Timing::SomeCalls | Timing::Samples)
    }

    /// Returns whether only some of the calls are timed.
    pub const fn times_some_calls(self) -> bool {
        matches!(self.traits().timing, Timing::SomeCalls)
    }
}

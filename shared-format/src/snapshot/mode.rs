//! The modes of measuring, and how they differ.

use bincode::{Decode, Encode};

/// How scopes are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum Mode {
    /// Two clock reads per scope. This is the oldest mode, so it is the mode of records that do not contain one.
    #[default]
    Exact,
    /// Calls are counted exactly. Only some calls of short functions are timed, so the times of such functions are
    /// estimates.
    Adaptive,
    /// Calls are counted exactly, and the clock is not read. Times are estimated by sampling, many times a second,
    /// which call each thread is in.
    Sampled,
    /// Nothing is measured.
    Off,
}

/// Where a mode's times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The clock is read at both ends of every call.
    EveryCall,
    /// The clock is read in some calls, and the times of the others are estimated.
    SomeCalls,
    /// The times are estimated by sampling which call each thread is in.
    Samples,
    /// There are no times.
    Never,
}

/// Properties of a mode. All code except the hot path relies on these alone, so that adding a mode means adding one
/// table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeTraits {
    /// The name that is used in settings, commands, JSON and reports.
    pub name: &'static str,
    /// Whether calls are counted.
    pub is_counting: bool,
    /// Where the times come from.
    pub timing: Timing,
    /// What the mode means for someone who reads the numbers, as part of a sentence.
    pub meaning: &'static str,
    /// What the mode offers and what it costs, in at most 39 characters.
    pub summary: &'static str,
}

impl Mode {
    /// The mode that programs use by default. In contrast, [`Mode::default`] is the mode of a record that does not
    /// contain one.
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

    /// Returns the name that is used in settings, commands, JSON and reports.
    pub const fn as_str(self) -> &'static str {
        self.traits().name
    }

    /// Returns the mode with this name, or `None` if there is no such mode.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// Returns whether each event charges the time since the previous event to the scope that was innermost before the
    /// event.
    pub const fn charges_time(self) -> bool {
        matches!(self.traits().timing, Timing::EveryCall | Timing::SomeCalls)
    }

    /// Returns whether times are estimated by sampling which call each thread is in.
    pub const fn is_sampling(self) -> bool {
        matches!(self.traits().timing, Timing::Samples)
    }

    /// Returns whether times may be estimates.
    pub const fn has_estimated_times(self) -> bool {
        matches!(self.traits().timing, Timing::SomeCalls | Timing::Samples)
    }

    /// Returns whether only some of the calls are timed.
    pub const fn times_some_calls(self) -> bool {
        matches!(self.traits().timing, Timing::SomeCalls)
    }
}

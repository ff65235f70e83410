//! The sites that are off because measuring them costs too much, and why.

use bincode::{Decode, Encode};

use crate::ids::SiteId;

/// What is done about hand-written scopes that cost more than they tell; see [`muting`](crate::muting).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum AutoMute {
    /// The program mutes them by itself.
    On,
    /// They are offered for muting.
    #[default]
    Offer,
    /// Nothing.
    Off,
}

impl AutoMute {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::On, Self::Offer, Self::Off];

    /// Returns the name in settings, JSON and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Offer => "offer",
            Self::Off => "off",
        }
    }
}

/// The policy, and what is muted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Muting {
    /// What is done about hand-written scopes.
    pub policy: AutoMute,
    /// The sites that are off because of what measuring them cost, functions of the compiler among them.
    pub muted: Vec<Muted>,
}

impl Muting {
    /// Returns those that are off for the budget of functions.
    pub fn over_budget(&self) -> impl Iterator<Item = &Muted> {
        self.muted.iter().filter(|muted| muted.reason.is_budget())
    }

    /// Returns why a site is off, if it is for what measuring it cost.
    pub fn of(&self, site: SiteId) -> Option<&Muted> {
        self.muted.iter().find(|muted| muted.site == site)
    }
}

/// A site that is off because measuring it cost too much for what it does. Its time became that of its callers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Muted {
    /// The site.
    pub site: SiteId,
    /// Why it is off.
    pub reason: MuteReason,
    /// How long its calls took on average, with all calls inside and what measuring them took, in nanoseconds.
    pub mean_ns: f64,
    /// What measuring a call took of that, in nanoseconds; 0 if it is not known.
    pub call_ns: f64,
    /// How much measuring it took of all: of the program's CPU time for a budget, else of the time in which threads worked in
    /// scopes; from 0 to 1.
    pub cost_share: f64,
}

impl Muted {
    /// Returns how much of a call was measuring, from 0 to 1.
    pub fn own_share(&self) -> f64 {
        own_share(self.call_ns, self.mean_ns)
    }
}

/// How much of a call of `mean_ns` the `call_ns` are that measuring it takes.
pub(crate) fn own_share(call_ns: f64, mean_ns: f64) -> f64 {
    let share = call_ns / mean_ns;
    if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Why a site is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum MuteReason {
    /// A function whose calls were among the shortest when measuring functions took more than its budget. Learned means that it
    /// was off from the program's start, because an earlier run of the same build had found that; the numbers are then of that
    /// run.
    Budget {
        /// Whether an earlier run had found it.
        learned: bool,
    },
    /// Its scopes cost more than they tell, and somebody asked for it.
    #[default]
    Asked,
    /// Its scopes cost more than they tell, and the program mutes such sites by itself ([`AutoMute::On`]).
    Automatic,
}

impl MuteReason {
    /// Returns whether it is that of the budget.
    pub const fn is_budget(self) -> bool {
        matches!(self, Self::Budget { .. })
    }

    /// Returns whether an earlier run had found it.
    pub const fn is_learned(self) -> bool {
        matches!(self, Self::Budget { learned: true })
    }

    /// Returns the name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Budget { .. } => "over budget",
            Self::Asked => "asked",
            Self::Automatic => "automatic",
        }
    }
}

//! What is known of a tree's rows beside their counters.

use std::ops::AddAssign;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Losses, Mode};

use crate::enabled::capture::functions::Ends;
use crate::enabled::record::site::SiteKind;

/// The fixed facts of a node; its counters are in a [`Baseline`](super::baseline::Baseline). Row 0 is the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) parent: u32,
    pub(crate) site: SiteId,
    pub(crate) errors: u64,
    /// What the site of the row does.
    pub(crate) kind: SiteKind,
}

/// How the rows of this epoch were measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Epoch {
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    /// In adaptive mode: what a timed call costs, in ticks.
    pub(crate) timed_ticks: f64,
    /// In adaptive mode: how much of that the call includes in its own time.
    pub(crate) timed_within_ticks: f64,
    /// In the modes sampled and adaptive: the time between two looks, in ticks.
    pub(crate) period_ticks: f64,
    /// In adaptive mode: by how much the duration of a timed call may be wrong, in ticks.
    pub(crate) doubt_ticks: f64,
    /// In the modes sampled and adaptive: the time at the borders of a call that looks may give to the wrong one, in ticks.
    pub(crate) border_ticks: f64,
    /// In adaptive mode: how much of that is the callee's, and not the caller's, in ticks.
    pub(crate) callees_ticks: f64,
}

/// What a thread could not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) losses: Losses,
    pub(crate) clock_errors: u64,
    pub(crate) ends: Ends,
}

impl Lost {
    pub(crate) const NONE: Self = Self {
        losses: Losses::NONE,
        clock_errors: 0,
        ends: Ends::NONE,
    };
}

impl AddAssign for Lost {
    fn add_assign(&mut self, other: Self) {
        self.losses += other.losses;
        self.clock_errors += other.clock_errors;
        self.ends += other.ends;
    }
}

//! Facts about a tree's rows other than their counters.

use std::ops::AddAssign;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Losses, Mode};

use crate::enabled::capture::functions::Ends;
use crate::enabled::record::site::SiteKind;

/// The fixed facts of a node; its counters are in a [`Baseline`](super::baseline::Baseline). Row 0 is the root.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) parent: u32,
    pub(crate) site: SiteId,
    pub(crate) errors: u64,
    pub(crate) kind: SiteKind,
}

/// How the rows of this epoch were measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Epoch {
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    /// In adaptive mode: the cost of a timed call, in ticks.
    pub(crate) timed_ticks: f64,
    /// In adaptive mode: the part of that cost that the call includes in its own time, in ticks.
    pub(crate) timed_within_ticks: f64,
    /// In the modes sampled and adaptive: the time between two samples, in ticks.
    pub(crate) period_ticks: f64,
    /// In adaptive mode: the possible error of a timed call's duration, in ticks.
    pub(crate) doubt_ticks: f64,
    /// In the modes sampled and adaptive: the time at the borders of a call that samples may give to the wrong call, in
    /// ticks.
    pub(crate) border_ticks: f64,
    /// In adaptive mode: the part of the border time that is the callee's, and not the caller's, in ticks.
    pub(crate) callees_ticks: f64,
}

/// Losses of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub(crate) losses: Losses,
    pub(crate) clock_errors: u64,
    pub(crate) ends: Ends,
}

impl AddAssign for Lost {
    fn add_assign(&mut self, other: Self) {
        self.losses += other.losses;
        self.clock_errors += other.clock_errors;
        self.ends += other.ends;
    }
}

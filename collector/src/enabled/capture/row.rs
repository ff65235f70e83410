//! Properties of a tree's rows besides their counters.

use std::ops::AddAssign;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Losses, Mode};

use crate::enabled::capture::functions::Ends;
use crate::enabled::record::site::SiteKind;

/// Properties of a node besides its counters, which are in a [`Baseline`](super::baseline::Baseline). Row 0 is the
/// root.
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
    /// In adaptive mode: the cost of timing a call, in ticks.
    pub(crate) timed_ticks: f64,
    /// In adaptive mode: the part of that cost that falls within the measured time of the call, in ticks.
    pub(crate) timed_within_ticks: f64,
    /// In sampled and adaptive mode: the time between two samples, in ticks.
    pub(crate) period_ticks: f64,
    /// In adaptive mode: how far the duration of a timed call may be off, in ticks.
    pub(crate) doubt_ticks: f64,
    /// In sampled and adaptive mode: the time at the borders of a call that samples may attribute to the wrong call, in
    /// ticks.
    pub(crate) border_ticks: f64,
    /// In adaptive mode: the part of that border time that belongs to the callee rather than the caller, in ticks.
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

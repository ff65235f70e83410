//! What is known of a tree's rows beside their counters.

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::Mode;

/// The fixed facts of a node; its counters are in a [`Baseline`](super::baseline::Baseline). Row 0 is the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) parent: u32,
    pub(crate) site: SiteId,
    pub(crate) errors: u64,
    /// Whether the row belongs to a counter.
    pub(crate) is_counter: bool,
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
    /// In sampled mode: the time between two looks, in ticks.
    pub(crate) period_ticks: f64,
}

/// What a thread could not count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub(crate) dropped: u64,
    pub(crate) unbalanced: u64,
    pub(crate) clock_errors: u64,
}

impl Lost {
    pub(crate) fn add(&mut self, other: Self) {
        self.dropped += other.dropped;
        self.unbalanced += other.unbalanced;
        self.clock_errors += other.clock_errors;
    }
}

//! What a text report shows.

use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::ThreadId;

use crate::unit::Unit;
use crate::{Extent, ProcessState};

/// What stands below the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The tree, and the top functions.
    #[default]
    Both,
    /// The tree alone.
    Tree,
    /// All functions by self time.
    Hot,
    /// The same as gprof's flat profile.
    Flat,
    /// Each function between its callers and its callees, as gprof's call graph.
    Graph,
    /// The threads, and where they are now.
    Threads,
}

/// What a report shows.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// How the program is doing.
    pub state: ProcessState,
    /// What stands below the header.
    pub view: View,
    /// The one thread to show; none merges all threads by path.
    pub thread: Option<ThreadId>,
    /// Nothing but ASCII.
    pub ascii: bool,
    /// How many functions to list below the tree by self time; 0 leaves the list out.
    pub top: usize,
    /// Rows of the tree whose share of the measured time is below this (0 to 1) are left out, and counted; so are
    /// functions whose self time is.
    pub min_share: f64,
    /// What measuring costs at least is taken off the times; see [`compensated`](tickscope_analysis::overhead_correction::compensated).
    pub compensated: bool,
    /// Which part of the run it is of.
    pub extent: Extent,
    /// Cells of a line; where they are few, the columns of percentiles are left out.
    pub width: usize,
    /// In what times are given.
    pub unit: Unit,
    /// Whose calls times and counts are divided by.
    pub per: Option<PerCall>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            state: ProcessState::default(),
            view: View::default(),
            thread: None,
            ascii: false,
            // A screen full.
            top: 30,
            min_share: 0.0,
            compensated: false,
            extent: Extent::default(),
            width: 100,
            unit: Unit::Ns,
            per: None,
        }
    }
}

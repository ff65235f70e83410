//! The options of a text report.

use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::ThreadId;

use crate::source_code::SourceCode;
use crate::unit::Unit;
use crate::{Extent, ProcessState};

/// What follows the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The tree, and the top functions.
    #[default]
    Both,
    /// The tree alone.
    Tree,
    /// All functions by self time.
    Hot,
    /// The first [`top`](TextOptions::top) functions by self time.
    Top,
    /// The same as gprof's flat profile.
    Flat,
    /// The threads, and where they are now.
    Threads,
    /// The lines of each function, by samples of the program counter.
    Source,
}

/// The options of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// The state of the program.
    pub state: ProcessState,
    /// What follows the header.
    pub view: View,
    /// The only thread to show; by default all threads, merged by path.
    pub thread: Option<ThreadId>,
    /// Whether to use ASCII characters only.
    pub ascii: bool,
    /// How many functions to list by self time, below the tree or alone; 0 leaves the list out.
    pub top: usize,
    /// Rows of the tree whose share of the measured time is below this (0 to 1) are left out, and counted; so are
    /// functions whose self time is.
    pub min_share: f64,
    /// Which part of the run the report covers.
    pub extent: Extent,
    /// The width of a line in cells. Narrow reports have no columns of percentiles.
    pub width: usize,
    /// The unit of times. Other measures have their own.
    pub unit: Unit,
    /// What shares, totals and the order are of.
    pub by: Measure,
    /// The function by whose calls times and counts are divided, if any.
    pub per: Option<PerCall>,
    /// What is known of the program's code: for [`View::Source`] and forms that have lines.
    pub code: SourceCode,
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
            extent: Extent::default(),
            width: 100,
            unit: Unit::Ns,
            by: Measure::Time,
            per: None,
            code: SourceCode::default(),
        }
    }
}

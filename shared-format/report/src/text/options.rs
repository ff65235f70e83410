//! The options of a text report.

use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::ThreadId;

use crate::source_code::SourceCode;
use crate::unit::Unit;
use crate::{Extent, ProcessState};

/// Parts of the report below the header.
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
    /// All functions, in the columns of gprof's flat profile.
    Flat,
    /// The threads and their present states.
    Threads,
    /// The lines of each function, by samples of the program counter.
    Source,
}

/// The options of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// The state of the program.
    pub state: ProcessState,
    /// Parts of the report below the header.
    pub view: View,
    /// The only thread to show; by default all threads, merged by path.
    pub thread: Option<ThreadId>,
    /// Whether to use ASCII characters only.
    pub ascii: bool,
    /// Number of functions to list by self time, below the tree or alone; 0 leaves the list out.
    pub top: usize,
    /// Share of the measured time (0 to 1) below which rows of the tree are left out and counted. A function is left
    /// out by its self time.
    pub min_share: f64,
    /// Part of the run that the report covers.
    pub extent: Extent,
    /// The width of a line in cells. Narrow reports have no columns of percentiles.
    pub width: usize,
    /// Unit of times. Other measures have units of their own.
    pub unit: Unit,
    /// Measure of shares, totals and the order.
    pub by: Measure,
    /// The function by whose calls times and counts are divided, if any.
    pub per: Option<PerCall>,
    /// Known code of the program, for [`View::Source`] and forms that have lines.
    pub code: SourceCode,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            state: ProcessState::default(),
            view: View::default(),
            thread: None,
            ascii: false,
            // About one screen.
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

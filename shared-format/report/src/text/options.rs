//! The options of the text report. Other report formats use some of them as well.

use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::ThreadId;

use crate::source_code::SourceCode;
use crate::unit::Unit;
use crate::{Extent, ProcessState};

/// What the report shows below its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The tree, then the functions with the most self time.
    #[default]
    Both,
    /// Only the tree.
    Tree,
    /// All functions by self time.
    Hot,
    /// The [`top`](TextOptions::top) functions with the most self time.
    Top,
    /// All functions by self time, with the columns of gprof's flat profile.
    Flat,
    /// The threads and what each of them is doing now.
    Threads,
    /// The source lines in which each function spends its time, according to samples of the program counter.
    Source,
}

/// The options of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// Whether the program runs.
    pub state: ProcessState,
    /// What the report shows below its header.
    pub view: View,
    /// The only thread to show; `None` for all threads, merged by path.
    pub thread: Option<ThreadId>,
    /// Whether the report contains only ASCII characters.
    pub ascii: bool,
    /// Maximum number of functions in the list by self time, with or without the tree above it; 0 omits the list.
    pub top: usize,
    /// Minimum share of the measured time, from 0 to 1. Rows of the tree with less total time, and functions with less
    /// self time, are not shown but only counted.
    pub min_share: f64,
    /// Which part of the run the report covers.
    pub extent: Extent,
    /// Maximum width of a line, in cells. Narrow reports omit the percentile columns.
    pub width: usize,
    /// Unit in which times are shown. Other measures are not affected.
    pub unit: Unit,
    /// The measure that the report shows, as shares and totals, and by which it sorts its rows.
    pub by: Measure,
    /// If set, times and counts are divided by the number of calls of this function.
    pub per: Option<PerCall>,
    /// Source code of the program, for [`View::Source`] and for other report formats that show source lines.
    pub code: SourceCode,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            state: ProcessState::default(),
            view: View::default(),
            thread: None,
            ascii: false,
            // This fills about one screen.
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

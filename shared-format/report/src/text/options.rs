//! The options of the text form. Other forms use some of them.

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
    /// All functions by self time, in the columns of gprof's flat profile.
    Flat,
    /// The threads and what they do now.
    Threads,
    /// The source lines of each function, by samples of the program counter.
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
    /// Maximum number of functions listed by self time, below the tree or alone; 0 leaves the list out.
    pub top: usize,
    /// Minimum share of the measured time (0 to 1) for showing a row of the tree, or for showing a function by its self time.
    /// Smaller rows are only counted.
    pub min_share: f64,
    /// Which part of the run the report covers.
    pub extent: Extent,
    /// Maximum width of a line, in cells. A narrow report has no columns of percentiles.
    pub width: usize,
    /// Unit of times. It does not affect other measures.
    pub unit: Unit,
    /// Measure by which the report shows shares and totals and sorts its rows.
    pub by: Measure,
    /// The function by whose calls times and counts are divided; `None` if they are not.
    pub per: Option<PerCall>,
    /// Source code of the program, for [`View::Source`] and for forms that have source lines.
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

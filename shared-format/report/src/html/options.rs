//! The options of a page.

use std::sync::Arc;

use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::ThreadId;

use crate::slots::Slots;
use crate::text::TextOptions;
use crate::{Extent, ProcessState};

/// Share below which rows are left out of the text that is shown without scripts.
const MIN_SHARE_WITHOUT_SCRIPTS: f64 = 0.01;

/// The options of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageOptions {
    /// The state of the program.
    pub state: ProcessState,
    /// The thread that is selected when the page opens; by default all threads, merged by path.
    pub thread: Option<ThreadId>,
    /// The function by whose calls the shown times and counts are divided, if any.
    pub per: Option<PerCall>,
    /// Part of the run that the report covers.
    pub extent: Extent,
    /// Measure of shares, totals and order when the page opens; its reader may choose another measure.
    pub by: Measure,
    /// Index in the snapshot of the watched function with whose slow calls the page opens, if any.
    pub watch: Option<usize>,
    /// Activity of threads over the time of the recording, if the page is made from one.
    pub slots: Option<Arc<Slots>>,
}

impl PageOptions {
    pub(super) fn as_text(&self) -> TextOptions {
        TextOptions {
            state: self.state,
            extent: self.extent.clone(),
            min_share: MIN_SHARE_WITHOUT_SCRIPTS,
            per: self.per.clone(),
            by: self.by,
            ..TextOptions::default()
        }
    }
}

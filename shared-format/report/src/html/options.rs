//! What a page shows.

use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::ThreadId;

use crate::text::TextOptions;
use crate::{Extent, ProcessState};

/// Rows with a smaller share are left out of the text that is shown without scripts.
const MIN_SHARE_WITHOUT_SCRIPTS: f64 = 0.01;

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageOptions {
    /// How the program is doing.
    pub state: ProcessState,
    /// The thread that is chosen when the page opens; none merges all threads by path.
    pub thread: Option<ThreadId>,
    /// What measuring costs at least is taken off the times; see [`compensated`](tickscope_analysis::overhead_correction::compensated). The snapshot that the page carries
    /// stays as it was measured.
    pub compensated: bool,
    /// Whose calls times and counts are divided by where they are shown.
    pub per: Option<PerCall>,
    /// Which part of the run it is of.
    pub extent: Extent,
}

impl PageOptions {
    pub(super) fn as_text(&self) -> TextOptions {
        TextOptions {
            state: self.state,
            compensated: self.compensated,
            extent: self.extent.clone(),
            min_share: MIN_SHARE_WITHOUT_SCRIPTS,
            per: self.per.clone(),
            ..TextOptions::default()
        }
    }
}

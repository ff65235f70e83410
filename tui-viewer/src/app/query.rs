//! What the user asked to see of the moment on screen.

use tickscope_analysis::measure::Measure;

use crate::app::compare::Against;
use crate::app::filter::Filter;
use crate::app::percent_of::PercentOf;
use crate::app::thread_choice::ThreadChoice;
use crate::app::unit::PerCall;
use crate::app::window::Window;

/// Everything that decides which numbers are shown. Two equal queries of one snapshot give the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// Whose time is shown.
    pub(crate) threads: ThreadChoice,
    /// Which part of the calls is shown, and which way round.
    pub(crate) filter: Filter,
    /// Which stretch of time is shown.
    pub(crate) window: Window,
    /// What the numbers are compared with.
    pub(crate) against: Option<Against>,
    /// What shares, totals and the order are of, where the program counts it.
    pub(crate) measure: Measure,
    /// What percents are of, where the view allows it.
    pub(super) percent_of: PercentOf,
    /// Every number is divided by the calls of this row.
    pub(crate) per_call: Option<PerCall>,
    /// Times are shown in ticks of the clock.
    pub(crate) in_ticks: bool,
}

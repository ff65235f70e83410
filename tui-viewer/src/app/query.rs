//! The user's choice of numbers for the moment on screen.

use tickscope_analysis::measure::Measure;

use crate::app::compare::Against;
use crate::app::filter::Filter;
use crate::app::percent_of::PercentOf;
use crate::app::thread_choice::ThreadChoice;
use crate::app::unit::PerCall;
use crate::app::window::Window;

/// All choices that decide which numbers are shown. Two equal queries of one snapshot give the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// Threads whose time is shown.
    pub(crate) threads: ThreadChoice,
    /// Part of the calls that is shown, from the top down or the bottom up.
    pub(crate) filter: Filter,
    /// Stretch of time that is shown.
    pub(crate) window: Window,
    /// Moment or window to compare the numbers with.
    pub(crate) against: Option<Against>,
    /// Measure of shares, totals and the order, if the program counts it.
    pub(crate) measure: Measure,
    /// Meaning of 100 %, in views that leave the choice.
    pub(crate) percent_of: PercentOf,
    /// Row by whose calls every number is divided.
    pub(crate) per_call: Option<PerCall>,
    /// Whether times are shown in ticks of the clock.
    pub(crate) in_ticks: bool,
}

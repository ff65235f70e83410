//! Marks of numbers that are not exact: `~` before an estimate, `-` in place of an unknown number.

use tickscope_analysis::call_tree::Figures;

use crate::app::data::Data;
use crate::app::row::What;

/// Mark before a number that is an estimate.
pub(crate) const ABOUT: &str = "~";

/// Most cells of a number that leave one of its column's six cells for the mark.
pub(crate) const LONGEST_MARKED: usize = 5;

/// Text for an unknown number.
pub(crate) const UNKNOWN: &str = "-";

/// Accuracy of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The time was measured.
    Exactly,
    /// The time is an estimate.
    About,
    /// No sample fell into the row: its time is short, but not known.
    Unseen,
}

impl Known {
    /// Returns the accuracy of a time of a row that has these figures.
    pub(crate) fn of(ns: u64, estimated: bool, figures: Figures) -> Self {
        match ns {
            0 if estimated && (figures.calls > 0 || figures.open > 0) => Self::Unseen,
            // A row without calls took no time.
            0 => Self::Exactly,
            _ if estimated => Self::About,
            _ => Self::Exactly,
        }
    }
}

/// Whether only some of the calls were timed.
pub(crate) fn timed_in_part(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.is_timed_in_part(data.figures(what).calls))
}

/// Whether few of the calls were timed, so that percentiles are rough.
pub(crate) fn has_rough_percentiles(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.has_rough_percentiles(data.figures(what).calls))
}

//! What is said of a number beside its digits: that it is an estimate, or not known.

use tickscope_analysis::call_tree::Figures;

use crate::app::data::Data;
use crate::app::figures::What;

/// Before a number that is an estimate.
pub(crate) const ABOUT: &str = "~";

/// A number of so many cells leaves one of its column's six for the mark.
pub(crate) const LONGEST_MARKED: usize = 5;

/// For what is not known.
pub(crate) const UNKNOWN: &str = "-";

/// How far a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was measured.
    Exactly,
    /// It is an estimate.
    About,
    /// No sample fell into it: it is short, but how short is not known.
    Unseen,
}

impl Known {
    /// What is known of a time of a row that has these figures.
    pub(super) fn of(ns: u64, estimated: bool, figures: Figures) -> Self {
        match ns {
            0 if estimated && (figures.calls > 0 || figures.open > 0) => Self::Unseen,
            // What was not called took no time.
            0 => Self::Exactly,
            _ if estimated => Self::About,
            _ => Self::Exactly,
        }
    }
}

/// Whether latencies are those of some calls, not of all.
pub(crate) fn timed_in_part(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.is_timed_in_part(data.figures(what).calls))
}

/// Whether they are those of few calls.
pub(crate) fn has_rough_percentiles(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.has_rough_percentiles(data.figures(what).calls))
}

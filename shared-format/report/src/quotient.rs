//! A number in JSON, either as measured or divided by the number of calls of a function.

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;

/// A number as measured, or the same number divided by the calls of a function. Add numbers up before dividing them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Quotient {
    Whole(u64),
    Part(f64),
}

impl Quotient {
    pub(crate) fn of(whole: u64, per: Option<&PerCall>) -> Self {
        match per {
            None => Self::Whole(whole),
            Some(per) => Self::Part(whole as f64 / per.calls.max(1) as f64),
        }
    }
}

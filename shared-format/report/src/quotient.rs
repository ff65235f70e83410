//! A number in JSON, either as it was measured or divided by the calls of a function.

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;

/// A measured number, or its quotient by the calls of a function. Numbers must be added up before they are divided.
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

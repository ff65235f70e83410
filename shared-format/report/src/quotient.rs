//! A number in JSON: as it was measured, or divided by the calls of a function.

use serde::{Serialize, Serializer};
use tickscope_analysis::per_call::PerCall;

/// A number and its divisor. The division is the last operation on the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quotient {
    whole: u64,
    calls: Option<u64>,
}

impl Quotient {
    pub(crate) fn of(whole: u64, per: Option<&PerCall>) -> Self {
        Self {
            whole,
            calls: per.map(|per| per.calls.max(1)),
        }
    }
}

impl Serialize for Quotient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.calls {
            None => serializer.serialize_u64(self.whole),
            Some(calls) => serializer.serialize_f64(self.whole as f64 / calls as f64),
        }
    }
}

//! Functions of the compiler.

use bincode::{Decode, Encode};

use crate::snapshot::{FunctionChoice, Functions, OverBudget};

#[derive(Encode)]
pub(super) struct FunctionsOut<'a>(Counted, Ends, bool, Cost, &'a [OverBudget], &'a FunctionChoice);

#[derive(Decode)]
pub(super) struct FunctionsIn(Counted, Ends, bool, Cost, Vec<OverBudget>, FunctionChoice);

/// Functions known, and on.
#[derive(Encode, Decode)]
struct Counted(u32, u32);

/// Calls returned, unwound, elsewhere, vanished.
#[derive(Encode, Decode)]
struct Ends(u64, u64, u64, u64);

/// The budget, the share that measuring took, and the nanoseconds of a call.
#[derive(Encode, Decode)]
struct Cost(f64, f64, f64);

impl<'a> FunctionsOut<'a> {
    pub(super) fn new(functions: &'a Functions) -> Self {
        Self(
            Counted(functions.known, functions.on),
            Ends(
                functions.returned,
                functions.unwound,
                functions.elsewhere,
                functions.vanished,
            ),
            functions.fixed,
            Cost(functions.budget, functions.cost_share, functions.call_ns),
            &functions.over_budget,
            &functions.choice,
        )
    }
}

impl FunctionsIn {
    /// Returns the functions.
    pub(super) fn functions(self) -> Functions {
        let Self(
            Counted(known, on),
            Ends(returned, unwound, elsewhere, vanished),
            fixed,
            Cost(budget, cost_share, call_ns),
            over_budget,
            choice,
        ) = self;
        Functions {
            known,
            on,
            returned,
            unwound,
            elsewhere,
            vanished,
            fixed,
            budget,
            cost_share,
            call_ns,
            over_budget,
            choice,
        }
    }
}

//! What is known of the functions that the compiler has prepared.

use bincode::{Decode, Encode};

/// The functions of a program that `cargo tickscope` has built. Calls are those since the program's start; resets do not
/// change them. Each call that began has returned, was unwound or is still open. Which ones are off because of the budget is in
/// [`Snapshot::muting`](crate::Snapshot::muting).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Functions {
    /// How many have sleds.
    pub known: u32,
    /// How many of them are switched on.
    pub on: u32,
    /// Calls that returned.
    pub returned: u64,
    /// Calls that ended otherwise: by a panic, by `longjmp`, or while their function was switched off.
    pub unwound: u64,
    /// Beginnings and ends on other stacks than their thread's own, as those of coroutines. They are not counted.
    pub elsewhere: u64,
    /// Calls of async functions and blocks whose end was not seen: it was noticed later that they were over. They count as
    /// cancelled.
    pub vanished: u64,
    /// Whether the system does not let the program change its code: then functions that were off at the start stay off.
    pub fixed: bool,
    /// How much of the program's CPU time measuring functions may take, from 0 to 1; 0 if there is no such limit.
    pub budget: f64,
    /// How much it took when it was last looked at, from 0 to 1; it is estimated from calls.
    pub cost_share: f64,
    /// What measuring a call costs, in nanoseconds; 0 if it is not known yet.
    pub call_ns: f64,
    /// Which ones were to count when the program began.
    pub choice: FunctionChoice,
}

/// Which functions are to count where no rule says anything; see [`Chooser`](crate::function_choice::Chooser).
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct FunctionChoice {
    /// Also the smallest and the standard library's.
    pub every: bool,
    /// Only what one of these patterns matches, if there are any.
    pub only: Vec<String>,
    /// Nothing that one of these patterns matches.
    pub not: Vec<String>,
}

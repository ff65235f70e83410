//! Finds out, by interpreting the first instructions of a function, whether it polls an async body, and where the state
//! of that body is stored.
//!
//! The compiler turns an async body into a function that gets the address of the future, reads a state byte, and jumps
//! to the code for that state. The state is 0 before the first poll, 1 after the body has returned, 2 after a panic,
//! and 3 or more at an await. In state 1, the function reaches a panic of the standard library that nothing else calls.
//! So the code itself proves that the function is a poll.
//!
//! [`find`] tries each byte that the function reads through one of its first two arguments. If the byte is 1, the
//! function must reach the panic, and if it is 0, it must not. A function does not count as a poll if anything on the
//! way to the panic depends on an unknown value. Debug information cannot replace this, because it contains only the
//! name of the body, and in most release builds no types.

pub(super) mod code;
mod run;
mod value;

use tickscope_format::function_table::PollFunction;

use crate::function_table::linked_symbols::Symbols;
use crate::function_table::poll_function::code::Code;
use crate::function_table::poll_function::run::{End, Place, Run};

/// State of a body before its first poll.
const UNRESUMED: u64 = 0;

/// State of a body that has returned.
const RETURNED: u64 = 1;

/// Returns which argument of a poll function is the future, and where in the future the state is stored. Returns `None`
/// unless both are certain.
pub(super) fn find(code: &Code<'_>, symbols: &Symbols<'_>, address: u64) -> Option<PollFunction> {
    let mut first = Run::new(code, symbols, None);
    first.go(address);
    let candidates = std::mem::take(&mut first.read);
    let ends_at = |place, value| Run::new(code, symbols, Some((place, value))).go(address);
    let is_state = |place: &Place| {
        ends_at(*place, RETURNED) == End::Resumed && ends_at(*place, UNRESUMED) == End::Elsewhere
    };
    let (argument, offset) = candidates.into_iter().find(is_state)?;
    Some(PollFunction {
        argument: argument.into(),
        state_offset: u32::try_from(offset).ok()?,
    })
}

/// Returns whether the drop glue of a future gets the future as its first argument. This is taken to be so if the first
/// byte that the drop glue reads is the future's state.
pub(super) fn drops(code: &Code<'_>, symbols: &Symbols<'_>, address: u64, state_offset: u32) -> bool {
    let mut run = Run::new(code, symbols, None);
    run.go(address);
    run.read.first() == Some(&(0, state_offset.into()))
}

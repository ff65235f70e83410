//! Finds the functions that poll an async body, and where the body's state is, by running their first instructions.
//!
//! An async body is compiled into a function that gets the address of its future, reads the state byte, and jumps to
//! code for that state. The state is 0 before the first poll, 1 after the body has returned, 2 after a panic, and 3 or
//! more at an await. In state 1, the function arrives at a panic of the standard library that nothing else calls, so
//! the code itself proves that the function is a poll. [`find`] tries each byte that the function reads through one of
//! its first two arguments: with 1 in this byte, the function must arrive at the panic, and with 0 elsewhere. A
//! function does not count as a poll if anything on the way depends on an unknown value. Debug information cannot
//! replace this: it only has the name of the body, and most release builds have no types in it.

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

/// Returns which argument of a poll function is its future, and where in the future the state is. Returns `None` unless
/// both are certain.
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

/// Returns whether a function that drops a future gets the future in its first argument: the first byte that the
/// function reads must be the state there.
pub(super) fn drops(code: &Code<'_>, symbols: &Symbols<'_>, address: u64, state_offset: u32) -> bool {
    let mut run = Run::new(code, symbols, None);
    run.go(address);
    run.read.first() == Some(&(0, state_offset.into()))
}

//! Messages about the effect of a request on the program, for commands and the screen.

pub mod switched;
pub(crate) mod watched;

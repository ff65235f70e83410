//! Messages about what a request has done in the program, for commands and the screen.

pub mod switched;
pub(crate) mod watched;

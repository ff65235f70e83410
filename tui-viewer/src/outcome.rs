//! Messages that tell the user what effect a request had on the program. Both commands and the screen use them.

pub mod switched;
pub(crate) mod watched;

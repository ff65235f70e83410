//! Output beside the screen: standard output, messages, and whole files.

pub mod console;
pub mod output_file;
pub(crate) mod similar;
pub mod switched;
pub(crate) mod watched;

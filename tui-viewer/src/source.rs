//! Source code of the program: its files, their lines, and the functions at given addresses.

pub(crate) mod code_reader;
pub(crate) mod source_files;

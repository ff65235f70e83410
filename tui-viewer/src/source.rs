//! Source code of the program: its files, their lines, and the functions of addresses.

pub(crate) mod code_reader;
pub(crate) mod source_files;

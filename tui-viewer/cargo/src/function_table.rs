//! Makes the table of a program's functions and adds it to the file that the linker wrote.
//!
//! ```text
//! file -> sled_map, linked_symbols, debug_info -> named_functions (poll_function, origins) -> encode -> section -> file
//! ```
//!
//! [`tickscope_format::function_table`] is the layout of the table. It is made after each link, so that the program
//! itself reads neither symbols nor debug information.

mod debug_info;
mod error;
mod linked_symbols;
mod named_functions;
mod origins;
mod poll_function;
mod section;
mod sled_map;

use std::fs;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Architecture, Endianness, Object, ObjectKind};
use tickscope_format::function_table::encode;

use crate::function_table::debug_info::Sections;
pub(crate) use crate::function_table::error::TableError;
use crate::function_table::linked_symbols::Symbols;
pub(crate) use crate::function_table::origins::{Member, Sources};
use crate::function_table::poll_function::Code;

/// Adds the table to a program or a shared library. Replaces an earlier table.
///
/// # Errors
/// The file has no sleds or no names, is not for x86-64 Linux, or cannot be read or written. Then it stays unchanged.
pub(crate) fn add(executable: &Path, sources: &Sources) -> Result<(), TableError> {
    let bytes = fs::read(executable).map_err(|error| TableError::io("read", executable, error))?;
    let elf = ElfFile64::<Endianness>::parse(&*bytes)
        .ok()
        .filter(|elf| elf.architecture() == Architecture::X86_64)
        .filter(|elf| matches!(elf.kind(), ObjectKind::Executable | ObjectKind::Dynamic))
        .ok_or_else(|| TableError::not_elf(executable, &bytes))?;
    let sleds = sled_map::read(executable, &elf)?;
    let symbols = Symbols::read(&elf);
    let sections = Sections::load(&elf).map_err(|error| TableError::debug_info(executable, error))?;
    if symbols.is_empty() && sections.is_empty() {
        return Err(TableError::NoNames {
            path: executable.into(),
        });
    }
    let debug_info = sections
        .open()
        .map_err(|error| TableError::debug_info(executable, error))?;
    let functions =
        named_functions::describe(sleds.functions, &symbols, &debug_info, &Code::read(&elf), sources);
    let table = encode(sleds.map, &functions).map_err(|error| TableError::TooLarge {
        path: executable.into(),
        error,
    })?;
    section::add(executable, &bytes, &table)
}

#[cfg(test)]
mod tests;

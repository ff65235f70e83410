//! Makes the table of a program's functions and adds it to the file that the linker wrote.
//!
//! ```text
//! file -> sleds, symbols, debug_info -> functions (name, poll_function, sources) -> encode -> section -> file
//! ```
//!
//! [`tickscope_format::function_table`] is the layout of the table. It is made after each link, so that the program
//! itself reads neither symbols nor debug information.

mod debug_info;
mod error;
mod functions;
mod poll_function;
mod section;
mod sleds;
mod sources;
mod symbols;

use std::fs;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Architecture, Endianness, Object, ObjectKind, ReadCache};
use tickscope_format::function_table::{SECTION, encode};

use crate::cargo::function_table::debug_info::Sections;
use crate::cargo::function_table::poll_function::Code;
use crate::cargo::function_table::symbols::Symbols;

pub use crate::cargo::function_table::error::TableError;
pub use crate::cargo::function_table::sources::{Member, Sources};

/// Adds the table to a program or a shared library. Replaces an earlier table.
///
/// # Errors
/// The file has no sleds or no names, is not for x86-64 Linux, or cannot be read or written. Then it stays unchanged.
pub fn add(executable: &Path, sources: &Sources) -> Result<(), TableError> {
    let bytes = fs::read(executable).map_err(|error| TableError::io("read", executable, error))?;
    let elf = ElfFile64::<Endianness>::parse(&*bytes)
        .ok()
        .filter(|elf| elf.architecture() == Architecture::X86_64)
        .filter(|elf| matches!(elf.kind(), ObjectKind::Executable | ObjectKind::Dynamic))
        .ok_or_else(|| TableError::not_elf(executable, &bytes))?;
    let sleds = sleds::read(executable, &elf)?;
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
    let functions = functions::describe(sleds.functions, &symbols, &debug_info, &Code::read(&elf), sources);
    let table = encode(sleds.map, &functions).map_err(|error| TableError::TooLarge {
        path: executable.into(),
        error,
    })?;
    section::add(executable, &bytes, &table)
}

/// Returns the table of a program, or `None` if it has no table.
///
/// # Errors
/// The file is not an x86-64 ELF file, or cannot be read.
pub fn of(executable: &Path) -> Result<Option<Vec<u8>>, TableError> {
    let failed = |error| TableError::io("read", executable, error);
    let file = fs::File::open(executable).map_err(failed)?;
    // `ReadCache` reads only the requested parts, because programs with debug information are large.
    let cache = ReadCache::new(file);
    let Ok(elf) = ElfFile64::<Endianness, _>::parse(&cache) else {
        let bytes = fs::read(executable).map_err(failed)?;
        return Err(TableError::not_elf(executable, &bytes));
    };
    let Some(section) = elf.section_by_name(SECTION) else {
        return Ok(None);
    };
    let table =
        object::ObjectSection::data(&section).map_err(|error| TableError::damaged(executable, error))?;
    Ok(Some(table.to_vec()))
}

#[cfg(test)]
mod tests;

//! Creates the table of a program's functions, and adds it to the file that the linker wrote.
//!
//! ```text
//! file -> sled_map, linked_symbols, debug_info -> named_functions (poll_function, origins) -> encode -> section -> file
//! ```
//!
//! [`tickscope_format::function_table`] documents the layout of the table. The table is created after each link, so
//! that the program itself need not read symbols or debug information.

mod debug_info;
mod linked_symbols;
mod named_functions;
mod origins;
mod poll_function;
mod section;
mod sled_map;

use std::fmt::Display;
use std::fs;
use std::path::Path;

use anyhow::anyhow;
use object::read::elf::ElfFile64;
use object::{Architecture, Endianness, Object, ObjectKind};
use tickscope_format::function_table::encode;

use crate::function_table::debug_info::Sections;
use crate::function_table::linked_symbols::Symbols;
pub(crate) use crate::function_table::origins::{Member, Sources};
use crate::function_table::poll_function::code::Code;
pub(crate) use crate::function_table::sled_map::{MAP, VERSION, entries};

/// Adds the table to a program or a shared library. If the file already has a table, it is replaced.
///
/// # Errors
/// The file has no sleds or no function names, is not for x86-64 Linux, or cannot be read or written. In all these
/// cases, the file stays unchanged.
pub(crate) fn add(executable: &Path, sources: &Sources) -> anyhow::Result<()> {
    let path = executable.display();
    let bytes = fs::read(executable).map_err(|error| anyhow!("read {path}: {error}"))?;
    let table = encoded_table(&bytes, sources).map_err(|why| anyhow!("{path}: {why}"))?;
    section::add(executable, &bytes, &table)
}

/// Returns the table for a file. If the file cannot have a table, the error says why: what was found, what is needed,
/// and what would help.
fn encoded_table(bytes: &[u8], sources: &Sources) -> Result<Vec<u8>, String> {
    let damaged = |error: &dyn Display| format!("damaged: debug information: {error}");
    let elf = ElfFile64::<Endianness>::parse(bytes)
        .ok()
        .filter(|elf| elf.architecture() == Architecture::X86_64)
        .filter(|elf| matches!(elf.kind(), ObjectKind::Executable | ObjectKind::Dynamic))
        .ok_or_else(|| {
            let found = other_kind(bytes);
            format!("{found}; wanted a program or shared library for x86-64 (ELF)")
        })?;
    let code = Code::read(&elf);
    let sleds = sled_map::read(&elf, &code)?;
    let symbols = Symbols::read(&elf);
    let sections = Sections::load(&elf).map_err(|error| damaged(&error))?;
    if symbols.is_empty() && sections.is_empty {
        return Err(
            "no symbols and no debug information, so its functions have no names; build it without strip \
             (profile strip = \"none\"); strip of binutils keeps the table when it is run afterwards"
                .into(),
        );
    }
    let debug_info = sections.open().map_err(|error| damaged(&error))?;
    let functions = named_functions::describe(sleds.functions, &symbols, &debug_info, &code, sources);
    encode(sleds.map, &functions).map_err(|error| format!("too many functions for one table: {error}"))
}

/// Describes a file that is not an x86-64 program, based on its first bytes.
fn other_kind(bytes: &[u8]) -> String {
    let number = |at: usize| {
        let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
    };
    if !bytes.starts_with(b"\x7fELF") {
        let first = &bytes[..bytes.len().min(4)];
        format!("a file that begins with \"{}\"", first.escape_ascii())
    } else if bytes.get(4) != Some(&2) || bytes.get(5) != Some(&1) || number(18) != 62 {
        format!(
            "an ELF file for another machine (class {}, byte order {}, machine {})",
            bytes.get(4).unwrap_or(&0),
            bytes.get(5).unwrap_or(&0),
            number(18)
        )
    } else if !matches!(number(16), 2 | 3) {
        format!("an ELF file of type {} (1 is an object file)", number(16))
    } else {
        "a damaged ELF file".into()
    }
}

#[cfg(test)]
mod tests;

//! Finds the functions that poll an async body, and the place of its state, by running their first instructions.
//!
//! An async body is compiled into a function that gets the address of its future, reads the state byte, and jumps by
//! its value. The state is 0 before the first poll, 1 after the body has returned, 2 after a panic, and 3 or more in an
//! await. If the body has returned, the function goes to a panic of the standard library that nothing else calls, so
//! the code itself proves its kind. [`find`] runs the function on known values, with 1 in a byte after one of the
//! first two arguments, and the function must arrive at that panic. Debug information shows no more than the name, and
//! most release builds have no types in it. A function does not count as a poll if anything on the way depends on an
//! unknown value.

mod run;
mod value;

use std::collections::HashMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
use tickscope_format::function_table::PollFunction;

use crate::function_table::linked_symbols::Symbols;
use crate::function_table::poll_function::run::{End, Run};

/// Name of the panic of a body that is polled after it has returned, as in symbols.
const RESUMED: &str = "28panic_const_async_fn_resumed";

/// Address in place of the panic's address if another file contains the panic.
const RESUMED_ELSEWHERE: u64 = u64::MAX;

/// State of a body before its first poll.
const UNRESUMED: u64 = 0;

/// State of a body that has returned.
const RETURNED: u64 = 1;

/// Number of arguments that may be the future. It is the second argument if the first is for the result.
const ARGUMENTS: u8 = 2;

/// Code of a program, and the slots that it calls through.
#[derive(Default)]
pub(super) struct Code<'a> {
    pub(super) segments: Vec<(u64, &'a [u8])>,
    /// Values that the loader writes, by address, if the linker knows them; [`RESUMED_ELSEWHERE`] where it writes the address
    /// of another file's panic.
    pub(super) slots: HashMap<u64, u64>,
}

/// Place of a byte after an argument: the number of the argument, and the distance in bytes.
type Place = (u8, i64);

impl<'a> Code<'a> {
    pub(super) fn read(elf: &ElfFile64<'a, Endianness>) -> Self {
        let segments = elf
            .segments()
            .filter_map(|segment| Some((segment.address(), segment.data().ok()?)));
        let mut code = Self {
            segments: segments.collect(),
            ..Self::default()
        };
        let symbols = elf.dynamic_symbol_table();
        for (at, relocation) in elf.dynamic_relocations().into_iter().flatten() {
            match relocation.target() {
                RelocationTarget::Absolute => {
                    code.slots.insert(at, relocation.addend().cast_unsigned());
                }
                RelocationTarget::Symbol(index) => {
                    let symbol = symbols
                        .as_ref()
                        .and_then(|table| table.symbol_by_index(index).ok());
                    let name = symbol.as_ref().and_then(|symbol| symbol.name().ok());
                    if name.is_some_and(is_resumed) {
                        code.slots.insert(at, RESUMED_ELSEWHERE);
                    }
                }
                RelocationTarget::Section(_) | _ => {}
            }
        }
        code
    }

    /// Returns the bytes at an address, up to the end of their segment.
    pub(super) fn at(&self, address: u64) -> Option<&'a [u8]> {
        self.segments.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(at..).filter(|bytes| !bytes.is_empty())
        })
    }

    /// Returns the number of this many bytes at an address of the file.
    fn number(&self, address: u64, bytes: usize) -> Option<u64> {
        if bytes == 8
            && let Some(written) = self.slots.get(&address)
        {
            return Some(*written);
        }
        let found = self.at(address)?.get(..bytes)?;
        let mut wide = [0; 8];
        wide.get_mut(..bytes)?.copy_from_slice(found);
        Some(u64::from_le_bytes(wide))
    }
}

/// Returns the place of the future and of its state for a function that polls an async body; `None` unless both are
/// certain.
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

/// Returns whether a function that drops a future gets the future's address as its first argument: it then reads the
/// state there first.
pub(super) fn drops(code: &Code<'_>, symbols: &Symbols<'_>, address: u64, state_offset: u32) -> bool {
    let mut run = Run::new(code, symbols, None);
    run.go(address);
    run.read.first() == Some(&(0, state_offset.into()))
}

fn is_resumed(name: &str) -> bool {
    // The length in `RESUMED` excludes longer names, such as `panic_const_async_fn_resumed_panic`.
    name.contains(RESUMED)
}

//! The code of a program, and the addresses that the loader writes into the program.

use std::collections::HashMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationTarget};

/// Part of the mangled name of the panic function that is called when a body is polled after it has returned.
const RESUMED: &str = "28panic_const_async_fn_resumed";

/// Stands for the address of that panic function if it is in another file.
pub(super) const RESUMED_ELSEWHERE: u64 = u64::MAX;

/// The code of a program, and the slots from which it reads the addresses that it calls.
#[derive(Default)]
pub(crate) struct Code<'a> {
    pub(crate) segments: Vec<(u64, &'a [u8])>,
    /// Values that the loader writes, by the address of the slot. Only those that can be determined from the file are
    /// here. [`RESUMED_ELSEWHERE`] stands for the address of a panic function in another file.
    pub(crate) slots: HashMap<u64, u64>,
}

impl<'a> Code<'a> {
    pub(crate) fn read(elf: &ElfFile64<'a, Endianness>) -> Self {
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

    /// Returns the bytes from an address to the end of its segment.
    pub(crate) fn at(&self, address: u64) -> Option<&'a [u8]> {
        self.segments.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(at..).filter(|bytes| !bytes.is_empty())
        })
    }

    /// Reads an integer of `bytes` bytes at an address. If the loader writes a value there, returns that value.
    pub(super) fn number(&self, address: u64, bytes: usize) -> Option<u64> {
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

/// Returns whether a symbol names the panic function for a body that has already returned.
pub(super) fn is_resumed(name: &str) -> bool {
    // The length prefix in `RESUMED` rules out longer names, such as `panic_const_async_fn_resumed_panic`.
    name.contains(RESUMED)
}

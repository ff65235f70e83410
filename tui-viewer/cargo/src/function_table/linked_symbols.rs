//! Function names from the symbol tables, by address.

use std::collections::HashMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

/// Symbols of functions.
#[derive(Debug)]
pub(super) struct Symbols<'a> {
    by_address: HashMap<u64, Vec<Symbol<'a>>>,
}

/// A symbol of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol<'a> {
    /// The mangled name.
    pub(super) name: &'a str,
    /// Size of the code in bytes.
    pub(super) size: u64,
}

impl<'a> Symbols<'a> {
    /// Reads the symbol table, and the dynamic symbol table, which even a stripped library has.
    pub(super) fn read(elf: &ElfFile64<'a, Endianness>) -> Self {
        let mut by_address: HashMap<u64, Vec<Symbol<'a>>> = HashMap::new();
        for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || symbol.is_undefined() {
                continue;
            }
            if let Ok(name) = symbol.name()
                && !name.is_empty()
            {
                let here = by_address.entry(symbol.address()).or_default();
                here.push(Symbol {
                    name,
                    size: symbol.size(),
                });
            }
        }
        // Identical functions share an address. Sorting makes the choice of a name independent of the linker's order.
        for here in by_address.values_mut() {
            here.sort();
            here.dedup();
        }
        Self { by_address }
    }

    /// Returns whether there are no symbols.
    pub(super) fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// Returns the symbols of the function at an address.
    pub(super) fn at(&self, address: u64) -> &[Symbol<'a>] {
        self.by_address.get(&address).map_or(&[], Vec::as_slice)
    }
}

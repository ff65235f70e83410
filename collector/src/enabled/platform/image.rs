//! Reads the files of loaded executables and libraries.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::enabled::platform::modules::Loaded;

/// Size of a symbol, in bytes.
const SYMBOL_BYTES: usize = 24;
/// Type of the symbol of a function, `STT_FUNC`.
const FUNCTION: u8 = 2;

impl Loaded {
    /// Returns the executable or library that contains this code.
    #[cfg(any(feature = "functions", test))]
    pub(crate) fn own() -> Option<Self> {
        Self::holding(Self::own as *const () as usize)
    }

    /// Returns the address and the symbol name of each function in the file, sorted by address. If a function has
    /// several names, only one of them is returned.
    pub(crate) fn functions(&self) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        for (symbols, names) in [(".symtab", ".strtab"), (".dynsym", ".dynstr")] {
            let names = self.section(names).unwrap_or_default();
            let symbols = self.section(symbols).unwrap_or_default();
            found.extend(
                symbols
                    .chunks_exact(SYMBOL_BYTES)
                    .filter_map(|symbol| function(symbol, &names)),
            );
        }
        found.sort();
        found.dedup_by_key(|function| function.0);
        found
    }

    /// Reads a section of the file. Returns `None` if there is no section with this name, or if the file cannot be
    /// read.
    pub(crate) fn section(&self, name: &str) -> Option<Vec<u8>> {
        let file = File::open(self.file()).ok()?;
        let length = file.metadata().ok()?.len();
        // A damaged file may claim any size, so memory is allocated only for bytes that the file really has.
        let read = |at: u64, bytes: u64| -> Option<Vec<u8>> {
            if at.checked_add(bytes)? > length {
                return None;
            }
            let mut buffer = vec![0; bytes as usize];
            file.read_exact_at(&mut buffer, at).ok()?;
            Some(buffer)
        };
        let header = read(0, 64)?;
        if header.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let sections_at = long(&header, 40)?;
        let (size, count, names) = (half(&header, 58)?, half(&header, 60)?, half(&header, 62)?);
        let sections = read(sections_at, u64::from(size) * u64::from(count))?;
        let section = |index: usize| {
            let header = sections.get(index * usize::from(size)..)?.get(..64)?;
            let name = u32::from_le_bytes(*header.first_chunk()?) as usize;
            Some((name, long(header, 24)?, long(header, 32)?))
        };
        let (_, at, bytes) = section(names.into())?;
        let names = read(at, bytes)?;
        let is_named = |at: usize| {
            let rest = names.get(at..).unwrap_or_default();
            rest.strip_prefix(name.as_bytes()).and_then(<[u8]>::first) == Some(&0)
        };
        let (_, at, bytes) = (0..count.into())
            .filter_map(section)
            .find(|&(at, ..)| is_named(at))?;
        read(at, bytes)
    }
}

/// Returns the address and the name of a symbol, if it is a function that is defined in the file.
fn function(symbol: &[u8], names: &[u8]) -> Option<(u64, String)> {
    let is_function = symbol.get(4)? & 15 == FUNCTION;
    let is_defined = half(symbol, 6)? != 0;
    let at = u32::from_le_bytes(*symbol.first_chunk()?) as usize;
    let name = names.get(at..)?.split(|byte| *byte == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    (is_function && is_defined && !name.is_empty()).then_some((long(symbol, 8)?, name))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|bytes| u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_image_has_its_sections() {
        let mut image = Loaded::own().unwrap();
        let comment = image.section(".comment").unwrap();
        assert!(String::from_utf8_lossy(&comment).contains("rustc"), "{comment:?}");
        assert!(image.section(".comm").is_none());
        let own = Loaded::own as *const () as usize - image.base;
        let functions = image.functions();
        let found = functions.binary_search_by_key(&(own as u64), |function| function.0);
        assert!(functions[found.unwrap()].1.contains("own"));
        image.name = file!().into();
        assert!(image.section(".comment").is_none() && image.functions().is_empty());
    }
}

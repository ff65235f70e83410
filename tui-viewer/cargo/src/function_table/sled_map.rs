//! Reads the compiler's map of sleds. Each entry has 32 bytes, and contains two addresses. Each of these is relative to
//! the position where it is stored.

use std::collections::BTreeMap;
use std::ops::Range;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};
use tickscope_format::function_table::{Sled, SledKind};

use crate::function_table::poll_function::code::Code;

/// Name of the section that contains the compiler's map.
pub(crate) const MAP: &str = "xray_instr_map";

/// Version of the map in which addresses are relative to the position where they are stored. Other versions are
/// refused.
pub(crate) const VERSION: u8 = 2;

/// Size of an entry in bytes.
const ENTRY: usize = 32;

/// All sleds of a program.
#[derive(Debug)]
pub(super) struct Sleds {
    /// Range of addresses that the map itself occupies.
    pub(super) map: Range<u64>,
    /// The sleds of each function, by the address of the function.
    pub(super) functions: BTreeMap<u64, Vec<Sled>>,
}

/// Splits a map into its entries.
///
/// # Errors
/// The map has another version, or its last entry is incomplete. The message says which.
pub(crate) fn entries(map: &[u8]) -> Result<&[[u8; ENTRY]], String> {
    let (entries, rest) = map.as_chunks::<ENTRY>();
    if let Some(entry) = entries.iter().find(|entry| entry[18] != VERSION) {
        return Err(format!(
            "the map of sleds has version {}, this tickscope reads {VERSION}; use a compiler with version {VERSION}",
            entry[18]
        ));
    }
    if !rest.is_empty() {
        let bytes = map.len();
        return Err(format!(
            "damaged: section {MAP}: {bytes} bytes, wanted a multiple of {ENTRY}"
        ));
    }
    Ok(entries)
}

/// Reads the map, and keeps only the entries whose address really contains the code of a sled.
pub(super) fn read(elf: &ElfFile64<'_, Endianness>, code: &Code<'_>) -> Result<Sleds, String> {
    let Some(section) = elf.section_by_name(MAP).filter(|map| map.size() > 0) else {
        let why = match elf.section_by_name(".note.gnu.gold-version") {
            Some(_) => "the linker gold drops it with --gc-sections; use the default linker or lld",
            None => {
                "it was compiled without sleds, or its linker drops them; build it with cargo tickscope; link with the default \
                 linker or lld"
            }
        };
        return Err(format!("no section {MAP}; {why}"));
    };
    let bytes = section
        .data()
        .map_err(|error| format!("damaged: section {MAP}: {error}"))?;
    let mut sleds = Sleds {
        map: section.address()..section.address() + bytes.len() as u64,
        functions: BTreeMap::new(),
    };
    for (here, entry) in (section.address()..).step_by(ENTRY).zip(entries(bytes)?) {
        let address = here.wrapping_add(word(entry, 0));
        let function = here.wrapping_add(8).wrapping_add(word(entry, 8));
        let found = kind(entry[16]).filter(|kind| is_sled(code, address, *kind));
        if let Some(kind) = found {
            let of_function = sleds.functions.entry(function).or_default();
            of_function.push(Sled { address, kind });
        }
    }
    for of_function in sleds.functions.values_mut() {
        of_function.sort_by_key(|sled| sled.address);
        of_function.dedup();
    }
    Ok(sleds)
}

/// Converts the number that the map uses for a kind of sled. Only the first three kinds occur in Rust.
fn kind(code: u8) -> Option<SledKind> {
    SledKind::of(code.into()).filter(|kind| *kind != SledKind::Drop)
}

/// Returns whether the machine code at an address is a sled of this kind: a jump over nine bytes, or a return followed
/// by a long `nop`.
fn is_sled(code: &Code<'_>, address: u64, kind: SledKind) -> bool {
    let wanted: &[u8] = match kind {
        SledKind::Entry | SledKind::TailCall | SledKind::Drop => &[0xeb, 0x09],
        SledKind::Return => &[0xc3, 0x2e, 0x66],
    };
    code.at(address).is_some_and(|found| found.starts_with(wanted))
}

/// Reads the 8-byte number at an offset in an entry.
fn word(entry: &[u8; ENTRY], at: usize) -> u64 {
    let bytes = entry[at..].first_chunk();
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_of_a_sled_is_one() {
        let bytes = [0x90, 0xeb, 0x09, 0x66, 0xc3, 0x2e, 0x66, 0x0f, 0xc3];
        let code = Code {
            segments: vec![(0x400, &[0u8; 4][..]), (0x1000, &bytes[..])],
            ..Code::default()
        };
        assert!(is_sled(&code, 0x1001, SledKind::Entry));
        assert!(is_sled(&code, 0x1001, SledKind::TailCall));
        assert!(is_sled(&code, 0x1004, SledKind::Return));
        for (address, kind) in [
            (0x1000, SledKind::Entry),
            (0x1001, SledKind::Return),
            (0x1008, SledKind::Return),
            (0x2000, SledKind::Entry),
            (0, SledKind::Entry),
        ] {
            assert!(!is_sled(&code, address, kind), "{address:#x} {kind:?}");
        }
    }

    #[test]
    fn a_code_of_ours_is_none_of_the_compilers_map() {
        assert_eq!(kind(0), Some(SledKind::Entry));
        assert_eq!(kind(2), Some(SledKind::TailCall));
        assert_eq!((kind(3), kind(4)), (None, None));
    }
}

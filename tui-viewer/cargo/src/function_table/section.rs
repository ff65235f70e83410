//! Adds the table to the file, as a section that no loader reads.
//!
//! Three parts are appended to the file: the table, the names of all sections, and the headers of all sections. The
//! names and headers include the new section. Then the file header is made to point to the new section headers.
//! Everything else stays in place, and no address changes. The linker's names and headers remain in the file as a few
//! kilobytes that nothing refers to.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::anyhow;
use object::elf::{self, FileHeader64, SectionHeader64};
use object::pod::{bytes_of, bytes_of_slice};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{LittleEndian, U16, U32, U64};
use tickscope_format::function_table::SECTION;

/// If there are at least this many sections, their number is stored in the size field of the first section header
/// instead of in the file header.
const MANY_SECTIONS: usize = 0xff00;

/// Alignment of the appended parts, in bytes.
const ALIGNMENT: usize = 8;

/// The bytes to append to the file, and its new header.
#[derive(Debug)]
struct Tail {
    /// Number of bytes to keep from the start of the old file.
    kept: usize,
    appended: Vec<u8>,
    header: FileHeader64<LittleEndian>,
}

/// Writes a copy of the file that includes the table, and then replaces the file with the copy. So the program is
/// complete at all times. A process that is running the old file keeps it, and if the disk is full, the linker's file
/// remains.
pub(super) fn add(executable: &Path, bytes: &[u8], table: &[u8]) -> anyhow::Result<()> {
    let path = executable.display();
    let tail = tail(bytes, table).map_err(|error| anyhow!("{path}: damaged: {error}"))?;
    // If the path is a symbolic link to the program, the link is preserved.
    let target = fs::canonicalize(executable).map_err(|error| anyhow!("find {path}: {error}"))?;
    let failed = |error: io::Error| anyhow!("write {}: {error}", target.display());
    let folder = target.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new()
        .prefix(".tickscope-functions-")
        .tempfile_in(folder)
        .map_err(failed)?;
    file.write_all(&bytes[..tail.kept]).map_err(failed)?;
    file.write_all(&tail.appended).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.write_all(bytes_of(&tail.header)).map_err(failed)?;
    let mode = fs::metadata(&target).map_err(failed)?.permissions();
    file.as_file().set_permissions(mode).map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

fn tail(bytes: &[u8], table: &[u8]) -> Result<Tail, object::Error> {
    let little = LittleEndian;
    let mut header = *FileHeader64::<LittleEndian>::parse(bytes)?;
    let mut sections = header.section_headers(little, bytes)?.to_vec();
    let names_at = header.shstrndx(little, bytes)? as usize;
    let mut names = match sections.get(names_at) {
        Some(section) => section.data(little, bytes)?.to_vec(),
        None => Vec::new(),
    };
    let ours = sections.iter().position(|section| {
        let name = names.get(section.sh_name.get(little) as usize..);
        name.is_some_and(|name| name.split(|byte| *byte == 0).next() == Some(SECTION.as_bytes()))
    });
    let kept = ours.map_or(bytes.len(), |ours| {
        kept(bytes, &header, &sections, ours, names_at)
    });
    let ours = ours.unwrap_or(sections.len());
    if ours == sections.len() {
        let name = names.len();
        names.extend_from_slice(SECTION.as_bytes());
        names.push(0);
        sections.push(SectionHeader64 {
            sh_name: U32::new(little, name as u32),
            sh_type: U32::new(little, elf::SHT_PROGBITS),
            sh_flags: U64::default(),
            sh_addr: U64::default(),
            sh_offset: U64::default(),
            sh_size: U64::default(),
            sh_link: U32::default(),
            sh_info: U32::default(),
            sh_addralign: U64::new(little, ALIGNMENT as u64),
            sh_entsize: U64::default(),
        });
    }
    let mut appended = Vec::new();
    let mut append = |part: &[u8]| {
        let padding = (kept + appended.len()).next_multiple_of(ALIGNMENT) - (kept + appended.len());
        appended.extend(std::iter::repeat_n(0, padding));
        appended.extend_from_slice(part);
        (kept + appended.len() - part.len()) as u64
    };
    for (at, part) in [(ours, table), (names_at, names.as_slice())] {
        let offset = append(part);
        if let Some(section) = sections.get_mut(at) {
            section.sh_offset.set(little, offset);
            section.sh_size.set(little, part.len() as u64);
        }
    }
    let count = sections.len();
    match sections.first_mut() {
        Some(first) if count >= MANY_SECTIONS => {
            header.e_shnum = U16::default();
            first.sh_size.set(little, count as u64);
        }
        Some(_) | None => header.e_shnum.set(little, count as u16),
    }
    let offset = append(bytes_of_slice(&sections));
    header.e_shoff.set(little, offset);
    Ok(Tail {
        kept,
        appended,
        header,
    })
}

/// Returns how many bytes to keep from the start of a file that already has a table. If only section names and headers
/// follow the table, this is everything before the table. Otherwise, for example after `strip`, all bytes are kept,
/// including the old table.
fn kept(
    bytes: &[u8],
    header: &FileHeader64<LittleEndian>,
    sections: &[SectionHeader64<LittleEndian>],
    ours: usize,
    names_at: usize,
) -> usize {
    let little = LittleEndian;
    let Some((start, _)) = sections.get(ours).and_then(|section| section.file_range(little)) else {
        return bytes.len();
    };
    let others = sections.iter().enumerate();
    let others = others.filter(|(at, _)| *at != ours && *at != names_at);
    let ends = others.filter_map(|(_, section)| section.file_range(little));
    let segments = header.program_headers(little, bytes).unwrap_or_default();
    let segments = segments.iter().map(|segment| segment.file_range(little));
    let last = ends
        .chain(segments)
        .map(|(from, size)| from.saturating_add(size))
        .max();
    let names = sections
        .get(names_at)
        .and_then(|section| section.file_range(little));
    let behind = names.is_some_and(|(from, _)| from >= start) && header.e_shoff.get(little) >= start;
    match usize::try_from(start) {
        Ok(start) if behind && last.is_some_and(|last| last <= start as u64) => start.min(bytes.len()),
        Ok(_) | Err(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use object::Object;
    use object::read::elf::ElfFile64;

    use super::*;

    /// Returns a program that consists of nothing but `count` sections. The second section contains their names.
    fn program(count: usize) -> Vec<u8> {
        let names = b"\0.names\0";
        let mut bytes = vec![0; 64];
        let mut set = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        set(0, b"\x7fELF\x02\x01\x01");
        set(16, &2u16.to_le_bytes());
        set(18, &62u16.to_le_bytes());
        set(20, &1u32.to_le_bytes());
        set(40, &(64 + names.len() as u64).to_le_bytes());
        set(52, &64u16.to_le_bytes());
        set(58, &64u16.to_le_bytes());
        if count < MANY_SECTIONS {
            set(60, &(count as u16).to_le_bytes());
        }
        set(62, &1u16.to_le_bytes());
        bytes.extend_from_slice(names);
        let sections = bytes.len();
        bytes.resize(sections + count * 64, 0);
        let mut set =
            |at: usize, value: u64| bytes[sections + at..][..8].copy_from_slice(&value.to_le_bytes());
        if count >= MANY_SECTIONS {
            set(32, count as u64);
        }
        // The name of this section is at offset 1, and its type is 3 (string table).
        set(64, 1 | 3 << 32);
        set(64 + 24, 64);
        set(64 + 32, names.len() as u64);
        bytes
    }

    fn added(bytes: &[u8], table: &[u8]) -> Vec<u8> {
        let tail = tail(bytes, table).unwrap();
        let mut whole = [&bytes[..tail.kept], &tail.appended].concat();
        whole[..size_of_val(&tail.header)].copy_from_slice(bytes_of(&tail.header));
        whole
    }

    #[test]
    fn any_number_of_sections_gets_one_more() {
        for count in [
            2,
            MANY_SECTIONS - 2,
            MANY_SECTIONS - 1,
            MANY_SECTIONS,
            MANY_SECTIONS + 1,
        ] {
            let once = added(&program(count), b"table");
            let twice = added(&once, b"another table");
            for (bytes, table) in [(&once, &b"table"[..]), (&twice, b"another table")] {
                let elf = ElfFile64::<LittleEndian>::parse(&**bytes).unwrap();
                assert_eq!(elf.elf_section_table().len(), count + 1);
                let section = elf.section_by_name(SECTION).unwrap();
                assert_eq!(object::ObjectSection::data(&section).unwrap(), table);
                assert!(elf.section_by_name(".names").is_some());
            }
            assert_eq!(twice.len(), once.len() + 8, "the first table is still there");
        }
    }

    #[test]
    fn what_follows_a_table_is_kept() {
        let mut bytes = added(&program(2), b"table");
        // Add a section after the table, as another tool might.
        let behind = bytes.len();
        bytes.extend_from_slice(b"behind it");
        let header = FileHeader64::<LittleEndian>::parse(&*bytes).unwrap();
        let headers = header.e_shoff.get(LittleEndian) as usize;
        bytes[headers + 24..headers + 32].copy_from_slice(&(behind as u64).to_le_bytes());
        bytes[headers + 32..headers + 40].copy_from_slice(&9u64.to_le_bytes());
        bytes[headers + 4] = 1;
        let twice = added(&bytes, b"another table");
        assert!(twice[behind..].starts_with(b"behind it"));
    }
}

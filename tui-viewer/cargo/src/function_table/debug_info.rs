//! Reads debug information: where functions are defined in the source, and which closures are async bodies.

use std::borrow::Cow;
use std::collections::HashMap;

use addr2line::Context;
use addr2line::gimli::{
    self, AttributeValue, DwarfSections, EndianSlice, LittleEndian, Section as _, UnitOffset, UnitRef,
};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};
use tickscope_symbols::function_name::async_bodies::async_bodies;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Maximum number of references to follow from the debug entry of a function to its declaration.
const REFERENCES: usize = 4;

/// The debug information of a file, decompressed.
pub(super) struct Sections<'a> {
    /// Whether the file has no debug information.
    pub(super) is_empty: bool,
    sections: DwarfSections<Cow<'a, [u8]>>,
}

/// The functions of a file.
pub(super) struct DebugInfo<'a> {
    context: Context<Slice<'a>>,
    asyncs: HashMap<String, String>,
}

/// The declaration of a function. Fields that are not known are empty or 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Declaration {
    /// Path of the source file as it was passed to the compiler, appended to the compiler's working directory.
    pub(super) file: String,
    /// First line of the function, or 0 if it is not known.
    pub(super) line: u32,
    /// Name of the function. It is mangled if the debug information contains the mangled name.
    pub(super) name: String,
    /// Kind of async body, such as `async_fn`. Empty for other functions.
    pub(super) body: String,
}

impl<'a> Sections<'a> {
    /// Finds the sections. Those that do not exist are empty.
    pub(super) fn load(elf: &ElfFile64<'a, Endianness>) -> Result<Self, object::Error> {
        let load = |id: gimli::SectionId| match elf.section_by_name(id.name()) {
            Some(section) => section.uncompressed_data(),
            None => Ok(Cow::Borrowed(&[][..])),
        };
        let is_there = |id: gimli::SectionId| {
            elf.section_by_name(id.name())
                .is_some_and(|found| found.size() > 0)
        };
        Ok(Self {
            is_empty: !is_there(gimli::SectionId::DebugInfo),
            sections: DwarfSections::load(load)?,
        })
    }

    /// Opens the debug information. A unit is read only when one of its functions is looked up.
    pub(super) fn open(&self) -> Result<DebugInfo<'_>, gimli::Error> {
        let dwarf = self
            .sections
            .borrow(|bytes| EndianSlice::new(bytes, LittleEndian));
        Ok(DebugInfo {
            asyncs: async_bodies(dwarf.debug_str.reader().slice()),
            context: Context::from_dwarf(dwarf)?,
        })
    }
}

impl DebugInfo<'_> {
    /// Returns the declaration of the function at an address. `size` is the size of its code in bytes. Damaged parts
    /// are treated as missing, because a table without lines is better than none.
    pub(super) fn declaration(&self, address: u64, size: u64) -> Declaration {
        self.try_declaration(address, size).unwrap_or_default()
    }

    fn try_declaration(&self, address: u64, size: u64) -> Result<Declaration, gimli::Error> {
        // Functions that are inlined at the beginning come first, so the last frame is the function itself.
        let mut frames = self.context.find_frames(address).skip_all_loads()?;
        let mut function = None;
        while let Some(frame) = frames.next()? {
            function = Some(frame);
        }
        let Some(function) = function else {
            return Ok(Declaration::default());
        };
        let location = function.location.as_ref();
        let mut found = Declaration {
            file: location.and_then(|at| at.file).unwrap_or_default().into(),
            line: location.and_then(|at| at.line).unwrap_or_default(),
            ..Declaration::default()
        };
        if let Some(name) = &function.function {
            found.name = name.raw_name()?.into_owned();
        }
        // With `debuginfo=1` or more, the function's debug entry contains the line of `fn`. With `line-tables-only`,
        // only the line of the first instruction is known, which often belongs to the first statement.
        if let Some(offset) = function.dw_die_offset
            && let Some(unit) = self.context.find_dwarf_and_unit(address).skip_all_loads()
        {
            declare(&mut found, unit, offset)?;
        }
        if found.line == 0 && !found.file.is_empty() {
            let mut code = self
                .context
                .find_location_range(address, address.saturating_add(size))?;
            let same_file = code.find(|(_, _, at)| at.line.is_some() && at.file == Some(found.file.as_str()));
            found.line = same_file.and_then(|(_, _, at)| at.line).unwrap_or_default();
        }
        Ok(found)
    }

    /// If the closure at this path is an async body, returns its name in the debug information, such as `{async_fn#0}`.
    /// As in symbols, each closure in the path is called `{closure#N}`. The path has no generic arguments.
    pub(super) fn async_body(&self, path: &str) -> Option<&str> {
        self.asyncs.get(path).map(String::as_str)
    }
}

/// Fills in the file, the line and the kind of async body from the debug entry of a function. The kind is the first
/// part of a name such as `{async_fn#0}`. Only debug information contains such names; symbols call the body a closure.
fn declare(
    found: &mut Declaration,
    unit: UnitRef<'_, Slice<'_>>,
    mut offset: UnitOffset,
) -> Result<(), gimli::Error> {
    let (mut place, mut name) = (None, None);
    for _ in 0..REFERENCES {
        let entry = unit.entry(offset)?;
        if place.is_none()
            && let Some(line) = entry.attr_value(gimli::DW_AT_decl_line)
            && let Some(line) = line.udata_value()
        {
            let file = match entry.attr_value(gimli::DW_AT_decl_file) {
                Some(AttributeValue::FileIndex(file)) => file_name(unit, file)?,
                _ => None,
            };
            place = Some((file, u32::try_from(line).unwrap_or_default()));
        }
        name = name.or_else(|| entry.attr_value(gimli::DW_AT_name));
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
        match origin.or_else(|| entry.attr_value(gimli::DW_AT_specification)) {
            Some(AttributeValue::UnitRef(of)) if place.is_none() || name.is_none() => offset = of,
            // With link-time optimisation, the declaration may be in another unit. The file and line from the line
            // table are kept in that case.
            _ => break,
        }
    }
    let Some((file, line)) = place else {
        return Ok(());
    };
    if let Some(file) = file {
        found.file = file;
    }
    found.line = line;
    if let Some(name) = name {
        let name = unit.attr_string(name)?.to_string_lossy();
        let kind = name.strip_prefix('{').and_then(|name| name.split_once('#'));
        if let Some((kind, _)) = kind.filter(|(kind, _)| kind.starts_with("async_")) {
            found.body = kind.into();
        }
    }
    Ok(())
}

/// Returns the path of a file in the unit's line table, appended to the directories that it is relative to.
fn file_name(unit: UnitRef<'_, Slice<'_>>, index: u64) -> Result<Option<String>, gimli::Error> {
    let Some(program) = &unit.line_program else {
        return Ok(None);
    };
    let header = program.header();
    let Some(file) = header.file(index) else {
        return Ok(None);
    };
    let mut path = std::path::PathBuf::new();
    if let Some(folder) = &unit.comp_dir {
        path.push(&*folder.to_string_lossy());
    }
    if let Some(folder) = file.directory(header) {
        path.push(&*unit.attr_string(folder)?.to_string_lossy());
    }
    path.push(&*unit.attr_string(file.path_name())?.to_string_lossy());
    Ok(Some(path.to_string_lossy().into_owned()))
}

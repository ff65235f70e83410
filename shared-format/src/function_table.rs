//! The table of a program's functions, which `cargo tickscope` adds to each program that it links, and which the
//! collector in that program reads.
//!
//! A function that the compiler has prepared contains *sleds*: short stretches of code at its entry, at its returns and
//! at its tail calls, which do nothing until they are switched on. The table tells which function each sled belongs to,
//! so that the program needs neither symbols nor debug information at run time.
//!
//! The table is stored in the section [`SECTION`], which is not loaded into memory. All numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | [`MAGIC`] |
//! | 8..12 | [`VERSION`] |
//! | 12..16, 16..20, 20..24 | number of functions, number of sleds, length of the text in bytes |
//! | 24..32, 32..40 | address and length in bytes of the compiler's own map of sleds |
//! | 40.. | the functions, 52 bytes each: 13 numbers of 4 bytes |
//! | | the sleds, 8 bytes each: the address times 4, plus the kind. The sleds of a function are adjacent |
//! | | the text, in UTF-8: the strings of all functions |
//!
//! The 13 numbers of a function are:
//!
//! - for each of its name, module, file and package, the offset and length of the string in the text;
//! - its line, its code size in bytes, its origin, and the index of its first sled;
//! - its [`PollFunction`] as one number: the offset of the state times 4, plus the index of the argument, plus 1. The
//!   number is 0 if the function polls no async body.
//!
//! Addresses are link-time addresses, to which the loader may add a base.
//!
//! ```
//! use tickscope_format::function_table::{Function, FunctionTable, Origin, Sled, SledKind, encode};
//!
//! let parse = Function {
//!     name: "Parser::parse".into(),
//!     module: "app::parser".into(),
//!     file: "src/parser.rs".into(),
//!     line: 12,
//!     package: "app 0.1.0".into(),
//!     size: 840,
//!     origin: Origin::Own,
//!     sleds: vec![
//!         Sled { address: 0x1000, kind: SledKind::Entry },
//!         Sled { address: 0x1340, kind: SledKind::Return },
//!     ],
//!     poll: None,
//! };
//! let bytes = encode(0x8000..0x8040, std::slice::from_ref(&parse))?;
//! let table = FunctionTable::read(&bytes)?;
//! assert_eq!(table.function(0), Some(parse));
//! # Ok::<(), tickscope_format::FormatError>(())
//! ```

use std::ops::Range;

use crate::error::{FormatError, damaged};

/// Name of the section that contains the table.
pub const SECTION: &str = ".tickscope.functions";

/// First bytes of a table.
pub const MAGIC: [u8; 8] = *b"TKSFUNCS";

/// Version of the layout. A collector reads no other version.
pub const VERSION: u32 = 2;

const HEADER: usize = 40;
const FUNCTION: usize = 52;
const SLED: usize = 8;

/// Number of low bits in an encoded sled that hold its kind.
const KIND_BITS: u32 = 2;

/// A function of the program. Instances (for example, of a generic function) that would look the same in a report are
/// merged into one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Name without the module: `Parser::parse`.
    pub name: String,
    /// Path of the module, which begins with the crate: `app::parser`.
    pub module: String,
    /// Source file; empty if it is not known.
    pub file: String,
    /// Line where the function begins, from 1; 0 if it is not known.
    pub line: u32,
    /// Package that the source belongs to, and its version; empty if they are not known.
    pub package: String,
    /// Code size of the largest instance, in bytes.
    pub size: u32,
    /// Owner of the code.
    pub origin: Origin,
    /// The sleds of all instances.
    pub sleds: Vec<Sled>,
    /// Where to find the future, if the function polls an async body.
    pub poll: Option<PollFunction>,
}

/// How a function that polls an async body receives the future, and where in the future the state is stored. The state
/// is one byte: 0 before the first poll, 1 after the body has returned, 2 after a panic, and above 2 while the body is
/// suspended at an `.await`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PollFunction {
    /// Index, from 0, of the argument that holds the address of the future.
    pub argument: u32,
    /// Offset of the state from the address of the future, in bytes; less than 2^30.
    pub state_offset: u32,
}

/// Owner of a function's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Origin {
    /// A package of the workspace.
    #[default]
    Own,
    /// A package that the workspace depends on.
    Dependency,
    /// Rust's standard library.
    Std,
    /// The origin is not known, as for C code without debug information.
    Unknown,
}

/// A short stretch of code in a function. It does nothing until it is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sled {
    /// Link-time address of the sled.
    pub address: u64,
    /// Kind of the sled.
    pub kind: SledKind,
}

/// Kinds of sleds. The first three have the same codes as in the compiler's map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SledKind {
    /// The function's first instruction.
    Entry = 0,
    /// A return from the function.
    Return = 1,
    /// Before a jump to another function, which then returns to this function's caller.
    TailCall = 2,
    /// The first instruction of a function that drops the future of an async body, where the function's first argument
    /// is the address of the future. The compiler's map lists the sled as the entry of the dropping function, but here
    /// it belongs to the function that polls the body.
    Drop = 3,
}

/// A table in memory.
#[derive(Clone, Copy, Debug)]
pub struct FunctionTable<'a> {
    map: (u64, u64),
    functions: &'a [[u8; FUNCTION]],
    sleds: &'a [[u8; SLED]],
    text: &'a str,
}

/// A function whose strings are borrowed from the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRef<'a> {
    /// See [`Function::name`].
    pub name: &'a str,
    /// See [`Function::module`].
    pub module: &'a str,
    /// See [`Function::file`].
    pub file: &'a str,
    /// See [`Function::line`].
    pub line: u32,
    /// See [`Function::package`].
    pub package: &'a str,
    /// See [`Function::size`].
    pub size: u32,
    /// See [`Function::origin`].
    pub origin: Origin,
    /// See [`Function::poll`].
    pub poll: Option<PollFunction>,
}

impl PollFunction {
    fn encode(poll: Option<Self>) -> u32 {
        poll.map_or(0, |poll| poll.state_offset << 2 | (poll.argument + 1) & 0b11)
    }

    fn of(number: u32) -> Option<Self> {
        Some(Self {
            argument: (number & 0b11).checked_sub(1)?,
            state_offset: number >> 2,
        })
    }
}

impl Origin {
    fn of(code: u32) -> Self {
        match code {
            0 => Self::Own,
            1 => Self::Dependency,
            2 => Self::Std,
            _ => Self::Unknown,
        }
    }
}

impl SledKind {
    /// Returns the kind that has this code, or `None` if there is no such kind.
    pub fn of(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::Entry),
            1 => Some(Self::Return),
            2 => Some(Self::TailCall),
            3 => Some(Self::Drop),
            _ => None,
        }
    }

    /// Returns whether this sled ends a call, either of the function itself or of the async body that it polls.
    pub fn is_end(self) -> bool {
        self != Self::Entry
    }
}

/// Encodes a table. `map` is the address range of the compiler's own map of sleds.
///
/// # Errors
/// [`FormatError::TooLarge`] if the table would be 4 GiB or larger.
pub fn encode(map: Range<u64>, functions: &[Function]) -> Result<Vec<u8>, FormatError> {
    let mut text = Text::default();
    let (mut records, mut sleds) = (Vec::new(), Vec::new());
    for function in functions {
        let first_sled = sleds.len() / SLED;
        for sled in &function.sleds {
            let word = sled.address << KIND_BITS | sled.kind as u64;
            sleds.extend_from_slice(&word.to_le_bytes());
        }
        for part in [
            &function.name,
            &function.module,
            &function.file,
            &function.package,
        ] {
            let (at, length) = text.place(part);
            records.extend_from_slice(&(at as u32).to_le_bytes());
            records.extend_from_slice(&(length as u32).to_le_bytes());
        }
        for number in [
            function.line,
            function.size,
            function.origin as u32,
            first_sled as u32,
            PollFunction::encode(function.poll),
        ] {
            records.extend_from_slice(&number.to_le_bytes());
        }
    }
    let text = text.text;
    let bytes = HEADER + records.len() + sleds.len() + text.len();
    if u32::try_from(bytes).is_err() {
        return Err(FormatError::TooLarge {
            found: bytes as u64,
            wanted: u32::MAX.into(),
        });
    }
    let mut table = Vec::with_capacity(bytes);
    table.extend_from_slice(&MAGIC);
    for number in [
        VERSION,
        functions.len() as u32,
        (sleds.len() / SLED) as u32,
        text.len() as u32,
    ] {
        table.extend_from_slice(&number.to_le_bytes());
    }
    for number in [map.start, map.end.saturating_sub(map.start)] {
        table.extend_from_slice(&number.to_le_bytes());
    }
    table.extend_from_slice(&records);
    table.extend_from_slice(&sleds);
    table.extend_from_slice(text.as_bytes());
    Ok(table)
}

/// The text of a table, in which equal strings are stored once.
#[derive(Default)]
struct Text {
    text: String,
    known: std::collections::HashMap<String, usize>,
}

impl Text {
    fn place(&mut self, part: &str) -> (usize, usize) {
        let at = *self.known.entry(part.to_string()).or_insert_with(|| {
            self.text.push_str(part);
            self.text.len() - part.len()
        });
        (at, part.len())
    }
}

impl<'a> FunctionTable<'a> {
    /// Reads a table. This only checks that the table is complete and that its text is UTF-8. The numbers of a function
    /// are checked when they are used.
    ///
    /// # Errors
    /// If the bytes are not a table, have another version, are cut off, or contain text that is not UTF-8.
    pub fn read(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let truncated = |wanted: u64| FormatError::Truncated {
            found: bytes.len() as u64,
            wanted,
        };
        let header: &[u8; HEADER] = bytes.first_chunk().ok_or_else(|| truncated(HEADER as u64))?;
        if header[..8] != MAGIC {
            return Err(FormatError::NotOurs {
                found: header[..8].escape_ascii().to_string(),
                wanted: MAGIC.escape_ascii().to_string(),
            });
        }
        let [version, functions, sleds, text] = [8, 12, 16, 20].map(|at| u64::from(number(header, at)));
        if version != u64::from(VERSION) {
            return Err(FormatError::Version {
                found: version.to_string(),
                wanted: VERSION.to_string(),
            });
        }
        let wanted = HEADER as u64 + functions * FUNCTION as u64 + sleds * SLED as u64 + text;
        if (bytes.len() as u64) < wanted {
            return Err(truncated(wanted));
        }
        let (functions, rest) = bytes[HEADER..].split_at(functions as usize * FUNCTION);
        let (sleds, rest) = rest.split_at(sleds as usize * SLED);
        let text = &rest[..text as usize];
        Ok(Self {
            map: (long(header, 24), long(header, 32)),
            functions: functions.as_chunks().0,
            sleds: sleds.as_chunks().0,
            text: std::str::from_utf8(text).map_err(|error| {
                let at = (wanted - text.len() as u64) + error.valid_up_to() as u64;
                damaged("text of the function table", at, "other bytes", "UTF-8")
            })?,
        })
    }

    /// Returns the address range of the compiler's own map of sleds.
    pub fn map(&self) -> Range<u64> {
        self.map.0..self.map.0.saturating_add(self.map.1)
    }

    /// Returns the number of functions.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Returns whether the table has no functions.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns the number of sleds in all functions.
    pub fn sled_count(&self) -> usize {
        self.sleds.len()
    }

    /// Returns a function without copying it. A string that does not lie within the table's text is returned as empty.
    pub fn get(&self, index: usize) -> Option<FunctionRef<'a>> {
        let record = self.functions.get(index)?;
        let [name, module, file, package] = [0, 8, 16, 24].map(|at| {
            let (from, length) = (number(record, at) as usize, number(record, at + 4) as usize);
            let end = from.checked_add(length);
            end.and_then(|end| self.text.get(from..end)).unwrap_or("")
        });
        Some(FunctionRef {
            name,
            module,
            file,
            line: number(record, 32),
            package,
            size: number(record, 36),
            origin: Origin::of(number(record, 40)),
            poll: PollFunction::of(number(record, 48)),
        })
    }

    /// Returns the sleds of a function.
    pub fn sleds(&self, index: usize) -> impl Iterator<Item = Sled> + 'a {
        let first = |index: usize| Some(number(self.functions.get(index)?, 44) as usize);
        let from = first(index).unwrap_or(usize::MAX);
        let to = first(index + 1).unwrap_or(self.sleds.len());
        let sleds = self.sleds.get(from..to).unwrap_or_default();
        sleds.iter().filter_map(|word| {
            let word = u64::from_le_bytes(*word);
            Some(Sled {
                address: word >> KIND_BITS,
                kind: SledKind::of(word & ((1 << KIND_BITS) - 1))?,
            })
        })
    }

    /// Returns a copy of a function.
    pub fn function(&self, index: usize) -> Option<Function> {
        let function = self.get(index)?;
        Some(Function {
            name: function.name.into(),
            module: function.module.into(),
            file: function.file.into(),
            line: function.line,
            package: function.package.into(),
            size: function.size,
            origin: function.origin,
            sleds: self.sleds(index).collect(),
            poll: function.poll,
        })
    }
}

/// Returns the 4-byte number at offset `at`, which must lie inside `bytes`.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Returns the 8-byte number at offset `at`, which must lie inside `bytes`.
fn long(bytes: &[u8], at: usize) -> u64 {
    bytes[at..]
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests;

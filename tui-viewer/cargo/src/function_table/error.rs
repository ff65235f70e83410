//! Reasons why a program gets no table: the fact found, the fact wanted, and a way that works.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use tickscope_format::FormatError;

/// Reason why a program gets no table.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum TableError {
    /// The file is no program or shared library for x86-64.
    NotElf {
        /// The file.
        path: PathBuf,
        /// Kind of the file.
        found: String,
    },
    /// The compiler put no sleds in, or the linker left their map out.
    NoSleds {
        /// The file.
        path: PathBuf,
        /// Whether gold linked the file.
        by_gold: bool,
    },
    /// The map of sleds has another layout.
    SledVersion {
        /// The file.
        path: PathBuf,
        /// The version in the map.
        found: u8,
        /// The version that this build reads.
        wanted: u8,
    },
    /// The file has neither symbols nor debug information.
    NoNames {
        /// The file.
        path: PathBuf,
    },
    /// A part of the file cannot be read.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Name of the part, and the reason.
        found: String,
    },
    /// There are too many functions for one table.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Number of bytes, and number of bytes that fit.
        error: FormatError,
    },
    /// A call to the system failed.
    Io {
        /// Name of the call.
        call: &'static str,
        /// Path of the call.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl TableError {
    pub(super) fn io(call: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            call,
            path: path.into(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, error: impl fmt::Display) -> Self {
        Self::Damaged {
            path: path.into(),
            found: error.to_string(),
        }
    }

    pub(super) fn debug_info(path: &Path, error: impl fmt::Display) -> Self {
        Self::damaged(path, format!("debug information: {error}"))
    }

    /// Describes a file that is no program for x86-64, by its first bytes.
    pub(super) fn not_elf(path: &Path, bytes: &[u8]) -> Self {
        let number = |at: usize| {
            let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
        };
        let found = if !bytes.starts_with(b"\x7fELF") {
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
        };
        Self::NotElf {
            path: path.into(),
            found,
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf { path, found } => write!(
                f,
                "{}: {found}; wanted a program or shared library for x86-64 (ELF)",
                path.display()
            ),
            Self::NoSleds { path, by_gold: true } => write!(
                f,
                "{}: no section xray_instr_map; the linker gold drops it with --gc-sections; use the default linker or lld",
                path.display()
            ),
            Self::NoSleds { path, by_gold: false } => write!(
                f,
                "{}: no section xray_instr_map; it was compiled without sleds, or its linker drops them; build it with cargo \
                 tickscope; link with the default linker or lld",
                path.display()
            ),
            Self::SledVersion { path, found, wanted } => write!(
                f,
                "{}: the map of sleds has version {found}, this tickscope reads {wanted}; use a compiler with version {wanted}",
                path.display()
            ),
            Self::NoNames { path } => write!(
                f,
                "{}: no symbols and no debug information, so its functions have no names; build it without strip \
                 (profile strip = \"none\"); strip of binutils keeps the table when it is run afterwards",
                path.display()
            ),
            Self::Damaged { path, found } => write!(f, "{}: damaged: {found}", path.display()),
            Self::TooLarge { path, error } => {
                write!(f, "{}: too many functions for one table: {error}", path.display())
            }
            Self::Io { call, path, source } => write!(f, "{call} {}: {source}", path.display()),
        }
    }
}

impl Error for TableError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::TooLarge { error, .. } => Some(error),
            Self::NotElf { .. }
            | Self::NoSleds { .. }
            | Self::SledVersion { .. }
            | Self::NoNames { .. }
            | Self::Damaged { .. } => None,
        }
    }
}

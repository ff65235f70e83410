//! The error type of this crate. Each error says what was found and what was expected, and at which path or offset.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use crate::layout::FORMAT_MAJOR;

/// Reason why a file or its bytes could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum FormatError {
    /// The file does not begin with the magic number of tickscope files.
    NotOurs {
        /// The first bytes, printable.
        found: String,
        /// The first bytes of a tickscope file.
        wanted: String,
    },
    /// The file was written by a version that this build cannot read.
    Version {
        /// The major and minor version of the file.
        found: String,
        /// Versions that this build can read.
        wanted: String,
    },
    /// The file needs features that this build does not know.
    Features {
        /// The unknown bits.
        found: u64,
    },
    /// The file is shorter than its header says.
    Truncated {
        /// Bytes that exist.
        found: u64,
        /// Bytes needed.
        wanted: u64,
    },
    /// A field contains a value that a correct writer never writes.
    Damaged {
        /// Name of the field.
        what: &'static str,
        /// Offset in bytes from the beginning of the file or record; `None` if the fault was found in decoded data.
        offset: Option<u64>,
        /// The value found.
        found: String,
        /// The values allowed.
        wanted: String,
    },
    /// The writer overtook the reader on every attempt.
    Lapped {
        /// Number of tries.
        tries: u32,
    },
    /// There is no complete record.
    NoRecord,
    /// The snapshot does not fit into a record.
    TooLarge {
        /// Bytes needed.
        found: u64,
        /// Bytes available.
        wanted: u64,
    },
    /// The file or directory cannot be used, for example because it belongs to another user or is not of the expected
    /// kind.
    Unsuitable {
        /// The path.
        path: PathBuf,
        /// What was found at the path.
        found: String,
        /// What is required there.
        wanted: String,
    },
    /// A call to the system failed.
    Io {
        /// Name of the call.
        call: &'static str,
        /// Path that the call was given.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl FormatError {
    /// Creates an I/O error from the name of the call that failed, the path it was given and the system's error.
    pub fn io(call: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            call,
            path: path.into(),
            source,
        }
    }
}

/// Creates an error about a field. `offset` is in bytes from the beginning of the file or record, or `None` if it is
/// not known.
pub(crate) fn damaged(
    what: &'static str,
    offset: impl Into<Option<u64>>,
    found: impl ToString,
    wanted: impl ToString,
) -> FormatError {
    FormatError::Damaged {
        what,
        offset: offset.into(),
        found: found.to_string(),
        wanted: wanted.to_string(),
    }
}

/// Checks that this build can read a version, and returns the version's major and minor number.
pub(crate) fn check_version(version: u64) -> Result<(u32, u32), FormatError> {
    let (major, minor) = ((version >> 32) as u32, version as u32);
    match major {
        FORMAT_MAJOR => Ok((major, minor)),
        _ => Err(FormatError::Version {
            found: format!("{major}.{minor}"),
            wanted: format!("{FORMAT_MAJOR}.x"),
        }),
    }
}

/// Checks that this build supports all the features that a file requires.
pub(crate) fn check_features(features: u64, known: u64) -> Result<(), FormatError> {
    match features & !known {
        0 => Ok(()),
        found => Err(FormatError::Features { found }),
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs { found, wanted } => {
                write!(f, "not a tickscope file: begins with {found}, wanted {wanted}")
            }
            Self::Version { found, wanted } => write!(
                f,
                "ring format {found}, this tickscope reads {wanted}; use the tickscope that wrote it, or update"
            ),
            Self::Features { found } => write!(
                f,
                "needs format features {found:#x} that this tickscope does not know; update tickscope"
            ),
            Self::Truncated { found, wanted } => write!(f, "truncated: {found} bytes, wanted {wanted}"),
            Self::Damaged {
                what,
                offset,
                found,
                wanted,
            } => {
                write!(f, "damaged: {what}")?;
                if let Some(offset) = offset {
                    write!(f, " at byte {offset}")?;
                }
                write!(f, ": found {found}, wanted {wanted}")
            }
            Self::Lapped { tries } => write!(
                f,
                "the program writes faster than this can be read ({tries} tries); ask for a slower interval"
            ),
            Self::NoRecord => {
                f.write_str("no whole record in the ring (it was damaged or cut after the program wrote it)")
            }
            Self::TooLarge { found, wanted } => write!(
                f,
                "the snapshot needs {found} bytes, a record holds at most {wanted}; give a larger ring"
            ),
            Self::Unsuitable { path, found, wanted } => {
                write!(f, "{}: {found}, wanted {wanted}", path.display())
            }
            Self::Io { call, path, source } => write!(f, "{call} {}: {source}", path.display()),
        }
    }
}

impl Error for FormatError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Self::Io { source, .. } = self {
            return Some(source);
        }
        None
    }
}

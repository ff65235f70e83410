//! What others may do to a ring file while its program writes it.

use std::path::Path;

use crate::error::FormatError;
use crate::mapping::Fault;

/// Why a ring is not to be written any more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loss {
    /// Somebody has cut the file to so many bytes.
    Cut(u64),
    /// Somebody has emptied its first pages, or written over them.
    Emptied,
    /// The kernel could not carry out a call: the file was cut and has grown again, or there is no space for a block of
    /// it any more.
    Fault(Fault),
    /// The descriptor was closed and the path leads elsewhere: nobody could tell whether a store is a signal.
    OutOfSight,
}

impl Loss {
    /// As an error, of a file that had so many bytes.
    pub(super) fn error(self, path: &Path, bytes: u64) -> FormatError {
        let (found, wanted) = match self {
            Self::Fault(fault) => return FormatError::io(fault.call, path, fault.source()),
            Self::Cut(found) => (
                format!("was cut from outside to {found} bytes"),
                bytes.to_string(),
            ),
            Self::Emptied => (
                "was emptied or written over from outside".into(),
                "what this program wrote".into(),
            ),
            Self::OutOfSight => (
                "was moved away, and the program has closed its descriptor".into(),
                "the ring that this program made".into(),
            ),
        };
        FormatError::Unsuitable {
            path: path.to_path_buf(),
            found,
            wanted,
        }
    }
}

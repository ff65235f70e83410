//! Damage that other processes can do to a ring file while its program writes it.

use std::path::Path;

use crate::error::FormatError;
use crate::mapping::Fault;

/// Reason why a ring must no longer be written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Damage {
    /// The file was cut to this many bytes.
    Cut(u64),
    /// The first pages of the file were emptied or overwritten.
    Emptied,
    /// The kernel could not carry out a call: the file was cut and has grown again, or there is no space left for one
    /// of its blocks.
    Fault(Fault),
    /// The descriptor was closed and the path leads to another file, so that it is unknown whether a store would raise
    /// a signal.
    OutOfSight,
}

impl Damage {
    /// Makes an error from the damage, for a file that had this many bytes.
    pub(super) fn error(self, path: &Path, bytes: u64) -> FormatError {
        let (found, wanted) = match self {
            Self::Fault(fault) => return FormatError::io(fault.call, path, fault.source()),
            Self::Cut(found) => (
                format!("was cut by another program to {found} bytes"),
                bytes.to_string(),
            ),
            Self::Emptied => (
                "was emptied or overwritten by another program".into(),
                "the bytes that this program wrote".into(),
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

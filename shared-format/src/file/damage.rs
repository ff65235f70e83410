//! Damage that other processes can do to a ring file while the program is writing to it.

use std::path::Path;

use crate::error::FormatError;
use crate::mapping::Fault;

/// Reason why a ring must not be written to any more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Damage {
    /// The file was cut to this many bytes.
    Cut(u64),
    /// The first pages of the file were emptied or overwritten.
    Emptied,
    /// The kernel failed to copy data to or from the file: the file was cut and has grown again, or there is no space
    /// left for one of its blocks.
    Fault(Fault),
    /// The descriptor was closed and the path leads to another file. It is no longer possible to tell whether a store
    /// would raise a signal.
    OutOfSight,
}

impl Damage {
    /// Returns the error that describes this damage to a file that had `bytes` bytes.
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

//! Reports as JSON.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use crate::error::FormatError;
use crate::file::open::open_plain;
use crate::render::json;
use crate::snapshot::Snapshot;

/// A longer one is not read: one of 100 000 nodes has some 50 MB.
pub(super) const LONGEST: u64 = 1 << 30;

/// So far blanks are looked at for the first bracket.
const START: u64 = 64;

pub(super) fn is_called_so(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json"))
}

pub(super) fn begins(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = open_plain(path, false).map(|file| file.take(START).read_to_end(&mut start));
    matches!(read, Ok(Ok(_))) && start.trim_ascii_start().first() == Some(&b'{')
}

pub(super) fn read(path: &Path) -> Result<Snapshot, FormatError> {
    let failed = |error| FormatError::io("read", path, error);
    let file = open_plain(path, false)?;
    let length = file.metadata().map_err(failed)?.len();
    if length > LONGEST {
        return Err(FormatError::Unsuitable {
            path: path.into(),
            found: format!("{length} bytes"),
            wanted: format!("a JSON report of at most {LONGEST}"),
        });
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(failed)?;
    match String::from_utf8(bytes) {
        Ok(text) => json::snapshot_of(&text),
        Err(error) => Err(FormatError::NotOurs {
            found: format!(
                "\"{}\"",
                error.as_bytes()[..error.as_bytes().len().min(24)].escape_ascii()
            ),
            wanted: "text: a report as `tickscope report -f json` writes it".into(),
        }),
    }
}

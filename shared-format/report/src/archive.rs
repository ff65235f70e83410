//! Reads the snapshot in a file, which may be a snapshot file, a recording (`.tks`) or an HTML page.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use tickscope_format::FormatError;
use tickscope_format::addresses::Addresses;
use tickscope_format::file::open::open_plain;
use tickscope_format::recording::Recording;
use tickscope_format::snapshot::Snapshot;
use tickscope_format::snapshot_file;

use crate::html;

/// First bytes of an HTML page.
const PAGE: &[u8] = b"<!doctype html>";

/// Maximum size of a page that can be read, in bytes. A page with 100 000 nodes takes about 12 MB.
const LONGEST_PAGE: u64 = 1 << 30;

/// Returns whether a file contains a snapshot, judging by its first bytes or its extension.
pub fn is_archive(path: &Path) -> bool {
    let ending = path.extension();
    ending == Some(OsStr::new(snapshot_file::ENDING))
        || snapshot_file::is_snapshot_file(path)
        || is_page(path)
}

/// Reads the snapshot in a file, as it was measured.
///
/// # Errors
/// Returns an error if the file contains no snapshot that this version can read.
pub fn read(path: &Path) -> Result<Snapshot, FormatError> {
    if !is_page(path) {
        return snapshot_file::read(path);
    }
    let mut text = String::new();
    let read = open_plain(path, false)?
        .take(LONGEST_PAGE)
        .read_to_string(&mut text);
    read.map_err(|error| FormatError::io("read", path, error))?;
    html::snapshot_of(&text)
}

/// Reads the functions and lines of the code addresses in a recording. For files of other kinds, the result is empty.
pub fn addresses(path: &Path) -> Addresses {
    Recording::open(path).map_or_else(|_| Addresses::default(), |recording| recording.addresses())
}

fn is_page(path: &Path) -> bool {
    let mut start = [0; PAGE.len()];
    let read = open_plain(path, false).map(|mut file| file.read_exact(&mut start));
    matches!(read, Ok(Ok(()))) && start.eq_ignore_ascii_case(PAGE)
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;
    use crate::form::FormOptions;

    #[test]
    fn a_page_and_a_kept_snapshot_are_read_alike() {
        let dir = tempfile::tempdir().unwrap();
        let snapshot = fixture::two_threads();
        // The kind of a file depends on its contents, not on its name.
        let (kept, page) = (dir.path().join("kept"), dir.path().join("page"));
        snapshot_file::write(&kept, &snapshot).unwrap();
        let text = html::page(&snapshot, &FormOptions::default()).unwrap();
        std::fs::write(&page, text).unwrap();
        for path in [kept, page] {
            assert!(is_archive(&path));
            assert_eq!(read(&path).unwrap(), snapshot);
        }
    }

    #[test]
    fn other_files_say_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.html");
        std::fs::write(&path, "<!DOCTYPE HTML><p>nothing").unwrap();
        assert!(is_archive(&path));
        let why = read(&path).unwrap_err().to_string();
        assert!(why.contains("report -f html"), "{why}");
        std::fs::write(&path, "nothing at all, and longer than a page's head").unwrap();
        assert!(read(&path).is_err());
        let other = dir.path().join("a.txt");
        std::fs::write(&other, "nothing at all").unwrap();
        assert!(!is_archive(&other));
    }
}

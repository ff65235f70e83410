//! Files that carry a snapshot: kept ones (`.tks`), and reports as HTML pages or JSON.

#[cfg(feature = "json")]
mod document;

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use crate::error::FormatError;
use crate::file::open::open_plain;
use crate::kept;
use crate::render::html;
use crate::snapshot::Snapshot;

/// How a page begins.
const PAGE: &[u8] = b"<!doctype html>";

/// A longer page is not read: one of 100 000 nodes has some 12 MB.
const LONGEST_PAGE: u64 = 1 << 30;

/// Whether a file begins like one that carries a snapshot, or is called like one.
pub fn is_archive(path: &Path) -> bool {
    let ending = path.extension();
    let is_called_so = ending == Some(OsStr::new(kept::KEPT_ENDING)) || document::is_called_so(path);
    is_called_so || kept::is_kept(path) || is_page(path) || document::begins(path)
}

/// Reads the snapshot of a file, as it was measured.
///
/// # Errors
/// What is there instead of one that this build can read.
pub fn read(path: &Path) -> Result<Snapshot, FormatError> {
    if document::begins(path) || document::is_called_so(path) && !kept::is_kept(path) && !is_page(path) {
        return document::read(path);
    }
    if !is_page(path) {
        return kept::read(path);
    }
    let failed = |error| FormatError::io("read", path, error);
    let mut text = String::new();
    open_plain(path, false)?
        .take(LONGEST_PAGE)
        .read_to_string(&mut text)
        .map_err(failed)?;
    html::snapshot_of(&text)
}

fn is_page(path: &Path) -> bool {
    let mut start = [0; PAGE.len()];
    let read = open_plain(path, false).map(|mut file| file.read_exact(&mut start));
    matches!(read, Ok(Ok(()))) && start.eq_ignore_ascii_case(PAGE)
}

/// Who is built without JSON knows no such file.
#[cfg(not(feature = "json"))]
mod document {
    use std::path::Path;

    use crate::error::FormatError;
    use crate::kept;
    use crate::snapshot::Snapshot;

    pub(super) fn is_called_so(_: &Path) -> bool {
        false
    }

    pub(super) fn begins(_: &Path) -> bool {
        false
    }

    pub(super) fn read(path: &Path) -> Result<Snapshot, FormatError> {
        kept::read(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::render::html::PageOptions;

    #[test]
    fn a_page_and_a_kept_snapshot_are_read_alike() {
        let dir = tempfile::tempdir().unwrap();
        let snapshot = fixture::two_threads();
        // A name says nothing where the file does.
        let (kept, page) = (dir.path().join("kept"), dir.path().join("page"));
        kept::write(&kept, &snapshot).unwrap();
        let text = html::page(&snapshot, &PageOptions::default()).unwrap();
        std::fs::write(&page, text).unwrap();
        for path in [kept, page] {
            assert!(is_archive(&path));
            assert_eq!(read(&path).unwrap(), snapshot);
        }
    }

    #[cfg(feature = "json")]
    #[test]
    fn a_report_as_json_is_read_as_well() {
        use crate::render::{ProcessState, json};

        let dir = tempfile::tempdir().unwrap();
        let snapshot = fixture::two_threads();
        let text = json::report(&snapshot, ProcessState::Running);
        let (named, unnamed) = (dir.path().join("a.json"), dir.path().join("b"));
        std::fs::write(&named, &text).unwrap();
        std::fs::write(&unnamed, format!("\n {text}")).unwrap();
        for path in [&named, &unnamed] {
            assert!(is_archive(path));
            assert_eq!(read(path).unwrap(), snapshot);
        }
        for (bytes, says) in [
            (&b"\xff\xfe\x00"[..], "\\xff\\xfe\\x00"),
            (b"", "begins with \"\""),
            (b"[1, 2]", "begins with \"[1, 2]\""),
        ] {
            std::fs::write(&named, bytes).unwrap();
            assert!(is_archive(&named));
            let why = read(&named).unwrap_err().to_string();
            assert!(why.contains(says) && why.contains("report -f json"), "{why}");
        }
        // What a file is counts more than how it is called.
        std::fs::remove_file(&named).unwrap();
        kept::write(&named, &snapshot).unwrap();
        assert_eq!(read(&named).unwrap(), snapshot);
        let too_long = std::fs::File::create(&unnamed).unwrap();
        std::io::Write::write_all(&mut &too_long, b"{").unwrap();
        too_long.set_len(document::LONGEST + 1).unwrap();
        let why = read(&unnamed).unwrap_err().to_string();
        assert!(
            why.contains("1073741825 bytes, wanted a JSON report of at most 1073741824"),
            "{why}"
        );
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

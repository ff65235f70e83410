//! Snapshot files (`.tks`), each of which is a recording that contains a single record.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::codec;
use crate::error::FormatError;
use crate::file::open::open_plain;
use crate::layout::{FORMAT_MAJOR, FORMAT_MINOR, SNAPSHOT_FILE_MAGIC, WORD};
use crate::recording::{HEAD_WORDS, Recording};
use crate::ring::{Stamp, payload_words, record_head};
use crate::snapshot::Snapshot;
use crate::words;

/// File extension of snapshot files and recordings.
pub const ENDING: &str = "tks";

/// Number of existing temporary files to skip for one target file before giving up.
const TEMPORARIES_MAX: u32 = 1000;

/// Writes one snapshot to a file that must not exist yet. The file appears complete or not at all.
///
/// # Errors
/// The error of the system call that failed, most likely "File exists".
pub fn write(path: &Path, snapshot: &Snapshot) -> Result<(), FormatError> {
    write_new(path, &bytes(snapshot)?)
}

/// Returns the bytes of a snapshot file.
///
/// # Errors
/// [`FormatError::TooLarge`] if the snapshot is larger than a reader would accept.
pub fn bytes(snapshot: &Snapshot) -> Result<Vec<u8>, FormatError> {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload)?;
    let stamp = Stamp::from(&snapshot.capture);
    let mut head = [0u64; HEAD_WORDS];
    head[0] = SNAPSHOT_FILE_MAGIC;
    head[1] = u64::from(FORMAT_MAJOR) << 32 | u64::from(FORMAT_MINOR);
    let record = record_head(stamp, 1, 0, u64::MAX, &payload);
    let words = head.into_iter().chain(record).chain(payload_words(&payload));
    Ok(words::to_bytes(words))
}

/// Writes a file that must not exist yet. The file appears complete or not at all.
///
/// # Errors
/// The error of the system call that failed, most likely "File exists".
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FormatError> {
    write_new_by(path, |file| file.write_all(bytes))
}

/// Like [`write_new`], but `write` produces the contents piece by piece.
///
/// # Errors
/// The error of the system call that failed, most likely "File exists", or the error of `write`.
pub fn write_new_by(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), FormatError> {
    let (temporary, mut file) = beside(path)?;
    let failed = |call, error| {
        let _ = fs::remove_file(&temporary);
        FormatError::io(call, path, error)
    };
    write(&mut file).map_err(|error| failed("write", error))?;
    file.sync_all().map_err(|error| failed("write", error))?;
    drop(file);
    // A hard link fails if `path` already exists, whereas a rename would replace that file.
    fs::hard_link(&temporary, path).map_err(|error| failed("create", error))?;
    let _ = fs::remove_file(&temporary);
    Ok(())
}

/// Creates a temporary file next to the final file. If a temporary file of the same name exists, it is left alone and
/// another name is tried, because it belongs to another thread, or to an earlier process with the same process id.
fn beside(path: &Path) -> Result<(PathBuf, File), FormatError> {
    let mut number = 0;
    loop {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}-{number}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644);
        let opened = options.open(&temporary);
        match opened {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < TEMPORARIES_MAX => number += 1,
            Err(error) => return Err(FormatError::io("create", path, error)),
        }
    }
}

/// Returns whether the file begins with the magic number of snapshot files and recordings.
pub fn is_snapshot_file(path: &Path) -> bool {
    let mut magic = [0; WORD];
    let read = open_plain(path, false).map(|mut file| file.read_exact(&mut magic));
    matches!(read, Ok(Ok(()))) && magic == SNAPSHOT_FILE_MAGIC.to_le_bytes()
}

/// Reads the newest snapshot from a snapshot file or recording.
///
/// # Errors
/// An error that says why the file contains no snapshot that this build can read.
pub fn read(path: &Path) -> Result<Snapshot, FormatError> {
    Recording::open(path)?.newest().map(|(_, snapshot)| snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_kept_snapshot_opens_again_and_is_never_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tks");
        let snapshot = fixture::two_threads();
        write(&path, &snapshot).unwrap();
        assert!(is_snapshot_file(&path));
        assert_eq!(read(&path).unwrap(), snapshot);
        let error = write(&path, &snapshot).unwrap_err().to_string();
        assert!(error.contains("exists"), "{error}");
        // No temporary file remains.
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn half_made_files_of_others_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tks");
        let theirs = dir.path().join(format!("a.tks.{}-0.part", std::process::id()));
        fs::write(&theirs, "theirs").unwrap();
        write_new(&path, b"ours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_broken_file_says_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tks");
        write(&path, &fixture::two_threads()).unwrap();
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[200] ^= 1;
        for (bytes, says) in [
            (&whole[..whole.len() - 9], "no whole record"),
            (&flipped[..], "no whole record"),
            (&whole[..20], "truncated"),
            (b"hello, world, how are you", "begins with \"hello, w\""),
            (b"", "begins with \"\""),
        ] {
            let broken = dir.path().join("b.tks");
            fs::write(&broken, bytes).unwrap();
            let error = read(&broken).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}

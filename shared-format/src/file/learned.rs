//! Text that one run of a program leaves for later runs of the same build, in a file next to the rings.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::file::open::open_plain;
use crate::file::places;
use crate::os;

/// File name extension of these files.
const ENDING: &str = "learned";

/// Number of builds whose files are kept in a directory.
const FILES_KEPT: usize = 64;

/// Maximum length of a file in bytes. Longer files are not read.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the text left for this build, from the first directory that has such a file owned by this user.
pub fn read(build: u64) -> Option<String> {
    let places = places::places(None).into_iter();
    let files = places.filter_map(|place| open_plain(&place.join(name(build)), false).ok());
    let mut own = files.filter(|file| {
        let facts = file.metadata();
        facts.is_ok_and(|facts| facts.uid() == os::user_id() && facts.len() <= MOST_BYTES)
    });
    let mut text = String::new();
    own.next()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Leaves a text for later runs of this build, in the first directory that can be written to. If the directory has too
/// many such files, the oldest are removed.
pub fn write(build: u64, text: &str) {
    let mut places = places::places(None).into_iter();
    let _ = places.find(|place| places::prepare(place).is_ok() && write_into(place, build, text));
}

/// Removes the files of all builds in a directory. Returns their paths.
pub fn remove_all(place: &Path) -> Vec<PathBuf> {
    remove_but(place, 0)
}

fn name(build: u64) -> String {
    format!("{build:016x}.{ENDING}")
}

/// Returns the name of this build's file while it is being written. It has the ending of finished files, so that a file
/// that a crash leaves unfinished is removed like them.
fn temporary_name(build: u64) -> String {
    format!(".{}.{}", std::process::id(), name(build))
}

/// Writes a file completely or not at all. Returns whether it was written.
fn write_into(place: &Path, build: u64, text: &str) -> bool {
    let file = place.join(name(build));
    let is_new = !file.exists();
    let temporary = place.join(temporary_name(build));
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    let made = options.open(&temporary).and_then(os::out_of_the_way);
    let written = made
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, file));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    } else if is_new {
        remove_but(place, FILES_KEPT);
    }
    written.is_ok()
}

/// Removes this user's learned files in a directory, except the newest `keep`. Returns their paths.
fn remove_but(place: &Path, keep: usize) -> Vec<PathBuf> {
    let dated = |path: PathBuf| {
        let facts = fs::symlink_metadata(&path).ok()?;
        let is_ours = facts.is_file() && facts.uid() == os::user_id();
        is_ours.then(|| (facts.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
    };
    let is_learned = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
    let files = os::paths_in(place).into_iter().filter(is_learned);
    let mut files: Vec<_> = files.filter_map(dated).collect();
    files.sort_by(|a, b| b.cmp(a));
    let old = files.into_iter().skip(keep).map(|(_, path)| path);
    old.filter(|path| fs::remove_file(path).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_keeps_the_newest_and_nothing_else_is_touched() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("other"), "").unwrap();
        for build in 0..FILES_KEPT as u64 + 3 {
            assert!(write_into(place.path(), build, "text"));
        }
        // A second text for the same build replaces the first.
        assert!(write_into(place.path(), 66, "more"));
        assert_eq!(fs::read_to_string(place.path().join(name(66))).unwrap(), "more");
        assert_eq!(os::paths_in(place.path()).len(), FILES_KEPT + 1);
        assert_eq!(remove_all(place.path()).len(), FILES_KEPT);
        assert_eq!(os::paths_in(place.path()), [place.path().join("other")]);
    }

    #[test]
    fn what_a_crash_leaves_is_removed_with_the_others() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(temporary_name(7)), "te").unwrap();
        assert!(write_into(place.path(), 8, "text"));
        assert_eq!(remove_all(place.path()).len(), 2);
        assert_eq!(os::paths_in(place.path()), Vec::<PathBuf>::new());
    }
}

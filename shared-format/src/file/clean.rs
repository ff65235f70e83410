//! Rings whose program has ended: the newest few are kept, emptied of all but their last record.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::file::list::ring_paths;
use crate::file::open::{RingFile, open_plain};
use crate::layout::{WORD, record};
use crate::os;
use crate::ring::Record;

/// How many dead rings of a user stay.
pub const KEPT: usize = 16;

/// Removes the dead rings of a directory beyond the newest `keep`, punches holes into those that stay, and
/// removes what a program left that died while making its file. Gives the paths removed.
///
/// Living rings are told by their lock and never touched. Trouble with one file is no trouble for the others.
pub fn clean(place: &Path, keep: usize) -> Vec<PathBuf> {
    let mut dead: Vec<(Option<u64>, PathBuf, File)> = Vec::new();
    for path in ring_paths(place).into_iter().chain(left_overs(place)) {
        let Ok(file) = open_plain(&path, true) else {
            continue;
        };
        let Ok(facts) = file.metadata() else { continue };
        // The exclusive lock is ours only where no program and no viewer's probe holds it.
        if facts.uid() == os::user_id() && file.try_lock().is_ok() {
            // The last record's time, as the file's own changes when holes are punched.
            let newest =
                RingFile::open(&path).and_then(|ring| Ok(empty_but_last(&ring, &file, ring.newest()?)));
            dead.push((newest.ok(), path, file));
        }
    }
    dead.sort_by_key(|(newest, ..)| std::cmp::Reverse(*newest));
    let kept = dead
        .iter()
        .take(keep)
        .filter(|(newest, ..)| newest.is_some())
        .count();
    let beyond = dead.into_iter().skip(kept).map(|(_, path, _)| path);
    beyond.filter(|path| fs::remove_file(path).is_ok()).collect()
}

/// Files that never got their name, older than any start takes.
fn left_overs(place: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else {
        return Vec::new();
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "making"))
        .collect()
}

/// Gives the time of the record that stays.
fn empty_but_last(ring: &RingFile, file: &File, newest: Record) -> u64 {
    let region = ring.header().region();
    let (first, size) = (region.first as u64, region.words);
    let begin = newest.position & (size - 1);
    let length = record::WORDS as u64 + (newest.payload.len() as u64).div_ceil(WORD as u64);
    let end = begin + length;
    // What the record does not cover: one run where it wraps, else two.
    let runs = if end > size {
        [(end - size, begin), (0, 0)]
    } else {
        [(0, begin), (end, size)]
    };
    for (from, to) in runs.into_iter().filter(|(from, to)| from < to) {
        // Not every file system can; then the file stays as large as it is.
        let _ = os::punch_hole(file, (first + from) * WORD as u64, (to - from) * WORD as u64);
    }
    newest.stamp.unix_ns
}

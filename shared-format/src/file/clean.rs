//! Cleans up rings of programs that have ended. The newest of them are kept with their last record only; the very
//! newest also keep the history in their coarse ring.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file::list::ring_paths;
use crate::file::open::{RingFile, open_plain};
use crate::layout::{RING_MAGIC, WORD};
use crate::os;
use crate::ring::extent::Extent;

/// No program takes so long to make its ring.
const OLDEST_START: Duration = Duration::from_secs(60);

/// Bytes that an emptied ring takes beside its record, at most: the pages before the ring and those that the record
/// shares.
const EMPTIED: u64 = 32 << 10;

/// How many rings of programs that have ended are kept for each user.
pub const RINGS_KEPT: usize = 16;

/// How many of those keep their coarse ring.
pub const HISTORIES_KEPT: usize = 2;

/// Whether a directory has so many rings that it should be cleaned at once.
pub fn is_crowded(place: &Path) -> bool {
    ring_paths(place).len() > 2 * RINGS_KEPT
}

/// Removes the rings of programs that have ended, except for the newest `keep`, frees most of the space of those that
/// stay, and removes unfinished files. `spare` is left alone. Returns the paths that were removed.
///
/// The rings of live programs are recognised by their lock and never touched. A failure with one file does not affect
/// the others.
pub fn clean(place: &Path, keep: usize, spare: Option<&Path>) -> Vec<PathBuf> {
    let mut dead: Vec<(Option<u64>, PathBuf)> = Vec::new();
    let all = ring_paths(place).into_iter().chain(left_overs(place));
    for path in all.filter(|path| Some(path.as_path()) != spare) {
        let looked = while_dead(&path, |file| {
            let newest = RingFile::open(&path).and_then(|ring| {
                let newest = ring.newest_extent()?;
                Ok(empty_but_last(&ring, file, newest))
            });
            // A file that only has such a name belongs to another program.
            is_ours(file).then_some(newest.ok())
        });
        if let Some(newest) = looked.flatten() {
            // The last record's time, as the file's own changes when holes are punched.
            dead.push((newest, path));
        }
    }
    dead.sort_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    let kept = dead
        .iter()
        .take(keep)
        .filter(|(newest, _)| newest.is_some())
        .count();
    for (_, path) in dead.iter().take(kept).skip(HISTORIES_KEPT) {
        while_dead(path, |file| {
            RingFile::open(path).map(|ring| empty_coarse(&ring, file))
        });
    }
    let beyond = dead.into_iter().skip(kept).map(|(_, path)| path);
    beyond
        .filter(|path| while_dead(path, |_| fs::remove_file(path).is_ok()).unwrap_or(false))
        .collect()
}

/// Whether a file begins like a ring, or is a ring of which nothing has been written yet: all zeros.
fn is_ours(file: &File) -> bool {
    let mut magic = [0; WORD];
    let read = file.read_exact_at(&mut magic, 0);
    read.is_ok() && (magic == RING_MAGIC.to_le_bytes() || magic == [0; WORD])
}

/// Calls a function with a file that belongs to this user, has no other name and is not held by a live program; returns
/// none for any other file. The lock is shared, like that of a viewer's probe, and held for one file at a time, so that
/// no viewer takes the file for that of a live program.
fn while_dead<T>(path: &Path, act: impl FnOnce(&File) -> T) -> Option<T> {
    let file = open_plain(path, true).ok()?;
    let facts = file.metadata().ok()?;
    let ours = facts.uid() == os::user_id() && facts.nlink() == 1;
    (ours && file.try_lock_shared().is_ok()).then(|| act(&file))
}

/// Files that never got their name, older than any start takes.
fn left_overs(place: &Path) -> Vec<PathBuf> {
    let old = |path: &PathBuf| {
        let modified = fs::symlink_metadata(path).and_then(|facts| facts.modified());
        modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > OLDEST_START))
    };
    let mut paths = os::paths_in(place);
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "making") && old(path));
    paths
}

/// Punches a hole where the coarse ring is.
fn empty_coarse(ring: &RingFile, file: &File) {
    let header = ring.header();
    let length = file.metadata().map_or(0, |facts| facts.len());
    let begin = header.file_bytes();
    if header.coarse_words != 0 && length > begin {
        let _ = os::punch_hole(file, begin, length - begin);
    }
}

/// Gives the time of the record that stays. The coarse ring is left alone.
fn empty_but_last(ring: &RingFile, file: &File, newest: Extent) -> u64 {
    let region = ring.header().region();
    let (first, size) = (region.first as u64, region.words);
    let begin = newest.position & (size - 1);
    let end = begin + newest.words;
    // What the record does not cover: one run where it wraps, else two.
    let runs = if end > size {
        [(end - size, begin), (0, 0)]
    } else {
        [(0, begin), (end, size)]
    };
    // What was emptied before takes little more than the record and the pages before the ring.
    let used = file.metadata().map_or(u64::MAX, |facts| facts.blocks() * 512);
    if used <= newest.words * WORD as u64 + EMPTIED {
        return newest.stamp.unix_ns;
    }
    for (from, to) in runs.into_iter().filter(|(from, to)| from < to) {
        // Not every file system can; then the file stays as large as it is.
        let _ = os::punch_hole(file, (first + from) * WORD as u64, (to - from) * WORD as u64);
    }
    newest.stamp.unix_ns
}

//! Cleans up rings of programs that have ended: removes old rings, and empties newer ones except for their last record. The
//! newest ones also keep the history in their coarse ring.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file::list::ring_paths;
use crate::file::open::{RingFile, open_plain};
use crate::layout::{RING_MAGIC, WORD};
use crate::os;
use crate::ring::extent::Extent;

/// Longest time that a program may take to make its ring.
const OLDEST_START: Duration = Duration::from_secs(60);

/// Largest number of bytes that an emptied ring file takes in addition to its record: the pages before the ring's data, and pages
/// that the record fills only partly.
const EMPTIED: u64 = 32 << 10;

/// Number of rings of ended programs that are kept for each user.
pub const RINGS_KEPT: usize = 16;

/// Number of kept rings that also keep their coarse ring.
pub const HISTORIES_KEPT: usize = 2;

/// Returns whether a directory has so many rings that it should be cleaned without delay.
pub fn is_crowded(place: &Path) -> bool {
    ring_paths(place).len() > 2 * RINGS_KEPT
}

/// Removes unfinished files, and the rings of ended programs except the newest `keep`. Frees most of the space of the
/// kept rings. The file `spare` is not touched. Returns the removed paths.
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
            // A file with a ring's name that is not a ring belongs to another program.
            is_ours(file).then_some(newest.ok())
        });
        if let Some(newest) = looked.flatten() {
            // Sorts by the time of the last record, because punching holes changes the file's own time.
            dead.push((newest, path));
        }
    }
    dead.sort_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    let kept = dead.iter().take(keep);
    let kept = kept.filter(|(newest, _)| newest.is_some()).count();
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

/// Returns whether a file begins like a ring, or is a ring in which nothing was written yet: all zeros.
fn is_ours(file: &File) -> bool {
    let mut magic = [0; WORD];
    let read = file.read_exact_at(&mut magic, 0);
    read.is_ok() && (magic == RING_MAGIC.to_le_bytes() || magic == [0; WORD])
}

/// Calls a function with a file that belongs to this user, has no other name and is not held by a live program. Returns
/// `None` for any other file. The lock is shared, like the lock of a viewer's probe, so that no viewer mistakes the
/// file for the ring of a live program. Only one file is locked at a time.
fn while_dead<T>(path: &Path, act: impl FnOnce(&File) -> T) -> Option<T> {
    let file = open_plain(path, true).ok()?;
    let facts = file.metadata().ok()?;
    let ours = facts.uid() == os::user_id() && facts.nlink() == 1;
    (ours && file.try_lock_shared().is_ok()).then(|| act(&file))
}

/// Returns the unfinished files (`*.making`) that are too old for a program that is still starting.
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

/// Punches holes around the newest record and returns its time in nanoseconds since the Unix epoch. The coarse ring
/// stays.
fn empty_but_last(ring: &RingFile, file: &File, newest: Extent) -> u64 {
    let region = ring.header().region();
    let (first, size) = (region.first as u64, region.words);
    let begin = newest.position & (size - 1);
    let end = begin + newest.words;
    // Words that the record does not cover: one run where the record wraps, else two.
    let runs = match end > size {
        true => [(end - size, begin), (0, 0)],
        false => [(0, begin), (end, size)],
    };
    // A ring that was emptied before takes little more than its record and the pages before the ring.
    let used = file.metadata().map_or(u64::MAX, |facts| facts.blocks() * 512);
    if used <= newest.words * WORD as u64 + EMPTIED {
        return newest.stamp.unix_ns;
    }
    for (from, to) in runs.into_iter().filter(|(from, to)| from < to) {
        // Some file systems cannot punch holes; there the file keeps its size.
        let _ = os::punch_hole(file, (first + from) * WORD as u64, (to - from) * WORD as u64);
    }
    newest.stamp.unix_ns
}

//! Cleans up the rings of programs that have ended. Old rings are removed, and newer ones are emptied except for their
//! last record. The newest few also keep their coarse ring, and thus their history.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file::descriptor::id_of;
use crate::file::list::ring_paths;
use crate::file::open::{RingFile, open_plain};
use crate::layout::{RING_MAGIC, WORD};
use crate::os;
use crate::ring::extent::Extent;

/// Maximum time that a program may take to create its ring.
const OLDEST_START: Duration = Duration::from_secs(60);

/// Maximum number of bytes that an emptied ring file takes up in addition to its record: the pages before the ring's
/// data, and the pages that the record fills only partly.
const EMPTIED: u64 = 32 << 10;

/// Number of rings of ended programs that are kept for each user.
pub const RINGS_KEPT: usize = 16;

/// How many of the kept rings, starting with the newest, also keep their coarse ring.
pub const HISTORIES_KEPT: usize = 2;

/// Returns whether a directory has so many rings that it should be cleaned up right away.
pub fn is_crowded(place: &Path) -> bool {
    ring_paths(place).len() > 2 * RINGS_KEPT
}

/// Removes unfinished ring files, and the rings of ended programs except the newest `keep`. Rings without a readable record
/// are removed as well. The kept rings are emptied to free most of their space. The file `spare` is not touched.
/// Returns the removed paths.
///
/// The rings of live programs are recognised by their lock and never touched. If one file cannot be cleaned up, the
/// others still are.
pub fn clean(place: &Path, keep: usize, spare: Option<&Path>) -> Vec<PathBuf> {
    let rings = ring_paths(place);
    remove_second_names(place, &rings);
    let mut dead: Vec<(Option<u64>, PathBuf)> = Vec::new();
    let all = rings.into_iter().chain(left_overs(place));
    for path in all.filter(|path| Some(path.as_path()) != spare) {
        let looked = while_dead(&path, |file| {
            let newest = RingFile::open(&path).and_then(|ring| {
                let newest = ring.newest_extent()?;
                Ok(empty_but_last(&ring, file, newest))
            });
            // A file that is named like a ring but is not one belongs to another program.
            is_ours(file).then_some(newest.ok())
        });
        if let Some(newest) = looked.flatten() {
            // Rings are sorted by the time of their last record, because punching holes changes the modification time
            // of the file.
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

/// Returns whether a file begins with the magic number of rings, or with zeros because nothing has been written to the
/// ring yet.
fn is_ours(file: &File) -> bool {
    let mut magic = [0; WORD];
    let read = file.read_exact_at(&mut magic, 0);
    read.is_ok() && (magic == RING_MAGIC.to_le_bytes() || magic == [0; WORD])
}

/// Calls `act` with the file if it belongs to this user, has no other name and is not locked by a live program.
/// Otherwise, returns `None`. The file is locked during the call, with a shared lock like the one a viewer takes to
/// probe a ring, so that no viewer mistakes the file for the ring of a live program. Only one file is locked at a time.
fn while_dead<T>(path: &Path, act: impl FnOnce(&File) -> T) -> Option<T> {
    let file = open_plain(path, true).ok()?;
    let facts = file.metadata().ok()?;
    let ours = facts.uid() == os::user_id() && facts.nlink() == 1;
    (ours && file.try_lock_shared().is_ok()).then(|| act(&file))
}

/// Returns the unfinished files (`*.making`) that are too old to belong to a program that is still starting.
fn left_overs(place: &Path) -> Vec<PathBuf> {
    let old = |path: &PathBuf| {
        let modified = fs::symlink_metadata(path).and_then(|facts| facts.modified());
        modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > OLDEST_START))
    };
    let mut paths = os::paths_in(place);
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "making") && old(path));
    paths
}

/// Removes the temporary name of each ring that also has its final name. A program that ended between giving its ring the
/// final name and removing the temporary one leaves both, and [`while_dead`] touches no file with two names.
fn remove_second_names(place: &Path, rings: &[PathBuf]) {
    let own_id = |path: &PathBuf| {
        let facts = fs::symlink_metadata(path).ok()?;
        (facts.uid() == os::user_id()).then(|| id_of(&facts))
    };
    let ids: Vec<_> = rings.iter().filter_map(own_id).collect();
    let is_ring = |path: &PathBuf| own_id(path).is_some_and(|id| ids.contains(&id));
    for path in left_overs(place).into_iter().filter(is_ring) {
        let _ = fs::remove_file(path);
    }
}

/// Frees the space of the coarse ring by punching a hole.
fn empty_coarse(ring: &RingFile, file: &File) {
    let header = ring.header();
    let length = file.metadata().map_or(0, |facts| facts.len());
    let begin = header.file_bytes();
    if header.coarse_words != 0 && length > begin {
        let _ = os::punch_hole(file, begin, length - begin);
    }
}

/// Punches holes around the newest record, and returns the time of that record in nanoseconds since the Unix epoch. The
/// coarse ring is left alone.
fn empty_but_last(ring: &RingFile, file: &File, newest: Extent) -> u64 {
    let region = ring.header().region();
    let (first, size) = (region.first as u64, region.words);
    let begin = newest.position & (size - 1);
    let end = begin + newest.words;
    // The words that are not part of the record: one run if the record wraps around the end of the ring, otherwise two.
    let runs = match end > size {
        true => [(end - size, begin), (0, 0)],
        false => [(0, begin), (end, size)],
    };
    // A ring that has already been emptied takes up little more than its record and the pages before the ring.
    let used = file.metadata().map_or(u64::MAX, |facts| facts.blocks() * 512);
    if used <= newest.words * WORD as u64 + EMPTIED {
        return newest.stamp.unix_ns;
    }
    for (from, to) in runs.into_iter().filter(|(from, to)| from < to) {
        // Some file systems cannot punch holes. The file then keeps its size.
        let _ = os::punch_hole(file, (first + from) * WORD as u64, (to - from) * WORD as u64);
    }
    newest.stamp.unix_ns
}

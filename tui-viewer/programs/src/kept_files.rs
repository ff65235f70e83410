//! Snapshots and recordings in a directory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tickscope_format::recording::Recording;

/// Maximum number of files that are read, beginning with the newest.
const MOST: usize = 20;

/// A file that `tickscope FILE` opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of the program.
    pub name: String,
    /// The process id that the program had.
    pub pid: u32,
    /// Number of snapshots in the file.
    pub records: usize,
    /// Capture time of the first snapshot: nanoseconds since the Unix epoch.
    pub from_unix_ns: u64,
    /// Capture time of the last snapshot: nanoseconds since the Unix epoch.
    pub to_unix_ns: u64,
}

/// Returns the newest kept files in a directory, and the number of older files, which are not read. Unreadable files
/// are left out.
pub fn kept_in(dir: &Path) -> (Vec<KeptFile>, usize) {
    let entries = dir.read_dir().into_iter().flatten().filter_map(Result::ok);
    let is_kept = |path: &Path| path.extension().is_some_and(|ending| ending == "tks");
    let mut paths: Vec<(SystemTime, PathBuf)> = entries
        .map(|entry| dir.join(entry.file_name()))
        .filter(|path| is_kept(path))
        .filter_map(|path| Some((path.symlink_metadata().ok()?.modified().ok()?, path)))
        .collect();
    paths.sort();
    paths.reverse();
    let more = paths.len().saturating_sub(MOST);
    paths.truncate(MOST);
    let files = paths.into_iter().filter_map(|(_, path)| look_into(path));
    (files.collect(), more)
}

fn look_into(path: PathBuf) -> Option<KeptFile> {
    let recording = Recording::open(&path).ok()?;
    let (last, snapshot) = recording.newest().ok()?;
    let moments = recording.moments();
    Some(KeptFile {
        name: snapshot.process.name.clone(),
        pid: snapshot.process.pid,
        records: moments.len(),
        from_unix_ns: moments.first()?.stamp.unix_ns,
        to_unix_ns: last.stamp.unix_ns,
        path,
    })
}

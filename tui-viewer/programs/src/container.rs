//! Finds the rings of programs in other file systems or process id namespaces, through `/proc`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tickscope_format::file::open::RingFile;
use tickscope_format::os;

/// Returns the directories that may contain a process's ring, as paths for this process: directories of files that the
/// process has mapped, the directory in its environment, and the default directories below its root.
pub fn places_of(pid: u32) -> Vec<PathBuf> {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    let mut places: Vec<PathBuf> = Vec::new();
    places.extend(mapped_directories(pid).iter().map(|dir| inside(dir)));
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let named = environment
        .split(|&byte| byte == 0)
        .find_map(|entry| entry.strip_prefix(b"TICKSCOPE_DIR="));
    places.extend(named.map(|dir| {
        let dir = PathBuf::from(OsString::from_vec(dir.to_vec()));
        if dir.is_absolute() {
            inside(&dir)
        } else {
            PathBuf::from(format!("/proc/{pid}/cwd")).join(dir)
        }
    }));
    for parent in ["/dev/shm", "/tmp"] {
        let Ok(entries) = fs::read_dir(inside(Path::new(parent))) else {
            continue;
        };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        places.extend(paths.filter(|path| {
            path.file_name()
                .is_some_and(|name| name.as_bytes().starts_with(b"tickscope-"))
        }));
    }
    places.sort();
    places.dedup();
    places
}

/// Returns the directories of those mapped files of a process that look like rings: by their ending, or because they
/// had no name when they were mapped (`/dev/shm/tickscope-0/#123 (deleted)`).
fn mapped_directories(pid: u32) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let rings = paths.filter(|path| path.ends_with(".ring") || path.contains("/#"));
    let mut dirs: Vec<PathBuf> = rings
        .filter_map(|path| Path::new(path).parent())
        .map(PathBuf::from)
        .collect();
    dirs.dedup();
    dirs
}

/// Whether the process `pid` wrote a ring under another id in its own namespace. Several containers may share a
/// directory and each has a process 1, so the id is not enough: the start time must match as well.
pub fn is_inside(pid: u32, ring: &RingFile) -> bool {
    let started = ring.header().start_time;
    if started != 0 && os::start_time(pid) != Some(started) {
        return false;
    }
    let in_root = ring.path().starts_with(format!("/proc/{pid}/root"));
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let innermost = ids
        .and_then(|ids| ids.split_whitespace().next_back())
        .and_then(|id| id.parse().ok());
    in_root && innermost == Some(ring.header().pid)
}

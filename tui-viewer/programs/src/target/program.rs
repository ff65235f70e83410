//! Targets that turn out to be executable files, not the names of running programs.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tickscope_command::console::printable;
use tickscope_format::file::list;
use tickscope_format::file::open::{Liveness, RingFile, open_plain};
use tickscope_format::file::places;

use crate::target::wanted::{self, Found, NoTarget, Wanted, readable};

/// Whether a file is a program that can be started: an executable binary or script.
pub(super) fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    // A symbolic link to a program counts as well.
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let Ok(mut file) = open_plain(&path, false) else {
        return false;
    };
    let may = file
        .metadata()
        .is_ok_and(|facts| facts.permissions().mode() & 0o111 != 0);
    may && file.read(&mut start).is_ok() && (start == *b"\x7fELF" || start.starts_with(b"#!"))
}

/// Finds the running program that was started from this file and contains tickscope.
///
/// # Errors
/// Returns [`NoTarget`] if there is no such program, or more than one.
pub(super) fn running(path: &Path, dir: Option<&Path>, may_come: bool) -> anyhow::Result<Found> {
    let mut fitting: Vec<(RingFile, Liveness)> = readable(list::list(&places::chosen(dir)))
        .filter(|(ring, liveness)| wanted::is_live(liveness) && runs_from(ring.header().pid, path))
        .collect();
    // Two paths may lead to the same file.
    fitting.sort_by_key(|(ring, _)| ring.header().nonce);
    fitting.dedup_by_key(|(ring, _)| ring.header().nonce);
    match fitting.len() {
        0 => Err(not_a_target(path, may_come).into()),
        1 => {
            let (ring, liveness) = fitting.remove(0);
            Ok(Found::Ring(Box::new(ring), liveness))
        }
        _ => Err(wanted::several(&Wanted::File(path.to_path_buf()), &fitting).into()),
    }
}

/// Whether a process was started from this file, even if the file has been rebuilt since.
fn runs_from(pid: u32, path: &Path) -> bool {
    let Ok(exe) = fs::read_link(format!("/proc/{pid}/exe")) else {
        return false;
    };
    let bytes = exe.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    path.canonicalize()
        .is_ok_and(|path| path.as_os_str().as_bytes() == bytes)
}

/// Returns an error that lists commands for starting the program. `may_come` is true if the user typed a name and not a
/// path, because then a program with that name may still appear.
pub(super) fn not_a_target(path: &Path, may_come: bool) -> NoTarget {
    let name = printable(&path.display().to_string());
    let start = if name.contains('/') {
        name.clone()
    } else {
        format!("./{name}")
    };
    let lead = format!("{name} is a program, but no process with tickscope runs from it");
    NoTarget {
        message: format!(
            "{lead}; to start it and watch it, or record it:\n  tickscope run -- {start}\n  tickscope record -- {start}"
        ),
        lead: format!("{lead}."),
        may_come,
    }
}

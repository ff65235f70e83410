//! Programs that were named where what they write is meant.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tickscope_format::file::open::open_plain;

use super::NoTarget;
use crate::command::output::printable;

/// Whether a file is one that can be started: a binary, or a script, that may be executed.
pub(super) fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    // A link to a program is one as well.
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

/// What to type instead. Where a name was typed, it may be started by somebody else as well.
pub(super) fn not_a_target(path: &Path, may_come: bool) -> NoTarget {
    let name = printable(&path.display().to_string());
    let start = if name.contains('/') {
        name.clone()
    } else {
        format!("./{name}")
    };
    let lead = format!("{name} is a program that is not running");
    NoTarget {
        message: format!(
            "{lead}; to start it and watch it, or record it:\n  tickscope run -- {start}\n  tickscope record -- {start}"
        ),
        lead: format!("{lead}."),
        may_come,
    }
}

//! Reports which directories were searched, and which of them the user has no permission to read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use tickscope_command::console::printable;
use tickscope_format::file::places::DIR_VARIABLE;

use crate::target::wanted::{NoTarget, Wanted};

/// Checks that the directory given with `--dir` can be read.
///
/// # Errors
/// Returns [`NoTarget`] with the reason. If the directory is missing, `may_come` is set, because a program may still create it.
pub fn check_dir(dir: Option<&Path>) -> Result<(), NoTarget> {
    let Some(dir) = dir else { return Ok(()) };
    let Err(error) = fs::read_dir(dir) else {
        return Ok(());
    };
    let dir = printable(&dir.display().to_string());
    let kind = error.kind();
    let message = if kind == ErrorKind::NotFound {
        format!("--dir {dir}: does not exist; name the directory that the program has as TICKSCOPE_DIR")
    } else if kind == ErrorKind::NotADirectory {
        format!("--dir {dir}: is not a directory; a file is opened by its name alone, without --dir")
    } else {
        format!("--dir {dir}: cannot be read: {error}; look as the user whose program it is")
    };
    Err(NoTarget::new(message, kind == ErrorKind::NotFound))
}

/// Checks that a file exists.
///
/// # Errors
/// Returns [`NoTarget`] if the file does not exist, or another error if this cannot be determined.
pub(super) fn check_file(path: &Path) -> anyhow::Result<()> {
    let Err(error) = path.symlink_metadata() else {
        return Ok(());
    };
    let file = path.display();
    if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return Err(anyhow!(
            "cannot open {file}: {error}; look as the user whose file it is"
        ));
    }
    let message = format!("no file {file}; `tickscope list` shows what is there");
    Err(NoTarget::new(message, true).into())
}

/// Returns the directories as text, with a note on each one that the user has no permission to read.
pub fn with_denied(places: &[PathBuf]) -> Vec<String> {
    let words = |place: &PathBuf| denied(place).unwrap_or_else(|| place.display().to_string());
    places.iter().map(words).collect()
}

/// Adds a line to the message. It lists the directories that the user has no permission to read or, if there are none,
/// names the directory that was searched if it was the only one. The latter does not apply to a process id, because the
/// directories of the process itself were searched as well.
pub(super) fn add_places(mut none: NoTarget, wanted: &Wanted, places: &[PathBuf]) -> NoTarget {
    if !none.may_come {
        return none;
    }
    let denied: Vec<String> = places.iter().filter_map(|place| denied(place)).collect();
    let said = match places {
        _ if !denied.is_empty() => format!("not looked into: {}", denied.join(", ")),
        [only] if !matches!(wanted, Wanted::Pid(_)) => format!(
            "looked in {} alone, as --dir or {DIR_VARIABLE} says",
            printable(&only.display().to_string())
        ),
        _ => return none,
    };
    none.message += &format!("\n  {said}");
    none.lead += &format!("\n{said}.");
    none
}

/// Returns the path of a directory with a note that the user has no permission to read it; `None` if that is not the case.
fn denied(place: &Path) -> Option<String> {
    let error = fs::read_dir(place).err()?;
    (error.kind() == ErrorKind::PermissionDenied).then(|| format!("{} (Permission denied)", place.display()))
}

//! The directories that may hold rings, in the order in which a program tries them.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::FormatError;
use crate::os;

/// Environment variable with the path of the directory for rings.
pub const DIR_VARIABLE: &str = "TICKSCOPE_DIR";

/// File name extension of ring files.
pub const RING_ENDING: &str = "ring";

/// Returns the directories in which a program may create its ring, in the order in which it tries them: the given one,
/// the one named in `TICKSCOPE_DIR`, and the two default directories.
///
/// `$XDG_RUNTIME_DIR` is not one of them, because it differs between services and shells, and because logging out
/// deletes it.
pub fn places(given: Option<&Path>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    let candidates = given.map(Path::to_path_buf).into_iter().chain(named());
    for place in candidates.chain(usual()) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Returns the directories in which a viewer looks for rings and may remove files. If a directory is given, it is the
/// only one. Otherwise, if `TICKSCOPE_DIR` is set, that directory is the only one. Otherwise, the two default
/// directories are returned.
pub fn chosen(given: Option<&Path>) -> Vec<PathBuf> {
    match given.map(Path::to_path_buf).or_else(named) {
        Some(one) => vec![one],
        None => usual().to_vec(),
    }
}

/// Returns the directory that the environment names, unless this program has more privileges than the user who started
/// it.
fn named() -> Option<PathBuf> {
    std::env::var_os(DIR_VARIABLE)
        .filter(|dir: &OsString| !dir.is_empty() && !os::has_more_rights())
        .map(PathBuf::from)
}

/// Returns the default directories of this user.
fn usual() -> [PathBuf; 2] {
    let own = format!("tickscope-{}", os::user_id());
    // A program with more privileges than its user must not trust `TMPDIR` either, which also comes from the
    // environment.
    let temporary = match os::has_more_rights() {
        true => PathBuf::from("/tmp"),
        false => std::env::temp_dir(),
    };
    [Path::new("/dev/shm").join(&own), temporary.join(&own)]
}

/// Checks that a default directory does not belong to another user, who could have planted it.
///
/// # Errors
/// [`FormatError::Unsuitable`], which names the owner.
pub(super) fn check_owner(place: &Path) -> Result<(), FormatError> {
    let Ok(facts) = fs::symlink_metadata(place) else {
        return Ok(());
    };
    if facts.uid() == os::user_id() || !usual().iter().any(|usual| usual == place) {
        return Ok(());
    }
    Err(FormatError::Unsuitable {
        path: place.to_path_buf(),
        found: format!("belongs to user {}", facts.uid()),
        wanted: format!(
            "your own ({}); remove it if you can; nothing in it was read",
            os::user_id()
        ),
    })
}

/// Makes sure that a directory can hold rings: it must be a real directory that belongs to this user and that no other
/// user may write to. A missing directory is created with access for this user only.
///
/// # Errors
/// [`FormatError::Unsuitable`] with what was found, or the system's error.
pub fn prepare(dir: &Path) -> Result<(), FormatError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(FormatError::io("mkdir", dir, error)),
    }
    let facts = fs::symlink_metadata(dir).map_err(|error| FormatError::io("stat", dir, error))?;
    judge(dir, &facts)
}

fn judge(dir: &Path, facts: &Metadata) -> Result<(), FormatError> {
    let wrong = |found: String, wanted: &str| {
        Err(FormatError::Unsuitable {
            path: dir.to_path_buf(),
            found,
            wanted: wanted.into(),
        })
    };
    if facts.is_symlink() {
        return wrong(
            "is a symbolic link".into(),
            "a directory; name the directory it points to",
        );
    }
    if !facts.is_dir() {
        return wrong(
            "is not a directory".into(),
            "a directory; remove it or choose another with TICKSCOPE_DIR",
        );
    }
    if facts.uid() != os::user_id() {
        let wanted = format!("your own ({}); choose another with TICKSCOPE_DIR", os::user_id());
        return wrong(format!("belongs to user {}", facts.uid()), &wanted);
    }
    if facts.mode() & 0o022 != 0 {
        return wrong(
            format!("may be written by others (mode {:o})", facts.mode() & 0o7777),
            "mode 700",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn unfit_directories_are_refused_with_what_was_found() {
        let dir = tempfile::tempdir().unwrap();
        let fresh = dir.path().join("fresh");
        prepare(&fresh).unwrap();
        assert_eq!(fs::metadata(&fresh).unwrap().mode() & 0o777, 0o700);
        prepare(&fresh).unwrap();

        let link = dir.path().join("link");
        symlink(&fresh, &link).unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let dangling = dir.path().join("dangling");
        symlink(dir.path().join("nowhere"), &dangling).unwrap();
        let open = dir.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o730)).unwrap();
        for (path, says) in [
            (
                link,
                "is a symbolic link, wanted a directory; name the directory it points to",
            ),
            (dangling, "is a symbolic link"),
            (
                file,
                "is not a directory, wanted a directory; remove it or choose another with TICKSCOPE_DIR",
            ),
            (open, "may be written by others (mode 730), wanted mode 700"),
        ] {
            let error = prepare(&path).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(!dir.path().join("nowhere").exists());
        let missing = prepare(&dir.path().join("a/b")).unwrap_err().to_string();
        assert!(missing.starts_with("mkdir"), "{missing}");
    }
}

//! Output of results of any length: streamed to standard output, or written to a file completely or not at all.

use std::fs::Permissions;
use std::io;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::Builder;

use crate::console::unwritten;

/// Size of the buffer in bytes. A full buffer is passed to the system in one call.
const BUFFER_BYTES: usize = 256 << 10;

/// Destination of a result.
#[derive(Clone, Copy, Debug)]
pub struct OutputFile<'a> {
    file: Option<&'a Path>,
    force: bool,
}

impl<'a> OutputFile<'a> {
    /// Returns the destination `file`, or standard output if `file` is `None` or `-`. An existing file is replaced only
    /// with `force`.
    pub fn new(file: Option<&'a Path>, force: bool) -> Self {
        Self {
            file: file.filter(|path| *path != Path::new("-")),
            force,
        }
    }

    /// Returns whether the destination is standard output.
    pub fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Writes a result. A closed pipe (`| head`) does not count as an error.
    ///
    /// # Errors
    /// The file cannot be created, or the system reports an error. In both cases, an existing file stays unchanged.
    pub fn write(&self, result: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        if let Some(path) = self.file {
            return write_file(path, self.force, result);
        }
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
        match result(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(error)),
            Err(_) => {
                // Dropping the buffer would try to write the rest again.
                let _ = out.into_parts();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

fn write_file(
    path: &Path,
    force: bool,
    result: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    // Does not follow a symbolic link, because the link itself must not be overwritten.
    if let Ok(there) = path.symlink_metadata() {
        if !force {
            bail!("{} exists already; --force overwrites it", path.display());
        }
        if !there.is_file() {
            bail!(
                "{} exists and is not a plain file: not overwritten",
                path.display()
            );
        }
    }
    check_folder(path)?;
    let about = |call: &'static str| move || format!("{call} {}", path.display());
    let mut temporary = Builder::new()
        .prefix(".tickscope-")
        .suffix(".part")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder_of(path))
        // Removes the name of the temporary file from the error, because it would tell the user nothing.
        .map_err(|error| io::Error::from(error.kind()))
        .with_context(about("cannot create"))?;
    {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, temporary.as_file_mut());
        result(&mut out)
            .and_then(|()| out.flush())
            .with_context(about("cannot write"))?;
    }
    temporary
        .as_file()
        .sync_all()
        .with_context(about("cannot write"))?;
    let persisted = if force {
        temporary.persist(path)
    } else {
        // Fails if another process has created the file in the meantime.
        temporary.persist_noclobber(path)
    };
    persisted
        .map(|_| ())
        .map_err(|error| error.error)
        .with_context(about("cannot create"))
}

/// Checks that the directory of a new file exists.
///
/// # Errors
/// The directory is missing; the message names it.
pub fn check_folder(path: &Path) -> anyhow::Result<()> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!(
            "cannot create {}: there is no directory {}; make the directory first",
            path.display(),
            folder.display()
        );
    }
    Ok(())
}

/// Checks that a file name is suitable for a snapshot or a recording: it must end in `.tks`, or have no extension.
///
/// # Errors
/// The file has another extension.
pub fn check_kept(file: &Path) -> Result<(), String> {
    match file.extension() {
        Some(ending) if !ending.eq_ignore_ascii_case("tks") => Err(format!(
            "{}: a snapshot or recording needs the ending .tks, by which it is opened again; wanted {}, or for another form: \
             tickscope report -o {}",
            file.display(),
            file.with_extension("tks").display(),
            file.display(),
        )),
        _ => Ok(()),
    }
}

/// Returns the directory of the file. The temporary file is created in the same directory, so that it can be renamed.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn entries(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_file_is_there_whole_or_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        let place = |force| OutputFile::new(Some(&path), force);
        let half = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let error = place(false).write(half).unwrap_err();
        assert!(format!("{error:#}").contains("a.json"), "{error:#}");
        assert_eq!(entries(dir.path()), 0);

        place(false).write(|out| out.write_all(b"one")).unwrap();
        let error = place(false).write(|out| out.write_all(b"two")).unwrap_err();
        assert!(error.to_string().contains("exists already; --force"), "{error}");
        place(true).write(half).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"one");

        place(true).write(|out| out.write_all(b"three")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(entries(dir.path()), 1);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o600);
        assert_ne!(mode & 0o044, 0, "others may read it as far as the umask allows");
    }

    #[test]
    fn only_plain_files_are_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), &link).unwrap();
        for path in [&link, &dir.path().to_path_buf()] {
            for force in [false, true] {
                let result = OutputFile::new(Some(path), force).write(|out| out.write_all(b"x"));
                assert!(result.unwrap_err().to_string().contains("exists"));
            }
        }
        assert_eq!(entries(dir.path()), 1);
    }

    #[test]
    fn a_name_alone_is_in_this_folder() {
        assert_eq!(folder_of(Path::new("now.json")), Path::new("."));
        assert_eq!(folder_of(Path::new("/now.json")), Path::new("/"));
        assert!(OutputFile::new(Some(Path::new("-")), false).is_stdout());
    }
}

//! Reports that the program writes itself: at its exit, and when it calls `dump`.

use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tickscope_format::file::places;
use tickscope_format::{FormatError, Snapshot, snapshot_file};

#[cfg(feature = "report")]
use super::forms::{Form, of_format, text, write_new};
#[cfg(not(feature = "report"))]
use super::without_report::{Form, of_format, text, write_new};
use crate::enabled::platform::descriptors;
use crate::enabled::platform::signals::Unsignalled;
use crate::types::{Destination, Format};

/// Largest number that is inserted into the name of a report if a file of that name exists.
const NUMBER_MAX: u32 = 999;

/// How long, in ms, the exit waits for a terminal or a non-blocking pipe to accept output.
const PATIENCE_MS: i32 = 1_000;

/// Writes the report at exit. An error is reported on standard error; a failure to print it is ignored. `ring_dir` is
/// the directory of the program's ring, if it has one.
pub(crate) fn at_exit(snapshot: &Snapshot, destination: &Destination, ring_dir: Option<&Path>) {
    // An error in this function must not change how the program ends.
    let _unsignalled = Unsignalled::new();
    let written = std::panic::catch_unwind(|| match destination {
        Destination::Stderr => to_terminal(snapshot, libc::STDERR_FILENO, ring_dir),
        Destination::Stdout => to_terminal(snapshot, libc::STDOUT_FILENO, ring_dir),
        Destination::File(path) => to_file(snapshot, path),
    });
    if let Ok(Err(error)) = written {
        say(&format!("no report at exit: {error}"));
    }
}

/// Writes the report as text. Without the feature `report`, saves the snapshot in a file next to the ring, and prints
/// the path of that file.
fn to_terminal(snapshot: &Snapshot, descriptor: i32, ring_dir: Option<&Path>) -> Result<(), String> {
    if let Some(text) = text(snapshot) {
        return descriptors::write_all(descriptor, text.as_bytes(), PATIENCE_MS)
            .map_err(|error| error.to_string());
    }
    let dir = match ring_dir {
        Some(dir) => dir.to_path_buf(),
        None => usable_place()?,
    };
    let name = format!(
        "{}.{}.{}",
        snapshot.process.name,
        std::process::id(),
        snapshot_file::ENDING
    );
    let path = write_numbered(snapshot, &dir.join(name), Form::Tks)?;
    say(&format!(
        "a report as text needs the feature `report`; kept instead in {}: tickscope report {}",
        path.display(),
        shell_word(&path)
    ));
    Ok(())
}

/// Returns the first directory where this program may put a file for viewers.
fn usable_place() -> Result<PathBuf, String> {
    let mut failed = String::from("there is no place for it");
    for place in places::places(None) {
        match places::prepare(&place) {
            Ok(()) => return Ok(place),
            Err(error) => failed = error.to_string(),
        }
    }
    Err(format!("{failed}; set TICKSCOPE_DIR"))
}

/// Reports that there is no snapshot to write.
pub(crate) fn missed() {
    say("no report at exit: the program ended in the middle of a snapshot, or of a session's start or end");
}

fn to_file(snapshot: &Snapshot, wanted: &Path) -> Result<(), String> {
    let wanted = filled_in(wanted, &snapshot.process.name);
    let meant = Form::of_file(&wanted).unwrap_or_default();
    let (form, path) = built_in(meant, &wanted);
    if path.metadata().is_ok_and(|facts| !facts.is_file()) {
        return Err(format!(
            "{} is not a regular file: give the name of a new file, or `stderr` or `stdout`",
            path.display()
        ));
    }
    let written = write_numbered(snapshot, &path, form)?;
    if form == Form::Tks && meant != Form::Tks {
        say(&format!(
            "{} needs the feature `{}`; kept instead: tickscope report {} -o {}",
            wanted.display(),
            meant.feature(),
            shell_word(&written),
            shell_word(&wanted)
        ));
    } else if says_no_form(&wanted) {
        say(&format!("{} {}", written.display(), no_form()));
    } else if written != path {
        say(&format!(
            "the report at exit is {}, because the first name is taken (%p in a name stands for the process id)",
            written.display()
        ));
    }
    Ok(())
}

/// Writes to the path, or to the first free path with a number in it, and returns the path that was used.
fn write_numbered(snapshot: &Snapshot, path: &Path, form: Form) -> Result<PathBuf, String> {
    for number in 1..=NUMBER_MAX {
        let numbered = numbered(path, form, number);
        if numbered.symlink_metadata().is_ok() {
            continue;
        }
        match write_new(form, &numbered, snapshot, true) {
            Err(error) if kind(&error) == Some(ErrorKind::AlreadyExists) => {}
            Err(error) => return Err(with_next_step(&error)),
            Ok(()) => return Ok(numbered),
        }
    }
    Err(format!(
        "{} and its numbered names up to {NUMBER_MAX} exist: remove some of these files",
        path.display()
    ))
}

fn say(what: &str) {
    // A path may contain any character, so control characters are replaced.
    let line = format!("tickscope: {}\n", what.replace(char::is_control, "?"));
    let _ = descriptors::write_all(libc::STDERR_FILENO, line.as_bytes(), PATIENCE_MS);
}

/// Quotes a path for a shell.
fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    // If the path contains a slash, neither the shell nor tickscope mistakes it for the name of a program.
    let path = if path.contains('/') {
        path
    } else {
        format!("./{path}")
    };
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,=:@".contains(c);
    if path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// Returns a warning if the report at exit will not be in the format that its file name asks for.
pub(crate) fn instead(destination: &Destination) -> Option<String> {
    let Destination::File(path) = destination else {
        return None;
    };
    if says_no_form(path) {
        return Some(format!("the report at exit {} {}", path.display(), no_form()));
    }
    let form = Form::of_file(path).unwrap_or_default();
    (!form.is_built_in()).then(|| {
        format!(
            "the report at exit {} needs the feature `{}`; it will be {}",
            path.display(),
            form.feature(),
            and_kept(path).display()
        )
    })
}

/// Returns whether the report will be text only because the ending of its file name is unknown. An ending without
/// letters, such as a number, is not meant as a format.
fn says_no_form(path: &Path) -> bool {
    // Without the feature, the endings of the other formats are unknown.
    if !cfg!(feature = "report") {
        return false;
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    Form::of_file(path).is_none() && ending.contains(char::is_alphabetic) && !ending.contains('%')
}

fn no_form() -> String {
    format!(
        "is text: its ending names no form; endings with a form: {}",
        Form::endings()
    )
}

/// Returns the form and the path unchanged if the form is built in. Otherwise returns the form [`Form::Tks`], and the
/// path with `.tks` appended.
fn built_in(form: Form, path: &Path) -> (Form, PathBuf) {
    match form.is_built_in() {
        true => (form, path.to_path_buf()),
        false => (Form::Tks, and_kept(path)),
    }
}

fn and_kept(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(snapshot_file::ENDING);
    name.into()
}

/// Replaces `%p` in a path with the process id, `%n` with the program's name and `%%` with a percent sign.
fn filled_in(path: &Path, name: &str) -> PathBuf {
    let mut filled = Vec::new();
    let mut rest = path.as_os_str().as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let mut put = |text: &[u8]| {
            filled.extend_from_slice(text);
            rest = &after[1..];
        };
        match (first, after.first()) {
            (b'%', Some(b'p')) => put(std::process::id().to_string().as_bytes()),
            (b'%', Some(b'n')) => put(name.as_bytes()),
            (b'%', Some(b'%')) => put(b"%"),
            _ => filled.push(*first),
        }
    }
    std::ffi::OsString::from_vec(filled).into()
}

/// Adds a number to a path: `now.html`, `now.2.html`, `now.3.html`.
fn numbered(path: &Path, form: Form, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_path_buf();
    }
    let bytes = path.as_os_str().as_bytes();
    let ending = format!(".{}", form.ending());
    let stem = bytes.len().saturating_sub(ending.len());
    let (stem, ending) = if bytes[stem..].eq_ignore_ascii_case(ending.as_bytes()) {
        bytes.split_at(stem)
    } else {
        (bytes, &[][..])
    };
    let number = format!(".{number}");
    std::ffi::OsString::from_vec([stem, number.as_bytes(), ending].concat()).into()
}

/// Writes a report of the current state to a new file, and returns its path. If the form is not built in, the snapshot
/// itself is written, with `.tks` appended to the name.
pub(crate) fn dump(snapshot: &Snapshot, path: &Path, format: Format) -> Result<PathBuf, String> {
    let (form, path) = built_in(of_format(format), path);
    let _unsignalled = Unsignalled::new();
    write_new(form, &path, snapshot, false).map_err(|error| with_next_step(&error))?;
    Ok(path)
}

fn kind(error: &FormatError) -> Option<ErrorKind> {
    if let FormatError::Io { source, .. } = error {
        Some(source.kind())
    } else {
        None
    }
}

fn with_next_step(error: &FormatError) -> String {
    let next_step = match kind(error) {
        Some(ErrorKind::AlreadyExists) => "; existing files are not overwritten: give another name",
        Some(ErrorKind::NotFound | ErrorKind::NotADirectory) => "; make the directory first",
        Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            "; give a place that this program may write to"
        }
        Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge) => {
            "; no partial file is left: free some space, or give another place"
        }
        _ => "",
    };
    format!("{error}{next_step}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_the_process() {
        let filled = |path: &str| filled_in(Path::new(path), "app").display().to_string();
        let pid = std::process::id();
        assert_eq!(filled("a/%n.%p.html"), format!("a/app.{pid}.html"));
        for (path, same) in [("100%%p", "100%p"), ("%", "%"), ("a%x%", "a%x%"), ("", "")] {
            assert_eq!(filled(path), same);
        }
    }

    #[test]
    #[cfg(feature = "report")]
    fn a_number_stands_before_the_ending() {
        let numbered = |path: &str, form| super::numbered(Path::new(path), form, 2).display().to_string();
        assert_eq!(numbered("a/now.html", Form::Html), "a/now.2.html");
        assert_eq!(numbered("now.HTML", Form::Html), "now.2.HTML");
        assert_eq!(numbered("now.pb.gz", Form::Pprof), "now.2.pb.gz");
        assert_eq!(numbered("callgrind.out.1", Form::Callgrind), "callgrind.out.1.2");
        assert_eq!(numbered("now", Form::Text), "now.2");
        assert_eq!(
            super::numbered(Path::new("now.html"), Form::Html, 1),
            Path::new("now.html")
        );
    }

    #[test]
    fn a_path_for_a_shell() {
        let word = |path: &str| shell_word(Path::new(path));
        assert_eq!(word("now.json.tks"), "./now.json.tks");
        assert_eq!(word("/a b/it's"), "'/a b/it'\\''s'");
    }
}

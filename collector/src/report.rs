//! Reports that the program writes itself: at its exit, and whenever it likes.

use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tickscope_format::render::ProcessState;
use tickscope_format::render::form::Form;
use tickscope_format::render::text::{TextOptions, report};
use tickscope_format::{FormatError, Snapshot, kept};

use crate::options::{Destination, Format};
use crate::os;

/// A name that is taken gets a number up to this.
const NUMBER_MAX: u32 = 999;

/// How long the exit waits for a terminal or a pipe that does not block and takes nothing.
const PATIENCE_MS: i32 = 1_000;

/// Writes the report at exit. Where that fails, standard error hears why; where that fails too, nobody can.
pub(crate) fn at_exit(snapshot: &Snapshot, destination: &Destination) {
    let text = || {
        let options = TextOptions {
            state: ProcessState::Exited,
            ..TextOptions::default()
        };
        report(snapshot, &options)
    };
    let said = |error: std::io::Error| error.to_string();
    // Whatever goes wrong in here shall not change how the program ends.
    let _unsignalled = os::Unsignalled::new();
    let written = std::panic::catch_unwind(|| match destination {
        Destination::Stderr => {
            os::write_all(libc::STDERR_FILENO, text().as_bytes(), PATIENCE_MS).map_err(said)
        }
        Destination::Stdout => {
            os::write_all(libc::STDOUT_FILENO, text().as_bytes(), PATIENCE_MS).map_err(said)
        }
        Destination::File(path) => to_file(snapshot, path),
    });
    if let Ok(Err(error)) = written {
        say(&format!("no report at exit: {error}"));
    }
}

/// There is no snapshot to report.
pub(crate) fn missed() {
    say("no report at exit: the program ended in the middle of a snapshot, or of a session's start or end");
}

fn to_file(snapshot: &Snapshot, wanted: &Path) -> Result<(), String> {
    let wanted = filled_in(wanted, &snapshot.process.name);
    let form = form_of(&wanted);
    let (form, path) = if form.is_built_in() {
        (form, wanted.clone())
    } else {
        (Form::Kept, and_kept(&wanted))
    };
    if path.metadata().is_ok_and(|facts| !facts.is_file()) {
        return Err(format!(
            "{} is no regular file: give the name of a new one, or `stderr` or `stdout`",
            path.display()
        ));
    }
    for number in 1..=NUMBER_MAX {
        let path = numbered(&path, form, number);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match form.write_new(&path, snapshot, ProcessState::Exited) {
            Err(error) if kind(&error) == Some(ErrorKind::AlreadyExists) => continue,
            Err(error) => return Err(with_next_step(&error)),
            Ok(()) if form == Form::Kept && form_of(&wanted) != Form::Kept => say(&format!(
                "{} needs the feature `export`; kept instead: tickscope report {} -o {}",
                wanted.display(),
                shell_word(&path),
                shell_word(&wanted)
            )),
            Ok(()) if says_no_form(&wanted) => say(&format!("{} {}", path.display(), no_form())),
            Ok(()) if number > 1 => say(&format!(
                "the report at exit is {}: the name before it is taken (%p in it is the process's id)",
                path.display()
            )),
            Ok(()) => {}
        }
        return Ok(());
    }
    Err(format!(
        "{} exists, and so does every number up to {NUMBER_MAX} of it: remove some",
        path.display()
    ))
}

/// One line on standard error.
fn say(what: &str) {
    // A path may hold anything.
    let line: String = what
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    let _ = os::write_all(
        libc::STDERR_FILENO,
        format!("tickscope: {line}\n").as_bytes(),
        PATIENCE_MS,
    );
}

/// A path for a shell to read.
fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    // With a slash it is no name of a program.
    let path = if path.contains('/') {
        path
    } else {
        format!("./{path}")
    };
    if path
        .chars()
        .all(|c| c.is_alphanumeric() || "/._-+,=:@".contains(c))
    {
        path
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// What the program will find written in place of a form that is not built in; none where nothing stands in its place.
pub(crate) fn instead(destination: &Destination) -> Option<String> {
    let Destination::File(path) = destination else {
        return None;
    };
    if says_no_form(path) {
        return Some(format!("the report at exit {} {}", path.display(), no_form()));
    }
    (!form_of(path).is_built_in()).then(|| {
        format!(
            "the report at exit {} needs the feature `export`; it will be {}",
            path.display(),
            and_kept(path).display()
        )
    })
}

/// The name ends in what could be meant as a form, and is none: text is written then. Numbers are no form.
fn says_no_form(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    Form::of_file(path).is_none() && ending.contains(char::is_alphabetic) && !ending.contains('%')
}

fn no_form() -> String {
    format!(
        "is text: its ending says no form; those that do: {}",
        Form::ENDINGS
    )
}

fn form_of(path: &Path) -> Form {
    Form::of_file(path).unwrap_or(Form::Text)
}

fn and_kept(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(kept::KEPT_ENDING);
    name.into()
}

/// The path with the process in it: `%p` its id, `%n` the program's name, `%%` a percent sign.
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

/// `now.html`, `now.2.html`, `now.3.html`.
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

/// Writes what the program is doing now to a new file.
pub(crate) fn dump(snapshot: &Snapshot, path: &Path, format: Format) -> Result<(), String> {
    let form = match format {
        Format::Text => Form::Text,
        Format::Html => Form::Html,
        Format::Json => Form::Json,
        Format::Csv => Form::Csv,
        Format::Folded => Form::Folded,
        Format::Speedscope => Form::Speedscope,
        Format::Pprof => Form::Pprof,
        Format::Callgrind => Form::Callgrind,
        Format::Tks => Form::Kept,
    };
    let _unsignalled = os::Unsignalled::new();
    form.write_new(path, snapshot, ProcessState::Running)
        .map_err(|error| with_next_step(&error))
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
        Some(ErrorKind::AlreadyExists) => "; nothing is written over: give another name",
        Some(ErrorKind::NotFound | ErrorKind::NotADirectory) => "; make the directory first",
        Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            "; give a place that this program may write to"
        }
        Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge) => {
            "; nothing half-written is left: make room, or give another place"
        }
        Some(ErrorKind::Unsupported) => {
            ": tickscope = { features = [\"enable\", \"export\"] }, or dump as Tks and let `tickscope report FILE` write it"
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

//! Output of a command's results, and exit codes.

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tickscope_format::FormatError;

/// Exit code of a command that succeeded.
pub const DONE: u8 = 0;
/// Exit code of a command that failed, with the reason on standard error.
pub const FAILED: u8 = 1;
/// Exit code if the command line is invalid, or names a target that does not exist.
pub const NO_TARGET: u8 = 2;
/// Exit code of a comparison in which a gate failed.
pub const GATE_FAILED: u8 = 3;
/// Exit code if a condition did not become true before the timeout.
pub const TIME_OVER: u8 = 3;
/// Exit code if the program ended before a condition became true.
pub const PROGRAM_ENDED: u8 = 4;

/// Error for an invalid command line. It holds the reason.
#[derive(Debug)]
pub struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Returns whether the user's locale is limited to ASCII.
pub fn is_ascii() -> bool {
    ascii_locale(|name| std::env::var(name).ok())
}

/// Returns whether the locale variables select a locale that is limited to ASCII. The first one that is set and not
/// empty decides.
fn ascii_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|v| !v.is_empty()));
    let utf8 = |locale: &str| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    !locale.is_some_and(|locale| utf8(&locale))
}

/// Writes to standard output.
///
/// # Errors
/// The system reports an error. A closed pipe (`| head`) does not count as an error.
pub fn write(text: &str) -> anyhow::Result<()> {
    put(text).map(|_| ())
}

/// Writes to standard output. Returns false if the reader has closed the pipe.
///
/// # Errors
/// Standard output could not be written.
pub fn put(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(unwritten(error)),
    }
}

/// Returns the error to report when standard output cannot be written.
pub fn unwritten(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("cannot write to standard output")
}

/// Prints a message for the user to standard error.
pub fn say(line: &str) {
    // If standard error is closed, the message is lost.
    let lines: Vec<String> = line.lines().map(printable).collect();
    let _ = writeln!(io::stderr(), "tickscope: {}", lines.join("\n"));
}

/// Formats an error and its causes on one line. Many error messages already contain their cause, so causes that would
/// be repeated are left out.
pub fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |line, cause| {
        let cause = cause.to_string();
        if line.contains(&cause) {
            line
        } else {
            format!("{line}: {cause}")
        }
    })
}

/// Escapes text from a file that another user may have written, so that it cannot move the cursor or change the
/// direction of text.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '"' | '\'' | '\\') {
            out.push(c);
        } else {
            out.extend(c.escape_debug());
        }
    }
    out
}

/// Returns the message of an error, followed by the command-line option that would help, if there is one.
pub fn advised(error: &FormatError) -> String {
    let found = if let FormatError::Unsuitable { found, .. } = error {
        found.as_str()
    } else {
        ""
    };
    let advice = match found {
        "is a directory" => "; --dir DIR looks into a directory",
        "exists already" => "; --force overwrites it",
        _ => "",
    };
    format!("{error}{advice}")
}

/// Describes an error in a file, including the file's path.
pub fn about(path: &Path, error: &FormatError) -> String {
    let (path, error) = (path.display().to_string(), advised(error));
    if error.contains(&path) {
        error
    } else {
        format!("{path}: {error}")
    }
}

/// Converts an exit code to the type that `main` returns.
pub fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_variable_decides() {
        let with = |set: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_string())
            }
        };
        assert!(!ascii_locale(with(&[("LANG", "de_DE.UTF-8")])));
        assert!(ascii_locale(with(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")])));
        assert!(!ascii_locale(with(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")])));
        assert!(ascii_locale(with(&[])));
    }
}

//! Where a command's result goes, and with what the process ends.

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tickscope_format::FormatError;

use crate::text::glyphs;

/// Done.
pub const DONE: u8 = 0;
/// Failed, with the reason on standard error.
pub const FAILED: u8 = 1;
/// The command line makes no sense, or there is no such target.
pub const NO_TARGET: u8 = 2;
/// A comparison was made, and a gate did not let it pass.
pub const GATE_FAILED: u8 = 3;
/// A condition did not become true in the time that it was waited for.
pub const TIME_OVER: u8 = 3;
/// The program ended before a condition became true.
pub const PROGRAM_ENDED: u8 = 4;

/// A command line that makes no sense, and why.
#[derive(Debug)]
pub struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Whether the locale has nothing but ASCII.
pub(crate) fn is_ascii() -> bool {
    glyphs::ascii_locale(|name| std::env::var(name).ok())
}

/// Writes to standard output.
///
/// # Errors
/// What the system says. A closed pipe (`| head`) is no error.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(error)),
        _ => Ok(()),
    }
}

/// Writes to standard output; false where the reader has closed the pipe.
///
/// # Errors
/// That it could not be written.
pub(crate) fn put(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(unwritten(error)),
    }
}

/// That standard output takes nothing, and why.
pub(crate) fn unwritten(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("cannot write to standard output")
}

/// A line for the user beside the result.
pub fn say(line: &str) {
    // Without standard error the line cannot be shown.
    let lines: Vec<String> = line.lines().map(printable).collect();
    let _ = writeln!(io::stderr(), "tickscope: {}", lines.join("\n"));
}

/// An error with its causes. Many say their cause themselves; none is said twice.
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

/// Text from a file that another user may have written, so that it cannot move the cursor or turn lines around.
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

/// The words of an error, and the option of the command line that helps.
pub fn advised(error: &FormatError) -> String {
    let found = if let FormatError::Unsuitable { found, .. } = error {
        found.as_str()
    } else {
        ""
    };
    let advice = match found {
        "is a directory" => "; --dir DIR looks into a directory",
        "exists already" => "; --force writes over it",
        _ => "",
    };
    format!("{error}{advice}")
}

/// What is wrong with a file, and with which.
pub fn about(path: &Path, error: &FormatError) -> String {
    let (path, error) = (path.display().to_string(), advised(error));
    if error.contains(&path) {
        error
    } else {
        format!("{path}: {error}")
    }
}

/// An exit code.
pub fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}

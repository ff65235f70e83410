//! Saves files from within the viewer. They are written to the current directory and named after the program and the
//! time. Existing files are never overwritten.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tickscope_command::console::in_one_line;
use tickscope_command::output_file::OutputFile;
use tickscope_format::{Snapshot, snapshot_file};
use tickscope_programs::clock_time::{UtcOffset, stamp};
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_report::exemplar::ExemplarForm;
use tickscope_report::form::{Form, FormOptions};
use tickscope_report::text::TextOptions;

use crate::text::words::in_words;

/// Maximum number of files for the same program and the same second.
const MOST: u32 = 100;

/// The formats in which a report is saved: plain text to read, and an HTML page to explore.
const REPORT_FORMS: [Form; 2] = [Form::Text, Form::Html];

/// The formats in which a slow call is saved, with their file extensions.
const CALL_FORMS: [(ExemplarForm, &str); 3] = [
    (ExemplarForm::Chrome, "trace.json"),
    (ExemplarForm::Firefox, "firefox.json"),
    (ExemplarForm::Speedscope, "speedscope.json"),
];

/// Writes the report as text and as HTML, to files that differ only in their extensions. Returns their paths.
pub(crate) fn write_reports(
    snapshot: &Snapshot,
    options: &TextOptions,
    offset: UtcOffset,
) -> Result<Vec<PathBuf>, String> {
    let paths = first_free(&stem(snapshot, offset), &REPORT_FORMS.map(Form::ending));
    let options = FormOptions {
        text: options.clone(),
        ..FormOptions::default()
    };
    for (done, (path, form)) in paths.iter().zip(REPORT_FORMS).enumerate() {
        write_new(path, |out| form.write(snapshot, &options, out)).map_err(|why| match done {
            0 => why,
            _ => format!("{why}; {} is written", in_words(&paths[..done])),
        })?;
    }
    Ok(paths)
}

/// Writes a slow call in the formats of other tools, to files that differ only in their extensions. Returns their
/// paths.
pub(crate) fn write_call(
    snapshot: &Snapshot,
    traces: &KeptTraces,
    function: &str,
    number: u64,
    offset: UtcOffset,
) -> Result<Vec<PathBuf>, String> {
    let mut whole = snapshot.clone();
    traces.fill(&mut whole);
    let watch = whole.watches.iter().find(|watch| watch.function == function);
    let call = watch.and_then(|watch| {
        let mut calls = watch.exemplars.iter();
        Some((watch, calls.find(|call| call.number == number)?))
    });
    let Some((watch, call)) = call else {
        return Err(format!("call {number} is no longer kept"));
    };
    let paths = first_free(&stem(snapshot, offset), &CALL_FORMS.map(|(_, ending)| ending));
    for ((form, _), path) in CALL_FORMS.into_iter().zip(&paths) {
        write_new(path, |mut out| form.write(&whole, watch, call, &mut out))?;
    }
    Ok(paths)
}

/// Writes the snapshot to a new file that the viewer can open. Returns its path.
pub(crate) fn keep_snapshot(snapshot: &Snapshot, offset: UtcOffset) -> Result<PathBuf, String> {
    let path = first_free(&stem(snapshot, offset), &["tks"]).swap_remove(0);
    let written = snapshot_file::write(&path, snapshot);
    written.map_err(|error| error.to_string()).map(|()| path)
}

/// Creates a file, either with its whole content or not at all.
fn write_new(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
    if path.exists() {
        return Err(format!("{} exists already", path.display()));
    }
    let written = OutputFile::new(Some(path), false).write(write);
    written.map_err(|error| in_one_line(&error))
}

/// Returns a path for a recording that starts at `unix_ns`. No file exists there yet, unless all numbered paths are
/// taken.
pub(crate) fn for_recording(stem: &str, unix_ns: u64, offset: UtcOffset) -> PathBuf {
    let stem = format!("{}-{}", tame(stem), stamp(unix_ns, offset));
    first_free(&stem, &["tks"]).swap_remove(0)
}

/// Finds the first numbered name that is unused with every one of the extensions, and returns its paths. If there is
/// none, returns the paths with the last number.
fn first_free(stem: &str, endings: &[&str]) -> Vec<PathBuf> {
    let is_free = |paths: &Vec<PathBuf>| paths.iter().all(|path| path.symlink_metadata().is_err());
    let mut all = (1..MOST).map(|n| numbered(stem, n, endings));
    all.find(is_free).unwrap_or_else(|| numbered(stem, MOST, endings))
}

/// Returns a path for each extension: `./NAME.EXT` if `n` is 1, otherwise numbered like `./NAME-2.EXT`.
fn numbered(stem: &str, n: u32, endings: &[&str]) -> Vec<PathBuf> {
    let number = match n {
        1 => String::new(),
        n => format!("-{n}"),
    };
    let path = |ending: &&str| PathBuf::from(format!("./{stem}{number}.{ending}"));
    endings.iter().map(path).collect()
}

/// Returns a file name without extension, in the form `NAME-PID-TIME`.
fn stem(snapshot: &Snapshot, offset: UtcOffset) -> String {
    let time = stamp(snapshot.capture.unix_ns, offset);
    format!("{}-{}-{time}", tame(&snapshot.process.name), snapshot.process.pid)
}

/// Replaces special characters in a program's name, so that a path built from it stays in the current directory.
fn tame(name: &str) -> String {
    let tame = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().take(64).map(tame).collect();
    if name.starts_with('.') {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_this_folder() {
        let mut snapshot = crate::orderbook::snapshot(1);
        snapshot.process.name = "../../etc/x y".to_string();
        let stem = stem(&snapshot, None);
        let [first, second] = [1, 2].map(|n| numbered(&stem, n, &["txt"])[0].display().to_string());
        let name = first.strip_prefix("./").expect("in this folder");
        assert!(!name.contains('/') && name.starts_with("_.._.._etc_x_y-41873-"));
        assert!(second.ends_with("-2.txt"));
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.txt");
        let write = |text: &str| write_new(&path, |out| out.write_all(text.as_bytes()));
        assert_eq!(write("one"), Ok(()));
        assert!(write("two").is_err_and(|why| why.contains("exists already")));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "one");
    }

    #[test]
    fn files_of_one_report_have_one_name() {
        let paths = ["./a-1.txt", "./a-1.html"].map(PathBuf::from);
        assert_eq!(in_words(&paths), "./a-1.txt and .html");
        assert_eq!(in_words(&paths[..1]), "./a-1.txt");
    }
}

//! Files written from the screen: in the current directory, named after program and time, and never over another file.

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

/// Maximum number of files of one program and second.
const MOST: u32 = 100;

/// The forms of a report: text to read, and a page to explore.
const REPORT_FORMS: [Form; 2] = [Form::Text, Form::Html];

/// The forms of a slow call, and the endings of their files.
const CALL_FORMS: [(ExemplarForm, &str); 3] = [
    (ExemplarForm::Chrome, "trace.json"),
    (ExemplarForm::Firefox, "firefox.json"),
    (ExemplarForm::Speedscope, "speedscope.json"),
];

/// Writes the report in both forms, to files that differ only in their endings, and returns their paths.
pub(crate) fn write_reports(
    snapshot: &Snapshot,
    options: &TextOptions,
    offset: UtcOffset,
) -> Result<Vec<PathBuf>, String> {
    let endings = REPORT_FORMS.map(Form::ending);
    let paths = first_free(snapshot, &endings, offset);
    let options = FormOptions {
        text: options.clone(),
        ..FormOptions::default()
    };
    for (done, (path, form)) in paths.iter().zip(REPORT_FORMS).enumerate() {
        let write = |path: &Path| {
            OutputFile::new(Some(path), false)
                .write(|out| form.write(snapshot, &options, out))
                .map_err(|error| in_one_line(&error))
        };
        write_first(std::iter::once(path.clone()), write).map_err(|why| match done {
            0 => why,
            _ => format!("{why}; {} is written", in_words(&paths[..done])),
        })?;
    }
    Ok(paths)
}

/// Returns the paths of the first name that is free with every ending; the last paths if no name is free.
fn first_free(snapshot: &Snapshot, endings: &[&str], offset: UtcOffset) -> Vec<PathBuf> {
    let mut last = Vec::new();
    for stem in stems(snapshot, offset) {
        last = endings
            .iter()
            .map(|ending| PathBuf::from(format!("{stem}.{ending}")))
            .collect();
        if !last.iter().any(|path| path.exists()) {
            break;
        }
    }
    last
}

/// Writes a slow call in the forms of other tools, to files that differ only in their endings, and returns their paths.
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
    let endings = CALL_FORMS.map(|(_, ending)| ending);
    let paths = first_free(snapshot, &endings, offset);
    for ((form, _), path) in CALL_FORMS.into_iter().zip(&paths) {
        let write = |path: &Path| {
            OutputFile::new(Some(path), false)
                .write(|mut out| form.write(&whole, watch, call, &mut out))
                .map_err(|error| in_one_line(&error))
        };
        write_first(std::iter::once(path.clone()), write)?;
    }
    Ok(paths)
}

/// Writes the snapshot to a new file, in the form that the viewer opens again, and returns its path.
pub(crate) fn keep_snapshot(snapshot: &Snapshot, offset: UtcOffset) -> Result<PathBuf, String> {
    write_first(candidates(snapshot, "tks", offset), |path| {
        snapshot_file::write(path, snapshot).map_err(|error| error.to_string())
    })
}

/// Writes to the first path that is free, whole or not at all, and returns the path.
fn write_first(
    candidates: impl Iterator<Item = PathBuf>,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let mut there = None;
    for path in candidates {
        if !path.exists() {
            return write(&path).map(|()| path);
        }
        there = Some(path);
    }
    let there = there.unwrap_or_default();
    Err(format!("{} exists already", there.display()))
}

/// Returns a path for a recording that begins now: a free path, if any path is free.
pub(crate) fn for_recording(stem: &str, unix_ns: u64, offset: UtcOffset) -> PathBuf {
    let paths = numbered(format!("{}-{}", tame(stem), stamp(unix_ns, offset)));
    let mut last = PathBuf::new();
    for path in paths.map(|stem| PathBuf::from(format!("{stem}.tks"))) {
        if path.symlink_metadata().is_err() {
            return path;
        }
        last = path;
    }
    last
}

/// Returns `./NAME-PID-TIME.EXT`, then the same with `-2`, `-3`, up to `MOST`.
fn candidates(snapshot: &Snapshot, extension: &str, offset: UtcOffset) -> impl Iterator<Item = PathBuf> {
    stems(snapshot, offset).map(move |stem| PathBuf::from(format!("{stem}.{extension}")))
}

/// Returns the paths of [`candidates`] without their endings.
fn stems(snapshot: &Snapshot, offset: UtcOffset) -> impl Iterator<Item = String> + use<> {
    numbered(format!(
        "{}-{}-{}",
        tame(&snapshot.process.name),
        snapshot.process.pid,
        stamp(snapshot.capture.unix_ns, offset)
    ))
}

/// Replaces characters of a name from another program, so that the name cannot lead to another folder.
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

fn numbered(stem: String) -> impl Iterator<Item = String> {
    (1..=MOST).map(move |n| match n {
        1 => format!("./{stem}"),
        n => format!("./{stem}-{n}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_this_folder() {
        let mut snapshot = crate::orderbook::snapshot(1);
        snapshot.process.name = "../../etc/x y".to_string();
        let first = candidates(&snapshot, "txt", None)
            .next()
            .expect("there is a first");
        let name = first
            .strip_prefix("./")
            .expect("in this folder")
            .to_string_lossy()
            .into_owned();
        assert!(
            !name.contains('/') && name.starts_with("_.._.._etc_x_y-41873-"),
            "{name}"
        );
        assert!(
            candidates(&snapshot, "txt", None)
                .nth(1)
                .expect("second")
                .to_string_lossy()
                .ends_with("-2.txt")
        );
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.txt");
        let write = |text: &str| {
            write_first(std::iter::once(path.clone()), |path| {
                std::fs::write(path, text).map_err(|error| error.to_string())
            })
        };
        assert_eq!(write("one"), Ok(path.clone()));
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

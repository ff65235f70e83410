//! Files written from the screen: beside the user, named after program and time, and never over another one.

use std::path::{Path, PathBuf};

use tickscope_format::Snapshot;

use crate::command::output::in_one_line;
use crate::command::whole::Place;
use crate::process_time::{UtcOffset, stamp};
use crate::report::Report;

/// Writes a snapshot to a file that does not exist yet, in the form that the viewer opens again.
pub type Keep = fn(&Path, &Snapshot) -> Result<(), String>;

/// So many files of one program and second are enough.
const MOST: u32 = 100;

/// Writes the report and gives its path.
pub(crate) fn write_report(
    snapshot: &Snapshot,
    report: &Report,
    file: Option<PathBuf>,
    offset: UtcOffset,
) -> Result<PathBuf, String> {
    let ending = report.format.ending();
    write_first(paths(file, snapshot, ending, offset), |path| {
        Place::new(Some(path), false)
            .write(|out| report.write(snapshot, out))
            .map_err(|error| in_one_line(&error))
    })
}

/// Keeps the snapshot and gives its path.
pub(crate) fn keep_snapshot(
    snapshot: &Snapshot,
    keep: Keep,
    file: Option<PathBuf>,
    offset: UtcOffset,
) -> Result<PathBuf, String> {
    write_first(paths(file, snapshot, "tks", offset), |path| keep(path, snapshot))
}

/// The file that was named, or those that may be made up.
fn paths<'a>(
    file: Option<PathBuf>,
    snapshot: &'a Snapshot,
    ending: &'a str,
    offset: UtcOffset,
) -> Box<dyn Iterator<Item = PathBuf> + 'a> {
    match file {
        Some(file) => Box::new(std::iter::once(at_home(file))),
        None => Box::new(candidates(snapshot, ending, offset)),
    }
}

/// `~/x` as a shell has it.
fn at_home(file: PathBuf) -> PathBuf {
    match (file.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => file,
    }
}

/// Writes to the first path that is free, whole or not at all, and gives it.
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
    Err(format!("there is a {} already", there.display()))
}

/// Where a recording goes that begins now: a path that is free, if any is.
pub(crate) fn for_recording(stem: &str, unix_ns: u64, offset: UtcOffset) -> PathBuf {
    let paths = numbered(format!("{}-{}", tame(stem), stamp(unix_ns, offset)), "tks");
    let mut last = PathBuf::new();
    for path in paths {
        if path.symlink_metadata().is_err() {
            return path;
        }
        last = path;
    }
    last
}

/// `./NAME-PID-TIME.EXT`, then with `-2`, `-3` and so on.
fn candidates(snapshot: &Snapshot, extension: &str, offset: UtcOffset) -> impl Iterator<Item = PathBuf> {
    let stem = format!(
        "{}-{}-{}",
        tame(&snapshot.process.name),
        snapshot.process.pid,
        stamp(snapshot.capture.unix_ns, offset)
    );
    numbered(stem, extension)
}

/// The name comes from another program: nothing in it may lead to another folder.
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

fn numbered(stem: String, extension: &str) -> impl Iterator<Item = PathBuf> {
    let extension = extension.to_string();
    (1..=MOST).map(move |n| {
        let again = if n == 1 { String::new() } else { format!("-{n}") };
        PathBuf::from(format!("./{stem}{again}.{extension}"))
    })
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use tickscope_format::ids::ThreadId;
    use tickscope_format::render::text::TextOptions;

    use super::*;
    use crate::args::ReportFormat;

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
    fn every_form_has_an_ending_and_the_thread_that_is_shown() {
        let dir = tempfile::tempdir().expect("a folder");
        let snapshot = crate::orderbook::snapshot(1);
        for &format in ReportFormat::value_variants() {
            let mut sizes = [None, Some(ThreadId(0))].map(|thread| {
                let report = Report {
                    format,
                    options: TextOptions {
                        thread,
                        ..TextOptions::default()
                    },
                    ..Report::default()
                };
                let file = dir
                    .path()
                    .join(format!("{}.{}", thread.is_some(), format.ending()));
                let path = write_report(&snapshot, &report, Some(file.clone()), None).expect("written");
                assert_eq!(path, file);
                assert_eq!(ReportFormat::of_file(&path), Some(format));
                let again = write_report(&snapshot, &report, Some(file), None);
                assert!(again.is_err_and(|why| why.contains("already")));
                std::fs::metadata(&path).expect("there").len()
            });
            sizes.reverse();
            assert!(sizes.is_sorted() && sizes[0] > 0, "{format:?}: {sizes:?}");
        }
    }
}

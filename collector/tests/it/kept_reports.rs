//! Reports and the log in a program without the feature `report`. Instead of a report, the program writes the snapshot,
//! and prints the command that makes a report from it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{self, Isolated, Says, calls_of, check, test_name};
use tickscope::{Format, Status};
use tickscope_format::snapshot_file;

#[tickscope::profile]
fn work() {
    tickscope::scope!("step");
}

/// Returns all files under a directory whose names end in `ending`.
fn ending_in(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(ending_in(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

fn a_dump_returns_the_path_of_the_snapshot_that_it_keeps() {
    let dir = support::shared_place();
    work();
    for (format, name, written) in [
        (Format::Text, "now.txt", "now.txt.tks"),
        (Format::Html, "now.html", "now.html.tks"),
        (Format::Json, "now.json", "now.json.tks"),
        (Format::Tks, "now.tks", "now.tks"),
    ] {
        let path = tickscope::dump(dir.join(name), format).unwrap();
        assert_eq!(path, dir.join(written));
        let snapshot = snapshot_file::read(&path).unwrap();
        check(&snapshot);
        assert_eq!(calls_of(&snapshot, "work"), 1);
    }
    let again = tickscope::dump(dir.join("now.txt"), Format::Text)
        .unwrap_err()
        .to_string();
    again.says(["now.txt.tks", "give another name"]);
}

fn a_report_for_a_terminal_is_kept_beside_the_rings() {
    for place in ["stderr", "stdout"] {
        let test = Isolated::as_usual(test_name!()).env("TICKSCOPE_REPORT", place);
        let done = test.run(work).succeeded();
        let kept = ending_in(done.place(), ".tks");
        assert_eq!(kept.len(), 1, "{kept:?}");
        let name = kept[0].file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("it-"), "{name}");
        assert_eq!(calls_of(&snapshot_file::read(&kept[0]).unwrap(), "work"), 1);
        assert_eq!(
            (&*done.stdout, done.stderr.lines().count()),
            ("", 1),
            "{}",
            done.stderr
        );
        done.stderr.says([
            "needs the feature `report`; kept instead in ",
            ": tickscope report /",
            &name,
        ]);
    }
}

fn a_report_in_a_file_is_kept_with_its_ending_behind_the_name() {
    let test = Isolated::as_usual(test_name!()).report("report.html");
    let done = test.run(work).succeeded();
    let kept = done.place().join("report.html.tks");
    assert_eq!(calls_of(&snapshot_file::read(&kept).unwrap(), "step"), 1);
    assert!(!done.place().join("report.html").exists());
    done.stderr.says([
        "report.html needs the feature `report`; kept instead: tickscope report /",
        "report.html.tks -o /",
    ]);
}

fn a_program_that_is_asked_for_the_log_warns_and_publishes() {
    let test = Isolated::as_usual(test_name!()).env("TICKSCOPE", "log");
    test.succeeds(|| {
        let session = tickscope::Builder::new("logs").try_start().unwrap();
        work();
        assert_eq!(session.status(), Status::Publishing);
        let warnings = session.warnings().join("\n");
        warnings.says(["the log needs the feature `report`", "`tickscope log`"]);
    });
}

crate::support::tests![
    own:
    a_report_for_a_terminal_is_kept_beside_the_rings,
    a_report_in_a_file_is_kept_with_its_ending_behind_the_name,
    a_program_that_is_asked_for_the_log_warns_and_publishes;
    as_usual: a_dump_returns_the_path_of_the_snapshot_that_it_keeps;
];

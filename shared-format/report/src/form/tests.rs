#[cfg(feature = "export")]
use {tickscope_analysis::filter, tickscope_analysis::measure::Measure, tickscope_format::ids::ThreadId};

use tickscope_testkit::fixture;

use super::*;
use crate::archive;

#[test]
fn a_files_name_says_the_form() {
    let form = |file: &str| Form::of_file(Path::new(file));
    for wanted in Form::ALL {
        assert_eq!(form(&format!("a.b/now.{}", wanted.ending())), Some(wanted));
    }
    assert_eq!(
        Form::endings(),
        ".txt .html .json .folded .speedscope.json .pb.gz .callgrind .tks"
    );
    assert_eq!(form("now.JSON"), Some(Form::Json));
    assert_eq!(form("callgrind.out.1"), Some(Form::Callgrind));
    for none in ["json", "a.json/now", "", "/", "now.gz"] {
        assert_eq!(form(none), None, "{none}");
    }
}

#[test]
fn the_table_says_what_the_command_needs() {
    for form in Form::ALL {
        assert_eq!(Form::named(form.name()), Some(form));
        assert!(!form.description().ends_with('.') && !form.description().is_empty());
        let help: Vec<&str> = form.help().lines().collect();
        assert!(!help.is_empty(), "{form:?}");
        assert!(help.iter().all(|line| line.chars().count() <= 87), "{form:?}");
        let refused = [form.check_per(), form.check_unit()];
        for why in refused.into_iter().filter_map(Result::err) {
            assert!(why.contains("--"), "{form:?}: {why} names no option");
        }
    }
    assert_eq!(Form::named("kept"), None);
}

#[test]
fn each_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let snapshot = fixture::two_threads();
    for form in Form::ALL {
        let path = dir.path().join(format!("now.{}", form.ending()));
        let written = form.write_new(&path, &snapshot, ProcessState::Running);
        if !form.is_built_in() {
            let error = written.unwrap_err().to_string();
            assert!(error.contains("now.") && error.contains("`export`"), "{error}");
            assert!(!path.exists());
            continue;
        }
        written.unwrap();
        let there = std::fs::read(&path).unwrap();
        assert!(!there.is_empty(), "{form:?}");
        let error = form
            .write_new(&path, &fixture::two_threads(), ProcessState::Exited)
            .unwrap_err();
        assert!(error.to_string().contains("exists"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), there);
    }
    for carries in ["now.html", "now.tks"] {
        assert_eq!(archive::read(&dir.path().join(carries)).unwrap(), snapshot);
    }
    let parts = std::fs::read_dir(dir.path()).unwrap();
    assert!(parts.into_iter().all(|entry| {
        let name = entry.unwrap().file_name();
        !name.to_string_lossy().ends_with(".part")
    }));
}

#[cfg(feature = "export")]
#[test]
fn all_show_the_same_part_of_a_snapshot() {
    let snapshot = fixture::two_threads();
    let mut options = FormOptions::default();
    options.text.thread = Some(ThreadId(1));
    options.text.min_share = 0.9;
    let part = filter::above(
        &filter::of_threads(&snapshot, |thread| thread.0 == 1),
        Measure::Time,
        0.9,
    );
    assert!(part.nodes.len() < snapshot.rows_of(ThreadId(1)).len());
    // Text and pages are left out, because text names the chosen thread, and a page contains all threads.
    for form in [
        Form::Json,
        Form::Folded,
        Form::Speedscope,
        Form::Pprof,
        Form::Callgrind,
        Form::Tks,
    ] {
        let written = |snapshot: &Snapshot, options: &FormOptions| {
            let mut out = Vec::new();
            form.write(snapshot, options, &mut out).unwrap();
            out
        };
        assert!(
            written(&snapshot, &options) == written(&part, &FormOptions::default()),
            "{form:?}"
        );
    }
}

//! Where reports and snapshots go: whole, never over another file, and quietly into a pipe that closes.

use std::fs;
use std::io::Read;

use portable_pty::{PtySize, native_pty_system};

use crate::cli_commands::live::check;
use crate::cli_commands::support::{Place, VIEWER, finish, until};

fn a_report_tells_name_state_and_tree() {
    let place = Place::new();
    let program = place.start("busy");
    for command in [&["report"][..], &["dump"], &["attach"], &[]] {
        let mut args = command.to_vec();
        args.push(&program.name);
        let text = until("all is entered", || {
            let text = place.tickscope(&args).ok().quiet().out;
            text.contains("leaf").then_some(text)
        });
        let first = text.lines().next().unwrap();
        assert!(
            first.contains(&program.name) && first.contains("running"),
            "{first}"
        );
        for row in ["outer", "inner", "leaf"] {
            assert!(text.contains(row), "{text}");
        }
    }
}

fn a_file_is_written_whole_and_never_over_another() {
    let place = Place::new();
    let program = place.start("busy");
    let file = place.work().join("now.json");
    let path = file.to_str().unwrap();
    let args = ["report", "-f", "json", "-o", path, &program.name];
    let done = place.tickscope(&args).ok().quiet();
    assert_eq!(done.out, "", "it went to the file");
    let first = fs::read_to_string(&file).unwrap();
    check(&serde_json::from_str(&first).unwrap());

    place.tickscope(&args).failed(1, &[path, "exists"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), first, "untouched");
    assert_eq!(place.only_file(), file, "nothing half-made is left");

    // Not through a link either, also one that points nowhere.
    let link = place.work().join("link.json");
    std::os::unix::fs::symlink(place.work().join("nowhere"), &link).unwrap();
    let path = link.to_str().unwrap();
    place
        .tickscope(&["report", "-o", path, &program.name])
        .failed(1, &[path, "exists"]);
    assert!(!place.work().join("nowhere").exists());
}

fn where_a_file_cannot_be_it_is_said_and_nothing_is_left() {
    let place = Place::new();
    let program = place.start("stuck");
    let work = place.work();
    let missing = work.join("missing/now");
    for path in [missing.as_path(), work.as_path()] {
        let path = path.to_str().unwrap();
        for command in ["report", "snapshot"] {
            place
                .tickscope(&[command, "-o", path, &program.name])
                .failed(1, &[path]);
        }
    }
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
    // `.part` files of a target beside the directory are gone too.
    let beside = fs::read_dir(work.parent().unwrap()).unwrap();
    let names: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !names.iter().any(|name| name.to_string_lossy().contains("part")),
        "{names:?}"
    );
}

fn standard_output_as_a_file() {
    let place = Place::new();
    let program = place.start("stuck");
    let done = place
        .tickscope(&["report", "-o", "-", &program.name])
        .ok()
        .quiet();
    assert!(done.out.starts_with("tickscope report: "), "{}", done.out);
    place.tickscope(&["snapshot", "-o", "-", &program.name]).failed(
        1,
        &["a snapshot goes to a file, not to standard output; for that: tickscope report"],
    );
    assert_eq!(fs::read_dir(place.work()).unwrap().count(), 0, "no file called -");
}

fn a_pipe_that_closes_early_is_no_error() {
    let place = Place::new();
    let program = place.start("busy");
    for args in [
        format!("report {}", program.name),
        format!("report -f json {}", program.name),
        format!("stacks {}", program.name),
        "list".into(),
        "--help".into(),
    ] {
        // Nobody reads from the beginning: the first byte meets a closed pipe.
        let script = format!("set -o pipefail; '{VIEWER}' {args} | true; '{VIEWER}' {args} | head -1");
        let mut command = place.command("bash");
        finish(command.args(["-c", &script])).ok().quiet();
    }
}

fn a_kept_snapshot_opens_again_and_says_that_it_is_one() {
    let place = Place::new();
    let program = place.start("busy");
    let printed = place.tickscope(&["snapshot", &program.name]).ok().quiet().out;
    let path = printed.trim();
    let begin = format!("./{}-{}-", program.name, program.pid());
    assert!(path.starts_with(&begin) && path.ends_with(".tks"), "{path}");
    let document = place.json(path);
    check(&document);
    assert_eq!(document["process"]["state"], "kept");
    assert_eq!(document["process"]["pid"], program.pid());
    assert_eq!(place.json(path), document, "the same each time");
    place.tickscope(&["stacks", path]).ok().quiet();
    place
        .tickscope(&["reset", path])
        .failed(1, &[path, " is a kept snapshot: no program is behind it"]);

    // By default there is always another name.
    let again = place.tickscope(&["snapshot", &program.name]).ok().quiet().out;
    assert_ne!(again, printed);
    // A named file is never written over.
    let bytes = fs::read(place.work().join(path)).unwrap();
    place.tickscope(&["snapshot", "-o", path, &program.name]).failed(
        1,
        &[
            path,
            " exists already; a snapshot is never written over another file",
        ],
    );
    assert_eq!(fs::read(place.work().join(path)).unwrap(), bytes);
}

fn a_kept_snapshot_needs_no_ending() {
    let place = Place::new();
    let program = place.start("stuck");
    place.tickscope(&["snapshot", "-o", "kept", &program.name]).ok();
    assert_eq!(place.json("./kept")["process"]["state"], "kept");
}

/// The report as it comes to a terminal of so many columns.
fn on_terminal(place: &Place, cols: u16, target: &str) -> String {
    let size = PtySize {
        cols,
        ..PtySize::default()
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let terminal = pair.master.tty_name().unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let open = || fs::OpenOptions::new().write(true).open(&terminal).unwrap();
    let mut child = place
        .command(VIEWER)
        .args(["report", target])
        .stdout(open())
        .spawn()
        .unwrap();
    drop(pair.slave);
    let mut text = Vec::new();
    // Ends with an error once nobody has the terminal open any more.
    let _ = reader.read_to_end(&mut text);
    assert!(child.wait().unwrap().success());
    String::from_utf8(text).unwrap()
}

fn percentiles_are_shown_where_the_terminal_has_room() {
    let place = Place::new();
    let program = place.start("busy");
    until("all is entered", || {
        let text = place.tickscope(&["report", &program.name]).ok().out;
        text.contains("leaf").then_some(())
    });
    let kept = place.tickscope(&["snapshot", &program.name]).ok().out;
    let titles = |cols| {
        let text = on_terminal(&place, cols, kept.trim());
        text.matches("  P50     P99      MAX  FUNCTION").count()
    };
    // The tree, then the list of functions as well.
    assert_eq!([80, 100, 160].map(titles), [0, 1, 2]);
}

tickscope_testkit::tests![
    a_report_tells_name_state_and_tree,
    a_file_is_written_whole_and_never_over_another,
    where_a_file_cannot_be_it_is_said_and_nothing_is_left,
    standard_output_as_a_file,
    a_pipe_that_closes_early_is_no_error,
    a_kept_snapshot_opens_again_and_says_that_it_is_one,
    a_kept_snapshot_needs_no_ending,
    percentiles_are_shown_where_the_terminal_has_room,
];

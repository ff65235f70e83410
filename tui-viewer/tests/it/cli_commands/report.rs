//! Output of reports and snapshots: files are written completely and never replace existing ones, and a closed pipe is
//! not an error.

use std::fs;
use std::io::Read;

use pty_process::Size;
use pty_process::blocking::{Command, open};
use tickscope_testkit::orderbook;

use crate::cli_commands::live::check;
use crate::support::{Place, VIEWER, finish};

fn a_report_tells_name_state_and_tree() {
    let (place, program) = Place::with("busy");
    for command in [&["report"][..], &["dump"], &["attach"], &[]] {
        let text = place.told(&[command, &[&program.name]].concat());
        let begins = format!("tickscope report: {}, ", program.name);
        assert!(text.starts_with(&begins) && text.contains("running"), "{text}");
    }
}

fn a_file_is_written_whole_and_never_over_another() {
    let (place, program) = Place::with("busy");
    let args = ["report", "-f", "json", "-o", "now.json", &program.name];
    let done = place.tickscope(&args).ok().quiet();
    assert_eq!(done.out, "", "it went to the file");
    let read = || fs::read_to_string(place.work().join("now.json")).unwrap();
    let first = read();
    check(&serde_json::from_str(&first).unwrap());
    place.tickscope(&args).failed(1, &["now.json", "exists"]);
    assert_eq!((read(), place.files()), (first, 1), "untouched");
}

fn standard_output_as_a_file() {
    let (place, program) = Place::with("stuck");
    let text = place.told(&["report", "-o", "-", &program.name]);
    assert!(text.starts_with("tickscope report: "), "{text}");
    let says = "a snapshot goes to a file, not to standard output; for that: tickscope report";
    place.refuses(&format!("1 snapshot -o - {} => {says}", program.name));
    assert_eq!(place.files(), 0, "no file called -");
}

fn a_pipe_that_closes_early_is_no_error() {
    let (place, program) = Place::with("busy");
    for args in [
        format!("report {}", program.name),
        format!("report -f pprof {}", program.name),
        "list".into(),
        "--help".into(),
    ] {
        // The reader of the pipe exits immediately.
        let script = format!("set -o pipefail; '{VIEWER}' {args} | true");
        let mut command = place.command("bash");
        finish(command.args(["-c", &script])).ok().quiet();
    }
}

fn a_kept_snapshot_opens_again_and_says_that_it_is_one() {
    let (place, program) = Place::with("busy");
    let printed = place.told(&["snapshot", &program.name]);
    let path = printed.trim();
    let begin = format!("./{}-{}-", program.name, program.pid());
    assert!(path.starts_with(&begin) && path.ends_with(".tks"), "{path}");
    let document = place.json(path);
    check(&document);
    assert_eq!(document["process"]["state"], "kept");
    assert_eq!(document["process"]["pid"], program.pid());
    assert_eq!(place.json(path), document, "the same each time");
    let says = format!("{path} is a kept snapshot: no program is behind it");
    place.refuses(&format!("1 reset {path} => {says}"));

    // If no file name is given, an unused one is chosen. A file that is named is never overwritten, and its name needs
    // no extension.
    let again = place.told(&["snapshot", &program.name]);
    assert_ne!(again, printed);
    let named = ["snapshot", "-o", "kept", &program.name];
    place.tickscope(&named).ok();
    let kept = place.json("./kept");
    assert_eq!(kept["process"]["state"], "kept");
    let again = place.tickscope(&named);
    again.failed(1, &["kept exists already; a snapshot never overwrites a file"]);
    assert_eq!(place.json("./kept"), kept);
}

/// Returns the report that is printed on a terminal with this number of columns.
fn on_terminal(place: &Place, cols: u16, target: &str) -> String {
    let (mut master, slave) = open().unwrap();
    master.resize(Size::new(24, cols)).unwrap();
    let command = Command::from(place.command(VIEWER)).args(["report", target]);
    let mut child = command.spawn(slave).unwrap();
    let mut text = Vec::new();
    // Reading from a pseudoterminal returns an error once the last process has closed the other end.
    let _ = master.read_to_end(&mut text);
    assert!(child.wait().unwrap().success());
    String::from_utf8(text).unwrap()
}

fn percentiles_are_shown_where_the_terminal_has_room() {
    let place = Place::new();
    place.keep("kept.tks", &orderbook::snapshot(1_340));
    let titles = |cols| {
        let text = on_terminal(&place, cols, "./kept.tks");
        text.matches("  P50     P99      MAX  FUNCTION").count()
    };
    // Wide terminals show percentiles in the tree, and even wider ones also in the list of functions.
    assert_eq!([80, 100, 160].map(titles), [0, 1, 2]);
}

tickscope_testkit::tests![
    a_report_tells_name_state_and_tree,
    a_file_is_written_whole_and_never_over_another,
    standard_output_as_a_file,
    a_pipe_that_closes_early_is_no_error,
    a_kept_snapshot_opens_again_and_says_that_it_is_one,
    percentiles_are_shown_where_the_terminal_has_room,
];

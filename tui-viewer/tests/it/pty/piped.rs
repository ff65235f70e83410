//! The live screen over a pipe: keys come from the terminal, and records from standard input.

use std::fs;

use tickscope_testkit::orderbook;

use crate::pty::session::Session;
use crate::support::{Place, VIEWER, lines_of, until_true};

/// Runs a shell command line in a terminal. In the command line, `$0` is the viewer.
fn shell(line: &str, place: &Place) -> Session {
    let mut command = place.command("sh");
    command.args(["-c", line, VIEWER]);
    Session::spawn_in(command, (140, 30), &place.work())
}

fn another_hosts_program_is_watched_over_a_pipe_with_its_past_and_its_next_run() {
    let place = Place::new();
    let mut program = place.start_named("telling", "counted");
    let line = "\"$0\" record -o - --follow counted | \"$0\" -; echo ended with $?";
    let mut viewer = shell(line, &place);
    viewer.wait_for_text("● PIPED");
    viewer.wait_for_text("roles::counted");
    // Keys work although standard input is the pipe.
    viewer.send_for("2", "[2 Hot]");
    viewer.send_for("r", "nothing to reset: a pipe takes no requests");
    viewer.send_for("e", "no mode to change: a pipe takes no requests");
    viewer.send_for("W", "a pipe takes no requests; send them on the program's host");
    // After a second, the viewer has kept more than one record of the stream.
    viewer.wait_for("a second has passed", |screen| {
        !screen.contents().contains("since reset 00:00")
    });
    viewer.send_for("p", "FROZEN");
    viewer.send_for(",", "PAST");
    viewer.send_for("L", "● PIPED");
    // The program ends, and the stream continues with its next run.
    let first = program.pid();
    assert!(program.end().success());
    viewer.wait_for_text("■ EXITED");
    let next = place.start_named("telling", "counted");
    let run = format!("new run: now following pid {}; before: {first}", next.pid());
    viewer.wait_for_text(&run);
    viewer.wait_for_text("● PIPED");
    viewer.send_for("q", "ended with 0");
    assert_eq!(viewer.end().code(), Some(0));
    viewer.assert_as_before();
}

fn a_stream_that_breaks_off_keeps_what_came_and_garbage_takes_no_screen() {
    let place = Place::new();
    place.record("run.tks", &[1_000, 1_010, 1_020, 1_030].map(orderbook::snapshot));
    let length = fs::metadata(place.work().join("run.tks")).unwrap().len() - 9;
    let mut viewer = shell(&format!("head -c {length} run.tks | \"$0\" -"), &place);
    viewer.wait_for_text("■ CLOSED");
    viewer.wait_for_text("standard input broke off within a record");
    viewer.send_for(",", "PAST");
    viewer.quit();

    // When its connection breaks, ssh prints a message on the same terminal. The message must not stay on the screen.
    let line = format!(
        "{{ head -c {length} run.tks; until [ -e go ]; do sleep 0.1; done; echo connection closed > /dev/tty; }} | \"$0\" -"
    );
    let viewer = shell(&line, &place);
    viewer.wait_for("records come", |screen| {
        let text = screen.contents();
        text.contains("PIPED") || text.contains("SILENT")
    });
    fs::write(place.work().join("go"), "").unwrap();
    viewer.wait_for_text("■ CLOSED");
    until_true("the screen is drawn anew", || {
        !viewer.contents().contains("connection closed")
    });
    assert!(viewer.written().contains("connection closed"));
    viewer.quit();

    let viewer = shell("{ head -c 5000 run.tks; seq 9999; } | \"$0\" -", &place);
    viewer.wait_for_text("BROKEN");
    viewer.quit();

    let table = r#"
        1 echo nonsense | "$0" - => standard input: not a tickscope file: begins with "nonsense"
        1 true | "$0" - => standard input ended before a recording began
        2 "$0" - => standard input is a terminal, wanted a recording
        2 "$0" record -o - x => a recording is not for terminals
    "#;
    for (code, command, says) in lines_of(table) {
        let viewer = shell(&format!("{command}; echo ended with $?"), &place);
        viewer.wait_for_text(&format!("ended with {code}"));
        for part in says {
            assert!(viewer.contents().contains(part), "{}", viewer.contents());
        }
        assert!(!viewer.written().contains("\x1b[?1049h"), "it took the screen");
        assert_eq!(viewer.end().code(), Some(0));
        viewer.assert_as_before();
    }
}

tickscope_testkit::tests![
    another_hosts_program_is_watched_over_a_pipe_with_its_past_and_its_next_run,
    a_stream_that_breaks_off_keeps_what_came_and_garbage_takes_no_screen,
];

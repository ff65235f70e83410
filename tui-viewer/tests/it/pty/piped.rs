//! The live screen over a pipe: keys come from the terminal, records from standard input.

use std::fs;
use std::path::Path;
use std::process::Command;

use portable_pty::CommandBuilder;
use tickscope_format::recording::Recording;

use crate::pty::program::{ring_in, start, until};
use crate::pty::session::Session;

/// A line of a shell in a terminal; `$0` is the viewer.
fn shell(line: &str, dir: &Path) -> Session {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_tickscope")]);
    command.env("TICKSCOPE_DIR", dir.join("rings"));
    Session::spawn_in(command, (140, 30), dir)
}

fn another_hosts_program_is_watched_over_a_pipe_with_its_past_and_its_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let rings = dir.path().join("rings");
    let mut program = start(&rings);
    until("there is a ring", || ring_in(&rings));
    let mut viewer = shell(
        "\"$0\" record -o - --follow counted | \"$0\" -; echo ended with $?",
        dir.path(),
    );
    viewer.wait_for_text("● PIPED");
    viewer.wait_for_text("program::counted");
    // Keys work, though standard input is the pipe.
    viewer.send("2");
    viewer.wait_for_text("[2 Hot]");
    viewer.send("r");
    viewer.wait_for_text("nothing to reset: a pipe leads one way");
    viewer.send("e");
    viewer.wait_for_text("no mode to change: a pipe leads one way");
    viewer.send("W");
    viewer.wait_for_text("a pipe leads one way; ask the program on its own host");
    // What came is kept: more than one record.
    viewer.wait_for("a second has passed", |screen| {
        !screen.contents().contains("since reset 00:00")
    });
    viewer.send("p");
    viewer.wait_for_text("FROZEN");
    viewer.send(",");
    viewer.wait_for_text("PAST");
    viewer.send("L");
    viewer.wait_for_text("● PIPED");
    // The program ends, and its next run comes by itself.
    let first = program.id();
    drop(program.stdin.take());
    program.wait().unwrap();
    viewer.wait_for_text("■ EXITED");
    let mut next = start(&rings);
    viewer.wait_for_text(&format!("new run: pid {}, followed; it was {first}", next.id()));
    viewer.wait_for_text("● PIPED");
    viewer.send("q");
    viewer.wait_for_text("ended with 0");
    assert_eq!(viewer.end().exit_code(), 0);
    viewer.assert_as_before();
    drop(next.stdin.take());
    next.wait().unwrap();
}

/// A recording of some records.
fn recorded(dir: &Path) {
    let rings = dir.join("rings");
    let mut program = start(&rings);
    until("there is a ring", || ring_in(&rings));
    let status = Command::new(env!("CARGO_BIN_EXE_tickscope"))
        .args(["record", "counted", "-d", "1s", "-o", "run.tks"])
        .env("TICKSCOPE_DIR", &rings)
        .current_dir(dir)
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    drop(program.stdin.take());
    program.wait().unwrap();
}

fn a_stream_that_breaks_off_keeps_what_came_and_garbage_takes_no_screen() {
    let dir = tempfile::tempdir().unwrap();
    recorded(dir.path());
    let file = dir.path().join("run.tks");
    assert!(Recording::open(&file).unwrap().moments().len() > 2);
    let length = fs::metadata(&file).unwrap().len() - 9;
    let mut viewer = shell(&format!("head -c {length} run.tks | \"$0\" -"), dir.path());
    viewer.wait_for_text("■ CLOSED");
    viewer.wait_for_text("standard input broke off within a record");
    viewer.send(",");
    viewer.wait_for_text("PAST");
    viewer.send("q");
    assert_eq!(viewer.end().exit_code(), 0);
    viewer.assert_as_before();

    // What ssh says on the same terminal when its connection breaks does not stay on the screen.
    let line = format!(
        "{{ head -c {length} run.tks; until [ -e go ]; do sleep 0.1; done; echo connection closed > /dev/tty; }} | \"$0\" -"
    );
    let mut viewer = shell(&line, dir.path());
    viewer.wait_for("records come", |screen| {
        let text = screen.contents();
        text.contains("PIPED") || text.contains("SILENT")
    });
    fs::write(dir.path().join("go"), "").unwrap();
    viewer.wait_for_text("■ CLOSED");
    until("the screen is drawn anew", || {
        (!viewer.contents().contains("connection closed")).then_some(())
    });
    assert!(viewer.written().contains("connection closed"));
    viewer.send("q");
    assert_eq!(viewer.end().exit_code(), 0);

    let mut viewer = shell("{ head -c 5000 run.tks; seq 9999; } | \"$0\" -", dir.path());
    viewer.wait_for_text("BROKEN");
    viewer.send("q");
    assert_eq!(viewer.end().exit_code(), 0);

    for (line, says) in [
        (
            "echo nonsense | \"$0\" -; echo ended with $?",
            "standard input: not a tickscope file: begins with \"nonsense\"",
        ),
        (
            "true | \"$0\" -; echo ended with $?",
            "standard input ended before a recording began",
        ),
    ] {
        let viewer = shell(line, dir.path());
        viewer.wait_for_text("ended with 1");
        assert!(viewer.contents().contains(says), "{}", viewer.contents());
        assert!(!viewer.written().contains("\x1b[?1049h"), "it took the screen");
        assert_eq!(viewer.end().exit_code(), 0);
        viewer.assert_as_before();
    }
    let viewer = shell("\"$0\" -; echo ended with $?", dir.path());
    viewer.wait_for_text("ended with 2");
    assert!(
        viewer
            .contents()
            .contains("standard input is a terminal, wanted a recording"),
        "{}",
        viewer.contents()
    );
    let viewer2 = shell("\"$0\" record -o - x; echo ended with $?", dir.path());
    viewer2.wait_for_text("ended with 2");
    assert!(
        viewer2.contents().contains("a recording is not for terminals"),
        "{}",
        viewer2.contents()
    );
    viewer.end();
    viewer2.end();
}

tickscope_testkit::tests![
    another_hosts_program_is_watched_over_a_pipe_with_its_past_and_its_next_run,
    a_stream_that_breaks_off_keeps_what_came_and_garbage_takes_no_screen,
];

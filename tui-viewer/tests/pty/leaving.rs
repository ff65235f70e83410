//! However the viewer ends, the terminal is as it was before.

use std::process::Command;

use portable_pty::CommandBuilder;

use crate::session::{Session, example};

#[test]
fn q_and_ctrl_c_leave_no_trace() {
    for keys in ["q", "\x03", "/book\x03", "\x1bO\x03"] {
        let mut session = Session::start(&["live"], (80, 24));
        session.wait_for_text("match::run");
        assert!(session.terminal.lock().unwrap().screen().alternate_screen());
        session.send(keys);
        assert_eq!(session.end().exit_code(), 0, "{keys:?}");
        session.assert_as_before();
    }
}

#[test]
fn without_a_terminal_the_screen_is_not_begun() {
    let done = Command::new(example()).arg("live").output().unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && done.stdout.is_empty(), "{told}");
    for words in [
        "cannot take the terminal over (is there one?)",
        "standard output is not a terminal",
    ] {
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn sigterm_leaves_no_trace() {
    let mut session = Session::start(&["still"], (80, 24));
    session.wait_for_text("match::run");
    session.signal("-TERM");
    assert_eq!(session.end().exit_code(), 143);
    session.assert_as_before();
    let mut session = Session::start(&["waiting"], (80, 24));
    session.wait_for_text("WAITING");
    session.signal("-INT");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
}

#[test]
fn a_panic_is_told_on_the_main_screen() {
    let mut session = Session::start(&["live", "--panic-after", "3"], (80, 24));
    assert_eq!(session.end().exit_code(), 101);
    session.assert_as_before();
    session.wait_for_text("asked to panic");
}

#[test]
fn it_dies_with_its_terminal() {
    let plain = CommandBuilder::new(example());
    let mut deaf = CommandBuilder::new("sh");
    deaf.args(["-c", "trap '' HUP; exec \"$0\" still"]);
    deaf.arg(example());
    for command in [plain, deaf] {
        let mut session = Session::spawn(command, (80, 24));
        session.wait_for_text("match::run");
        session.hang_up();
        session.end();
    }
}

#[test]
fn ctrl_z_stops_it_and_fg_repaints() {
    let mut shell = CommandBuilder::new("bash");
    shell.args(["--norc", "--noprofile", "-i"]);
    shell.env("PS1", "prompt> ");
    let mut session = Session::spawn(shell, (80, 24));
    session.wait_for_text("prompt>");
    let command = format!("{} still\n", example().display());
    session.send(&command);
    session.wait_for_text("match::run");
    session.send("j\x1a");
    session.wait_for("the shell", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor() && screen.contents().contains("Stopped")
    });
    session.send("fg\n");
    session.wait_for("the screen again", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && screen.contents().contains("match::run")
    });
    session.send("q");
    session.wait_for("the shell", |screen| !screen.alternate_screen());
    session.send("exit\n");
    session.end();
}

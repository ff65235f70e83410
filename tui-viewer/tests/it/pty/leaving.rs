//! However the viewer ends, it leaves the terminal as it was before.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use rustix::process::Signal;

use crate::pty::session::{Session, example, source};
use crate::pty::synthetic;
use crate::support::{ROLE, stands, until_true};

fn q_and_ctrl_c_leave_no_trace() {
    for keys in ["q", "\x03", "/book\x03", "\x1bO\x03"] {
        let mut session = Session::shown("live", (80, 24));
        assert!(session.terminal.lock().unwrap().screen().alternate_screen());
        session.send(keys);
        assert_eq!(session.end().code(), Some(0), "{keys:?}");
        session.assert_as_before();
    }
}

fn without_a_terminal_the_screen_is_not_begun() {
    let mut example = Command::new(example());
    let done = example.arg("live").env(ROLE, synthetic::ROLE).output().unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && done.stdout.is_empty(), "{told}");
    for words in [
        "cannot take over the terminal (is there a terminal?)",
        "standard output is not a terminal",
    ] {
        assert!(told.contains(words), "{told}");
    }
}

fn sigterm_leaves_no_trace() {
    let session = Session::shown("still", (80, 24));
    session.signal("-TERM");
    assert_eq!(session.end().code(), Some(143));
    session.assert_as_before();
    let session = Session::start(&["waiting"], (80, 24));
    session.wait_for_text("WAITING");
    session.signal("-INT");
    assert_eq!(session.end().code(), Some(0));
    session.assert_as_before();
}

fn a_panic_is_told_on_the_main_screen() {
    let session = Session::start(&["live", "--panic-after", "3"], (80, 24));
    assert_eq!(session.end().code(), Some(101));
    session.assert_as_before();
    session.wait_for_text("asked to panic");
}

fn it_dies_with_its_terminal() {
    let plain = Command::new(example());
    let mut deaf = Command::new("sh");
    deaf.args(["-c", "trap '' HUP; exec \"$0\" still"]);
    deaf.arg(example());
    for command in [plain, deaf] {
        let mut session = Session::spawn(command, (80, 24));
        session.wait_for_text("match::run");
        session.hang_up();
        session.end();
    }
}

fn has_mouse(screen: &vt100::Screen) -> bool {
    screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
}

/// Waits until the terminal is restored, and the shell has reported a stopped job and shows its prompt.
fn wait_for_the_shell(session: &Session) {
    let is_prompted = |contents: &str| {
        let mut parts = contents.split("Stopped").skip(1);
        parts.any(|behind| behind.contains("prompt>"))
    };
    session.wait_for("the shell", |screen| {
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && !has_mouse(screen)
            && is_prompted(&screen.contents())
    });
}

fn only_child(process: &str) -> String {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    children.unwrap().trim().to_string()
}

/// Continues the job, then quits the viewer and the shell.
fn go_on_and_leave(mut session: Session) {
    session.send("fg\n");
    leave(session);
}

/// Waits until the viewer shows its screen again, then quits the viewer and the shell.
fn leave(mut session: Session) {
    session.wait_for("the screen again", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && screen.contents().contains("match::run")
    });
    // The viewer reads single keys again. In the shell's line mode, the key would have no effect until Enter is
    // pressed.
    session.send_for("?", "Keys");
    session.send("qq");
    session.wait_for("the shell", |screen| !screen.alternate_screen());
    session.send("exit\n");
    session.end();
}

fn ctrl_z_stops_it_and_fg_repaints() {
    let mut session = Session::in_a_shell("", &std::env::temp_dir(), "still");
    session.send("j\x1a");
    wait_for_the_shell(&session);
    go_on_and_leave(session);
}

/// The viewer must restore the terminal before it stops, because otherwise the shell would not echo what is typed.
fn sigtstp_gives_the_terminal_back_first_and_sigcont_takes_it_again() {
    let mut session = Session::in_a_shell("", &std::env::temp_dir(), "still");
    session.send("M");
    session.wait_for("the mouse", has_mouse);
    let viewer = only_child(&session.pid().to_string());
    let stop = Command::new("kill").args(["-TSTP", &viewer]).status();
    assert!(stop.unwrap().success());
    wait_for_the_shell(&session);
    go_on_and_leave(session);
}

/// If the viewer was not started by a shell in its session, it must not stop, because nothing could continue it.
fn without_a_shell_nothing_stops_it() {
    let mut session = Session::shown("still", (80, 24));
    session.send_for("\x1a?", "Keys");
    session.signal("-TSTP");
    session.send_for("q", "match::run");
    session.quit();
}

/// In a container that was started from another session, the viewer sees 0 as its session id and its process group id.
fn ctrl_z_in_a_container_stops_nothing() {
    let apart = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let can = Command::new("unshare").args(apart).arg("true").output();
    if !can.is_ok_and(|done| done.status.success()) {
        tickscope_testkit::suite::skip("no namespaces here");
    }
    let mut command = Command::new("unshare");
    command.args(apart);
    command.arg(example());
    command.arg("still");
    let mut session = Session::spawn(command, (80, 24));
    session.wait_for_text("match::run");
    session.send_for("\x1a?", "Keys");
    session.send("qq");
    assert_eq!(session.end().code(), Some(0));
    session.assert_as_before();
}

/// If the editor stops, the viewer must stop too, because the shell needs the terminal.
fn an_editor_that_stops_stops_the_screen_too() {
    let (dir, _) = source();
    let (written, editor) = (dir.path().join("written"), dir.path().join("editor"));
    std::fs::write(&written, "#!/bin/sh\necho EDITING\nread line\nread line\n").unwrap();
    tickscope_testkit::command::install(&written, &editor);
    let mut session = Session::in_a_shell(&editor, dir.path(), "still");
    session.send_for("o", "EDITING");
    let viewer = only_child(&session.pid().to_string());
    let editor = only_child(&viewer);
    session.send("\x1a");
    wait_for_the_shell(&session);
    // Until the editor has stopped, it might read input that is meant for the shell.
    until_true("the editor is stopped", || stands(editor.parse().unwrap()));
    session.send("fg\n");
    session.wait_for("the job in front", |screen| {
        let contents = screen.contents();
        let mut parts = contents.split("prompt> fg").skip(1);
        parts.any(|behind| behind.contains("still"))
    });
    session.send("\n\n");
    // The editor's earlier stop must not make the viewer stop a second time.
    leave(session);
}

fn sigquit_gives_the_terminal_back_and_ends_it_by_that_signal() {
    let mut session = Session::start_without_core(&["still"], (80, 24));
    session.wait_for_text("match::run");
    session.send("M");
    session.wait_for("the mouse", has_mouse);
    session.signal("-QUIT");
    assert_eq!(session.end().signal(), Some(Signal::QUIT.as_raw()));
    session.assert_as_before();
}

tickscope_testkit::tests![
    q_and_ctrl_c_leave_no_trace,
    without_a_terminal_the_screen_is_not_begun,
    sigterm_leaves_no_trace,
    a_panic_is_told_on_the_main_screen,
    it_dies_with_its_terminal,
    ctrl_z_stops_it_and_fg_repaints,
    sigtstp_gives_the_terminal_back_first_and_sigcont_takes_it_again,
    without_a_shell_nothing_stops_it,
    ctrl_z_in_a_container_stops_nothing,
    an_editor_that_stops_stops_the_screen_too,
    sigquit_gives_the_terminal_back_and_ends_it_by_that_signal,
];

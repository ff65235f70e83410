//! Keys as terminals send them, and the bytes that the viewer writes to the terminal.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tickscope_testkit::ring;

use crate::pty::session::Session;
use crate::support::VIEWER;

fn an_idle_screen_writes_nothing() {
    // The rows may be drawn later than the footer, if the first frame had no snapshot.
    let mut session = Session::shown("still", (80, 24));
    session.wait_for_text("q quit");
    // The first frame may still be incomplete.
    const FRAME: &str = "\x1b[?2026h";
    let drawn = session.written().matches(FRAME).count();
    // Keys without an action wake the event loop. The hint about the keys shows that they have been read.
    session.send("YY");
    session.send_for("\x1b[99~", "? shows the keys");
    let written = session.written();
    let frames: Vec<&str> = written.split(FRAME).skip(1).collect();
    assert_eq!(frames.len(), drawn + 1);
    let hint = frames[drawn].len();
    assert!(hint < 400, "only the last line was written again: {hint} bytes");
    session.quit();
}

/// Starts a program whose data does not change.
fn still(dir: &Path) -> ring::Program {
    let still = Duration::from_secs(3_600);
    ring::Program::start(dir, &[ring::snapshot(100, 2, 50, 1_340)], still).unwrap()
}

fn an_option_says_who_has_the_mouse_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let program = still(dir.path());
    let path = program.path().to_str().unwrap();
    // The last option wins, so that it can override one in a shell alias.
    for (options, is_taken) in [(&["--mouse"][..], true), (&["--mouse", "--no-mouse"], false)] {
        let mut session = Session::viewer(&[options, &[path]].concat(), (80, 24));
        session.wait_for_text("[1 Tree]");
        assert_eq!(session.written().contains("\x1b[?1000h"), is_taken);
        if !is_taken {
            session.send_for("M", "mouse on");
        }
        // Clicks on the second tab.
        session.send_for("\x1b[<0;13;2M\x1b[<0;13;2m", "[2 Hot]");
        session.quit();
    }
}

fn a_theme_comes_by_option_or_by_variable_and_in_colours_that_the_terminal_has() {
    let dir = tempfile::tempdir().unwrap();
    let program = still(dir.path());
    let viewer = |arguments: &[&str], (name, value): (&str, &str)| {
        let mut command = Command::new(VIEWER);
        command.args(arguments);
        command.arg(program.path());
        command.env(name, value);
        Session::spawn(command, (80, 24))
    };
    let colours = ["38;5;130", "38;2;175;95;0"];
    // The dark brown of the light theme is written as one of 256 colours, as a 24-bit colour, or not at all.
    for (variable, shown) in [
        (("TICKSCOPE_THEME", ""), [true, false]),
        (("COLORTERM", "truecolor"), [false, true]),
        (("NO_COLOR", "1"), [false, false]),
    ] {
        let mut session = viewer(&["--theme", "light"], variable);
        session.wait_for_text("generated::");
        session.send("q");
        assert_eq!(session.end().code(), Some(0));
        session.assert_as_before();
        let written = session.written();
        let has = colours.map(|colour| written.contains(colour));
        assert_eq!(has, shown, "{variable:?}: {written:?}");
    }
    let session = viewer(&[], ("TICKSCOPE_THEME", "pink"));
    assert_eq!(session.end().code(), Some(1));
    session.wait_for_text("no such theme; there are sixteen, light, cvd, mono");
}

fn bytes_that_are_not_for_reading_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let program = still(dir.path());
    let path = program.path().to_str().unwrap();
    let session = Session::viewer(&["report", "-f", "pprof", path], (120, 24));
    assert_eq!(session.end().code(), Some(2));
    session.wait_for_text("pprof's format is not for terminals; give -o FILE, or pipe it on");
}

fn escape_alone_and_arrows_are_told_apart() {
    let mut session = Session::shown("live", (80, 24));
    session.send_for("/wire", "/wire");
    session.send("\x1b");
    session.wait_for("no search", |screen| !screen.contents().contains("/wire"));
    session.send_for("\x1b[B", "engine::match::step");
    session.quit();
}

fn what_goes_on_in_the_program_is_said_behind_the_screen() {
    let mut session = Session::start(&["slow"], (120, 30));
    session.wait_for_text("draw_frame");
    session.send_for("W", "draw_frame is watched: W again or 8 shows why");
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
    let left_on =
        "still watches game::draw_frame: tickscope why game::draw_frame says why; tickscope watch --off";
    session.wait_for_text(left_on);
    session.assert_as_before();
}

tickscope_testkit::tests![
    an_idle_screen_writes_nothing,
    escape_alone_and_arrows_are_told_apart,
    what_goes_on_in_the_program_is_said_behind_the_screen,
    an_option_says_who_has_the_mouse_at_the_start,
    a_theme_comes_by_option_or_by_variable_and_in_colours_that_the_terminal_has,
    bytes_that_are_not_for_reading_do_not_reach_the_terminal,
];

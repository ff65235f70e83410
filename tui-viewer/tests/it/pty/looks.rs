//! What is written to the terminal, and what is not.

use std::time::Duration;

use portable_pty::CommandBuilder;
use tickscope_testkit::ring;

use crate::pty::session::{Session, example};

fn no_color_means_no_colour_and_still_a_selected_row() {
    let mut command = CommandBuilder::new(example());
    command.arg("still");
    command.env("NO_COLOR", "1");
    let mut session = Session::spawn(command, (80, 24));
    session.wait_for_text("match::run");
    session.send("j");
    session.wait_for("the second row reversed", |screen| {
        (0..80).all(|x| screen.cell(4, x).is_some_and(|cell| cell.inverse()))
    });
    session.send("q");
    session.end();
    let text = session.written();
    for sequence in text.split("\x1b[").skip(1) {
        let Some((codes, _)) = sequence.split_once('m') else {
            continue;
        };
        if !codes.bytes().all(|b| b.is_ascii_digit() || b == b';') {
            continue;
        }
        for code in codes.split(';').filter_map(|code| code.parse::<u32>().ok()) {
            assert!(!matches!(code, 30..=38 | 40..=48 | 90..=107), "colour {code}");
        }
    }
}

fn ascii_means_every_byte() {
    let mut session = Session::start(&["still", "--ascii"], (80, 24));
    session.wait_for_text("match::run");
    session.send("2?");
    session.wait_for_text("Keys");
    session.send("qq");
    session.end();
    assert!(session.bytes.lock().unwrap().iter().all(u8::is_ascii));
}

fn an_idle_screen_writes_nothing() {
    let mut session = Session::start(&["still"], (80, 24));
    // The rows come later than the footer where the first frame has no snapshot yet.
    session.wait_for_text("match::run");
    session.wait_for_text("q quit");
    // The end of the first frame may still be on its way.
    const FRAME: &str = "\x1b[?2026h";
    let drawn = session.written().matches(FRAME).count();
    // Keys without a meaning wake the loop up like time does; what follows shows that they were read.
    session.send("YY");
    session.send("\x1b[99~");
    session.wait_for_text("? shows the keys");
    let written = session.written();
    let frames: Vec<&str> = written.split(FRAME).skip(1).collect();
    assert_eq!(frames.len(), drawn + 1);
    let hint = frames[drawn].len();
    assert!(hint < 400, "only the last line was written again: {hint} bytes");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
}

fn the_mouse_is_given_back_and_only_taken_when_asked() {
    let mut session = Session::start(&["still"], (80, 24));
    session.wait_for_text("match::run");
    assert!(!session.written().contains("\x1b[?1000"));
    session.send("M");
    session.wait_for_text("mouse on");
    // A click on the second tab.
    session.send("\x1b[<0;13;2M\x1b[<0;13;2m");
    session.wait_for_text("[2 Hot]");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
    session.wait_for("no mouse", |screen| {
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
}

fn an_option_says_who_has_the_mouse_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let still = Duration::from_secs(3_600);
    let program = ring::Program::start(dir.path(), &[ring::snapshot(100, 2, 50, 1_340)], still).unwrap();
    let viewer = |arguments: &[&str]| {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickscope"));
        command.args(arguments);
        command.arg(program.path());
        let session = Session::spawn(command, (80, 24));
        session.wait_for_text("[1 Tree]");
        session
    };
    let mut session = viewer(&["--mouse"]);
    assert!(session.written().contains("\x1b[?1000h"));
    session.send("\x1b[<0;13;2M\x1b[<0;13;2m");
    session.wait_for_text("[2 Hot]");
    session.send("M");
    session.wait_for_text("mouse off");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.assert_as_before();
    // The last one counts: a shell's alias may have the other.
    let mut session = viewer(&["--mouse", "--no-mouse"]);
    session.send("2");
    session.wait_for_text("[2 Hot]");
    assert!(!session.written().contains("\x1b[?1000"));
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
}

fn a_theme_comes_by_option_or_by_variable_and_in_colours_that_the_terminal_has() {
    let dir = tempfile::tempdir().unwrap();
    let still = Duration::from_secs(3_600);
    let program = ring::Program::start(dir.path(), &[ring::snapshot(100, 2, 50, 1_340)], still).unwrap();
    let viewer = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickscope"));
        command.args(arguments);
        command.arg(program.path());
        for (name, value) in environment {
            command.env(name, value);
        }
        Session::spawn(command, (80, 24))
    };
    // The dark brown of the light theme, among 256 colours and among all.
    for (arguments, environment, colour) in [
        (&["--theme", "light"][..], &[][..], "38;5;130"),
        (&[], &[("TICKSCOPE_THEME", "light")], "38;5;130"),
        (
            &["--theme", "light"],
            &[("COLORTERM", "truecolor")],
            "38;2;175;95;0",
        ),
    ] {
        let mut session = viewer(arguments, environment);
        session.wait_for_text("generated::");
        session.send("q");
        assert_eq!(session.end().exit_code(), 0);
        session.assert_as_before();
        let written = session.written();
        assert!(
            written.contains(colour),
            "{colour} with {arguments:?}: {written:?}"
        );
    }
    let session = viewer(&[], &[("TICKSCOPE_THEME", "pink")]);
    assert_eq!(session.end().exit_code(), 1);
    session.wait_for_text("no such theme; there are sixteen, light, cvd, mono");
}

fn bytes_that_are_not_for_reading_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let still = Duration::from_secs(3_600);
    let program = ring::Program::start(dir.path(), &[ring::snapshot(100, 2, 50, 1_340)], still).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickscope"));
    command.args(["report", "-f", "pprof"]);
    command.arg(program.path());
    let session = Session::spawn(command, (120, 24));
    assert_eq!(session.end().exit_code(), 2);
    session.wait_for_text("pprof's format is not for terminals; give -o FILE, or pipe it on");
}

tickscope_testkit::tests![
    no_color_means_no_colour_and_still_a_selected_row,
    ascii_means_every_byte,
    an_idle_screen_writes_nothing,
    the_mouse_is_given_back_and_only_taken_when_asked,
    an_option_says_who_has_the_mouse_at_the_start,
    a_theme_comes_by_option_or_by_variable_and_in_colours_that_the_terminal_has,
    bytes_that_are_not_for_reading_do_not_reach_the_terminal,
];

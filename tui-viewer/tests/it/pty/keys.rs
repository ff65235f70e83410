//! Keys as terminals send them.

use portable_pty::CommandBuilder;

use crate::pty::session::{Session, example};

fn escape_alone_and_arrows_are_told_apart() {
    let mut session = Session::start(&["live"], (80, 24));
    session.wait_for_text("match::run");
    session.send("/wire");
    session.wait_for_text("/wire");
    session.send("\x1b");
    session.wait_for("no search", |screen| !screen.contents().contains("/wire"));
    session.send("\x1b[B");
    session.wait_for_text("engine::match::step");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
}

fn e_lists_the_modes_and_an_older_program_says_why_not() {
    let mut session = Session::start(&["live"], (120, 30));
    session.wait_for_text("match::run");
    session.send("e");
    session.wait_for_text("Another mode counts from zero");
    session.send("e\r");
    session.wait_for_text("adaptive from here on, counting from zero");
    session.wait_for("estimates", |screen| {
        let screen = screen.contents();
        let row = screen.lines().find(|line| line.contains("book::apply"));
        row.is_some_and(|row| row.contains('~'))
    });
    session.send("q");
    session.end();
    let mut old = Session::start(&["live", "--old"], (120, 30));
    old.wait_for_text("match::run");
    old.send("e");
    old.wait_for_text("Another mode counts from zero");
    old.send("e\r");
    old.wait_for_text("! mode: the program's collector is older");
    old.send("q");
    old.end();
}

fn a_function_is_watched_and_the_view_says_why_its_slow_calls_are_slow() {
    let mut session = Session::start(&["slow"], (120, 30));
    session.wait_for_text("draw_frame");
    session.send("W");
    session.wait_for_text("draw_frame is watched: W again or 8 shows why");
    session.send("W");
    session.wait_for_text("scene::lookup: most of it in 20 calls, +2.97ms each, 600 calls instead of 6");
    session.wait_for_text("waits 8.00ms");
    session.send("J");
    // What happened in it comes in another snapshot than that of the first.
    session.wait_for_text("scene::lookup ×600");
    session.send("+++");
    session.wait_for("a part of the call", |screen| !screen.contents().contains("×600"));
    session.send("\x1b");
    session.wait_for_text("scene::lookup ×600");
    session.send("X");
    session.wait_for_text("No function is watched, and none has a tail");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
}

fn what_goes_on_in_the_program_is_said_behind_the_screen() {
    let mut session = Session::start(&["slow"], (120, 30));
    session.wait_for_text("draw_frame");
    session.send("W");
    session.wait_for_text("draw_frame is watched: W again or 8 shows why");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.wait_for_text(
        "still watches game::draw_frame: tickscope why game::draw_frame tells; tickscope watch --off",
    );
    session.assert_modes_as_before();
}

fn a_slow_call_is_zoomed_by_the_wheel_and_written_for_other_tools() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = CommandBuilder::new(example());
    command.args(["slow"]);
    let mut session = Session::spawn_in(command, (150, 30), dir.path());
    session.wait_for_text("draw_frame");
    session.send("W");
    session.wait_for_text("is watched");
    session.send("W");
    session.wait_for_text("waits 8.00ms");
    session.send("J");
    session.wait_for_text("scene::lookup ×600");
    let contents = session.contents();
    let lookups = contents
        .lines()
        .position(|line| line.contains("lookup ×600"))
        .expect("a line");
    // Steps of the wheel over that line, up and down again.
    let wheel = |button: u32| format!("\x1b[<{button};60;{}M", lookups + 1);
    session.send(&wheel(64).repeat(3));
    session.wait_for("a part of the call", |screen| !screen.contents().contains("×600"));
    session.send(&wheel(65).repeat(3));
    session.wait_for_text("scene::lookup ×600");
    session.send("E");
    session.wait_for_text("call written to ");
    session.wait_for_text(
        ".trace.json, .firefox.json and .speedscope.json: for ui.perfetto.dev, profiler.firefox.com",
    );
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    let mut members: Vec<String> = std::fs::read_dir(dir.path())
        .expect("the directory")
        .map(|entry| std::fs::read_to_string(entry.expect("a file").path()).expect("text"))
        .map(|text| serde_json::from_str::<serde_json::Value>(&text).expect("JSON"))
        .map(|file| {
            let known = ["traceEvents", "meta", "$schema"];
            known
                .into_iter()
                .find(|name| file.get(name).is_some())
                .expect("a known form")
                .to_owned()
        })
        .collect();
    members.sort();
    assert_eq!(members, ["$schema", "meta", "traceEvents"]);
}

tickscope_testkit::tests![
    escape_alone_and_arrows_are_told_apart,
    e_lists_the_modes_and_an_older_program_says_why_not,
    a_function_is_watched_and_the_view_says_why_its_slow_calls_are_slow,
    what_goes_on_in_the_program_is_said_behind_the_screen,
    a_slow_call_is_zoomed_by_the_wheel_and_written_for_other_tools,
];

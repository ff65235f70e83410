//! Keys as terminals send them.

use crate::pty::session::Session;

fn escape_alone_and_arrows_are_told_apart() {
    let mut session = Session::start(&["live"], (80, 24));
    session.wait_for_text("match::run");
    session.send("/wire");
    session.wait_for_text("/wire");
    session.send("\x1b");
    session.wait_for("no search", |screen| !screen.contents().contains("/wire"));
    session.send("\x1b[B");
    session.wait_for_text("engine::match::step");
    session.quit();
}

fn what_goes_on_in_the_program_is_said_behind_the_screen() {
    let mut session = Session::start(&["slow"], (120, 30));
    session.wait_for_text("draw_frame");
    session.send("W");
    session.wait_for_text("draw_frame is watched: W again or 8 shows why");
    session.send("q");
    assert_eq!(session.end().exit_code(), 0);
    session.wait_for_text(
        "still watches game::draw_frame: tickscope why game::draw_frame says why; tickscope watch --off",
    );
    session.assert_as_before();
}

tickscope_testkit::tests![
    escape_alone_and_arrows_are_told_apart,
    what_goes_on_in_the_program_is_said_behind_the_screen,
];

//! The pane of source.

use tickscope_format::snapshot::{LINES_HZ, Lines, LinesState};
use tickscope_testkit::fixture;

use super::*;
use crate::test_driver::{find_code, key_and_code, sampled};

/// Returns an app that shows the source of `draw_frame`.
fn sourced(width: u16, height: u16) -> App {
    let mut app = sampled(width, height);
    assert!(
        key_and_code(&mut app, Code::Char('S')).is_empty(),
        "it samples already"
    );
    app
}

#[test]
fn a_key_has_the_program_sample_while_the_source_is_shown() {
    let mut app = showing(120, 40, fixture::slow_frames()).after("1");
    let on = Request::Lines(LINES_HZ);
    assert_eq!(asked(key(&mut app, Code::Char('S'))), [on]);
    assert_eq!(app.views.current, View::Function);
    answer(&mut app, on, Ok(0));
    let mut next = fixture::slow_frames();
    next.capture.seq += 1;
    next.lines = Lines {
        state: LinesState::On(27),
        asked_hz: LINES_HZ,
        ..Lines::default()
    };
    gets(&mut app, next);
    shows(&app, "lines are sampled from here on; S again ends it");
    assert!(text(&app).contains("no samples of the program counter yet"));
    assert!(
        app.left_on()[0].contains("tickscope lines off ends it"),
        "{:?}",
        app.left_on()
    );
    // Pressing `S` again stops the sampling and closes the pane, so there is no source to scroll.
    let off = Request::Lines(0);
    assert_eq!(asked(key(&mut app, Code::Char('S'))), [off]);
    answer(&mut app, off, Ok(0));
    let mut next = fixture::slow_frames();
    next.capture.seq += 2;
    gets(&mut app, next);
    assert!(text(&app).contains("the program counter is no longer sampled"));
    assert!(app.left_on().is_empty());
    assert!(!app.is_available(crate::keys::action::Action::SourceDown));
}

#[test]
fn a_program_that_cannot_sample_says_why() {
    let mut app = showing(120, 40, fixture::slow_frames()).after("1S");
    answer(&mut app, Request::Lines(LINES_HZ), Ok(0));
    let mut next = fixture::slow_frames();
    next.capture.seq += 1;
    next.lines.state = LinesState::NoTimers(11);
    gets(&mut app, next);
    says(&app, "the system refused timers (error 11)");
}

#[test]
fn the_source_begins_with_the_function_and_moves_under_keys_and_wheel() {
    let mut app = sourced(120, 40);
    let first = |app: &App| {
        let screen = text(app);
        let line = screen.lines().find(|line| line.contains(" line(")).unwrap();
        line.trim()
            .split_once("line(")
            .unwrap()
            .1
            .split_once(')')
            .unwrap()
            .0
            .parse::<u32>()
            .unwrap()
    };
    assert_eq!(first(&app), 9, "the function begins in line 10");
    keys(&mut app, "J");
    assert_eq!(first(&app), 12);
    keys(&mut app, "KKKKKK");
    assert_eq!(first(&app), 1);
    let pane = app.layout().source.unwrap();
    app.update(Message::Wheel(3, pane.x + 5, pane.y + 3));
    assert_eq!(first(&app), 4);
    (0..50).for_each(|_| drop(key(&mut app, Code::Char('J'))));
    assert!(text(&app).contains("line(40)"), "the last line stays in sight");
}

#[test]
fn large_screens_show_the_source_by_themselves_where_the_file_is_there() {
    let mut app = sampled(120, 50);
    key_and_code(&mut app, Code::Enter);
    assert!(app.shows_source(), "{}", text(&app));
    assert!(app.layout().detail.is_some(), "{}", text(&app));
    assert!(text(&app).contains("line(10);") && text(&app).contains("called from  "));
    app.update(Message::Resize(Size::new(120, 40)));
    assert!(!app.shows_source(), "{}", text(&app));
    app.update(Message::Resize(Size::new(120, 50)));
    assert!(app.shows_source());
    // The program is already sampling, so the key only hides and shows the pane.
    key(&mut app, Code::Char('S'));
    assert!(!app.shows_source());
    key(&mut app, Code::Char('S'));
    assert!(app.shows_source());
    // Without the source file, the pane does not open by itself.
    let mut app = showing(120, 50, fixture::slow_frames()).after("1");
    key_and_code(&mut app, Code::Enter);
    assert!(!app.shows_source(), "{}", text(&app));
    // Pressing the key then shows the reason why there is no source, and makes the program sample.
    let effects = key(&mut app, Code::Char('S'));
    assert_eq!(asked(effects), [Request::Lines(LINES_HZ)]);
    shows(&app, "no src/main.rs in /home or above");
}

#[test]
fn what_came_by_itself_gets_samples_first() {
    let mut s = fixture::sampled();
    s.lines = Lines::default();
    for site in &mut s.sites {
        site.file = format!("/{}", site.file);
    }
    let mut app = showing(120, 50, s).after("1");
    key_and_code(&mut app, Code::Enter);
    assert!(app.shows_source(), "{}", text(&app));
    assert!(text(&app).contains("no samples of its lines: S makes the program take them"));
    let effects = key(&mut app, Code::Char('S'));
    assert_eq!(asked(effects), [Request::Lines(LINES_HZ)]);
    assert!(app.shows_source());
}

#[test]
fn a_short_screen_says_that_it_is() {
    let mut app = showing(80, 15, fixture::slow_frames()).after("1");
    assert!(key(&mut app, Code::Char('S')).is_empty());
    says(&app, "no room for the source: it needs 20 lines");
}

#[test]
fn samples_that_are_not_known_yet_come_when_they_are_found() {
    let mut app = sampled(120, 40);
    let effects = key(&mut app, Code::Char('S'));
    shows(&app, "reading the source");
    find_code(&mut app, effects);
    hides(&app, "reading the source");
    // No file is requested twice.
    let mut next = fixture::sampled();
    next.capture.seq += 1;
    next.lines.samples[0].samples += 5;
    assert!(events(&mut app, Status::Live, Some(next)).is_empty());
}

//! Watching functions, and why their slow calls are slow.

use tickscope_format::ids::NO_PARENT;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Over, Trace};
use tickscope_testkit::fixture;

use super::*;

/// An app that shows a program that watches `draw_frame`, in the view Slow.
fn slow(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    events(&mut app, Status::Live, Some(fixture::slow_frames()));
    keys(&mut app, "8");
    app
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap()
}

fn requests(effects: Vec<Effect>) -> Vec<Request> {
    let sent = effects.into_iter().filter_map(|effect| {
        let Effect::Send(request) = effect else {
            return None;
        };
        Some(request)
    });
    sent.collect()
}

#[test]
fn a_key_watches_the_function_of_a_row_and_then_shows_it() {
    let mut app = empty(120, 30);
    events(&mut app, Status::Live, Some(fixture::slow_frames()));
    keys(&mut app, "2");
    let row = names(&app)
        .iter()
        .position(|name| name.ends_with("lookup"))
        .unwrap();
    app.select(row);
    let request = Request::Watch(pattern("game::scene::lookup"), Over::Tail);
    assert_eq!(requests(key(&mut app, Code::Char('W'))), [request]);
    answer(&mut app, request, Ok(0));
    let mut watched = fixture::slow_frames();
    watched.capture.seq += 1;
    watched.watches.push(watched.watches[0].clone());
    watched.watches[1].function = "game::scene::lookup".into();
    watched.watches[1].paths[0].site = watched.watches[0].paths[2].site;
    events(&mut app, Status::Live, Some(watched));
    assert!(
        text(&app).contains("game::scene::lookup is watched: calls in the tail are slow"),
        "{}",
        text(&app)
    );
    // Again: there it is.
    assert_eq!(requests(key(&mut app, Code::Char('W'))), []);
    assert_eq!(app.views.current, View::Slow);
    assert_eq!(app.watched().unwrap().function, "game::scene::lookup");
    key(&mut app, Code::Char(' '));
    assert_eq!(app.watched().unwrap().function, "draw_frame");
    let stopped = requests(key(&mut app, Code::Char('X')));
    assert_eq!(stopped, [Request::Unwatch(pattern("draw_frame"))]);
}

#[test]
fn where_nothing_answers_a_key_says_so() {
    let mut app = empty(120, 30);
    let mut kept = fixture::slow_frames();
    kept.watches.clear();
    events(&mut app, Status::Kept, Some(kept));
    assert_eq!(requests(keys_of(&mut app, "W")), []);
    assert!(
        text(&app).contains("watch: no program answers, a kept snapshot has no program behind it"),
        "{}",
        text(&app)
    );
}

fn keys_of(app: &mut App, text: &str) -> Vec<Effect> {
    text.chars().flat_map(|c| key(app, Code::Char(c))).collect()
}

#[test]
fn calls_that_come_in_turns_are_all_shown() {
    let turn = |missing: usize| {
        let mut snapshot = fixture::slow_frames();
        snapshot.capture.seq += missing as u64;
        snapshot.watches[0].exemplars[missing].trace = None;
        snapshot
    };
    let mut app = empty(120, 30);
    events(&mut app, Status::Live, Some(turn(0)));
    keys(&mut app, "8");
    assert!(
        text(&app).contains("what happened in it has not come yet"),
        "{}",
        text(&app)
    );
    events(&mut app, Status::Live, Some(turn(1)));
    let shown = text(&app);
    assert!(shown.contains("disk::flush waiting 8.00ms"), "{shown}");
    assert!(shown.contains("scene::lookup × 600, 3.00ms"), "{shown}");
    key(&mut app, Code::Char('J'));
    assert!(text(&app).contains("scene::lookup ×600"), "{}", text(&app));
}

#[test]
fn a_thread_or_a_focus_changes_nothing_and_the_screen_says_so() {
    let mut app = slow(120, 30);
    let below = |app: &App| -> Vec<String> { text(app).lines().skip(1).map(str::to_string).collect() };
    let before = below(&app);
    assert!(text(&app).contains("all threads"), "{}", text(&app));
    keys(&mut app, "4a");
    key(&mut app, Code::Down);
    key(&mut app, Code::Enter);
    keys(&mut app, "8");
    assert_eq!(below(&app), before);
}

#[test]
fn a_window_has_the_slow_calls_of_its_time() {
    let mut app = empty(120, 30);
    let first = fixture::slow_frames();
    let mut later = first.clone();
    later.capture.unix_ns += 1_000_000_000;
    later.capture.seq += 1;
    later.capture.since_reset_ns += 1_000_000_000;
    for (path, calls) in later.watches[0].paths.iter_mut().zip([1, 1, 6, 1]) {
        path.typical.calls += 100 * calls;
        path.typical.ticks += 100 * 2_500_000;
    }
    events(&mut app, Status::Live, Some(first));
    events(&mut app, Status::Live, Some(later));
    keys(&mut app, "8");
    assert!(
        text(&app).contains("draw_frame: 30 slow of 6100 calls"),
        "{}",
        text(&app)
    );
    keys(&mut app, "w");
    assert!(
        text(&app).contains("draw_frame: none of 100 calls was slow"),
        "{}",
        text(&app)
    );
}

#[test]
fn a_trace_that_does_not_fit_is_not_drawn() {
    let mut app = slow(120, 30);
    let mut snapshot = fixture::slow_frames();
    let watch = &mut snapshot.watches[0];
    watch.paths.truncate(1);
    watch.causes.clear();
    for exemplar in &mut watch.exemplars {
        exemplar.trace = None;
        exemplar.cause = None;
    }
    assert_eq!(watch.paths[0].parent, NO_PARENT);
    events(&mut app, Status::Live, Some(snapshot));
    assert!(
        text(&app).contains("what happened in it has not come yet"),
        "{}",
        text(&app)
    );
    let mut empty_trace = fixture::slow_frames();
    empty_trace.watches[0].number = 9;
    empty_trace.watches[0].exemplars[0].trace = Some(Trace::default());
    events(&mut app, Status::Live, Some(empty_trace));
    keys(&mut app, "++--lh0");
    assert!(text(&app).contains("the slowest calls"));
}

#[test]
fn a_moment_of_the_past_has_what_the_snapshots_around_it_say() {
    let mut app = empty(120, 30);
    for turn in 0..4u64 {
        let mut snapshot = fixture::slow_frames();
        snapshot.capture.seq = turn;
        snapshot.capture.unix_ns += turn * 100_000_000;
        for (at, exemplar) in snapshot.watches[0].exemplars.iter_mut().enumerate() {
            exemplar.trace.take_if(|_| turn != at as u64 + 2);
        }
        app.playback.history.note(&snapshot);
        // As from a recording, of which the newest is handed over as a snapshot.
        if turn == 3 {
            events(&mut app, Status::Kept, Some(snapshot));
        }
    }
    keys(&mut app, "8");
    let shown = text(&app);
    assert!(
        shown.contains("disk::flush waiting 8.00ms") && shown.contains("waits 8.00ms"),
        "{shown}"
    );
    keys(&mut app, ",,,J");
    let shown = text(&app);
    assert!(shown.contains("scene::lookup ×600"), "{shown}");
}

#[test]
fn a_click_chooses_a_call_and_shows_more_of_a_moment() {
    let mut app = slow(120, 30);
    let line_of = |app: &App, part: &str| {
        let screen = text(app);
        screen.lines().position(|line| line.contains(part)).unwrap() as u16
    };
    let y = line_of(&app, "frame=4711");
    app.update(Message::Click(20, y));
    assert!(text(&app).contains("scene::lookup ×600"), "{}", text(&app));
    let y = line_of(&app, "scene::lookup ×600");
    app.update(Message::Click(60, y));
    assert!(!text(&app).contains("scene::lookup ×600"), "{}", text(&app));
    key(&mut app, Code::Esc);
    assert!(text(&app).contains("scene::lookup ×600"), "all of it again");
}

//! Watching functions, and the causes of their slow calls.

use ratatui::layout::Position;
use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{Over, Trace, WatchState};
use tickscope_testkit::fixture;

use super::*;
use crate::event_loop::saved_files;

/// Returns an app in the view Slow, with a program that watches `draw_frame`.
fn slow(width: u16, height: u16) -> App {
    showing(width, height, fixture::slow_frames()).after("8")
}

#[test]
fn a_key_watches_the_function_of_a_row_and_then_shows_it() {
    let mut app = showing(120, 30, fixture::slow_frames()).after("2");
    go_to(&mut app, "lookup");
    let request = Request::Watch(pattern("game::scene::lookup"), Over::Tail);
    assert_eq!(asked(key(&mut app, Code::Char('W'))), [request]);
    answer(&mut app, request, Ok(0));
    let mut watched = fixture::slow_frames();
    watched.capture.seq += 1;
    watched.watches.push(watched.watches[0].clone());
    watched.watches[1].function = "game::scene::lookup".into();
    watched.watches[1].paths[0].site = watched.watches[0].paths[2].site;
    gets(&mut app, watched);
    let words = "lookup is watched: W again or 8 shows why its slow calls are slow";
    shows(&app, words);
    assert!(
        app.left_on()[0].starts_with("order-book still watches game::scene::lookup: "),
        "{:?}",
        app.left_on()
    );
    // The second press of `W` shows the watched function.
    assert_eq!(asked(key(&mut app, Code::Char('W'))), []);
    assert_eq!(app.views.current, View::Slow);
    assert_eq!(app.watched().unwrap().function, "game::scene::lookup");
    key(&mut app, Code::Char(' '));
    assert_eq!(app.watched().unwrap().function, "draw_frame");
    let stopped = asked(key(&mut app, Code::Char('X')));
    assert_eq!(stopped, [Request::Unwatch(pattern("draw_frame"))]);
}

#[test]
fn where_none_is_watched_the_functions_with_a_tail_are_offered() {
    let mut app = live(80, 24).after("8");
    shows(&app, "TAIL");
    let tails: Vec<u64> = {
        let data = data(&app);
        let rows = app.list().rows.iter();
        rows.map(|row| data.tail(row.what).unwrap().ticks).collect()
    };
    assert!(tails.len() > 1 && tails.is_sorted_by(|a, b| a >= b), "{tails:?}");
    key(&mut app, Code::Down);
    let (data, row) = app.selected().unwrap();
    let name = data
        .tree
        .functions
        .get(data.function(row.what).unwrap())
        .full_name();
    let request = Request::Watch(pattern(&name), Over::Tail);
    assert_eq!(asked(key(&mut app, Code::Enter)), std::slice::from_ref(&request));
    answer(&mut app, request, Ok(0));
    let mut next = orderbook::snapshot(1_342);
    let mut watch = fixture::slow_frames().watches.remove(0);
    watch.function = name;
    watch.state = WatchState::Learning(0);
    watch.paths.clear();
    watch.causes.clear();
    watch.exemplars.clear();
    next.watches.push(watch);
    gets(&mut app, next);
    shows(&app, "0 calls have ended");
    shows(&app, "is watched: its slow calls come here");
}

#[test]
fn slow_calls_and_functions_with_a_tail_are_those_of_all_threads() {
    for mut app in [live(80, 24), slow(120, 30)] {
        keys(&mut app, "8");
        let list =
            |app: &App| -> Vec<String> { text(app).lines().skip(2).take(15).map(str::to_string).collect() };
        let all = list(&app);
        keys(&mut app, "4j\n");
        assert!(app.query.threads.only().is_some());
        keys(&mut app, "8");
        assert_eq!(list(&app), all);
        shows(&app, "all threads");
    }
}

#[test]
fn the_tab_of_the_view_says_that_a_function_is_watched() {
    for (width, tab) in [(80, "8 Slow•"), (160, "8 Slow•")] {
        let mut app = showing(width, 30, fixture::slow_frames());
        assert!(text(&app).contains(tab), "{}", text(&app));
        keys(&mut app, "8");
        shows(&app, "[8 Slow]");
    }
    assert!(!text(&live(80, 24)).contains("8 Slow•"));
}

#[test]
fn paths_are_in_the_order_that_their_column_says_whatever_key_came_before() {
    let mut app = slow(120, 30);
    let before: Vec<String> = names(&app).into_iter().map(str::to_owned).collect();
    keys(&mut app, "J");
    let mut next = fixture::slow_frames();
    next.capture.seq += 1;
    next.capture.unix_ns += 1;
    // Now another path has the largest difference.
    next.watches[0].paths[2].slow.ticks *= 100;
    gets(&mut app, next);
    let now = names(&app);
    assert_ne!(before[0], now[0]);
    assert!(now[0].contains("lookup"), "{now:?}");
}

#[test]
fn where_nothing_answers_a_key_says_so() {
    let mut app = empty(120, 30);
    let mut kept = fixture::slow_frames();
    kept.watches.clear();
    events(&mut app, Status::Kept, Some(kept));
    assert_eq!(asked(keys(&mut app, "W")), []);
    let words = "watch: no program answers, a kept snapshot has no program behind it";
    shows(&app, words);
}

#[test]
fn calls_that_come_in_turns_are_all_shown() {
    let turn = |missing: usize| {
        let mut snapshot = fixture::slow_frames();
        snapshot.capture.seq += missing as u64;
        snapshot.watches[0].exemplars[missing].trace = None;
        snapshot
    };
    let mut app = showing(120, 30, turn(0)).after("8");
    shows(&app, "its steps have not arrived yet");
    gets(&mut app, turn(1));
    shows(&app, "disk::flush waiting 8.00ms");
    shows(&app, "scene::lookup × 600, 3.00ms");
    key(&mut app, Code::Char('J'));
    shows(&app, "scene::lookup ×600");
}

/// Returns a cell in the middle of the first line of the chart that shows the chosen call over time.
fn cell_of_call(app: &App) -> (u16, u16) {
    let areas = app.call_areas(app.layout().detail.unwrap()).unwrap();
    let time = areas.time.unwrap();
    (time.x + time.width / 2, time.y)
}

#[test]
fn the_wheel_zooms_at_the_pointer_and_to_the_side_it_moves() {
    let mut app = slow(120, 40);
    let (x, y) = cell_of_call(&app);
    let at = |app: &App| app.moment_at(Position { x, y }).unwrap();
    let shown = |app: &App| app.views.slow.shown(at(app).0);
    let (ticks, moment) = at(&app);
    assert_eq!(shown(&app), 0..ticks);
    app.update(Message::Wheel(-3, x, y));
    let near = shown(&app);
    assert_eq!(near.end - near.start, ticks / 2);
    // The pointer is still over the same moment.
    assert!(at(&app).1.abs_diff(moment) <= ticks / 100);
    app.update(Message::WheelAside(true, x, y));
    assert!(shown(&app).start > near.start, "later");
    app.update(Message::WheelAside(false, x, y));
    assert_eq!(shown(&app), near);
    app.update(Message::Wheel(3, x, y));
    assert_eq!(shown(&app), 0..ticks);
    // Outside the call, the wheel scrolls the list, and sideways scrolling has no effect.
    app.update(Message::Wheel(-3, 0, 0));
    app.update(Message::WheelAside(true, 0, 0));
    assert_eq!(shown(&app), 0..ticks);
}

#[test]
fn a_key_writes_the_call_for_other_tools() {
    let mut app = slow(160, 40);
    key(&mut app, Code::Char('J'));
    let effects = key(&mut app, Code::Char('E'));
    let [
        Effect::WriteCall {
            snapshot,
            traces,
            function,
            number,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((function.as_str(), *number), ("draw_frame", 3));
    let dir = tempfile::tempdir().unwrap();
    let gone = saved_files::write_call(snapshot, traces, function, 4, None).unwrap_err();
    assert_eq!(gone, "call 4 is no longer kept");
    let names =
        ["trace.json", "firefox.json", "speedscope.json"].map(|end| dir.path().join("a").with_extension(end));
    app.update(Message::Wrote("call", Ok(names.to_vec())));
    let words = "a.trace.json, .firefox.json and .speedscope.json: for ui.perfetto.dev, profiler.firefox.com";
    says(&app, words);
    let mut unknown = fixture::slow_frames();
    unknown.watches[0].exemplars[0].trace = None;
    let mut app = showing(120, 30, unknown).after("8");
    assert!(key(&mut app, Code::Char('E')).is_empty());
    says(&app, "have not arrived yet");
}

#[test]
fn a_window_has_the_slow_calls_of_its_time() {
    let first = fixture::slow_frames();
    let mut later = first.clone();
    later.capture.unix_ns += 1_000_000_000;
    later.capture.seq += 1;
    later.capture.since_reset_ns += 1_000_000_000;
    for (path, calls) in later.watches[0].paths.iter_mut().zip([1, 1, 6, 1]) {
        path.typical.calls += 100 * calls;
        path.typical.ticks += 100 * 2_500_000;
    }
    let mut app = showing(120, 30, first);
    gets(&mut app, later);
    keys(&mut app, "8");
    shows(&app, "draw_frame: 30 slow of 6100 calls");
    keys(&mut app, "w");
    shows(&app, "draw_frame: no call was slow yet");
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
    gets(&mut app, snapshot);
    shows(&app, "its steps have not arrived yet");
    let mut empty_trace = fixture::slow_frames();
    empty_trace.watches[0].number = 9;
    empty_trace.watches[0].exemplars[0].trace = Some(Trace::default());
    gets(&mut app, empty_trace);
    keys(&mut app, "++--lh0");
    assert!(text(&app).contains("slow calls that are kept"));
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
        app.playback.past.history.note(&snapshot);
        // The history belongs to a recording, whose newest record also arrives as a snapshot.
        if turn == 3 {
            events(&mut app, Status::Kept, Some(snapshot));
        }
    }
    keys(&mut app, "8");
    shows(&app, "disk::flush waiting 8.00ms");
    shows(&app, "waits 8.00ms");
    keys(&mut app, ",,,J");
    shows(&app, "scene::lookup ×600");
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
    shows(&app, "scene::lookup ×600");
    let y = line_of(&app, "scene::lookup ×600");
    app.update(Message::Click(60, y));
    hides(&app, "scene::lookup ×600");
    key(&mut app, Code::Esc);
    assert!(text(&app).contains("scene::lookup ×600"), "all of it again");
}

//! What screens say about their numbers: which stretch of time they cover, how they are sorted, and what the words mean.

use super::*;
use crate::orderbook::waiting;

/// Marks a moment, and compares it with a later snapshot that has been modified by `change`.
fn compared(width: u16, height: u16, change: impl FnOnce(&mut Snapshot)) -> App {
    let mut app = live(width, height).after("m");
    let mut next = snapshot(2_000);
    change(&mut next);
    gets(&mut app, next);
    keys(&mut app, "'");
    app
}

#[test]
fn threads_that_share_their_work_do_not_change_places() {
    let mut app = live(120, 30).after("4");
    let with = |tenths: u64, ahead: usize, percent: u64| {
        let mut s = snapshot(tenths);
        let (first, rows) = (s.threads[0].first_row as usize, s.threads[0].rows as usize);
        let second = s.threads[1].first_row as usize;
        for row in 0..rows.min(s.threads[1].rows as usize) {
            s.nodes.self_ticks[second + row] = s.nodes.self_ticks[first + row];
            let more = [first, second][ahead] + row;
            s.nodes.self_ticks[more] += s.nodes.self_ticks[more] * percent / 100;
        }
        s
    };
    for second in 1..6u64 {
        at(&mut app, 3_000 * second);
        gets(&mut app, with(1_340 + second, (second % 2) as usize, 2));
        assert_eq!(names(&app)[..2], ["match-0", "match-1"]);
    }
    at(&mut app, 20_000);
    gets(&mut app, with(1_350, 1, 10));
    assert_eq!(names(&app)[..2], ["match-1", "match-0"], "clearly ahead");
    at(&mut app, 30_000);
    gets(&mut app, with(1_351, 0, 2));
    assert_eq!(names(&app)[..2], ["match-1", "match-0"]);
    keys(&mut app, "14");
    // When a view is shown again, its rows are sorted again.
    assert_eq!(names(&app)[..2], ["match-0", "match-1"]);
}

#[test]
fn the_pane_explains_the_states_and_a_pause_inside_a_scope() {
    for (width, height) in [(120, 30), (80, 24)] {
        let mut s = snapshot(1_341);
        s.threads[0].state = ThreadState::Paused;
        let app = showing(width, height, s).after("4");
        let screen = text(&app);
        let states = line_of(&screen, "running in a scope");
        for word in ["waiting", "idle", "paused clock", "finished"] {
            assert!(states.contains(word), "{states}");
        }
        assert!(!states.contains('…'), "{states}");
        assert!(line_of(&screen, "41877").contains("paused"), "{screen}");
        assert!(line_of(&screen, "open since").contains("match::step"), "{screen}");
        assert!(screen.contains("its clock is stopped"), "{screen}");
    }
}

#[test]
fn sentences_name_the_window_they_are_of() {
    let mut app = watched(120, 30).after("4");
    assert!(text(&app).contains("in scopes since the reset"));
    keys(&mut app, "6");
    shows(&app, "calls since the reset, by all threads");
    keys(&mut app, "w");
    shows(&app, "calls in the last 1.0 s, by all threads");
    assert!(!text(&app).contains("since the reset,"));
    keys(&mut app, "4");
    shows(&app, "in scopes in the last 1.0 s");
}

#[test]
fn sites_are_of_all_threads_whoever_is_chosen() {
    let mut app = live(120, 30).after("4j\n");
    shows(&app, "only match-1");
    keys(&mut app, "6");
    let screen = text(&app);
    let tabs = screen.lines().nth(1).unwrap_or_default();
    has(tabs, "all threads");
    lacks(tabs, "match-1");
}

#[test]
fn differences_keep_their_units_and_say_how_they_are_sorted() {
    let mut app = compared(120, 30, |next| {
        for thread in &mut next.threads {
            thread.outside_ticks /= 3;
        }
    });
    has(&tabs(&app), "sort: change of TOTAL ▼");
    shows(&app, "columns show now minus then");
    for (view, column) in [("4", "TOTAL"), ("6", "CALLS"), ("2", "SELF")] {
        keys(&mut app, view);
        has(&tabs(&app), &format!("sort: change of {column} ▼"));
    }
    keys(&mut app, "4");
    let main = line_of(&text(&app), "41873  ");
    let mut changes = main
        .split_whitespace()
        .filter(|text| text.starts_with(['+', '-']) && text.len() > 1);
    assert!(changes.all(|text| text.ends_with(char::is_alphabetic)), "{main}");
}

#[test]
fn equal_changes_stand_by_name() {
    let mut app = compared(120, 30, |next| {
        // No calls have been made since the mark.
        *next = snapshot(1_340);
        next.capture.unix_ns += 1_000_000_000;
    });
    keys(&mut app, "2");
    let listed: Vec<String> = names(&app).iter().map(ToString::to_string).collect();
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(listed, sorted);
}

#[test]
fn other_counters_are_put_in_order_at_once() {
    let mut app = live(120, 30).after("2");
    let first = names(&app)[0].to_string();
    keys(&mut app, "j");
    let mut after = in_epoch(2, 1_341);
    let row = (0..after.nodes.len()).max_by_key(|&row| after.nodes.self_ticks[row]);
    after.nodes.self_ticks[row.expect("there are rows")] = 0;
    let sorted = |app: &App| {
        let data = data(app);
        let of = |what: What| data.figures(what).self_ns;
        app.list().rows.is_sorted_by(|a, b| of(a.what) >= of(b.what))
    };
    let mut held = after.clone();
    held.capture.reset_epoch = 1;
    gets(&mut app, held);
    // Just after a key, rows keep their order.
    assert!(!sorted(&app) && names(&app)[0] == first);
    gets(&mut app, after);
    assert!(sorted(&app), "{:?}", names(&app));
}

#[test]
fn a_short_screen_says_what_a_row_waits_for_before_what_its_marks_mean() {
    let estimated = in_mode(Mode::Adaptive, waiting(1_340));
    let app = showing(80, 24, estimated).after("/book::insert\n");
    let all = text(&app);
    let line = all.lines().rev().nth(1).expect("the last line of the details");
    has(line, "no CPU  5.8%");
    has(line, "± estimated");
}

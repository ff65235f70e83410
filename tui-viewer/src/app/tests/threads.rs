//! The threads: who is busy, who waits, and what one of them is doing now.

use proptest::prelude::*;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Thread, ThreadState};

use crate::app::tests::names;
use crate::app::thread_choice::ThreadChoice;
use crate::app::view::View;
use crate::keys::decoder::Code;
use crate::orderbook::snapshot;
use crate::source::status::Status;
use crate::test_driver::{at, empty, events, key, keys, live, selected, text};

/// The made-up program; the CPU times of its threads in milliseconds.
fn used(tenths: u64, cpu_ms: [u64; 4]) -> Snapshot {
    let mut s = snapshot(tenths);
    for (thread, ms) in s.threads.iter_mut().zip(cpu_ms) {
        thread.cpu_ns = Some(ms * 1_000_000);
    }
    s
}

fn line_of(screen: &str, name: &str) -> String {
    let line = screen.lines().find(|line| line.contains(name));
    line.unwrap_or_else(|| panic!("no {name} in\n{screen}"))
        .to_string()
}

#[test]
fn who_is_in_a_scope_and_on_no_cpu_waits() {
    let mut app = empty(120, 30);
    events(&mut app, Status::Live, Some(used(1_340, [0, 0, 0, 0])));
    keys(&mut app, "4");
    for name in ["match-0", "ingest"] {
        let line = line_of(&text(&app), name);
        assert!(
            line.contains("running  ") && !line.contains('%'),
            "nothing to compare with: {line}"
        );
    }
    events(&mut app, Status::Live, Some(used(1_341, [95, 40, 0, 9])));
    let screen = text(&app);
    for (name, state, busy) in [
        ("match-0", "running", "95.0%"),
        ("match-1", "running", "40.0%"),
        ("ingest", "waiting", "0.0%"),
        ("main", "waiting", "9.0%"),
    ] {
        let line = line_of(&screen, &format!("{name} "));
        assert!(line.contains(state) && line.contains(busy), "{line}");
    }
    keys(&mut app, "Gk");
    assert!(text(&app).contains("waiting: in a scope"), "{}", text(&app));
}

#[test]
fn what_the_second_thread_does_now_is_six_keys_away() {
    // Where rows have room for it, one key; where they have none, it is in the tree of that thread alone.
    for (width, height, typed) in [(120, 30, "4"), (80, 24, "4"), (60, 15, "4")] {
        let mut app = live(width, height);
        keys(&mut app, typed);
        let line = line_of(&text(&app), "match-1");
        assert!(line.contains("match::run"), "{line}");
    }
    let mut app = live(20, 5);
    keys(&mut app, "4j");
    assert_eq!(selected(&app), "match-1");
    key(&mut app, Code::Enter);
    assert!(text(&app).contains("run •"), "{}", text(&app));
}

#[test]
fn the_pane_says_since_when_each_scope_is_open() {
    let mut app = empty(120, 30);
    let mut s = snapshot(1_340);
    let second = 1_000_000_000;
    for (frame, began) in s.threads[0].open.iter_mut().zip([61 * second, 0]) {
        frame.began_tick = began;
    }
    events(&mut app, Status::Live, Some(s));
    keys(&mut app, "4");
    let line = line_of(&text(&app), "open since");
    assert!(line.ends_with("match::run 14:01:01 › match::step"), "{line}");

    // Of a path that is too long the end, and how much is left out.
    let mut s = snapshot(1_340);
    let frame = s.threads[0].open[1];
    s.threads[0].open = vec![frame; 300];
    events(&mut app, Status::Live, Some(s));
    let screen = text(&app);
    let line = line_of(&screen, "open since");
    assert!(
        line.contains("+28") && line.contains(" above › match::step 14:00:00"),
        "{screen}"
    );
    assert!(screen.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn enter_shows_one_thread_and_again_all() {
    let mut app = live(120, 30);
    keys(&mut app, "4jj");
    assert_eq!(selected(&app), "ingest");
    key(&mut app, Code::Enter);
    assert_eq!(app.views.current, View::Tree);
    assert!(names(&app).contains(&"ingest::run") && !names(&app).contains(&"match::run"));
    key(&mut app, Code::Esc);
    assert_eq!(
        (app.views.current, selected(&app).as_str()),
        (View::Threads, "ingest")
    );
    assert_eq!(
        app.list().rows.len(),
        4,
        "all threads are listed, whoever is shown"
    );
    assert_eq!(
        app.query.threads,
        ThreadChoice::All,
        "what Enter has left out is there again"
    );
    key(&mut app, Code::Enter);
    keys(&mut app, "a");
    assert_eq!(app.query.threads, ThreadChoice::All);
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Threads);
    key(&mut app, Code::Enter);
    keys(&mut app, "4");
    assert!(text(&app).contains("Enter shows all again"));
    key(&mut app, Code::Enter);
    assert_eq!(app.query.threads, ThreadChoice::All);
}

#[test]
fn the_way_back_to_the_threads_leads_over_a_function() {
    let mut app = live(120, 30);
    keys(&mut app, "4jj");
    key(&mut app, Code::Enter);
    key(&mut app, Code::Enter);
    assert_eq!(app.views.current, View::Function);
    key(&mut app, Code::Esc);
    assert_eq!(
        (app.views.current, app.query.threads.only()),
        (View::Tree, Some("ingest"))
    );
    key(&mut app, Code::Esc);
    assert_eq!(
        (app.views.current, app.query.threads.only()),
        (View::Threads, None)
    );
}

#[test]
fn a_thread_that_was_chosen_by_hand_stays_on_the_way_back() {
    let mut app = live(120, 30);
    keys(&mut app, "4jj");
    key(&mut app, Code::Enter);
    keys(&mut app, "aaj");
    key(&mut app, Code::Enter);
    assert_eq!(app.query.threads.only(), Some("match-0"));
    key(&mut app, Code::Esc);
    assert_eq!(
        (app.views.current, app.query.threads.only()),
        (View::Threads, Some("match-0"))
    );
}

#[test]
fn that_one_thread_is_shown_is_said_at_every_size() {
    for (width, height, text_of_it) in [
        (120, 30, "only match-1 (a: all)"),
        (80, 24, "only match-1"),
        (60, 24, "only match-1"),
        (60, 15, "only match-1"),
        (40, 10, "only match-1"),
    ] {
        let mut app = live(width, height);
        assert!(!text(&app).contains("only "));
        keys(&mut app, "ajj");
        key(&mut app, Code::Enter);
        // Whatever else there is to say about the numbers.
        keys(&mut app, "wwbm");
        let screen = text(&app);
        let top: Vec<&str> = screen.lines().take(2).collect();
        assert!(top.concat().contains(text_of_it), "{width}: {top:?}");
    }
}

#[test]
fn columns_sort_and_searches_find_threads_and_what_they_do() {
    let mut app = empty(200, 30);
    let mut s = used(1_340, [50, 90, 10, 70]);
    s.threads[2].outside_ticks *= 3;
    events(&mut app, Status::Live, Some(s));
    keys(&mut app, "4");
    assert_eq!(
        names(&app),
        ["match-0", "match-1", "ingest", "main"],
        "by time in scopes"
    );
    keys(&mut app, ">");
    assert_eq!(names(&app)[0], "ingest", "by time outside");
    keys(&mut app, "<<");
    assert_eq!(
        names(&app),
        ["match-1", "main", "match-0", "ingest"],
        "by CPU time"
    );
    keys(&mut app, "<<<");
    assert_eq!(names(&app), ["main", "ingest", "match-0", "match-1"], "by id");
    keys(&mut app, "<I");
    assert_eq!(
        names(&app),
        ["match-1", "match-0", "main", "ingest"],
        "by name, last first"
    );
    keys(&mut app, "/inge");
    assert!(text(&app).contains("1 of 4 threads"), "{}", text(&app));
    key(&mut app, Code::Enter);
    assert_eq!(selected(&app), "ingest");
    keys(&mut app, "/match::step");
    assert_eq!(selected(&app), "match-0", "it is doing that");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_selection_stays_on_its_thread_and_on_its_line(
        busy in proptest::collection::vec(proptest::collection::vec(0u64..100, 4), 1..8),
        down in 0usize..4,
    ) {
        let mut app = live(80, 24);
        keys(&mut app, "4");
        keys(&mut app, &"j".repeat(down));
        let (name, line) = (selected(&app), crate::test_driver::line(&app));
        let mut cpu_ms = [0; 4];
        for (number, busy) in busy.iter().enumerate() {
            for (sum, ms) in cpu_ms.iter_mut().zip(busy) {
                *sum += ms;
            }
            let number = number as u64;
            at(&mut app, 100 * number);
            events(&mut app, Status::Live, Some(used(1_341 + number, cpu_ms)));
            prop_assert_eq!(selected(&app), name.clone());
            prop_assert_eq!(crate::test_driver::line(&app), line, "nothing moves under a finger");
        }
        at(&mut app, 9_000);
        prop_assert_eq!(selected(&app), name);
    }
}

#[test]
fn a_thousand_threads_keep_their_places() {
    let many = |tenths: u64| {
        let mut s = snapshot(tenths);
        s.threads.extend((0..1_000).map(|number| Thread {
            name: format!("worker-{number}"),
            tid: 50_000 + number as u32,
            state: ThreadState::Idle,
            count: 1,
            cpu_ns: Some(tenths * (number % 90) * 1_000_000),
            first_row: s.nodes.len() as u32,
            ..Thread::default()
        }));
        s
    };
    let mut app = empty(200, 30);
    events(&mut app, Status::Live, Some(many(1_340)));
    keys(&mut app, "4");
    assert_eq!(names(&app)[4..7], ["worker-0", "worker-1", "worker-2"]);
    keys(&mut app, "<<");
    at(&mut app, 5_000);
    events(&mut app, Status::Live, Some(many(1_341)));
    assert_eq!(names(&app)[0], "worker-89", "the busiest");
    keys(&mut app, "/worker-777");
    key(&mut app, Code::Enter);
    at(&mut app, 20_000);
    events(&mut app, Status::Live, Some(many(1_342)));
    assert_eq!(selected(&app), "worker-777");
}

//! The threads: busy threads, waiting threads, and the current function of a thread.

use super::*;

#[test]
fn who_is_in_a_scope_and_on_no_cpu_waits() {
    let mut app = showing(120, 30, used(1_340, [0, 0, 0, 0])).after("4");
    for name in ["match-0", "ingest"] {
        let line = line_of(&text(&app), name);
        assert!(
            line.contains("running  ") && !line.contains('%'),
            "nothing to compare with: {line}"
        );
    }
    gets(&mut app, used(1_341, [95, 40, 0, 9]));
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
    shows(&app, "waiting: in a scope");
}

#[test]
fn what_the_second_thread_does_now_is_in_its_row_or_one_key_away() {
    // Where rows are wide enough, they name the thread's current function. On a tiny screen, Enter must be pressed to
    // see it, because it is only in the tree of the thread.
    for (width, height) in [(120, 30), (80, 24), (60, 15)] {
        let app = live(width, height).after("4");
        let line = line_of(&text(&app), "match-1");
        assert!(line.contains("match::run"), "{line}");
    }
    let mut app = live(20, 5).after("4j");
    assert_eq!(selected(&app), "match-1");
    key(&mut app, Code::Enter);
    shows(&app, "run •");
}

#[test]
fn the_pane_says_since_when_each_scope_is_open() {
    let mut s = snapshot(1_340);
    let second = 1_000_000_000;
    for (frame, began) in s.threads[0].open.iter_mut().zip([61 * second, 0]) {
        frame.began_tick = began;
    }
    let mut app = showing(120, 30, s).after("4");
    let line = line_of(&text(&app), "open since");
    assert!(line.ends_with("match::run 14:01:01 › match::step"), "{line}");

    // If the path is too long, the pane shows only its end, and the number of functions that are left out.
    let mut s = snapshot(1_340);
    let frame = s.threads[0].open[1];
    s.threads[0].open = vec![frame; 300];
    gets(&mut app, s);
    let screen = text(&app);
    let line = line_of(&screen, "open since");
    has(&line, "+28");
    has(&line, " above › match::step 14:00:00");
    assert!(screen.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn enter_shows_one_thread_and_again_all() {
    let mut app = live(120, 30).after("4jj");
    assert_eq!(selected(&app), "ingest");
    key(&mut app, Code::Enter);
    assert_eq!(app.views.current, View::Tree);
    says(&app, "only this thread is shown; a shows all");
    assert!(names(&app).contains(&"ingest::run") && !names(&app).contains(&"match::run"));
    key(&mut app, Code::Esc);
    stands(&app, View::Threads, "ingest");
    // This view lists all threads, regardless of which ones are chosen.
    assert_eq!(app.list().rows.len(), 4);
    // Escape has undone the choice of the thread.
    assert_eq!(app.query.threads, ThreadChoice::All);
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
    says(&app, "all threads are shown again");
}

/// Asserts that this view is shown, for this thread alone or, if `None`, for all threads.
#[track_caller]
fn is_shown(app: &App, view: View, thread: Option<&str>) {
    assert_eq!((app.views.current, app.query.threads.only()), (view, thread));
}

#[test]
fn the_way_back_to_the_threads_leads_over_a_function() {
    let mut app = live(120, 30).after("4jj\n\n");
    assert_eq!(app.views.current, View::Function);
    key(&mut app, Code::Esc);
    is_shown(&app, View::Tree, Some("ingest"));
    key(&mut app, Code::Esc);
    is_shown(&app, View::Threads, None);
}

#[test]
fn a_thread_that_was_chosen_by_hand_stays_on_the_way_back() {
    let mut app = live(120, 30).after("4jj\n");
    keys(&mut app, "aaj\n");
    assert_eq!(app.query.threads.only(), Some("match-0"));
    key(&mut app, Code::Esc);
    is_shown(&app, View::Threads, Some("match-0"));
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
        keys(&mut app, "ajj\n");
        // The words about the chosen thread must stay on screen, next to the words that these keys add.
        keys(&mut app, "wwbm");
        let screen = text(&app);
        let top: Vec<&str> = screen.lines().take(2).collect();
        assert!(top.concat().contains(text_of_it), "{width}: {top:?}");
    }
}

#[test]
fn columns_sort_and_searches_find_threads_and_what_they_do() {
    let mut s = used(1_340, [50, 90, 10, 70]);
    s.threads[2].outside_ticks *= 3;
    let mut app = showing(200, 30, s).after("4");
    // Sorted by time in scopes.
    assert_eq!(names(&app), ["match-0", "match-1", "ingest", "main"]);
    keys(&mut app, ">");
    assert_eq!(names(&app)[0], "ingest", "by time outside");
    keys(&mut app, "<<");
    // Sorted by CPU time.
    assert_eq!(names(&app), ["match-1", "main", "match-0", "ingest"]);
    keys(&mut app, "<<<");
    assert_eq!(names(&app), ["main", "ingest", "match-0", "match-1"], "by id");
    keys(&mut app, "<I");
    // Sorted by name, in descending order.
    assert_eq!(names(&app), ["match-1", "match-0", "main", "ingest"]);
    keys(&mut app, "/inge");
    shows(&app, "1 of 4 threads");
    key(&mut app, Code::Enter);
    assert_eq!(selected(&app), "ingest");
    keys(&mut app, "/match::step");
    assert_eq!(selected(&app), "match-0", "it is doing that");
}

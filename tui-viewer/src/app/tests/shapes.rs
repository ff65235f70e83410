//! The function view, focus, the bottom-up tree, folded recursion, and stepping through all places of a function. All
//! of it is tested through key presses.

use tickscope_format::snapshot::OpenFrame;
use tickscope_testkit::fixture;

use super::*;

/// Returns the test program with recursion in its thread `main`: `publish` calls `insert`, which calls `cancel`, which
/// calls `insert` again. `publish` also calls `encode`.
fn recursive(tenths: u64) -> Snapshot {
    let mut s = snapshot(tenths);
    // Rows can be added only to the last thread, `main`.
    let publish = NodeId(s.nodes.len() as u32 - 1);
    let grown = |ms: u64| ms * 1_000_000 * tenths / 1_340;
    let insert = s.nodes.push(Some(publish), SiteId(3), 100, grown(2_000));
    let cancel = s.nodes.push(Some(insert), SiteId(6), 80, grown(1_000));
    let again = s.nodes.push(Some(cancel), SiteId(3), 60, grown(500));
    let _ = s.nodes.push(Some(again), SiteId(5), 40, grown(250));
    let _ = s.nodes.push(Some(publish), SiteId(8), 1_000, grown(4_000));
    let main = s.threads.last_mut().expect("there are threads");
    main.rows += 5;
    for node in [insert, again] {
        main.open.push(OpenFrame {
            node,
            began_tick: 5_000_000,
        });
    }
    s
}

fn stage(width: u16, height: u16) -> App {
    showing(width, height, recursive(1_340))
}

fn title(app: &App) -> String {
    let y = app.layout().title.map_or(0, |title| title.y);
    let screen = text(app);
    let line = screen.lines().nth(usize::from(y)).unwrap_or_default();
    line.trim().to_string()
}

/// Returns the name, the total time in ms, and the number of calls of each row in the list.
fn shares(app: &App) -> Vec<(String, u64, u64)> {
    let data = data(app);
    let rows = app.list().rows.iter().filter(|row| !row.is_heading());
    rows.map(|row| {
        let figures = data.figures(row.what);
        let name = data.label(row.what).to_string();
        (name, figures.total_ns / 1_000_000, figures.calls)
    })
    .collect()
}

fn row(name: &str, ms: u64, calls: u64) -> (String, u64, u64) {
    (name.to_string(), ms, calls)
}

#[test]
fn a_recursive_function_has_one_average_on_a_screen() {
    let mut app = showing(120, 30, fixture::recursion()).after("2");
    go_to(&mut app, "fib");
    keys(&mut app, "3");
    let screen = text(&app);
    let averages = screen.split("avg ").skip(1);
    let averages = averages.filter_map(|rest| rest.split_whitespace().next());
    let averages: Vec<&str> = averages.collect();
    // Both averages are 600 ticks of 0.4 ns, the total time of the outermost call, divided by all 7 calls.
    assert_eq!(averages, ["34ns", "34ns"], "{screen}");
}

#[test]
fn three_shows_what_was_selected() {
    let mut app = stage(120, 30).after("jj3");
    has(&title(&app), "orderbook_sim::book::apply");
    assert_eq!(selected(&app), "(self)");
    keys(&mut app, "1j3");
    assert!(title(&app).starts_with("orderbook_sim::book::apply"), "it stays");
    let app = stage(120, 30).after("2jj3");
    has(&title(&app), "orderbook_sim::book::apply");
}

#[test]
fn headings_come_and_go_with_the_room_for_them() {
    let mut app = stage(120, 30).after("jj3");
    let headings = |app: &App| app.list().rows.iter().filter(|row| row.is_heading()).count();
    assert_eq!(headings(&app), 2);
    for (height, wanted) in [(6, 0), (30, 2)] {
        app.update(Message::Resize(Size::new(120, height)));
        assert_eq!(headings(&app), wanted, "{}", text(&app));
        assert_eq!(selected(&app), "(self)");
    }
}

#[test]
fn callers_and_callees_stand_side_by_side_where_they_have_room() {
    let mut app = stage(120, 30).after("jjj3g");
    let line = |app: &App, part: &str| {
        let screen = text(app);
        let line = screen.lines().position(|line| line.contains(part));
        line.unwrap_or_else(|| panic!("{part} in\n{screen}"))
    };
    assert_eq!(line(&app, "called from ──"), line(&app, "─ where its time goes"));
    assert_eq!(line(&app, "↑ book::apply"), line(&app, "· (self)"));
    // `j` moves the cursor down the first list, and then down the second.
    let mut way = vec![selected(&app)];
    for _ in 0..4 {
        keys(&mut app, "j");
        way.push(selected(&app));
    }
    let wanted = [
        "book::apply",
        "stats::publish",
        "book::cancel",
        "(self)",
        "tree::rebalance",
    ];
    assert_eq!(way, wanted);
    // Left and right move the cursor to the other list: to the row on the same line, or to the last row if that list is
    // shorter.
    for (code, wanted) in [
        (Code::Left, "stats::publish"),
        (Code::Left, "stats::publish"),
        (Code::Right, "tree::rebalance"),
        (Code::Char('h'), "stats::publish"),
    ] {
        key(&mut app, code);
        assert_eq!(selected(&app), wanted);
    }
    keys(&mut app, "jl");
    assert_eq!(selected(&app), "alloc::slab_get", "the third row of either list");
    // If one list is below the other, left and right do nothing.
    app.update(Message::Resize(Size::new(80, 24)));
    key(&mut app, Code::Left);
    assert_eq!(selected(&app), "alloc::slab_get");
    app.update(Message::Resize(Size::new(120, 30)));
    // A click selects the row under the pointer, in either list. Below the last row of a list, a click selects nothing.
    let y = app.layout().rows.y + 1;
    app.update(Message::Click(30, y));
    assert_eq!(selected(&app), "book::apply");
    app.update(Message::Click(90, y + 1));
    assert_eq!(selected(&app), "tree::rebalance");
    app.update(Message::Click(30, y + 4));
    assert_eq!(selected(&app), "tree::rebalance", "there is no caller");
    for (typed, first) in [("g", "↑ book::apply"), ("I", "↑ book::cancel")] {
        keys(&mut app, typed);
        assert_eq!(line(&app, first), line(&app, "called from ──") + 1);
    }
    app.update(Message::Resize(Size::new(99, 30)));
    assert!(line(&app, "called from ──") < line(&app, "─ where its time goes"));
}

#[test]
fn the_list_with_the_cursor_moves_and_the_other_shows_its_first() {
    let publish = snapshot(1_340).nodes.len() - 1;
    let many = with_more(recursive(1_340), publish, 60, false);
    let mut app = showing(120, 30, many).after("/publish\n\n");
    key(&mut app, Code::Esc);
    let page = usize::from(app.layout().rows.height);
    shows(&app, "more_000");
    hides(&app, "more_059");
    keys(&mut app, "G");
    assert_eq!(line(&app), page - 1, "{}", text(&app));
    shows(&app, "more_059");
    shows(&app, "called from ──");
    key(&mut app, Code::PageUp);
    hides(&app, "more_059");
    shows(&app, "more_040");
    keys(&mut app, "g");
    shows(&app, "more_000");
    shows(&app, "where its time goes");
    app.update(Message::Wheel(5, 90, 10));
    // The wheel scrolls the list that has the cursor, even if the pointer is over the other list.
    shows(&app, "more_000");
}

#[test]
fn enter_goes_on_and_escape_goes_the_way_back() {
    let mut app = stage(120, 30).after("jj\n");
    let first = title(&app);
    keys(&mut app, "j");
    assert_eq!(selected(&app), "book::insert");
    key(&mut app, Code::Enter);
    assert!(title(&app).contains("book::insert"));
    keys(&mut app, "gk");
    assert_eq!(selected(&app), "book::apply", "a heading is no row");
    key(&mut app, Code::Enter);
    assert_eq!(title(&app), first);
    key(&mut app, Code::Esc);
    assert_eq!(selected(&app), "book::apply", "where it was left");
    key(&mut app, Code::Esc);
    assert_eq!((title(&app), selected(&app)), (first, "book::insert".to_string()));
    key(&mut app, Code::Esc);
    stands(&app, View::Tree, "book::apply");
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Tree, "no further");
}

#[test]
fn a_function_shows_its_place_in_the_tree_and_escape_returns() {
    let mut app = stage(120, 30).after("2jjj\n");
    keys(&mut app, "jt");
    stands(&app, View::Tree, "wire::checksum");
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Function);
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Hot);
}

#[test]
fn the_function_stays_over_snapshots_and_restarts() {
    let mut app = stage(80, 24).after("jjj3j");
    let (before, name) = (title(&app), selected(&app));
    at(&mut app, 10_000);
    gets(&mut app, in_epoch(9, 3));
    assert_eq!((title(&app), selected(&app)), (before.clone(), name.clone()));
    gets(&mut app, without_rows(recursive(1_340)));
    shows(&app, " in this snapshot. 2 shows what was");
    gets(&mut app, recursive(1_400));
    assert_eq!((title(&app), selected(&app)), (before, name));
}

#[test]
fn percents_are_of_the_function_or_of_all() {
    let mut app = stage(120, 30).after("jj3g");
    assert!(text(&app).contains("100.0%") && text(&app).contains("% of this function"));
    keys(&mut app, "%");
    assert!(!text(&app).contains("100.0% █") && text(&app).contains("% of measured"));
    keys(&mut app, "1");
    assert!(text(&app).contains("% of measured"), "the tree has its own");
    keys(&mut app, "3%");
    assert!(text(&app).contains("% of this function"));
}

#[test]
fn a_search_finds_callers_and_callees() {
    let mut app = stage(120, 30).after("jjj3/cancel");
    assert_eq!(selected(&app), "book::cancel");
    says(&app, "match");
    key(&mut app, Code::Enter);
    keys(&mut app, "\\");
    assert_eq!(shares(&app).len(), 2, "once as caller, once as callee");
    key(&mut app, Code::Esc);
    assert_eq!(shares(&app).len(), 7);
}

#[test]
fn callers_and_callees_sort_by_themselves() {
    let mut app = stage(120, 30).after("jjj3>");
    shows(&app, "CALLS▼");
    let names: Vec<String> = shares(&app).into_iter().map(|line| line.0).collect();
    assert_eq!(names[3..5], ["(self)", "alloc::slab_get"], "by calls");
    keys(&mut app, "I");
    let names: Vec<String> = shares(&app).into_iter().map(|line| line.0).collect();
    assert_eq!(names[0], "book::cancel");
    assert_eq!(names[3], "(self)");
}

#[test]
fn a_function_in_focus_stands_at_the_top() {
    let mut app = stage(120, 30);
    let top_and_selected = |app: &App| (names(app)[0].to_string(), selected(app));
    let both = |top: &str| (top.to_string(), "book::insert".to_string());
    keys(&mut app, "jjjf");
    assert_eq!(top_and_selected(&app), both("book::insert"));
    says(&app, "Esc everything");
    // The view Hot lists only the functions in focus.
    keys(&mut app, "2");
    assert!(!names(&app).contains(&"match::step") && names(&app).contains(&"tree::rebalance"));
    keys(&mut app, "1f");
    assert_eq!(top_and_selected(&app), both("match::run"));
    keys(&mut app, "f");
    key(&mut app, Code::Esc);
    assert_eq!(top_and_selected(&app), both("match::run"));
}

#[test]
fn a_hotspot_in_focus() {
    let mut app = stage(120, 30).after("2/apply\n");
    key(&mut app, Code::Esc);
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "f");
    assert_eq!(selected(&app), "book::apply");
    assert_eq!(names(&app).len(), 5);
    keys(&mut app, "f");
    assert_eq!((selected(&app).as_str(), names(&app).len()), ("book::apply", 15));
    keys(&mut app, "F");
    assert_eq!(names(&app).len(), 5);
}

#[test]
fn a_subtree_in_focus_and_one_in_it() {
    let mut app = stage(120, 30).after("jjF");
    assert_eq!(names(&app)[0], "book::apply");
    keys(&mut app, "jf");
    assert_eq!((names(&app)[0], shares(&app)[0].1), ("book::insert", 71_030));
    key(&mut app, Code::Esc);
    assert_eq!(names(&app)[0], "book::apply");
    assert_eq!(selected(&app).as_str(), "book::insert");
    key(&mut app, Code::Esc);
    assert_eq!(names(&app)[0], "match::run");
    keys(&mut app, "gjjFF");
    assert_eq!(names(&app)[0], "match::run", "the same key leaves it");
}

#[test]
fn a_narrow_screen_keeps_the_end_of_what_is_in_focus() {
    for (width, words) in [
        (120, "focus tree::rebalance"),
        (60, "focus tree::rebalance"),
        (40, "focus tree::rebalance"),
        (24, "rebalance"),
    ] {
        let app = stage(width, 15).after("jjjjf");
        let line = text(&app).lines().nth(1).unwrap_or_default().to_string();
        assert!(line.contains(words), "{line}");
    }
}

#[test]
fn a_focus_that_is_not_there_says_so_and_comes_back() {
    let mut app = stage(60, 15).after("jjf");
    gets(&mut app, without_rows(recursive(1_340)));
    shows(&app, " in this snapshot. Esc shows");
    shows(&app, "FUNCTION  focus book::apply");
    gets(&mut app, recursive(1_400));
    assert_eq!(selected(&app), "book::apply");
    gets(&mut app, without_rows(recursive(1_340)));
    key(&mut app, Code::Esc);
    gets(&mut app, recursive(1_400));
    assert_eq!(names(&app)[0], "match::run");
    assert_eq!(selected(&app).as_str(), "book::apply");
}

#[test]
fn bottom_up_says_who_called() {
    let mut app = stage(290, 30).after("jjji");
    assert_eq!(selected(&app), "book::insert");
    assert_eq!(names(&app)[0], "risk::check", "by self time");
    shows(&app, "%TOP");
    keys(&mut app, "i");
    assert_eq!((names(&app)[0], &*selected(&app)), ("match::run", "book::insert"));
}

#[test]
fn self_times_are_not_taken_for_short_calls() {
    let mut dear = recursive(1_340);
    (dear.capture.cost.lower_ns, dear.capture.cost.upper_ns) = (200.0, 600.0);
    let mut app = showing(120, 30, dear);
    assert!(text(&app).contains('†'));
    keys(&mut app, "i");
    assert!(!text(&app).contains('†'), "{}", text(&app));
}

#[test]
fn recursion_folds_into_one_row() {
    let mut app = stage(120, 30).after("GE");
    let before = app.list().rows.len();
    keys(&mut app, "c");
    assert_eq!(app.list().rows.len(), before - 1);
    says(&app, "recursion in one row; c shows it call by call");
    let folded = row("book::insert", 3_750, 160);
    assert!(shares(&app).contains(&folded), "{:?}", shares(&app));
    // The rows below the folded row include callees of the inner call, which folding has moved there.
    let moved = "folded recursion put this row here: c unfolds it, then F";
    keys(&mut app, "G");
    for _ in 0..before {
        keys(&mut app, "F");
        if last_line(&app).contains(moved) {
            break;
        }
        keys(&mut app, "Fk");
    }
    assert!(last_line(&app).contains(moved), "{}", text(&app));
    keys(&mut app, "c");
    assert_eq!(app.list().rows.len(), before);
}

#[test]
fn the_pane_below_knows_the_threads_in_every_shape() {
    let mut app = stage(120, 30);
    let threads = |app: &App| {
        let detail = app.derived.detail.as_ref().expect("there is a pane");
        detail
            .threads
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    keys(&mut app, "jjjf");
    assert_eq!(threads(&app), ["match-0", "match-1", "main"]);
    shows(&app, "running in");
    keys(&mut app, "i");
    assert_eq!(selected(&app), "book::insert");
    assert_eq!(threads(&app), ["match-0", "match-1", "main"]);
    keys(&mut app, "ic");
    assert_eq!(threads(&app), ["match-0", "match-1", "main"]);
}

#[test]
fn the_pane_of_a_hotspot_has_the_threads_of_the_calls_in_focus() {
    let mut app = stage(120, 30);
    let threads = |app: &App| {
        let detail = app.derived.detail.as_ref().expect("there is a pane");
        let names = detail.threads.iter().map(|(name, _)| name.clone());
        names.collect::<Vec<_>>()
    };
    keys(&mut app, "jjj2");
    assert_eq!(selected(&app), "book::insert");
    assert_eq!(threads(&app), ["match-0", "match-1", "main"]);
    keys(&mut app, "1gFjjj2");
    assert_eq!(selected(&app), "book::insert");
    assert_eq!(threads(&app), ["match-0", "match-1"]);
}

#[test]
fn other_places_of_a_function() {
    let mut app = stage(120, 30).after("jjj#");
    assert_eq!(selected(&app), "book::insert");
    says(&app, "place 2 of 3");
    keys(&mut app, "##");
    says(&app, "place 1 of 3");
    assert_eq!(app.list().cursor.index, 3, "around to where it began");
    keys(&mut app, "g#");
    says(&app, "this is its only place");
}

#[test]
fn the_row_stays_under_the_finger_while_callees_change_places() {
    let mut app = stage(120, 30).after("jjj3jj");
    let before = (selected(&app), line(&app));
    assert_eq!(before.0, "alloc::slab_get");
    for tenths in [1_341, 1_350, 1_360] {
        at(&mut app, tenths);
        let mut turned = recursive(tenths);
        // In these snapshots, `book::cancel` takes more time than the selected row.
        let cancel = turned.nodes.len() - 4;
        turned.nodes.self_ticks[cancel] = 900_000_000_000;
        gets(&mut app, turned);
        assert_eq!((selected(&app), line(&app)), before, "at {tenths}");
    }
    at(&mut app, 20_000);
    assert_eq!(selected(&app), before.0, "sorted anew");
    assert_eq!(shares(&app)[4].0, "book::cancel");
}

#[test]
fn opening_rows_of_a_large_tree_asks_for_their_callers() {
    // Bottom-up, this stack has so many callers that they are not all looked up at first, which would take
    // 450 * 451 / 2 steps.
    let deep = recursive(1_340);
    let last = deep.nodes.len() - 1;
    let deep = with_more(deep, last, 450, true);
    let mut app = showing(120, 30, deep).after("i/449\n");
    key(&mut app, Code::Esc);
    let top = app.list().cursor.index;
    keys(&mut app, "E");
    let last = |app: &App| {
        let rows = &app.list().rows[top + 1..];
        top + rows.iter().position(|row| row.depth == 0).unwrap_or(rows.len())
    };
    let end = last(&app);
    assert!((100..449).contains(&(end - top)), "callers of {} rows", end - top);
    app.select(end);
    let depth = app.list().rows[end].depth;
    key(&mut app, Code::Right);
    key(&mut app, Code::Right);
    assert_eq!(selected(&app), format!("stats::more_{:03}", 449 - depth - 1));
    assert!(matches!(
        app.list().selected().map(|row| row.fold),
        Some(Fold::Closed(_))
    ));
}

#[test]
fn screens() {
    for (width, height) in [(120, 30), (80, 24), (60, 15), (20, 5)] {
        let app = stage(width, height).after("jjj3j");
        insta::assert_snapshot!(format!("function_{width}x{height}"), looks(&app));
    }
    let app = showing(60, 15, in_mode(Mode::Adaptive, snapshot(1_340))).after("jjj3j");
    insta::assert_snapshot!("function_adaptive_60x15", looks(&app));
    let mut app = stage(120, 30).after("jjjil");
    at(&mut app, 6_000);
    insta::assert_snapshot!("bottom_up_120x30", looks(&app));
    let app = stage(120, 30).after("jjjf");
    insta::assert_snapshot!("focus_120x30", looks(&app));
}

//! Moving through lists: what opens, the selection, the order of rows, and searches.

use super::*;

#[test]
fn what_is_hot_opens_once_and_only_once() {
    let mut app = live(120, 30);
    assert_eq!(
        names(&app)[..4],
        ["match::run", "match::step", "book::apply", "book::insert"]
    );
    assert_eq!(app.list().rows.len(), 14);
    keys(&mut app, "C");
    assert_eq!(app.list().rows.len(), 6);
    at(&mut app, 9_000);
    gets(&mut app, snapshot(1_400));
    assert_eq!(app.list().rows.len(), 6, "closed by the user stays closed");
}

#[test]
fn the_first_look_fits_the_screen() {
    // A list of 12 lines has room only for the hottest path, so no other rows are opened.
    assert_eq!(live(60, 15).list().rows.len(), 11);
    // In a list of 20 lines, the other rows that take at least 5 % of the time are opened as well.
    let app = live(120, 30);
    assert!(names(&app).contains(&"wire::checksum") && !names(&app).contains(&"stats::publish"));
    // Even in a list of 3 lines, the whole hottest path is opened.
    assert_eq!(live(20, 5).list().rows.len(), 11);
}

#[test]
fn the_hottest_path_waits_until_the_data_says_which_it_is() {
    let mut app = showing(120, 30, snapshot(1));
    assert_eq!(app.list().rows.len(), 3, "a tenth of a second says nothing");
    gets(&mut app, snapshot(10));
    assert!(app.list().rows.len() > 3);
}

#[test]
fn up_and_down_stop_at_the_ends() {
    let mut app = live(60, 15);
    key(&mut app, Code::Up);
    assert_eq!(selected(&app), "match::run");
    keys(&mut app, "jj");
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "G");
    assert_eq!(selected(&app), "orderbook_sim::main");
    keys(&mut app, "j");
    assert_eq!(selected(&app), "orderbook_sim::main");
    key(&mut app, Code::Home);
    assert_eq!(selected(&app), "match::run");
    key(&mut app, Code::PageDown);
    assert_eq!(selected(&app), "orderbook_sim::main");
    key(&mut app, Code::Ctrl('u'));
    assert_eq!(app.list().cursor.index, 4);
}

#[test]
fn a_page_moves_the_list_by_a_page() {
    let mut app = live(60, 7);
    let page = usize::from(app.layout().rows.height);
    key(&mut app, Code::PageDown);
    assert_eq!((app.list().cursor.index, line(&app)), (page, 0));
    key(&mut app, Code::PageUp);
    assert_eq!((app.list().cursor.index, line(&app)), (0, 0));
}

#[test]
fn arrows_open_and_close_and_walk() {
    let mut app = live(120, 30).after("G");
    key(&mut app, Code::Right);
    selects(&app, "orderbook_sim::main", 15);
    key(&mut app, Code::Right);
    assert_eq!(selected(&app), "stats::publish");
    key(&mut app, Code::Left);
    assert_eq!(selected(&app), "orderbook_sim::main");
    key(&mut app, Code::Left);
    assert_eq!(app.list().rows.len(), 14);
    keys(&mut app, " ");
    assert_eq!(app.list().rows.len(), 15);
    keys(&mut app, " ");
    assert_eq!(app.list().selected().map(|row| row.fold), Some(Fold::Closed(1)));
}

#[test]
fn whole_subtrees_open_and_close() {
    let mut app = live(120, 30).after("CE");
    assert_eq!(app.list().rows.len(), 14, "all of match::run, nothing else");
    keys(&mut app, "C");
    assert_eq!(app.list().rows.len(), 6);
    keys(&mut app, "H");
    assert_eq!(selected(&app), "tree::rebalance", "the end of the hottest path");
}

#[test]
fn siblings_are_stepped_over_what_is_between() {
    let mut app = live(120, 30).after("J");
    assert_eq!(selected(&app), "ingest::run");
    keys(&mut app, "K");
    assert_eq!(selected(&app), "match::run");
    keys(&mut app, "jjJ");
    assert_eq!(selected(&app), "risk::check");
}

#[test]
fn views_change_and_t_shows_the_heaviest_place() {
    let mut app = live(120, 30).after("2");
    stands(&app, View::Hot, "risk::check");
    keys(&mut app, "jjjt");
    stands(&app, View::Tree, "wire::decode");
    key(&mut app, Code::Esc);
    assert_eq!(app.views.current, View::Hot, "one step back");
    key(&mut app, Code::Tab);
    assert_eq!(app.views.current, View::Function);
    key(&mut app, Code::BackTab);
    assert_eq!(app.views.current, View::Hot);
    for view in [View::Tree, View::Timeline, View::Slow, View::Tasks, View::Sites] {
        key(&mut app, Code::BackTab);
        assert_eq!(app.views.current, view);
    }
}

#[test]
fn columns_sort_and_turn_round() {
    let mut app = live(120, 30).after("2");
    keys(&mut app, ">");
    assert_eq!(names(&app)[0], "match::run", "by total time");
    // The first `>` sorts by WAIT, but no function waits in this program. The second sorts by calls.
    keys(&mut app, ">>");
    assert_eq!(names(&app)[0], "wire::encode", "by calls");
    keys(&mut app, "I");
    let first = names(&app)[0].to_string();
    assert!(
        ["ingest::run", "orderbook_sim::main"].contains(&first.as_str()),
        "{first}"
    );
    keys(&mut app, ">>>>");
    assert_eq!(names(&app)[0], "alloc::slab_get", "by name, and no further");
    keys(&mut app, "<<<<<");
    assert_eq!(names(&app)[0], "risk::check");
    assert!(text(&app).contains("%SELF▼"));
}

#[test]
fn a_search_moves_as_it_is_typed_and_escape_returns() {
    let mut app = live(60, 15).after("jj/chec");
    assert_eq!(selected(&app), "risk::check");
    says(&app, "2 of 15 rows  match 1/2");
    key(&mut app, Code::Down);
    assert_eq!(selected(&app), "wire::checksum");
    assert_eq!(app.list().rows.len(), 14, "opened as far as needed");
    key(&mut app, Code::Esc);
    selects(&app, "book::apply", 11);
    assert!(app.views.search.is_none());
}

#[test]
fn a_kept_search_steps_with_n() {
    let mut app = live(120, 30).after("/book::\n");
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "n");
    assert_eq!(selected(&app), "book::insert");
    keys(&mut app, "nn");
    assert_eq!(selected(&app), "book::apply", "around the end");
    keys(&mut app, "N");
    assert_eq!(selected(&app), "book::cancel");
    keys(&mut app, "\\");
    assert_eq!(
        names(&app),
        [
            "match::run",
            "match::step",
            "book::apply",
            "book::insert",
            "book::cancel"
        ]
    );
    key(&mut app, Code::Esc);
    assert!(app.views.search.is_none() && app.list().rows.len() == 14);
    assert_eq!(selected(&app), "book::cancel", "kept: the selection stays");
}

#[test]
fn a_search_without_a_match_leaves_the_view_alone() {
    let mut app = live(60, 15).after("jj/boko");
    assert_eq!(selected(&app), "book::apply");
    assert!(last_line(&app).contains("no match"));
    for _ in 0..2 {
        key(&mut app, Code::Backspace);
    }
    assert_eq!(selected(&app), "book::apply");
    keys(&mut app, "q?p");
    assert_eq!(
        app.views.search.as_ref().map(|search| search.text().to_string()),
        Some("boq?p".to_string())
    );
}

#[test]
fn the_same_row_stays_under_the_finger() {
    let mut app = live(120, 30);
    at(&mut app, 5_000);
    keys(&mut app, "jjj");
    let name = selected(&app);
    let order: Vec<String> = names(&app).iter().map(|name| name.to_string()).collect();
    // In this snapshot, `risk::check` takes more time than `book::apply`.
    let mut turned = snapshot(1_350);
    turned.nodes.self_ticks[7] *= 100;
    at(&mut app, 6_900);
    gets(&mut app, turned);
    assert_eq!(names(&app), order, "no row moves within two seconds after a key");
    let due = app.deadline().expect("the order is due");
    at(&mut app, due.as_millis() as u64);
    assert_ne!(names(&app), order, "then they do");
    assert_eq!((selected(&app), app.deadline()), (name, None));
}

#[test]
fn rows_change_places_at_most_once_a_second() {
    let mut app = live(120, 30);
    at(&mut app, 5_000);
    gets(&mut app, snapshot(1_350));
    let order: Vec<String> = names(&app).iter().map(|name| name.to_string()).collect();
    let mut turned = snapshot(1_351);
    turned.nodes.self_ticks[7] *= 100;
    at(&mut app, 5_900);
    gets(&mut app, turned);
    assert_eq!(names(&app), order);
    at(&mut app, 6_000);
    assert_ne!(names(&app), order);
}

#[test]
fn what_vanishes_gives_way_to_what_is_above_it_and_comes_back() {
    let mut app = live(120, 30).after("jjjj");
    assert_eq!(selected(&app), "tree::rebalance");
    let mut young = snapshot(1_341);
    // Only `match::run` and `match::step` of the first thread are left.
    young.threads.truncate(1);
    young.threads[0].rows = 2;
    for column in [&mut young.nodes.parent, &mut young.nodes.site] {
        column.truncate(2);
    }
    young.nodes.calls.truncate(2);
    young.latencies = Default::default();
    young.nodes.self_ticks.truncate(2);
    gets(&mut app, young);
    assert_eq!(selected(&app), "match::step", "the nearest that is left");
    gets(&mut app, snapshot(1_342));
    assert_eq!(selected(&app), "tree::rebalance", "it is what was chosen");
}

#[test]
fn the_list_stays_at_its_top_until_a_row_is_chosen() {
    let mut app = live(60, 7);
    let mut overtaken = snapshot(1_350);
    overtaken.nodes.self_ticks[18] *= 400;
    at(&mut app, 5_000);
    gets(&mut app, overtaken);
    assert_eq!(names(&app)[0], "ingest::run");
    assert_eq!((&*selected(&app), app.list().cursor.offset), ("ingest::run", 0));
}

//! The function view, focus, bottom-up, folded recursion, and other places: through the keys.

use super::*;
use crate::test_driver::looks;
use tickscope_format::ids::{NodeId, SiteId};
use tickscope_format::snapshot::{Mode, OpenFrame};

/// The made-up program, where `cancel` inserts again below `rebalance`, and `encode` is called from `decode` as well.
fn recursive(tenths: u64) -> Snapshot {
    let mut s = snapshot(tenths);
    // The thread `main` is the last one: its rows may grow.
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

fn stage(width: u16, height: u16) -> Model {
    let mut model = empty(width, height);
    news(&mut model, Status::Live, Some(recursive(1_340)));
    model
}

fn title(model: &Model) -> String {
    let y = model.layout().title.map_or(0, |title| title.y);
    text(model)
        .lines()
        .nth(usize::from(y))
        .unwrap_or_default()
        .trim()
        .to_string()
}

/// Names of a list with what its numbers say, as far as a test reads them.
fn shares(model: &Model) -> Vec<(String, u64, u64)> {
    let data = model.data.as_ref().expect("there is data");
    let rows = model.list().rows.iter().filter(|row| !row.is_heading());
    rows.map(|row| {
        let figures = data.figures(row.what);
        (
            data.label(row.what).to_string(),
            figures.total_ns / 1_000_000,
            figures.calls,
        )
    })
    .collect()
}

fn row(name: &str, ms: u64, calls: u64) -> (String, u64, u64) {
    (name.to_string(), ms, calls)
}

#[test]
fn three_shows_what_was_selected() {
    let mut model = stage(120, 30);
    keys(&mut model, "jj3");
    assert!(
        title(&model).starts_with("orderbook_sim::book::apply"),
        "{}",
        text(&model)
    );
    assert_eq!(selected(&model), "(self)");
    keys(&mut model, "1j3");
    assert!(
        title(&model).starts_with("orderbook_sim::book::apply"),
        "it stays"
    );
    let mut model = stage(120, 30);
    keys(&mut model, "2jj3");
    assert!(
        title(&model).starts_with("orderbook_sim::book::apply"),
        "{}",
        text(&model)
    );
}

#[test]
fn headings_come_and_go_with_the_room_for_them() {
    let mut model = stage(120, 30);
    keys(&mut model, "jj3");
    let headings = |model: &Model| model.list().rows.iter().filter(|row| row.is_heading()).count();
    assert_eq!(headings(&model), 2);
    for (height, wanted) in [(6, 0), (30, 2)] {
        model.update(Message::Resize(ratatui::layout::Size::new(120, height)));
        assert_eq!(headings(&model), wanted, "{}", text(&model));
        assert_eq!(selected(&model), "(self)");
    }
}

#[test]
fn callers_itself_and_callees_add_up() {
    let mut model = stage(120, 30);
    keys(&mut model, "/insert");
    key(&mut model, Code::Enter);
    key(&mut model, Code::Enter);
    assert_eq!(model.view, View::Function);
    let lines = shares(&model);
    assert_eq!(
        lines,
        [
            row("book::apply", 71_030, 5_610_000),
            row("stats::publish", 3_750, 100),
            row("book::cancel", 0, 0),
            row("(self)", 25_400, 5_610_160),
            row("tree::rebalance", 41_300, 1_870_000),
            row("alloc::slab_get", 7_080, 5_610_040),
            row("book::cancel", 1_000, 80),
        ]
    );
    let whole = 71_030 + 3_750;
    assert_eq!(lines[3..].iter().map(|line| line.1).sum::<u64>(), whole);
    let screen = text(&model);
    assert!(
        screen.contains("5.61M+60") && screen.contains("book::cancel ↻"),
        "{screen}"
    );
    assert!(
        screen.contains("60/5.61M"),
        "recursive calls have their caller\n{screen}"
    );
}

#[test]
fn enter_goes_on_and_escape_goes_the_way_back() {
    let mut model = stage(120, 30);
    keys(&mut model, "jj");
    key(&mut model, Code::Enter);
    let first = title(&model);
    keys(&mut model, "j");
    assert_eq!(selected(&model), "book::insert");
    key(&mut model, Code::Enter);
    assert!(title(&model).contains("book::insert"));
    keys(&mut model, "gk");
    assert_eq!(selected(&model), "book::apply", "a heading is no row");
    key(&mut model, Code::Enter);
    assert_eq!(title(&model), first);
    key(&mut model, Code::Esc);
    assert_eq!(selected(&model), "book::apply", "where it was left");
    key(&mut model, Code::Esc);
    assert_eq!(
        (title(&model), selected(&model)),
        (first, "book::insert".to_string())
    );
    key(&mut model, Code::Esc);
    assert_eq!(
        (model.view, selected(&model)),
        (View::Tree, "book::apply".to_string())
    );
    key(&mut model, Code::Esc);
    assert_eq!(model.view, View::Tree, "no further");
}

#[test]
fn a_function_shows_its_place_in_the_tree_and_escape_returns() {
    let mut model = stage(120, 30);
    keys(&mut model, "2jjj");
    key(&mut model, Code::Enter);
    keys(&mut model, "jt");
    assert_eq!(
        (model.view, selected(&model)),
        (View::Tree, "wire::checksum".to_string())
    );
    key(&mut model, Code::Esc);
    assert_eq!(model.view, View::Function);
    key(&mut model, Code::Esc);
    assert_eq!(model.view, View::Hot);
}

#[test]
fn the_function_stays_over_snapshots_and_restarts() {
    let mut model = stage(80, 24);
    keys(&mut model, "jjj3j");
    let (before, name) = (title(&model), selected(&model));
    at(&mut model, 10_000);
    news(&mut model, Status::Live, Some(in_epoch(9, 3)));
    assert_eq!((title(&model), selected(&model)), (before.clone(), name.clone()));
    let mut gone = recursive(1_340);
    gone.threads.truncate(0);
    gone.nodes = Default::default();
    gone.latencies = Default::default();
    news(&mut model, Status::Live, Some(gone));
    let screen = text(&model);
    assert!(screen.contains(" in this snapshot. 2 shows what was"), "{screen}");
    news(&mut model, Status::Live, Some(recursive(1_400)));
    assert_eq!((title(&model), selected(&model)), (before, name));
}

#[test]
fn percents_are_of_the_function_or_of_all() {
    let mut model = stage(120, 30);
    keys(&mut model, "jj3g");
    assert!(text(&model).contains("100.0%") && text(&model).contains("% of this function"));
    keys(&mut model, "%");
    assert!(!text(&model).contains("100.0% █") && text(&model).contains("% of measured"));
    keys(&mut model, "1");
    assert!(text(&model).contains("% of measured"), "the tree has its own");
    keys(&mut model, "3%");
    assert!(text(&model).contains("% of this function"));
}

#[test]
fn a_search_finds_callers_and_callees() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjj3/cancel");
    assert_eq!(selected(&model), "book::cancel");
    assert!(last_line(&model).contains("match"), "{}", last_line(&model));
    key(&mut model, Code::Enter);
    keys(&mut model, "\\");
    assert_eq!(shares(&model).len(), 2, "once as caller, once as callee");
    key(&mut model, Code::Esc);
    assert_eq!(shares(&model).len(), 7);
}

#[test]
fn callers_and_callees_sort_by_themselves() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjj3>");
    assert!(text(&model).contains("CALLS▼"), "{}", text(&model));
    let names: Vec<String> = shares(&model).into_iter().map(|line| line.0).collect();
    assert_eq!(names[3..5], ["(self)", "alloc::slab_get"], "by calls");
    keys(&mut model, "I");
    let names: Vec<String> = shares(&model).into_iter().map(|line| line.0).collect();
    assert_eq!(names[0], "book::cancel");
    assert_eq!(names[3], "(self)");
}

#[test]
fn a_function_in_focus_stands_at_the_top() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjj");
    assert_eq!(selected(&model), "book::insert");
    keys(&mut model, "f");
    assert_eq!(
        (selected(&model).as_str(), names(&model)[0]),
        ("book::insert", "book::insert")
    );
    assert_eq!(shares(&model)[0], row("book::insert", 71_030 + 3_750, 5_610_100));
    let screen = text(&model);
    assert!(
        screen.contains("focus book::insert") && screen.contains("% of focus"),
        "{screen}"
    );
    assert!(screen.contains("100.0%"));
    assert!(
        last_line(&model).contains("Esc everything"),
        "{}",
        last_line(&model)
    );
    // Hot shows what is below, and totals of the focus.
    keys(&mut model, "2");
    assert!(!names(&model).contains(&"match::step") && names(&model).contains(&"tree::rebalance"));
    keys(&mut model, "1f");
    assert_eq!(
        (selected(&model).as_str(), names(&model)[0]),
        ("book::insert", "match::run")
    );
    keys(&mut model, "f");
    key(&mut model, Code::Esc);
    assert_eq!(
        (selected(&model).as_str(), names(&model)[0]),
        ("book::insert", "match::run")
    );
}

#[test]
fn a_hotspot_in_focus() {
    let mut model = stage(120, 30);
    keys(&mut model, "2/apply");
    key(&mut model, Code::Enter);
    key(&mut model, Code::Esc);
    assert_eq!(selected(&model), "book::apply");
    keys(&mut model, "f");
    assert_eq!(selected(&model), "book::apply");
    assert_eq!(names(&model).len(), 5);
    keys(&mut model, "f");
    assert_eq!(
        (selected(&model).as_str(), names(&model).len()),
        ("book::apply", 15)
    );
    keys(&mut model, "F");
    assert_eq!(names(&model).len(), 5);
}

#[test]
fn a_subtree_in_focus_and_one_in_it() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjF");
    assert_eq!(names(&model)[0], "book::apply");
    keys(&mut model, "jf");
    assert_eq!((names(&model)[0], shares(&model)[0].1), ("book::insert", 71_030));
    key(&mut model, Code::Esc);
    assert_eq!(
        (names(&model)[0], selected(&model).as_str()),
        ("book::apply", "book::insert")
    );
    key(&mut model, Code::Esc);
    assert_eq!(names(&model)[0], "match::run");
    keys(&mut model, "gjjFF");
    assert_eq!(names(&model)[0], "match::run", "the same key leaves it");
}

#[test]
fn a_narrow_screen_keeps_the_end_of_what_is_in_focus() {
    for (width, words) in [
        (120, "focus tree::rebalance"),
        (60, "focus tree::rebalance"),
        (40, "focus tree::rebalance"),
        (24, "rebalance"),
    ] {
        let mut model = stage(width, 15);
        keys(&mut model, "jjjjf");
        let line = text(&model).lines().nth(1).unwrap_or_default().to_string();
        assert!(line.contains(words), "{line}");
    }
}

#[test]
fn a_focus_that_is_not_there_says_so_and_comes_back() {
    let mut model = stage(60, 15);
    keys(&mut model, "jjf");
    let mut gone = recursive(1_340);
    gone.threads.truncate(0);
    gone.nodes = Default::default();
    gone.latencies = Default::default();
    news(&mut model, Status::Live, Some(gone));
    assert!(
        text(&model).contains(" in this snapshot. Esc shows"),
        "{}",
        text(&model)
    );
    assert!(
        text(&model).contains("FUNCTION  focus book::apply"),
        "{}",
        text(&model)
    );
    news(&mut model, Status::Live, Some(recursive(1_400)));
    assert_eq!(selected(&model), "book::apply");
    let mut gone = recursive(1_340);
    gone.threads.truncate(0);
    gone.nodes = Default::default();
    gone.latencies = Default::default();
    news(&mut model, Status::Live, Some(gone));
    key(&mut model, Code::Esc);
    news(&mut model, Status::Live, Some(recursive(1_400)));
    assert_eq!(
        (names(&model)[0], selected(&model).as_str()),
        ("match::run", "book::apply")
    );
}

#[test]
fn bottom_up_says_who_called() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjji");
    assert_eq!(selected(&model), "book::insert");
    assert_eq!(names(&model)[0], "risk::check", "by self time");
    assert!(text(&model).contains("bottom-up") && text(&model).contains("%TOP"));
    key(&mut model, Code::Right);
    let at = model.list().cursor.index;
    assert_eq!(
        shares(&model)[at..at + 4],
        [
            row("book::insert", 25_400, 5_610_160),
            row("book::apply", 22_900, 5_610_000),
            row("stats::publish", 2_000, 100),
            row("book::cancel", 500, 60),
        ]
    );
    keys(&mut model, "i");
    assert_eq!(
        (names(&model)[0], selected(&model).as_str()),
        ("match::run", "book::insert")
    );
}

#[test]
fn self_times_are_not_taken_for_short_calls() {
    let mut dear = recursive(1_340);
    (dear.capture.cost.lower_ns, dear.capture.cost.upper_ns) = (200.0, 600.0);
    let mut model = empty(120, 30);
    news(&mut model, Status::Live, Some(dear));
    assert!(text(&model).contains('†'));
    keys(&mut model, "i");
    assert!(!text(&model).contains('†'), "{}", text(&model));
}

#[test]
fn recursion_folds_into_one_row() {
    let mut model = stage(120, 30);
    keys(&mut model, "GE");
    let before = model.list().rows.len();
    keys(&mut model, "c");
    assert_eq!(model.list().rows.len(), before - 1);
    assert!(
        last_line(&model).contains("recursion in one row; c shows it call by call"),
        "{}",
        last_line(&model)
    );
    let screen = text(&model);
    assert!(
        screen.contains("book::insert • ↻") || screen.contains("book::insert ↻ •"),
        "{screen}"
    );
    let folded = shares(&model)
        .into_iter()
        .find(|line| *line == row("book::insert", 3_750, 160));
    assert!(folded.is_some(), "{:?}", shares(&model));
    // Below the recursive function stands what was called by its second call alone.
    let moved = "folded recursion put this row here: c unfolds it, then F";
    keys(&mut model, "G");
    for _ in 0..before {
        keys(&mut model, "F");
        if last_line(&model).contains(moved) {
            break;
        }
        keys(&mut model, "Fk");
    }
    assert!(last_line(&model).contains(moved), "{}", text(&model));
    keys(&mut model, "c");
    assert_eq!(model.list().rows.len(), before);
}

#[test]
fn the_pane_below_knows_the_threads_in_every_shape() {
    let mut model = stage(120, 30);
    let threads = |model: &Model| {
        let detail = model.detail.as_ref().expect("there is a pane");
        detail
            .threads
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    keys(&mut model, "jjjf");
    assert_eq!(threads(&model), ["match-0", "match-1", "main"]);
    assert!(text(&model).contains("running in"), "{}", text(&model));
    keys(&mut model, "i");
    assert_eq!(selected(&model), "book::insert");
    assert_eq!(threads(&model), ["match-0", "match-1", "main"]);
    keys(&mut model, "ic");
    assert_eq!(threads(&model), ["match-0", "match-1", "main"]);
}

#[test]
fn other_places_of_a_function() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjj#");
    assert_eq!(selected(&model), "book::insert");
    assert!(
        last_line(&model).contains("place 2 of 3"),
        "{}",
        last_line(&model)
    );
    keys(&mut model, "##");
    assert!(
        last_line(&model).contains("place 1 of 3"),
        "{}",
        last_line(&model)
    );
    assert_eq!(model.list().cursor.index, 3, "around to where it began");
    keys(&mut model, "g#");
    assert!(
        last_line(&model).contains("this is its only place"),
        "{}",
        last_line(&model)
    );
}

#[test]
fn the_row_stays_under_the_finger_while_callees_change_places() {
    let mut model = stage(120, 30);
    keys(&mut model, "jjj3jj");
    let before = (selected(&model), line(&model));
    assert_eq!(before.0, "alloc::slab_get");
    for tenths in [1_341, 1_350, 1_360] {
        at(&mut model, tenths);
        let mut turned = recursive(tenths);
        // What comes last costs most from now on.
        let cancel = turned.nodes.len() - 4;
        turned.nodes.self_ticks[cancel] = 900_000_000_000;
        news(&mut model, Status::Live, Some(turned));
        assert_eq!((selected(&model), line(&model)), before, "at {tenths}");
    }
    at(&mut model, 20_000);
    assert_eq!(selected(&model), before.0, "sorted anew");
    assert_eq!(shares(&model)[4].0, "book::cancel");
}

#[test]
fn sums_hold_on_every_screen() {
    for typed in ["", "i", "c", "ci", "jjjf", "jjjfi", "jjF", "jjFc"] {
        let mut model = stage(120, 30);
        keys(&mut model, typed);
        let data = model.data.as_ref().expect("there is data");
        for (index, row) in data.tree.rows.iter().enumerate() {
            let children = data.tree.children(index as u32);
            let below: u64 = children
                .iter()
                .map(|&row| data.tree.rows[row as usize].total_ns)
                .sum();
            assert_eq!(row.total_ns, row.self_ns + below, "{typed}");
        }
        let top: u64 = data
            .tree
            .top()
            .iter()
            .map(|&row| data.tree.rows[row as usize].total_ns)
            .sum();
        assert_eq!(top, data.measured_ns, "{typed}");
    }
}

#[test]
fn every_size_draws_a_function() {
    let widths = [0, 1, 19, 20, 25, 39, 40, 44];
    for (width, height) in widths
        .into_iter()
        .flat_map(|width| (0..14).map(move |height| (width, height)))
    {
        let mut model = stage(width, height);
        for typed in ["jjj3", "j", "G", "g", "%", "/can"] {
            keys(&mut model, typed);
            crate::test_driver::screen(&model);
            let row = model.list().selected();
            assert!(
                row.is_some_and(|row| !row.is_heading()),
                "{width}x{height} {typed}"
            );
        }
    }
}

#[test]
fn opening_rows_of_a_large_tree_asks_for_their_callers() {
    // A stack so deep that its callers are not all looked up at once: 450 * 451 / 2 steps.
    let mut deep = recursive(1_340);
    for at in 0..450 {
        let last = NodeId(deep.nodes.len() as u32 - 1);
        let site = deep.sites.len() as u32;
        let mut named = deep.sites[14].clone();
        named.name = format!("level_{at:03}");
        deep.sites.push(named);
        deep.nodes.push(Some(last), SiteId(site), 1, 1_000_000_000);
        deep.threads.last_mut().expect("there are threads").rows += 1;
    }
    let mut model = empty(120, 30);
    news(&mut model, Status::Live, Some(deep));
    keys(&mut model, "i/level_449");
    key(&mut model, Code::Enter);
    key(&mut model, Code::Esc);
    let top = model.list().cursor.index;
    keys(&mut model, "E");
    let last = |model: &Model| {
        let rows = &model.list().rows[top + 1..];
        top + rows.iter().position(|row| row.depth == 0).unwrap_or(rows.len())
    };
    let end = last(&model);
    assert!((100..449).contains(&(end - top)), "callers of {} rows", end - top);
    model.select(end);
    let depth = model.list().rows[end].depth;
    key(&mut model, Code::Right);
    key(&mut model, Code::Right);
    assert_eq!(selected(&model), format!("stats::level_{:03}", 449 - depth - 1));
    assert!(matches!(
        model.list().selected().map(|row| row.fold),
        Some(Fold::Closed(_))
    ));
}

#[test]
fn screens() {
    for (width, height) in [(120, 30), (80, 24), (60, 15), (40, 10), (20, 5)] {
        let mut model = stage(width, height);
        keys(&mut model, "jjj3j");
        insta::assert_snapshot!(format!("function_{width}x{height}"), looks(&model));
    }
    for (width, height) in [(120, 30), (60, 15)] {
        let mut model = empty(width, height);
        let estimated = crate::modes::in_mode(Mode::Adaptive, snapshot(1_340));
        news(&mut model, Status::Live, Some(estimated));
        keys(&mut model, "jjj3j");
        insta::assert_snapshot!(format!("function_adaptive_{width}x{height}"), looks(&model));
    }
    let mut model = stage(120, 30);
    keys(&mut model, "jjjil");
    at(&mut model, 6_000);
    insta::assert_snapshot!("bottom_up_120x30", looks(&model));
    let mut model = stage(120, 30);
    keys(&mut model, "jjjf");
    insta::assert_snapshot!("focus_120x30", looks(&model));
    let mut model = Model::new(ratatui::layout::Size::new(80, 24), ThemeKind::Mono, true, Some(0));
    news(&mut model, Status::Live, Some(recursive(1_340)));
    keys(&mut model, "jjj3j");
    insta::assert_snapshot!("function_ascii_mono_80x24", looks(&model));
    assert!(text(&model).is_ascii());
}

//! The flame graph: where frames are, how the cursor moves through them, and what stays in place while times change.

use std::cmp::Ordering;

use proptest::prelude::*;
use tickscope_analysis::call_tree::CallTree;
use tickscope_format::snapshot::Site;
use tickscope_report::trend::Trend;

use super::*;
use crate::app::flame::{Frame, lay_out};
use crate::app::view::Below;
use crate::ui::theme::Ground;

/// Returns a call tree with one thread. Each item of `rows` says how far back in the list the parent of the row is, and how
/// much self time the row has.
fn tree_of(rows: &[(usize, u64)]) -> CallTree {
    let mut s = Snapshot::default();
    for (index, &(back, self_ns)) in rows.iter().enumerate() {
        let parent = index
            .checked_sub(back % (index + 2))
            .filter(|&parent| parent < index);
        s.sites.push(Site {
            name: format!("f{index}"),
            file: "f.rs".into(),
            ..Site::default()
        });
        s.nodes.push(
            parent.map(|parent| NodeId(parent as u32)),
            SiteId(index as u32),
            1,
            self_ns,
        );
    }
    s.threads.push(Thread {
        rows: rows.len() as u32,
        count: 1,
        ..Thread::default()
    });
    CallTree::build(&s, |_| true)
}

fn by_row(a: u32, b: u32) -> Ordering {
    a.cmp(&b)
}

/// Returns the frames directly below a frame or, if there is no parent, the frames of the first line.
fn below(frames: &[Frame], parent: Option<u32>) -> Vec<&Frame> {
    frames.iter().filter(|frame| frame.parent == parent).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn frames_stand_side_by_side_inside_of_the_frame_above(
        rows in proptest::collection::vec((0usize..40, prop_oneof![Just(0u64), 1u64..50, 1u64..5_000, Just(1 << 57)]), 0..60),
        width in 0u16..200,
        zoom in any::<Option<u16>>(),
    ) {
        let tree = tree_of(&rows);
        let zoom = zoom
            .filter(|_| !tree.rows.is_empty())
            .map(|zoom| u32::from(zoom) % tree.rows.len() as u32);
        let frames = lay_out(&tree, zoom, width, by_row);
        let total = |row: u32| tree.rows[row as usize].total_ns;
        let spaces = std::iter::once(None).chain((0..frames.len() as u32).map(Some));
        for parent in spaces {
            let above = parent.map(|parent| frames[parent as usize]);
            if above.is_some_and(|above| above.few > 0) {
                prop_assert!(below(&frames, parent).is_empty(), "a frame of several rows has no frame below");
                continue;
            }
            let (x, cells) = above.map_or((0, width), |above| (above.x, above.width));
            let mut end = x;
            for frame in below(&frames, parent) {
                prop_assert_eq!(frame.line, above.map_or(0, |above| above.line + 1));
                prop_assert_eq!(frame.x, end, "no gap and no overlap: {:?}", frame);
                prop_assert!(frame.width > 0 || width == 0);
                end += frame.width;
            }
            prop_assert!(end <= x + cells, "inside of the frame above");
            // The cells that are not covered by a child stand for the frame's self time, to the nearest cell.
            let zoomed_past = zoom.is_some_and(|zoom| {
                above.is_none_or(|above| tree.rows[zoom as usize].depth > above.line)
            });
            if zoomed_past || width == 0 {
                continue;
            }
            let whole = above.and_then(|above| above.row).map_or(tree.measured_ns(), total);
            let own = above
                .and_then(|above| above.row)
                .map_or(0, |row| tree.rows[row as usize].self_ns);
            if whole > 0 {
                let exact = own as f64 / whole as f64 * f64::from(cells);
                let left = f64::from(x + cells - end);
                prop_assert!((left - exact).abs() <= 0.5 + 1e-6, "{} cells for {}", left, exact);
            }
            // Each row whose time is worth at least one cell has a frame of its own.
            let children: &[u32] = match above.and_then(|above| above.row) {
                Some(row) => tree.children(row),
                None => tree.top(),
            };
            for &child in children {
                let worth = u128::from(total(child)) * u128::from(cells) >= u128::from(whole);
                let has = below(&frames, parent).iter().any(|frame| frame.row == Some(child) && frame.few == 0);
                prop_assert_eq!(has, worth && total(child) > 0);
            }
        }
        let mut order = frames.clone();
        order.sort_by_key(|frame| (frame.line, frame.x));
        prop_assert!(width == 0 || order == frames, "line by line, from left to right");
    }
}

fn flame() -> App {
    live(120, 30).after("5")
}

/// Returns the position of the first cell of a name in the list.
fn place_of(app: &App, name: &str) -> (u16, u16) {
    let screen = text(app);
    let rows = app.layout().rows;
    for y in rows.top()..rows.bottom() {
        let line = screen.lines().nth(usize::from(y)).unwrap_or_default();
        if let Some(at) = line.find(name) {
            return (line[..at].chars().count() as u16, y);
        }
    }
    panic!("no {name} in\n{screen}")
}

#[test]
fn arrows_lead_beside_down_to_the_largest_and_up_again() {
    let mut app = flame();
    assert_eq!(selected(&app), "match::run", "the largest");
    key(&mut app, Code::Left);
    assert_eq!(selected(&app), "ingest::run");
    key(&mut app, Code::Right);
    key(&mut app, Code::Down);
    key(&mut app, Code::Down);
    // `book::apply` takes more time than `risk::check` and `wire::encode`.
    assert_eq!(selected(&app), "book::apply");
    key(&mut app, Code::Right);
    assert_eq!(selected(&app), "risk::check");
    key(&mut app, Code::Up);
    assert_eq!(selected(&app), "match::step");
    key(&mut app, Code::Left);
    key(&mut app, Code::Left);
    key(&mut app, Code::Left);
    assert_eq!(selected(&app), "queue::push", "and no further");
    keys(&mut app, "G");
    assert_eq!(selected(&app), "queue::push", "nothing is below");
    keys(&mut app, "llkG");
    assert_eq!(selected(&app), "tree::rebalance", "down the largest to its end");
    keys(&mut app, "g");
    assert_eq!(selected(&app), "match::run");
}

#[test]
fn enter_zooms_and_escape_or_up_leads_out() {
    let mut app = flame().after("jj\n");
    let width = |app: &App| {
        let row = app.list().cursor.index;
        app.views.flame.frame(row).map(|frame| frame.width)
    };
    assert_eq!((selected(&app).as_str(), width(&app)), ("book::apply", Some(120)));
    let screen = text(&app);
    has(&screen, "match::run");
    has(&screen, "match::step");
    assert!(!screen.contains("ingest::run"), "beside it there is no room");
    keys(&mut app, "j");
    assert_eq!(selected(&app), "book::insert");
    keys(&mut app, "kk");
    assert_eq!((selected(&app).as_str(), width(&app)), ("match::step", Some(120)));
    assert!(text(&app).contains("risk::check") && !text(&app).contains("ingest::run"));
    key(&mut app, Code::Esc);
    assert!(text(&app).contains("ingest::run"));
    assert_eq!(selected(&app), "match::step");
    assert_eq!(app.views.current, View::Flame, "one step, not two");
}

#[test]
fn the_selected_frame_stays_whatever_the_times() {
    let mut app = flame().after("jjl");
    assert_eq!(selected(&app), "risk::check");
    for tenths in [1_400, 2_000, 9_000] {
        at(&mut app, tenths * 10);
        let mut s = snapshot(tenths);
        // Other rows take more and more of the time.
        let rows = s.rows_of(ThreadId(2));
        for row in rows {
            s.nodes.self_ticks[row] *= tenths / 700;
        }
        gets(&mut app, s);
        assert_eq!(selected(&app), "risk::check");
    }
    // The selected row is now narrower than a cell, so its caller is selected until the row is visible again.
    let mut s = snapshot(1_400);
    for row in 0..s.nodes.len() {
        if s.site_of(NodeId(row as u32)).name == "check" {
            s.nodes.self_ticks[row] /= 1_000;
        }
    }
    gets(&mut app, s);
    assert_eq!(selected(&app), "match::step");
    gets(&mut app, snapshot(1_500));
    assert_eq!(selected(&app), "risk::check");
    app.update(Message::Resize(Size::new(60, 15)));
    assert_eq!(selected(&app), "risk::check");
}

#[test]
fn a_click_selects_and_a_second_one_zooms() {
    let mut app = flame();
    let (x, y) = place_of(&app, "risk::check");
    app.update(Message::Click(x, y));
    assert_eq!(selected(&app).as_str(), "risk::check");
    assert!(!app.views.flame.is_zoomed());
    app.update(Message::Click(x, y));
    assert!(app.views.flame.is_zoomed() && !text(&app).contains("book::apply"));
    let (x, y) = place_of(&app, "match::run");
    app.update(Message::Click(x, y));
    app.update(Message::Click(x, y));
    // The second click zoomed out to the clicked frame.
    shows(&app, "book::apply");
}

#[test]
fn it_leads_to_the_tree_and_searches_find_what_is_small() {
    let mut app = flame().after("jjlt");
    stands(&app, View::Tree, "risk::check");
    key(&mut app, Code::Esc);
    stands(&app, View::Flame, "risk::check");

    let mut app = live(40, 15);
    let open = app.views.expanded.paths().len();
    keys(&mut app, "5");
    keys(&mut app, "/publish\n");
    assert_eq!(selected(&app), "stats::publish", "\n{}", text(&app));
    assert!(app.views.flame.is_zoomed());
    // The search did not open any rows of the tree.
    assert_eq!(app.views.expanded.paths().len(), open);
}

#[test]
fn the_wheel_moves_the_graph_and_deep_frames_come_into_sight() {
    let mut app = live(60, 6).after("5G");
    let screen = text(&app);
    assert_eq!(selected(&app), "tree::rebalance");
    assert!(screen.matches("reba").count() == 2, "{screen}");
    assert!(!screen.contains("ingest::run"), "{screen}");
    app.update(Message::Wheel(-9, 0, 0));
    shows(&app, "ingest::run");
    gets(&mut app, snapshot(1_341));
    assert!(text(&app).contains("ingest::run"), "it stays where it was put");
}

#[test]
fn what_fills_the_width_comes_back_after_a_reset() {
    let mut app = flame().after("jj\n");
    assert!(app.views.flame.is_zoomed());
    gets(&mut app, without_rows(in_epoch(2, 1)));
    assert!(!app.views.flame.is_zoomed() && text(&app).contains("No scope has been entered"));
    gets(&mut app, snapshot(30));
    assert!(app.views.flame.is_zoomed());
    assert_eq!(selected(&app), "book::apply");
}

#[test]
fn a_frame_takes_two_rows_of_the_screen_where_all_of_them_fit() {
    let mut app = flame();
    assert!(app.views.flame.frames.tall, "six lines on twenty rows");
    let (x, y) = place_of(&app, "book::insert");
    for y in [y, y + 1] {
        key(&mut app, Code::Home);
        app.update(Message::Click(x, y));
        assert_eq!(selected(&app), "book::insert", "both rows are the frame");
    }
    app.update(Message::Resize(Size::new(120, 12)));
    assert!(!app.views.flame.frames.tall, "six lines on eight rows");
    let (x, y) = place_of(&app, "book::insert");
    key(&mut app, Code::Home);
    app.update(Message::Click(x, y));
    assert_eq!(selected(&app), "book::insert");
}

#[test]
fn large_screens_have_the_graph_below_the_tree() {
    let mut app = live(200, 50);
    assert_eq!(app.below(), Below::Flame);
    shows(&app, " flame ");
    keys(&mut app, "jj");
    let second = app.layout().second.expect("it is there");
    let buffer = screen(&app);
    let on_white = |y| (0..200).any(|x| buffer[(x, y)].bg == ratatui::style::Color::White);
    let lines: Vec<u16> = (second.top()..second.bottom()).filter(|&y| on_white(y)).collect();
    let tall = app.views.flame.frames.rows_of_frame();
    let third = second.y + 1 + 2 * tall;
    // The lines with a white background show the third line of the graph, which contains `book::apply`.
    assert_eq!(lines, (third..third + tall).collect::<Vec<_>>());
    // Keys act on the view above the graph: Tab shows the next view.
    key(&mut app, Code::Tab);
    assert_eq!(app.views.current, View::Hot);
    keys(&mut app, "1P");
    assert_eq!(app.below(), Below::Timeline);
    keys(&mut app, "P");
    assert_eq!(app.below(), Below::Nothing);
    let mut small = live(120, 40);
    assert_eq!(small.below(), Below::Nothing);
    keys(&mut small, "P");
    assert_eq!(small.below(), Below::Flame);
    shows(&small, " flame ");
    keys(&mut small, "i");
    // Rows of a bottom-up tree are not parts of the rows above them, so there is no graph.
    assert_eq!(small.below(), Below::Nothing);
    let low = live(120, 24).after("P");
    assert!(low.below() == Below::Nothing && text(&low).contains("needs 30 lines"));
}

#[test]
fn a_key_switches_what_the_colours_of_frames_say() {
    let mut app = flame();
    let looks = |app: &App| looks(app);
    let (by_module, text_of) = (looks(&app), text(&app));
    has(&text_of, "engine");
    lacks(&text_of, "25 % or more");
    keys(&mut app, "R");
    assert!(text(&app).contains("25 % or more") && looks(&app) != by_module);
    keys(&mut app, "R");
    key(&mut app, Code::Esc);
    assert_eq!(looks(&app), by_module);
}

#[test]
fn where_moments_are_compared_frames_say_what_has_changed() {
    let mut app = flame().after("m");
    let mut more = snapshot(1_341);
    // A node of `check` takes as much additional time as all nodes together had taken, so half of all time is new.
    let all: u64 = more.nodes.self_ticks.iter().sum();
    let check = more
        .nodes
        .site
        .iter()
        .position(|&site| more.sites[site as usize].name == "check");
    more.nodes.self_ticks[check.expect("a node")] += all;
    gets(&mut app, more);
    keys(&mut app, "'");
    let screen = text(&app);
    has(&screen, "less than then");
    has(&screen, "more");
    has(&screen, "59 % +41.4");
    has(&screen, " -22.7");
    let theme = app.screen.theme;
    let ground = |app: &App, name: &str| {
        let (x, y) = place_of(app, name);
        crate::test_driver::screen(app)[(x, y)].bg
    };
    let wanted = |trend| {
        let styles = [false, true].map(|darker| theme.ground(Ground::Change(trend), darker).bg);
        styles.map(|bg| bg.expect("a colour"))
    };
    assert!(wanted(Trend::MuchMore).contains(&ground(&app, "risk::check")));
    assert!(wanted(Trend::MuchLess).contains(&ground(&app, "book::apply")));
}

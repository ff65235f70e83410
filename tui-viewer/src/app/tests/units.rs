//! Numbers per call of a row, in ticks, and of other measures than time.

use proptest::prelude::*;
use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Quantity;

use crate::app::message::Effect;
use crate::app::state::App;
use crate::keys::action::Action;
use crate::keys::decoder::Code;
use crate::orderbook::{allocating, snapshot};
use crate::source::status::Status;
use crate::test_driver::{events, key, keys, live, text};

/// The numbers of a row of the screen, by its name.
fn row(app: &App, name: &str) -> Vec<String> {
    let screen = text(app);
    let line = screen.lines().skip(3).find(|line| line.contains(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {screen}"));
    // Nothing is known of waiting here, which is told once.
    line.trim_start_matches('>')
        .replacen(" - ", " ", 1)
        .replacen(
            "  -  ",
            "  ",
            usize::from(app.screen.size.width >= 200 && screen.contains(" READY ")),
        )
        .split_whitespace()
        .filter(|word| word.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '%' || c == '-'))
        .take(8)
        .map(String::from)
        .collect()
}

#[test]
fn numbers_are_divided_by_the_calls_of_the_row() {
    let mut app = live(290, 30);
    // match::step: 8.41 M calls; tree::rebalance: 1.87 M.
    keys(&mut app, "j");
    let totals = row(&app, "book::insert");
    keys(&mut app, "b");
    let screen = text(&app);
    assert!(screen.contains("per call of match::step"), "{screen}");
    let step = row(&app, "match::step");
    assert_eq!(step[4], "1.00", "{screen}");
    assert_eq!(step[1], step[5], "its total is what a call takes: {screen}");
    let insert = row(&app, "book::insert");
    assert_eq!(insert[4], "0.67", "{screen}");
    for same in [0, 3, 5, 6] {
        assert_eq!(
            insert[same], totals[same],
            "shares, AVG and P50 are what they were: {screen}"
        );
    }
    assert!(row(&app, "match::run").contains(&"<0.01".to_string()), "{screen}");
    // In the other views too, and over snapshots.
    keys(&mut app, "2");
    assert!(text(&app).contains("per call of match::step"));
    assert_eq!(row(&app, "match::step")[4], "1.00", "{}", text(&app));
    events(&mut app, Status::Live, Some(snapshot(2_000)));
    assert_eq!(row(&app, "match::step")[4], "1.00", "{}", text(&app));
    keys(&mut app, "b");
    assert!(!text(&app).contains("per call of"), "{}", text(&app));
    keys(&mut app, "b");
    key(&mut app, Code::Esc);
    assert!(app.query.per_call.is_none() && app.views.current == crate::app::view::View::Hot);
}

#[test]
fn a_function_is_per_call_as_well() {
    let mut app = live(160, 30);
    // match::step: 8.41 M calls; book::apply calls book::insert 5.61 M times.
    keys(&mut app, "jjj");
    key(&mut app, Code::Enter);
    let totals = text(&app);
    keys(&mut app, "2gg1ggjb3");
    let screen = text(&app);
    assert!(screen.contains("per call of match::step"), "{screen}");
    let line = |screen: &str, at: usize| screen.lines().nth(at).unwrap_or_default().to_string();
    assert_eq!(
        line(&screen, 3).trim(),
        "total 8.45µs 26.5%   self 2.72µs 8.5%   calls 0.67   avg 12.7µs   p99 47µs"
    );
    assert!(line(&totals, 3).contains("calls 5.61M   avg 12.7µs"), "{totals}");
    assert!(screen.contains("0.67/0.67"), "{screen}");
    // Ticks are ticks everywhere.
    keys(&mut app, "bU");
    assert!(!line(&text(&app), 3).contains("µs"), "{}", text(&app));
}

#[test]
fn threads_and_sites_hold_to_the_unit_in_their_panes_as_well() {
    let pane = |app: &App| {
        let screen = text(app);
        let line = screen.lines().find(|line| line.contains("in scopes "));
        line.unwrap_or_else(|| panic!("{screen}")).to_string()
    };
    let mut app = live(120, 30);
    keys(&mut app, "jb4");
    // match-0: 118 s and 21.0 M calls; match::step was called 8.41 M times.
    let (thread, per) = {
        let data = app.derived.data.as_ref().expect("data");
        let rows = data.threads();
        (rows.iter().position(|row| row.name == "match-0"), per(&app))
    };
    let data = app.derived.data.as_ref().expect("data");
    let row = &data.threads()[thread.expect("a thread")];
    let per = per.expect("divided");
    let each = tickscope_report::number::duration((row.measured_ns + per / 2) / per);
    let screen = text(&app);
    assert!(pane(&app).contains(&format!("in scopes {each}")), "{screen}");
    assert!(!pane(&app).contains('M'), "{screen}");
    let listed = screen
        .lines()
        .find(|line| line.contains("match-0 "))
        .expect("a row");
    assert!(listed.contains(&each), "as its row says: {screen}");
    keys(&mut app, "bU");
    let ticks = tickscope_report::number::count(row_ns(&app));
    assert!(
        pane(&app).contains(&format!("in scopes {ticks}")),
        "{}",
        text(&app)
    );
    for unit in ["µs ", "ms ", "ns "] {
        assert!(!pane(&app).contains(unit), "{}", text(&app));
    }
    keys(&mut app, "U1b6");
    let screen = text(&app);
    let line = screen
        .lines()
        .find(|line| line.contains("by all threads"))
        .unwrap_or_else(|| panic!("{screen}"));
    let row = screen.lines().nth(3 + app.list().cursor.index).expect("a row");
    let calls = row.split_whitespace().next().expect("calls");
    assert!(line.contains(&format!("{calls} call")), "{screen}");
}

/// Time in scopes of the selected thread.
fn row_ns(app: &App) -> u64 {
    let data = app.derived.data.as_ref().expect("data");
    let row = app
        .list()
        .selected()
        .and_then(|row| row.what.row())
        .expect("a thread");
    data.threads()[row as usize].measured_ns
}

#[test]
fn without_calls_nothing_is_known_until_there_are_some() {
    let mut app = live(272, 30);
    keys(&mut app, "jb");
    events(
        &mut app,
        Status::Live,
        Some(without_calls(snapshot(1_341), "step")),
    );
    let step = row(&app, "book::insert");
    assert_eq!(
        (step[1].as_str(), step[2].as_str(), step[4].as_str()),
        ("-", "-", "-")
    );
    let words = text(&app).split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.contains("calls -"), "{}", text(&app));
    events(&mut app, Status::Live, Some(snapshot(1_342)));
    assert_eq!(row(&app, "match::step")[4], "1.00");
    // Nothing to divide by from the beginning is said.
    let mut app = live(120, 30);
    events(
        &mut app,
        Status::Live,
        Some(without_calls(snapshot(1_341), "step")),
    );
    keys(&mut app, "jb");
    assert!(app.query.per_call.is_none());
    assert!(
        text(&app).contains("match::step has no calls to divide by"),
        "{}",
        text(&app)
    );
}

fn without_calls(mut snapshot: Snapshot, name: &str) -> Snapshot {
    for node in 0..snapshot.nodes.site.len() {
        if snapshot.sites[snapshot.nodes.site[node] as usize].name == name {
            snapshot.nodes.calls[node] = 0;
        }
    }
    snapshot
}

#[test]
fn ticks_are_counts() {
    let mut app = live(120, 30);
    keys(&mut app, "jU");
    let screen = text(&app);
    assert!(screen.contains("   ticks"), "{screen}");
    let step = row(&app, "match::step");
    let (total, _) = {
        let data = app.derived.data.as_ref().expect("data");
        let row = data.tree.rows.iter().find(|row| row.depth == 1).expect("a row");
        (row.total_ticks, ())
    };
    assert_eq!(step[1], tickscope_report::number::count(total), "{screen}");
    assert!(
        !screen
            .lines()
            .skip(3)
            .take(15)
            .any(|line| line.contains("ns ") || line.contains("µs "))
    );
    keys(&mut app, "b");
    assert!(
        text(&app).contains("per call of match::step   ticks"),
        "{}",
        text(&app)
    );
    keys(&mut app, "U");
    assert!(!text(&app).contains("   ticks"));
    // Narrow screens say it in the header.
    for (width, height) in [(80, 24), (60, 15)] {
        let mut app = live(width, height);
        keys(&mut app, "jbU");
        let screen = text(&app);
        let header = screen.lines().next().unwrap_or_default();
        assert!(header.contains("per call ticks"), "{screen}");
    }
}

/// By what numbers are divided.
fn per(app: &App) -> Option<u64> {
    app.derived.data.as_ref().and_then(|data| data.per_calls)
}

#[test]
fn numbers_stay_per_call_bottom_up_folded_and_in_focus() {
    // Bottom-up a caller; all in focus; a function in focus, in the hotspots; folded.
    for (before, back) in [
        ("i", "i"),
        ("ilj", "i"),
        ("jjf", "\u{1b}"),
        ("2jf", "\u{1b}"),
        ("cj", "c"),
    ] {
        let mut app = live(120, 30);
        keys(&mut app, before);
        keys(&mut app, "b");
        let calls = per(&app).expect("per call");
        assert!(calls > 0, "{before}");
        events(&mut app, Status::Live, Some(snapshot(1_340)));
        assert_eq!(per(&app), Some(calls), "{before}: with the next snapshot");
        keys(&mut app, "2");
        events(&mut app, Status::Live, Some(snapshot(1_340)));
        assert_eq!(per(&app), Some(calls), "{before}: in another view");
        keys(&mut app, "1");
        match back {
            "\u{1b}" => app.query.filter = crate::app::filter::Filter::default(),
            letters => drop(keys(&mut app, letters)),
        }
        events(&mut app, Status::Live, Some(snapshot(1_340)));
        assert_eq!(per(&app), Some(calls), "{before}: the other way round again");
    }
}

/// The made-up program, in which one function is called half as often.
fn fewer_calls() -> Snapshot {
    let mut s = snapshot(1_340);
    for node in 0..s.nodes.site.len() {
        if s.sites[s.nodes.site[node] as usize].name == "insert" {
            s.nodes.calls[node] /= 2;
        }
    }
    s
}

#[test]
fn differences_per_call_have_decimals_and_differences_in_ticks_are_ticks() {
    let mut app = live(120, 30);
    app.compare_with(fewer_calls().into(), "before.tks".into());
    events(&mut app, Status::Live, Some(snapshot(1_340)));
    // The calls of `step` are the same; for each there were 0.33 of `insert`, and are 0.67.
    keys(&mut app, "jb");
    let screen = text(&app);
    assert!(
        row(&app, "book::insert").contains(&"+0.34".to_string()),
        "{screen}"
    );
    keys(&mut app, "b");
    events(&mut app, Status::Live, Some(snapshot(1_400)));
    let times = |app: &App| {
        let words = row(app, "book::insert").into_iter();
        words.filter(|word| word.ends_with('s')).count()
    };
    assert!(times(&app) >= 3, "{}", text(&app));
    keys(&mut app, "U");
    assert_eq!(times(&app), 0, "{}", text(&app));
    keys(&mut app, "4");
    let threads = text(&app);
    assert!(
        threads.contains("ticks") && threads.contains("+5.63G"),
        "{threads}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn numbers_never_outgrow_their_columns(per in 0u64.., shift in 0u32..64) {
        let mut app = live(120, 30);
        keys(&mut app, "jb");
        app.derived.data.as_mut().expect("data").per_calls = Some(per >> shift);
        for ticks in [false, true] {
            app.query.in_ticks = ticks;
            let screen = text(&app);
            for line in screen.lines().skip(3).take(15) {
                let cells: Vec<char> = line.chars().collect();
                for gap in [19, 20, 27, 28, 35, 36, 43, 44, 51, 52] {
                    prop_assert!(cells.get(gap).is_none_or(|&c| c == ' '), "{} in {}", gap, line);
                }
            }
        }
    }
}

#[test]
fn v_goes_through_what_the_program_counts() {
    let mut app = live(120, 30);
    assert!(!app.offers(Action::Measure));
    // This one counts nothing but calls.
    keys(&mut app, "v");
    assert!(text(&app).contains("by calls"), "{}", text(&app));
    keys(&mut app, "v");
    assert_eq!(app.measure(), Measure::Time);
    events(&mut app, Status::Live, Some(allocating(1_341)));
    key(&mut app, Code::Down);
    assert!(app.offers(Action::Measure));
    let mut seen = Vec::new();
    for _ in 0..5 {
        keys(&mut app, "v");
        seen.push(app.measure().name());
    }
    assert_eq!(seen, ["allocations", "bytes", "live", "calls", "time"]);
}

#[test]
fn by_allocations_rows_are_shares_of_them_and_reports_follow() {
    let mut app = live(120, 30);
    events(&mut app, Status::Live, Some(allocating(1_340)));
    keys(&mut app, "vb");
    let sum = |app: &App| app.derived.data.as_ref().unwrap().measured_ns;
    let column = allocating(1_340);
    let column = column.measures.of(Quantity::Allocations).unwrap();
    assert_eq!(
        sum(&app),
        column.rows.iter().map(|&(_, value)| value).sum::<u64>()
    );
    assert!(text(&app).contains("by allocations"), "{}", text(&app));
    assert!(text(&app).contains("per call of"), "{}", text(&app));
    match keys(&mut app, "d")[..] {
        [Effect::WriteReport { by, .. }] => assert_eq!(by, Measure::Allocations),
        ref other => panic!("{other:?}: {}", text(&app)),
    }
}

#[test]
fn where_a_measure_is_not_counted_the_screen_goes_by_time() {
    let mut app = live(120, 30);
    let by_time = text(&app);
    // A moment that has it, and one that has not.
    events(&mut app, Status::Live, Some(allocating(1_340)));
    keys(&mut app, "vv");
    assert_eq!(app.measure(), Measure::Bytes);
    events(&mut app, Status::Live, Some(snapshot(1_340)));
    assert_eq!(app.measure(), Measure::Time);
    assert_eq!(
        by_time.lines().nth(4),
        text(&app).lines().nth(4),
        "the numbers are times again"
    );
}

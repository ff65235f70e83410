//! Numbers per call of a row, and in ticks.

use proptest::prelude::*;
use tickscope_format::Snapshot;

use crate::app::state::Model;
use crate::keys::decoder::Code;
use crate::orderbook::snapshot;
use crate::source::status::Status;
use crate::test_driver::{key, keys, live, news, text};

/// The numbers of a row of the screen, by its name.
fn row(model: &Model, name: &str) -> Vec<String> {
    let screen = text(model);
    let line = screen.lines().skip(3).find(|line| line.contains(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {screen}"));
    line.trim_start_matches('>')
        .split_whitespace()
        .filter(|word| word.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '%' || c == '-'))
        .take(8)
        .map(String::from)
        .collect()
}

#[test]
fn numbers_are_divided_by_the_calls_of_the_row() {
    let mut model = live(120, 30);
    // match::step: 8.41 M calls; tree::rebalance: 1.87 M.
    keys(&mut model, "j");
    let totals = row(&model, "book::insert");
    keys(&mut model, "b");
    let screen = text(&model);
    assert!(screen.contains("per call of match::step"), "{screen}");
    let step = row(&model, "match::step");
    assert_eq!(step[4], "1.00", "{screen}");
    assert_eq!(step[1], step[5], "its total is what a call takes: {screen}");
    let insert = row(&model, "book::insert");
    assert_eq!(insert[4], "0.67", "{screen}");
    for same in [0, 3, 5, 6] {
        assert_eq!(
            insert[same], totals[same],
            "shares, AVG and P50 are what they were: {screen}"
        );
    }
    assert!(
        row(&model, "match::run").contains(&"<0.01".to_string()),
        "{screen}"
    );
    // In the other views too, and over snapshots.
    keys(&mut model, "2");
    assert!(text(&model).contains("per call of match::step"));
    assert_eq!(row(&model, "match::step")[4], "1.00", "{}", text(&model));
    news(&mut model, Status::Live, Some(snapshot(2_000)));
    assert_eq!(row(&model, "match::step")[4], "1.00", "{}", text(&model));
    keys(&mut model, "b");
    assert!(!text(&model).contains("per call of"), "{}", text(&model));
    keys(&mut model, "b");
    key(&mut model, Code::Esc);
    assert!(model.per_call.is_none() && model.view == crate::app::view::View::Hot);
}

#[test]
fn a_function_is_per_call_as_well() {
    let mut model = live(120, 30);
    // match::step: 8.41 M calls; book::apply calls book::insert 5.61 M times.
    keys(&mut model, "jjj");
    key(&mut model, Code::Enter);
    let totals = text(&model);
    keys(&mut model, "2gg1ggjb3");
    let screen = text(&model);
    assert!(screen.contains("per call of match::step"), "{screen}");
    let line = |screen: &str, at: usize| screen.lines().nth(at).unwrap_or_default().to_string();
    assert_eq!(
        line(&screen, 3).trim(),
        "total 8.45µs 26.5%   self 2.72µs 8.5%   calls 0.67   avg 12.7µs   p99 47µs"
    );
    assert!(line(&totals, 3).contains("calls 5.61M   avg 12.7µs"), "{totals}");
    assert!(screen.contains("0.67/0.67"), "{screen}");
    // Ticks are ticks everywhere.
    keys(&mut model, "bU");
    assert!(!line(&text(&model), 3).contains("µs"), "{}", text(&model));
}

#[test]
fn threads_and_sites_hold_to_the_unit_in_their_panes_as_well() {
    let pane = |model: &Model| {
        let screen = text(model);
        let line = screen.lines().find(|line| line.contains("in scopes "));
        line.unwrap_or_else(|| panic!("{screen}")).to_string()
    };
    let mut model = live(120, 30);
    keys(&mut model, "jb4");
    // match-0: 118 s and 21.0 M calls; match::step was called 8.41 M times.
    let (thread, per) = {
        let data = model.data.as_ref().expect("data");
        let rows = data.threads();
        (rows.iter().position(|row| row.name == "match-0"), per(&model))
    };
    let data = model.data.as_ref().expect("data");
    let row = &data.threads()[thread.expect("a thread")];
    let per = per.expect("divided");
    let each = tickscope_format::render::number::duration((row.measured_ns + per / 2) / per);
    let screen = text(&model);
    assert!(pane(&model).contains(&format!("in scopes {each}")), "{screen}");
    assert!(!pane(&model).contains('M'), "{screen}");
    let listed = screen
        .lines()
        .find(|line| line.contains("match-0 "))
        .expect("a row");
    assert!(listed.contains(&each), "as its row says: {screen}");
    keys(&mut model, "bU");
    let ticks = tickscope_format::render::number::count(row_ns(&model));
    assert!(
        pane(&model).contains(&format!("in scopes {ticks}")),
        "{}",
        text(&model)
    );
    for unit in ["µs ", "ms ", "ns "] {
        assert!(!pane(&model).contains(unit), "{}", text(&model));
    }
    keys(&mut model, "U1b6");
    let screen = text(&model);
    let line = screen
        .lines()
        .find(|line| line.contains("by all threads"))
        .unwrap_or_else(|| panic!("{screen}"));
    let row = screen.lines().nth(3 + model.list().cursor.index).expect("a row");
    let calls = row.split_whitespace().next().expect("calls");
    assert!(line.contains(&format!("{calls} call")), "{screen}");
}

/// Time in scopes of the selected thread.
fn row_ns(model: &Model) -> u64 {
    let data = model.data.as_ref().expect("data");
    let row = model
        .list()
        .selected()
        .and_then(|row| row.what.row())
        .expect("a thread");
    data.threads()[row as usize].measured_ns
}

#[test]
fn without_calls_nothing_is_known_until_there_are_some() {
    let mut model = live(120, 30);
    keys(&mut model, "jb");
    news(
        &mut model,
        Status::Live,
        Some(without_calls(snapshot(1_341), "step")),
    );
    let step = row(&model, "book::insert");
    assert_eq!(
        (step[1].as_str(), step[2].as_str(), step[4].as_str()),
        ("-", "-", "-")
    );
    assert!(text(&model).contains("calls -"), "{}", text(&model));
    news(&mut model, Status::Live, Some(snapshot(1_342)));
    assert_eq!(row(&model, "match::step")[4], "1.00");
    // Nothing to divide by from the beginning is said.
    let mut model = live(120, 30);
    news(
        &mut model,
        Status::Live,
        Some(without_calls(snapshot(1_341), "step")),
    );
    keys(&mut model, "jb");
    assert!(model.per_call.is_none());
    assert!(
        text(&model).contains("match::step has no calls to divide by"),
        "{}",
        text(&model)
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
    let mut model = live(120, 30);
    keys(&mut model, "jU");
    let screen = text(&model);
    assert!(screen.contains("   ticks"), "{screen}");
    let step = row(&model, "match::step");
    let (total, _) = {
        let data = model.data.as_ref().expect("data");
        let row = data.tree.rows.iter().find(|row| row.depth == 1).expect("a row");
        (row.total_ticks, ())
    };
    assert_eq!(
        step[1],
        tickscope_format::render::number::count(total),
        "{screen}"
    );
    assert!(
        !screen
            .lines()
            .skip(3)
            .take(15)
            .any(|line| line.contains("ns ") || line.contains("µs "))
    );
    keys(&mut model, "b");
    assert!(
        text(&model).contains("per call of match::step   ticks"),
        "{}",
        text(&model)
    );
    keys(&mut model, "U");
    assert!(!text(&model).contains("   ticks"));
    // Narrow screens say it in the header.
    for (width, height) in [(80, 24), (60, 15)] {
        let mut model = live(width, height);
        keys(&mut model, "jbU");
        let screen = text(&model);
        let header = screen.lines().next().unwrap_or_default();
        assert!(header.contains("per call ticks"), "{screen}");
    }
}

/// By what numbers are divided.
fn per(model: &Model) -> Option<u64> {
    model.data.as_ref().and_then(|data| data.per_calls)
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
        let mut model = live(120, 30);
        keys(&mut model, before);
        keys(&mut model, "b");
        let calls = per(&model).expect("per call");
        assert!(calls > 0, "{before}");
        news(&mut model, Status::Live, Some(snapshot(1_340)));
        assert_eq!(per(&model), Some(calls), "{before}: with the next snapshot");
        keys(&mut model, "2");
        news(&mut model, Status::Live, Some(snapshot(1_340)));
        assert_eq!(per(&model), Some(calls), "{before}: in another view");
        keys(&mut model, "1");
        match back {
            "\u{1b}" => model.lens = crate::app::filter::Lens::default(),
            letters => drop(keys(&mut model, letters)),
        }
        news(&mut model, Status::Live, Some(snapshot(1_340)));
        assert_eq!(per(&model), Some(calls), "{before}: the other way round again");
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
    let mut model = live(120, 30);
    model.compare_with(fewer_calls().into(), "before.tks".into());
    news(&mut model, Status::Live, Some(snapshot(1_340)));
    // The calls of `step` are the same; for each there were 0.33 of `insert`, and are 0.67.
    keys(&mut model, "jb");
    let screen = text(&model);
    assert!(
        row(&model, "book::insert").contains(&"+0.34".to_string()),
        "{screen}"
    );
    keys(&mut model, "b");
    news(&mut model, Status::Live, Some(snapshot(1_400)));
    let times = |model: &Model| {
        let words = row(model, "book::insert").into_iter();
        words.filter(|word| word.ends_with('s')).count()
    };
    assert!(times(&model) >= 3, "{}", text(&model));
    keys(&mut model, "U");
    assert_eq!(times(&model), 0, "{}", text(&model));
    keys(&mut model, "4");
    let threads = text(&model);
    assert!(
        threads.contains("ticks") && threads.contains("+5.63G"),
        "{threads}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn numbers_never_outgrow_their_columns(per in 0u64.., shift in 0u32..64) {
        let mut model = live(120, 30);
        keys(&mut model, "jb");
        model.data.as_mut().expect("data").per_calls = Some(per >> shift);
        for ticks in [false, true] {
            model.ticks = ticks;
            let screen = text(&model);
            for line in screen.lines().skip(3).take(15) {
                let cells: Vec<char> = line.chars().collect();
                for gap in [19, 20, 27, 28, 35, 36, 43, 44, 51, 52] {
                    prop_assert!(cells.get(gap).is_none_or(|&c| c == ' '), "{} in {}", gap, line);
                }
            }
        }
    }
}

//! Numbers divided by the calls of a row, times in ticks, and measures other than time.

use proptest::prelude::*;
use tickscope_analysis::measure::Measure;

use super::*;
use crate::keys::action::Action;
use crate::orderbook::allocating;

/// Returns the numbers that the screen shows in the row with this name.
fn row(app: &App, name: &str) -> Vec<String> {
    let screen = text(app);
    let line = screen.lines().skip(3).find(|line| line.contains(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {screen}"));
    // In this program, the waiting time is unknown. Removes the dash that stands for it and, on wide screens, the dash
    // in the READY column.
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
    // `match::step` has 8.41 M calls. Numbers in other views and in later snapshots are divided by its calls as well.
    keys(&mut app, "jb");
    let step = row(&app, "match::step");
    // The total of a row, divided by its own calls, is the duration of a call.
    assert_eq!((&*step[4], &step[1]), ("1.00", &step[5]));
    keys(&mut app, "2");
    shows(&app, "per call of match::step");
    for snapshot in [snapshot(1_340), snapshot(2_000)] {
        gets(&mut app, snapshot);
        assert_eq!(row(&app, "match::step")[4], "1.00", "{}", text(&app));
    }
    keys(&mut app, "b");
    hides(&app, "per call of");
    keys(&mut app, "b");
    key(&mut app, Code::Esc);
    assert!(app.query.per_call.is_none() && app.views.current == View::Hot);
}

#[test]
fn a_function_is_per_call_as_well() {
    let mut app = live(160, 30);
    // `match::step` has 8.41 M calls; `book::apply` calls `book::insert` 5.61 M times.
    keys(&mut app, "jjj\n");
    let totals = text(&app);
    keys(&mut app, "2gg1ggjb3");
    let screen = text(&app);
    assert!(screen.contains("per call of match::step"), "{screen}");
    let line = |screen: &str, at: usize| screen.lines().nth(at).unwrap_or_default().to_string();
    let wanted = "total 8.45µs 26.5%   self 2.72µs 8.5%   calls 0.67   avg 12.7µs   p99 47µs";
    assert_eq!(line(&screen, 3).trim(), wanted);
    assert!(line(&totals, 3).contains("calls 5.61M   avg 12.7µs"), "{totals}");
    assert!(screen.contains("0.67/0.67"), "{screen}");
    // Ticks replace times here as well.
    keys(&mut app, "bU");
    assert!(!line(&text(&app), 3).contains("µs"), "{}", text(&app));
}

#[test]
fn threads_and_sites_hold_to_the_unit_in_their_panes_as_well() {
    let mut app = live(120, 30);
    // `match-0` spent 126 s in scopes, and `match::step` was called 8.41 M times.
    keys(&mut app, "jb4");
    for line in ["in scopes ", "match-0 "] {
        has(&line_of(&text(&app), line), "15.0µs");
    }
    keys(&mut app, "bU");
    has(&line_of(&text(&app), "in scopes "), "in scopes 126G");
    keys(&mut app, "U1b6");
    has(&line_of(&text(&app), "by all threads"), "1.00 call");
}

#[test]
fn without_calls_nothing_is_known_until_there_are_some() {
    let mut app = live(272, 30).after("jb");
    gets(&mut app, without_calls(snapshot(1_341), "step"));
    let step = row(&app, "book::insert");
    assert_eq!(step[1].as_str(), "-");
    assert_eq!(step[2].as_str(), "-");
    assert_eq!(step[4].as_str(), "-");
    let words = text(&app).split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.contains("calls -"), "{}", text(&app));
    gets(&mut app, snapshot(1_342));
    assert_eq!(row(&app, "match::step")[4], "1.00");
    // The notice says that a row without calls cannot be a divisor.
    let app = showing(120, 30, without_calls(snapshot(1_341), "step")).after("jb");
    assert!(app.query.per_call.is_none());
    shows(&app, "match::step has no calls to divide by");
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
fn narrow_screens_say_their_unit_in_the_header() {
    for (width, height) in [(80, 24), (60, 15)] {
        let app = live(width, height).after("jbU");
        has(&header(&app), "per call ticks");
    }
}

#[test]
fn numbers_stay_per_call_bottom_up_folded_and_in_focus() {
    // The divisors: a bottom-up row, a caller below it, a function in focus in the tree and in the hotspots, and a folded row.
    for (before, back) in [("i", "i"), ("ilj", "i"), ("jjf", ""), ("2jf", ""), ("cj", "c")] {
        let mut app = live(120, 30).after(before);
        keys(&mut app, "b");
        let calls = data(&app).per_calls;
        assert!(calls > Some(0), "{before}");
        // The number of calls to divide by stays the same with the next snapshot, in other views, and when the tree is
        // back in its usual form.
        for then in ["", "2", "1", back] {
            keys(&mut app, then);
            if back.is_empty() && then == "1" {
                app.query.filter = Default::default();
            }
            gets(&mut app, snapshot(1_340));
            assert_eq!(data(&app).per_calls, calls, "{before}, {then}");
        }
    }
}

/// Returns the test program with half as many calls of `insert`.
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
    gets(&mut app, snapshot(1_340));
    // `step` has the same number of calls on both sides. For each of them there were 0.33 calls of `insert` before, and
    // there are 0.67 now.
    keys(&mut app, "jb");
    assert!(row(&app, "book::insert").contains(&"+0.34".to_string()));
    keys(&mut app, "b");
    gets(&mut app, snapshot(1_400));
    let times = |app: &App| {
        let words = row(app, "book::insert").into_iter();
        words.filter(|word| word.ends_with('s')).count()
    };
    assert!(times(&app) >= 3, "{}", text(&app));
    keys(&mut app, "U");
    assert_eq!(times(&app), 0, "{}", text(&app));
    keys(&mut app, "4");
    shows(&app, "ticks");
    shows(&app, "+5.63G");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn numbers_never_outgrow_their_columns(per in 0u64.., shift in 0u32..64) {
        let mut app = live(120, 30).after("jb");
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
    // This program counts only calls.
    keys(&mut app, "v");
    shows(&app, "by calls");
    keys(&mut app, "v");
    assert_eq!(app.measure(), Measure::Time);
    gets(&mut app, allocating(1_341));
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
fn by_allocations_numbers_are_per_call_and_reports_follow() {
    let mut app = showing(120, 30, allocating(1_340)).after("vb");
    shows(&app, "by allocations");
    shows(&app, "per call of");
    let effects = keys(&mut app, "d");
    let [Effect::WriteReport(_, options)] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(options.by, Measure::Allocations);
}

#[test]
fn where_a_measure_is_not_counted_the_screen_goes_by_time() {
    let mut app = live(120, 30);
    let by_time = text(&app);
    // The first snapshot has the measure, but the second does not.
    gets(&mut app, allocating(1_340));
    keys(&mut app, "vv");
    assert_eq!(app.measure(), Measure::Bytes);
    gets(&mut app, snapshot(1_340));
    assert_eq!(app.measure(), Measure::Time);
    // The numbers are times again.
    assert_eq!(by_time.lines().nth(4), text(&app).lines().nth(4));
}

use proptest::prelude::*;
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::measure::Measure;
use tickscope_analysis::sampled_rows::with_sampled_rows;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Mode;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::source_code::tests::source_code;
use crate::unit::Unit;
use crate::{Extent, ProcessState, SourceCode};

mod views;

fn ascii() -> TextOptions {
    TextOptions {
        ascii: true,
        ..TextOptions::default()
    }
}

#[test]
fn the_whole_program() {
    insta::assert_snapshot!(report(&fixtures::order_sim(), &TextOptions::default()));
}

#[test]
fn a_usual_program_fits_into_100_columns() {
    for state in [
        ProcessState::Running,
        ProcessState::Stale,
        ProcessState::Crashed,
        ProcessState::FromFile,
    ] {
        let options = TextOptions {
            state,
            ..TextOptions::default()
        };
        for line in [
            fixtures::order_sim_with_latencies(),
            fixtures::order_sim_adaptive(),
            fixtures::order_sim_sampled(),
        ]
        .iter()
        .flat_map(|snapshot| {
            report(snapshot, &options)
                .lines()
                .map(str::to_string)
                .collect::<Vec<_>>()
        }) {
            assert!(line.chars().count() <= 100, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn counters_have_calls_and_a_sum() {
    let both = report(&fixtures::order_sim_counting(), &TextOptions::default());
    let flat = viewed(&fixtures::order_sim_counting(), View::Flat, 0.1);
    insta::assert_snapshot!(format!("{both}\n{flat}"));
}

#[test]
fn values_and_gauges_have_plain_numbers() {
    let wide = TextOptions {
        width: 120,
        ..TextOptions::default()
    };
    let both = report(&fixtures::queries(), &wide);
    let flat = viewed(&fixtures::queries(), View::Flat, 0.1);
    let narrow = report(&fixtures::queries(), &ascii());
    insta::assert_snapshot!(format!("{both}\n{flat}\n{narrow}"));
}

#[test]
fn counters_in_ascii() {
    insta::assert_snapshot!(report(&fixtures::order_sim_counting(), &ascii()));
}

#[test]
fn the_whole_program_in_ascii() {
    insta::assert_snapshot!(report(&fixtures::order_sim(), &ascii()));
}

#[test]
fn percentiles_have_columns_where_there_is_room() {
    let wide = TextOptions {
        width: 120,
        ..TextOptions::default()
    };
    insta::assert_snapshot!(report(&fixtures::order_sim_with_latencies(), &wide));
    let text = |width| {
        let options = TextOptions {
            width,
            ..TextOptions::default()
        };
        report(&fixtures::order_sim_with_latencies(), &options)
    };
    let titles = |text: String| text.matches("P99      MAX").count();
    assert_eq!([99, 100, 120].map(|width| titles(text(width))), [0, 1, 2]);
    assert_eq!(text(99), report(&fixtures::order_sim(), &TextOptions::default()));
}

#[test]
fn waiting_and_ready_have_columns_where_they_are_known() {
    let mut snapshot = fixture::waiting();
    let text = |snapshot: &Snapshot, width, unit, by| {
        let options = TextOptions {
            width,
            unit,
            by,
            ..TextOptions::default()
        };
        report(snapshot, &options)
    };
    let [narrow, wide] = [100, 120].map(|width| text(&snapshot, width, Unit::Ns, Measure::Time));
    let ticks = text(&snapshot, 160, Unit::Both, Measure::Time);
    let by_calls = text(&snapshot, 120, Unit::Ns, Measure::Calls);
    let by_waiting = text(&snapshot, 120, Unit::Ns, Measure::Waiting);
    let all = [narrow, wide, ticks, by_calls, by_waiting];
    insta::assert_snapshot!(all.join("\n=====\n"));
    let has_columns = |snapshot: &Snapshot, width| {
        let text = text(snapshot, width, Unit::Ns, Measure::Time);
        [" WAIT ", " READY "].map(|title| text.contains(title))
    };
    assert_eq!(has_columns(&snapshot, 99), [false, false]);
    assert_eq!(has_columns(&snapshot, 115), [true, false]);
    assert_eq!(has_columns(&snapshot, 116), [true, true]);
    snapshot.waits = false;
    assert_eq!(has_columns(&snapshot, 120), [false, false]);
}

#[test]
fn estimates_carry_a_tilde_and_short_calls_a_mark() {
    insta::assert_snapshot!(report(&fixtures::order_sim_adaptive(), &TextOptions::default()));
}

#[test]
fn estimates_and_marks_in_ascii() {
    let text = report(&fixtures::order_sim_adaptive(), &ascii());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn samples_and_sites_that_are_off() {
    insta::assert_snapshot!(report(&fixtures::order_sim_sampled(), &TextOptions::default()));
}

#[test]
fn functions_that_are_off_for_the_budget_are_counted_with_what_counts_them() {
    let text = report(&fixture::over_budget(), &TextOptions::default());
    let off = "38 of 40 switched on, 2 off for the budget of 5.0% (1 of them as an earlier run learned; `tickscope on 'order_book::*'`";
    assert!(text.contains(off), "{text}");
}

#[test]
fn time_without_samples_is_unknown_and_rows_without_calls_took_none() {
    let mut snapshot = fixtures::order_sim_sampled();
    let leaf = |name: &str| {
        let named = |row: &usize| snapshot.site_of(tickscope_format::ids::NodeId(*row as u32)).name == name;
        (0..snapshot.nodes.len()).find(named).unwrap()
    };
    let (unseen, uncalled) = (leaf("checksum"), leaf("publish"));
    snapshot.nodes.self_ticks[unseen] = 0;
    snapshot.nodes.self_ticks[uncalled] = 0;
    snapshot.nodes.calls[uncalled] = 0;
    let text = report(&snapshot, &TextOptions::default());
    let row = |name: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().collect()
    };
    let (unseen, uncalled) = (row("wire::checksum"), row("stats::publish"));
    assert_eq!((unseen[1], unseen[2], unseen[6]), ("-", "-", "-"), "{text}");
    assert_eq!(
        (uncalled[1], uncalled[2], uncalled[5]),
        ("0ns", "0ns", "0"),
        "{text}"
    );
    assert!(!text.contains("~0ns"), "{text}");
}

#[test]
fn a_sum_without_a_known_error_claims_none() {
    let mut snapshot = fixtures::order_sim_sampled();
    snapshot.estimates.clear();
    let text = report(&snapshot, &TextOptions::default());
    assert!(
        text.contains("\n  estimates    times, with ~ if rough\n"),
        "{text}"
    );
}

#[test]
fn many_sites_that_are_off_are_not_all_named() {
    let mut snapshot = fixtures::order_sim();
    fixtures::switch_off(&mut snapshot, "wire::decode");
    let line = |snapshot: &Snapshot| {
        let text = report(snapshot, &TextOptions::default());
        let line = text.lines().find(|line| line.contains("switched off: "));
        line.map(str::to_string)
    };
    let one = line(&snapshot).unwrap();
    assert!(
        one.contains("switched off: 1 site (wire::decode), whose"),
        "{one}"
    );
    fixtures::switch_off(&mut snapshot, "*");
    let all = line(&snapshot).unwrap();
    assert!(all.contains("15 sites (match::run, match::step, …)"), "{all}");
    assert_eq!(line(&fixtures::order_sim()), None);
}

#[test]
fn a_part_of_the_run_says_which() {
    let options = TextOptions {
        extent: Extent {
            when: None,
            focus: vec!["match::step".into(), "wire::encode".into()],
        },
        ..TextOptions::default()
    };
    let mut window = fixtures::order_sim_sampled();
    window.window = true;
    let text = report(&window, &options);
    assert!(text.contains("\n  window       in 134s (epoch 1; "), "{text}");
    assert!(
        text.contains("\n  focus        only match::step, in it wire::encode\n"),
        "{text}"
    );
    assert!(
        text.contains(" samples a second, ") && text.contains(" in this window; counts"),
        "{text}"
    );
    assert!(!text.contains("since"), "{text}");
    let threads = TextOptions {
        view: View::Threads,
        ..options.clone()
    };
    let window = Snapshot {
        window: true,
        ..fixtures::order_sim()
    };
    let text = report(&window, &threads);
    assert!(
        text.contains("%CPU of the time in this window;") && !text.contains("since the reset"),
        "{text}"
    );
    let nothing = Snapshot {
        window: true,
        ..fixtures::empty()
    };
    let text = report(&nothing, &options);
    assert!(
        text.contains("no scope has been entered in this window"),
        "{text}"
    );
}

#[test]
fn nothing_is_measured() {
    insta::assert_snapshot!(report(&fixtures::off(), &TextOptions::default()));
}

#[test]
fn a_row_without_samples_is_not_called_short() {
    let mut snapshot = fixture::recursion();
    snapshot.capture.mode = Mode::Sampled;
    snapshot.nodes.self_ticks = vec![0, 0, 0, 5_000_000];
    let marks = |snapshot: &Snapshot| {
        let text = report(snapshot, &TextOptions { top: 0, ..ascii() });
        text.matches(" !\n").count()
    };
    assert_eq!(marks(&snapshot), 0);
    snapshot.nodes.self_ticks = vec![0, 0, 40, 80];
    assert_eq!(marks(&snapshot), 4, "16 to 48 ns are under three times 19");
}

#[test]
fn the_header_says_which_time_it_is() {
    let header = |window, when: Option<&str>| {
        let options = TextOptions {
            extent: Extent {
                when: when.map(str::to_string),
                ..Extent::default()
            },
            ..TextOptions::default()
        };
        let snapshot = Snapshot {
            window,
            ..fixtures::order_sim()
        };
        let text = report(&snapshot, &options);
        let facts = text.lines().skip(2).take(3).map(str::to_string);
        facts.collect::<Vec<_>>().join("\n")
    };
    let (newest, window) = (
        header(false, None),
        header(true, Some("9.9 s, from here to there")),
    );
    let moment = header(false, Some("noon"));
    assert!(
        newest.starts_with("  since reset  ") && newest.contains("\n  mode "),
        "{newest}"
    );
    assert!(
        window.starts_with("  window       in 9.9 s, from here to there (epoch ")
            && window.contains("\n  mode "),
        "{window}"
    );
    assert!(
        moment.starts_with("  moment       noon\n  since reset  "),
        "{moment}"
    );
}

#[test]
fn one_thread() {
    let options = TextOptions {
        thread: Some(ThreadId(1)),
        state: ProcessState::Crashed,
        top: 3,
        ..TextOptions::default()
    };
    insta::assert_snapshot!(report(&fixtures::order_sim(), &options));
}

#[test]
fn small_rows_are_left_out_and_counted() {
    let options = TextOptions {
        min_share: 0.1,
        top: 0,
        ..TextOptions::default()
    };
    insta::assert_snapshot!(report(&fixtures::order_sim(), &options));
}

#[test]
fn errors_and_hostile_names() {
    insta::assert_snapshot!(report(&fixtures::hostile(), &TextOptions::default()));
}

#[test]
fn errors_and_hostile_names_in_ascii() {
    let text = report(&fixtures::hostile(), &ascii());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn errors_of_two_threads() {
    insta::assert_snapshot!(report(&fixture::two_threads(), &TextOptions::default()));
}

#[test]
fn recursion() {
    insta::assert_snapshot!(report(&fixture::recursion(), &TextOptions::default()));
}

#[test]
fn empty() {
    insta::assert_snapshot!(report(&fixtures::empty(), &TextOptions::default()));
}

#[test]
fn a_row_of_finished_threads() {
    let options = TextOptions {
        thread: Some(ThreadId(4)),
        ..TextOptions::default()
    };
    let text = report(&fixtures::order_sim(), &options);
    assert!(text.contains("shown: only helper (17 finished)"), "{text}");
    assert!(text.contains("100.0%  5.00ms"), "{text}");
}

#[test]
fn a_thread_that_is_not_there() {
    let options = TextOptions {
        thread: Some(ThreadId(9)),
        ..TextOptions::default()
    };
    let text = report(&fixture::two_threads(), &options);
    assert!(text.contains("there is no thread 9"), "{text}");
    assert!(text.contains("no scope has been entered"), "{text}");
}

#[test]
fn deep_trees_stay_narrow() {
    let text = report(&fixtures::deep(4_096), &TextOptions::default());
    let rows: Vec<&str> = text.lines().filter(|line| line.ends_with("dive")).collect();
    assert_eq!(rows.len(), 4_096);
    assert!(rows.iter().all(|row| row.chars().count() < 150));
    assert!(rows[40].ends_with("└─ app::dive"), "{}", rows[40]);
    assert!(rows[41].ends_with(" …+1 app::dive"), "{}", rows[41]);
    assert!(rows[4_095].ends_with(" …+4055 app::dive"), "{}", rows[4_095]);
}

/// A row of the printed tree, read back.
#[derive(Debug)]
struct Printed {
    depth: usize,
    total: f64,
    own: f64,
}

fn nanos(text: &str) -> f64 {
    let units = [
        ("ns", 1.0),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 6e10),
        ("h", 3.6e12),
        ("d", 8.64e13),
    ];
    let mut rest = text;
    let mut sum = 0.0;
    while let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let number: f64 = rest[..end].parse().expect("a number");
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = units.iter().find(|(name, _)| *name == &rest[..end]);
        sum += number * unit.expect("a unit").1;
        rest = &rest[end..];
    }
    sum
}

fn printed_tree(text: &str) -> Vec<Printed> {
    text.lines()
        .skip_while(|line| !line.contains("FUNCTION"))
        .skip(1)
        .take_while(|line| !line.ends_with("not part of the 100%"))
        .map(|line| {
            let cells: Vec<&str> = line.split_whitespace().take(6).collect();
            // Branches are two cells and a blank, lines two cells; names here never begin like one.
            let tree = &line[line.len().min(47)..];
            let tree = if text.contains("  ERR  ") {
                &tree[7..]
            } else {
                tree
            };
            let name = tree.find("|-").or_else(|| tree.find("`-"));
            let time = |cell: &str| {
                if ["sum", "="].contains(&cells[0]) {
                    0.0
                } else {
                    nanos(cell)
                }
            };
            Printed {
                depth: name.map_or(0, |at| at / 2 + 1),
                total: time(cells[1]),
                own: time(cells[2]),
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn what_is_printed_adds_up(snapshot in fixtures::any_snapshot()) {
        // Too narrow for the percentiles of values.
        let text = report(&snapshot, &TextOptions { top: 0, width: 90, ..ascii() });
        prop_assert!(text.is_ascii());
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        if snapshot.nodes.is_empty() {
            return Ok(());
        }
        let rows = printed_tree(&text);
        let tree = CallTree::build(&snapshot, |_| true);
        prop_assert_eq!(rows.len(), tree.rows.len());
        for (index, row) in rows.iter().enumerate() {
            let below: Vec<f64> = rows[index + 1..]
                .iter()
                .take_while(|below| below.depth > row.depth)
                .filter(|below| below.depth == row.depth + 1)
                .map(|below| below.total)
                .collect();
            prop_assert!(below.is_sorted_by(|a, b| a >= b));
            let sum = row.own + below.iter().sum::<f64>();
            // Each text is off by up to one in a hundred: `1h00m` is half a minute wide on both sides.
            prop_assert!((row.total - sum).abs() <= row.total * 0.02 + 1.0, "{row:?} {sum}\n{text}");
        }
    }

    #[test]
    fn top_functions_add_up(snapshot in fixtures::any_snapshot()) {
        let page_options = TextOptions::default();
        let page = Page::new(&snapshot, &snapshot, &page_options);
        let rows = tickscope_analysis::hotspots::hot(&page.tree);
        prop_assert_eq!(rows.iter().map(|row| row.self_ns).sum::<u64>(), page.measured_ns);
        let text = report(&snapshot, &page_options);
        let listed = text
            .lines()
            .skip_while(|line| !line.contains("WHERE"))
            .skip(1)
            .take_while(|line| !line.is_empty())
            .count();
        prop_assert_eq!(listed, rows.len());
    }
}

fn viewed(snapshot: &Snapshot, view: View, min_share: f64) -> String {
    let options = TextOptions {
        view,
        min_share,
        ..TextOptions::default()
    };
    report(snapshot, &options)
}

#[test]
fn every_view_by_allocations() {
    let mut snapshot = fixture::allocating();
    snapshot.capture.mode = Mode::Sampled;
    let views = [View::Both, View::Flat, View::Threads].map(|view| {
        let options = TextOptions {
            view,
            by: Measure::Allocations,
            ..TextOptions::default()
        };
        report(&snapshot, &options)
    });
    insta::assert_snapshot!(views.join("\n=====\n"));
}

#[test]
fn a_flat_profile_like_gprofs() {
    insta::assert_snapshot!(viewed(&fixtures::order_sim_adaptive(), View::Flat, 0.02));
    insta::assert_snapshot!("flat_recursion", viewed(&fixture::recursion(), View::Flat, 0.0));
}

#[test]
fn tree_and_functions_alone_are_those_of_the_report() {
    let snapshot = fixtures::order_sim();
    let (both, tree, hot) = (
        viewed(&snapshot, View::Both, 0.0),
        viewed(&snapshot, View::Tree, 0.0),
        viewed(&snapshot, View::Hot, 0.0),
    );
    assert!(both.starts_with(&tree));
    let header = tree.split("Call tree").next().unwrap();
    assert_eq!(hot.split("Top functions").next(), Some(header));
    assert_eq!(
        hot.split("Top functions").nth(1),
        both.split("Top functions").nth(1)
    );
    let few = viewed(&snapshot, View::Hot, 0.1);
    assert!(
        few.contains("\n11 functions below 10.0% are not shown (--all-rows shows them); together they have "),
        "{few}"
    );
}

#[test]
fn nothing_measured_says_so_in_every_view() {
    for view in [View::Both, View::Tree, View::Hot, View::Flat, View::Threads] {
        let text = viewed(&fixtures::empty(), view, 0.0);
        assert!(text.contains("no scope has been entered"), "{text}");
    }
}

#[test]
fn groups_stand_apart_and_leave_the_sums_as_they_are() {
    let grouped = fixtures::order_sim_in_groups();
    let options = TextOptions {
        view: View::Hot,
        ..TextOptions::default()
    };
    let text = report(&grouped, &options);
    insta::assert_snapshot!(text);
    let plain = report(&fixtures::order_sim(), &options);
    assert!(
        text.starts_with(plain.trim_end()),
        "all else is as without groups"
    );
    let flat = report(
        &grouped,
        &TextOptions {
            view: View::Flat,
            ascii: true,
            ..TextOptions::default()
        },
    );
    assert!(flat.contains("Groups (3)") && flat.is_ascii(), "{flat}");
}

#[test]
fn functions_that_were_sampled_and_not_counted_are_rows() {
    let sampled = fixture::sampled();
    let with = with_sampled_rows(&sampled, &source_code().addresses);
    insta::assert_snapshot!(report(&with, &TextOptions::default()));
}

#[test]
fn lines_stand_in_their_order_and_what_is_not_measured_below_them() {
    let options = TextOptions {
        view: View::Source,
        code: source_code(),
        ..TextOptions::default()
    };
    insta::assert_snapshot!(report(&fixture::sampled(), &options));
    let nothing = report(
        &fixture::slow_frames(),
        &TextOptions {
            code: SourceCode::default(),
            ..options
        },
    );
    assert!(
        nothing.contains("no samples of the program counter: ask for them with"),
        "{nothing}"
    );
}

use tickscope_analysis::measure::Measure;
use tickscope_analysis::sampled_rows::with_sampled_rows;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Mode;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::source_code::tests::source_code;
use crate::unit::Unit;
use crate::{Extent, ProcessState};

mod views;

/// Returns a report with the default options, as modified by `change`.
fn with(snapshot: &Snapshot, change: impl FnOnce(&mut TextOptions)) -> String {
    let mut options = TextOptions::default();
    change(&mut options);
    report(snapshot, &options)
}

fn plain(snapshot: &Snapshot) -> String {
    report(snapshot, &TextOptions::default())
}

fn ascii(snapshot: &Snapshot) -> String {
    with(snapshot, |options| options.ascii = true)
}

fn viewed(snapshot: &Snapshot, view: View, min_share: f64) -> String {
    with(snapshot, |options| {
        options.view = view;
        options.min_share = min_share;
    })
}

fn wide(snapshot: &Snapshot, width: usize) -> String {
    with(snapshot, |options| options.width = width)
}

#[test]
fn the_whole_program() {
    insta::assert_snapshot!(plain(&fixtures::order_sim()));
}

#[test]
fn a_usual_program_fits_into_100_columns() {
    for snapshot in [
        fixtures::order_sim_with_latencies(),
        fixtures::order_sim_adaptive(),
        fixtures::order_sim_sampled(),
    ] {
        for state in [
            ProcessState::Running,
            ProcessState::Stale,
            ProcessState::Crashed,
            ProcessState::FromFile,
        ] {
            for line in with(&snapshot, |options| options.state = state).lines() {
                assert!(line.chars().count() <= 100, "{line}");
                assert_eq!(line, line.trim_end());
            }
        }
    }
}

#[test]
fn counters_have_calls_and_a_sum() {
    let both = plain(&fixtures::order_sim_counting());
    let flat = viewed(&fixtures::order_sim_counting(), View::Flat, 0.1);
    insta::assert_snapshot!(format!("{both}\n{flat}"));
}

#[test]
fn values_and_gauges_have_plain_numbers() {
    let both = wide(&fixtures::queries(), 120);
    let flat = viewed(&fixtures::queries(), View::Flat, 0.1);
    let narrow = ascii(&fixtures::queries());
    insta::assert_snapshot!(format!("{both}\n{flat}\n{narrow}"));
}

#[test]
fn percentiles_have_columns_where_there_is_room() {
    let text = |width| wide(&fixtures::order_sim_with_latencies(), width);
    insta::assert_snapshot!(text(120));
    let titles = |text: String| text.matches("P99      MAX").count();
    assert_eq!([99, 100, 120].map(|width| titles(text(width))), [0, 1, 2]);
    assert_eq!(text(99), plain(&fixtures::order_sim()));
}

#[test]
fn waiting_and_ready_have_columns_where_they_are_known() {
    let mut snapshot = fixture::waiting();
    let all = [
        (100, Unit::Ns, Measure::Time),
        (120, Unit::Ns, Measure::Time),
        (160, Unit::Both, Measure::Time),
        (120, Unit::Ns, Measure::Calls),
        (120, Unit::Ns, Measure::Waiting),
    ];
    let all = all.map(|(width, unit, by)| {
        with(&snapshot, |options| {
            (options.width, options.unit, options.by) = (width, unit, by);
        })
    });
    insta::assert_snapshot!(all.join("\n=====\n"));
    let has_columns = |snapshot: &Snapshot, width| {
        let text = wide(snapshot, width);
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
    insta::assert_snapshot!(plain(&fixtures::order_sim_adaptive()));
}

#[test]
fn estimates_and_marks_in_ascii() {
    let text = ascii(&fixtures::order_sim_adaptive());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn samples_and_sites_that_are_off() {
    insta::assert_snapshot!(plain(&fixtures::order_sim_sampled()));
}

#[test]
fn functions_that_are_off_for_the_budget_are_counted_with_what_counts_them() {
    let text = plain(&fixture::over_budget());
    let off = "38 of 40 switched on, 2 off for the budget of 5.0% (1 of them learned by an earlier run; `tickscope on 'order_book::*'`";
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
    let text = plain(&snapshot);
    let row = |name: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().collect()
    };
    let (unseen, uncalled) = (row("wire::checksum"), row("stats::publish"));
    assert_eq!((unseen[1], unseen[2], unseen[6]), ("-", "-", "-"), "{text}");
    assert_eq!(uncalled[1], "0ns", "{text}");
    assert_eq!(uncalled[2], "0ns", "{text}");
    assert_eq!(uncalled[5], "0", "{text}");
    assert!(!text.contains("~0ns"), "{text}");
}

#[test]
fn a_sum_without_a_known_error_claims_none() {
    let mut snapshot = fixtures::order_sim_sampled();
    snapshot.estimates.clear();
    let text = plain(&snapshot);
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
        let text = plain(snapshot);
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
    let within = |snapshot: &Snapshot, when: Option<&str>, focus: &[&str]| {
        with(snapshot, |options| {
            options.extent = Extent {
                when: when.map(str::to_string),
                focus: focus.iter().map(|&name| name.into()).collect(),
            };
        })
    };
    let focus = ["match::step", "wire::encode"];
    let mut window = fixtures::order_sim_sampled();
    window.window = true;
    let text = within(&window, None, &focus);
    assert!(text.contains("\n  window       in 134s (epoch 1; "), "{text}");
    assert!(
        text.contains("\n  focus        only match::step, in it wire::encode\n"),
        "{text}"
    );
    assert!(text.contains(" samples a second, "), "{text}");
    assert!(text.contains(" in this window; counts"), "{text}");
    assert!(!text.contains("since"), "{text}");
    let window = Snapshot {
        window: true,
        ..fixtures::order_sim()
    };
    let text = viewed(&window, View::Threads, 0.0);
    assert!(text.contains("%CPU of the time in this window;"), "{text}");
    assert!(!text.contains("since the reset"), "{text}");
    let nothing = Snapshot {
        window: true,
        ..fixtures::empty()
    };
    let text = within(&nothing, None, &focus);
    assert!(
        text.contains("no scope has been entered in this window"),
        "{text}"
    );
    let text = within(&window, Some("9.9 s, from here to there"), &[]);
    assert!(
        text.contains("\n  window       in 9.9 s, from here to there (epoch "),
        "{text}"
    );
    let text = within(&fixtures::order_sim(), Some("noon"), &[]);
    assert!(text.contains("\n  moment       noon\n  since reset  "), "{text}");
}

#[test]
fn nothing_is_measured() {
    insta::assert_snapshot!(plain(&fixtures::off()));
}

#[test]
fn a_row_without_samples_is_not_called_short() {
    let mut snapshot = fixture::recursion();
    snapshot.capture.mode = Mode::Sampled;
    snapshot.nodes.self_ticks = vec![0, 0, 0, 5_000_000];
    let marks = |snapshot: &Snapshot| {
        let text = with(snapshot, |options| (options.top, options.ascii) = (0, true));
        text.matches(" !\n").count()
    };
    assert_eq!(marks(&snapshot), 0);
    snapshot.nodes.self_ticks = vec![0, 0, 40, 80];
    assert_eq!(marks(&snapshot), 4, "16 to 48 ns are under three times 19");
}

#[test]
fn one_thread() {
    insta::assert_snapshot!(with(&fixtures::order_sim(), |options| {
        options.thread = Some(ThreadId(1));
        options.state = ProcessState::Crashed;
        options.top = 3;
    }));
}

#[test]
fn small_rows_are_left_out_and_counted() {
    insta::assert_snapshot!(with(&fixtures::order_sim(), |options| {
        (options.min_share, options.top) = (0.1, 0);
    }));
}

#[test]
fn errors_and_hostile_names() {
    insta::assert_snapshot!(plain(&fixtures::hostile()));
}

#[test]
fn errors_and_hostile_names_in_ascii() {
    let text = ascii(&fixtures::hostile());
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn errors_of_two_threads() {
    insta::assert_snapshot!(plain(&fixture::two_threads()));
}

#[test]
fn recursion() {
    insta::assert_snapshot!(plain(&fixture::recursion()));
}

#[test]
fn empty() {
    insta::assert_snapshot!(plain(&fixtures::empty()));
}

#[test]
fn a_row_of_finished_threads_and_a_thread_that_is_not_there() {
    let of = |snapshot: &Snapshot, id| with(snapshot, |options| options.thread = Some(ThreadId(id)));
    let text = of(&fixtures::order_sim(), 4);
    assert!(text.contains("shown: only helper (17 finished)"), "{text}");
    assert!(text.contains("100.0%  5.00ms"), "{text}");
    let text = of(&fixture::two_threads(), 9);
    assert!(text.contains("there is no thread 9"), "{text}");
    assert!(text.contains("no scope has been entered"), "{text}");
}

#[test]
fn deep_trees_stay_narrow() {
    let text = plain(&fixtures::deep(4_096));
    let rows: Vec<&str> = text.lines().filter(|line| line.ends_with("dive")).collect();
    assert_eq!(rows.len(), 4_096);
    assert!(rows.iter().all(|row| row.chars().count() < 150));
    assert!(rows[40].ends_with("└─ app::dive"), "{}", rows[40]);
    assert!(rows[41].ends_with(" …+1 app::dive"), "{}", rows[41]);
    assert!(rows[4_095].ends_with(" …+4055 app::dive"), "{}", rows[4_095]);
}

#[test]
fn every_view_by_allocations() {
    let mut snapshot = fixture::allocating();
    snapshot.capture.mode = Mode::Sampled;
    let views = [View::Both, View::Flat, View::Threads].map(|view| {
        with(&snapshot, |options| {
            (options.view, options.by) = (view, Measure::Allocations);
        })
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
    let text = viewed(&grouped, View::Hot, 0.0);
    insta::assert_snapshot!(text);
    let plain = viewed(&fixtures::order_sim(), View::Hot, 0.0);
    assert!(
        text.starts_with(plain.trim_end()),
        "all else is as without groups"
    );
    let flat = with(&grouped, |options| {
        (options.view, options.ascii) = (View::Flat, true);
    });
    assert!(flat.contains("Groups (3)") && flat.is_ascii(), "{flat}");
}

#[test]
fn functions_that_were_sampled_and_not_counted_are_rows() {
    let sampled = fixture::sampled();
    let with = with_sampled_rows(&sampled, &source_code().addresses);
    insta::assert_snapshot!(plain(&with));
}

#[test]
fn lines_stand_in_their_order_and_what_is_not_measured_below_them() {
    insta::assert_snapshot!(with(&fixture::sampled(), |options| {
        (options.view, options.code) = (View::Source, source_code());
    }));
    let nothing = viewed(&fixture::slow_frames(), View::Source, 0.0);
    assert!(
        nothing.contains("no samples of the program counter: ask for them with"),
        "{nothing}"
    );
}

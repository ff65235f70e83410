//! Tests of the thread table, of units, and of numbers given per call.

use proptest::prelude::*;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{OpenFrame, ThreadState};
use tickscope_testkit::orderbook;

use super::*;

#[test]
fn threads_with_their_open_paths() {
    insta::assert_snapshot!(viewed(&fixtures::order_sim_sampled(), View::Threads, 0.0));
}

#[test]
fn a_deep_path_is_cut_and_an_unknown_age_is_left_out() {
    let mut snapshot = fixtures::deep(20);
    let frame = |row| OpenFrame {
        node: NodeId(row),
        began_tick: if row == 19 { 0 } else { 1 },
    };
    snapshot.threads[0].open = (0..20).map(frame).collect();
    let text = viewed(&snapshot, View::Threads, 0.0);
    assert!(text.contains("    open: +12 above > app::dive "), "{text}");
    assert!(text.ends_with(" app::dive\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn one_thread_alone() {
    let text = with(&fixture::two_threads(), |options| {
        (options.view, options.thread) = (View::Threads, Some(ThreadId(1)));
    });
    assert!(text.contains("match-1\n") && !text.contains("match-0"), "{text}");
}

#[test]
fn threads_that_wait_say_in_which_call() {
    insta::assert_snapshot!(viewed(&orderbook::waiting(1_340), View::Threads, 0.0));
}

/// A thread inside a scope may be asleep, so it must not be shown as "running" unless that is known.
#[test]
fn a_thread_inside_a_scope_runs_only_where_that_is_known() {
    let mut snapshot = fixture::two_threads();
    let since_ns = snapshot.capture.since_reset_ns;
    snapshot.threads[0].state = ThreadState::Running;
    let of = |snapshot: &Snapshot, window| {
        let snapshot = Snapshot {
            window,
            ..snapshot.clone()
        };
        let text = viewed(&snapshot, View::Threads, 0.0);
        let words = ["in scope  match-0", "running   match-0", "waiting   match-0"];
        words.map(|word| text.contains(word))
    };
    for (cpu_ns, in_window) in [
        (None, [true, false, false]),
        (Some(since_ns), [false, true, false]),
        (Some(since_ns / 1000), [false, false, true]),
    ] {
        snapshot.threads[0].cpu_ns = cpu_ns;
        assert_eq!(of(&snapshot, false), [true, false, false]);
        assert_eq!(of(&snapshot, true), in_window, "{cpu_ns:?}");
    }
}

fn measured_in(view: View, unit: Unit, per: Option<u64>) -> TextOptions {
    TextOptions {
        view,
        unit,
        per: per.map(|calls| PerCall {
            name: "frame\n".into(),
            calls,
        }),
        ..TextOptions::default()
    }
}

const VIEWS: [View; 5] = [View::Both, View::Tree, View::Hot, View::Flat, View::Threads];

#[test]
fn both_units_stand_side_by_side() {
    let snapshot = fixtures::order_sim_adaptive();
    let all = [View::Tree, View::Flat, View::Threads].map(|view| {
        let text = report(&snapshot, &measured_in(view, Unit::Both, None));
        text.lines().skip(9).take(12).collect::<Vec<_>>().join("\n")
    });
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn ticks_alone_have_the_columns_of_times() {
    let snapshot = fixtures::order_sim();
    for view in VIEWS {
        let lines = |unit| {
            let text = report(&snapshot, &measured_in(view, unit, None));
            text.lines().map(str::to_string).collect::<Vec<_>>()
        };
        let (ns, ticks) = (lines(Unit::Ns), lines(Unit::Ticks));
        assert_eq!(ticks.len(), ns.len() + 1, "it says what a tick is");
        assert!(
            ticks
                .iter()
                .any(|line| line.contains("times in ticks of the clock, 2.50 ticks"))
        );
        let titles = |lines: &[String]| {
            let title = |line: &&String| line.contains("  CALLS  ");
            lines.iter().find(title).cloned()
        };
        assert_eq!(titles(&ns), titles(&ticks));
        assert!(titles(&ns).is_some());
    }
}

#[test]
fn numbers_per_call() {
    let snapshot = fixture::two_threads();
    let per = report(&snapshot, &measured_in(View::Tree, Unit::Both, Some(1_600)));
    insta::assert_snapshot!(per);
    for view in VIEWS {
        let text = report(&snapshot, &measured_in(view, Unit::Ns, Some(800)));
        assert!(
            text.contains(r"  numbers      per call of frame\n (800 calls)"),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn every_view_is_printable_whatever_is_in_it(
        snapshot in fixtures::any_snapshot(),
        view in prop::sample::select(VIEWS.to_vec()),
        unit in prop::sample::select(vec![Unit::Ns, Unit::Ticks, Unit::Both]),
        per in prop::option::of(1..u64::MAX),
        min_share in 0.0..0.5f64,
        width in 0usize..200,
    ) {
        let options = TextOptions {
            ascii: true,
            min_share,
            width,
            ..measured_in(view, unit, per)
        };
        let text = report(&snapshot, &options);
        prop_assert!(text.is_ascii());
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        prop_assert_eq!(&text, &report(&snapshot, &options));
    }
}

#[test]
fn calls_of_counters_are_no_calls_of_threads() {
    let snapshot = fixtures::order_sim_counting();
    let threads = 0..snapshot.threads.len() as u32;
    let calls: u64 = threads.map(|id| snapshot.scope_calls_of(ThreadId(id))).sum();
    assert_eq!(calls, snapshot.scope_calls());
    assert!(calls < snapshot.calls());
    let view = |snapshot: &Snapshot| {
        let text = viewed(snapshot, View::Threads, 0.0);
        text[text.find("Threads:").unwrap()..].to_string()
    };
    // The same snapshot without counters.
    let mut none = snapshot.clone();
    for count in std::mem::take(&mut none.counts) {
        none.nodes.calls[count.node.index()] = 0;
    }
    assert_eq!(view(&snapshot), view(&none));
}

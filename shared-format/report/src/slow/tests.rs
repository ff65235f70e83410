use tickscope_format::snapshot::{
    CauseKind, CauseSum, LostCalls, Over, PathSums, Snapshot, WaitsIn, WatchState, WatchedPath,
};
use tickscope_testkit::fixture;

use super::*;
use crate::brief::{BYTES_MAX, Next};

fn answer(snapshot: &Snapshot, ascii: bool) -> Answer<'_> {
    let options = SlowOptions {
        ascii,
        ..SlowOptions::default()
    };
    Answer::of(snapshot, &snapshot.watches[0], options)
}

#[test]
fn the_answer_as_text_markdown_and_json() {
    let snapshot = fixture::slow_frames();
    let ascii = text(&answer(&snapshot, true));
    assert!(ascii.is_ascii(), "{ascii}");
    let answer = answer(&snapshot, false);
    let all = [text(&answer), markdown(&answer), json(&answer, &next())].join("\n=====\n");
    insta::assert_snapshot!(all);
}

fn next() -> Next {
    Next::Shell {
        target: "game".into(),
        is_live: true,
    }
}

#[test]
fn the_short_answer_has_the_same_members_and_the_first_of_each_list() {
    let mut snapshot = fixture::slow_frames();
    let whole: serde_json::Value = serde_json::from_str(&json(&answer(&snapshot, false), &next())).unwrap();
    let text = brief(&answer(&snapshot, false), &next());
    insta::assert_snapshot!(text);
    let short: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(text.len() <= BYTES_MAX);
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&short), keys(&whole));
    assert_eq!(short["total"], whole["total"]);
    // Long names must not make the answer exceed its limit.
    for site in &mut snapshot.sites {
        site.module = format!("{}\u{202e}", "\"quoted\"::".repeat(400));
    }
    snapshot.process.name = "x".repeat(4_000);
    let text = brief(&answer(&snapshot, false), &next());
    assert!(text.len() <= BYTES_MAX, "{}", text.len());
}

#[test]
fn each_state_says_one_thing_and_the_next_step() {
    let mut snapshot = fixture::slow_frames();
    let mut said = Vec::new();
    for state in [
        WatchState::NoTail,
        WatchState::Raised,
        WatchState::Watching,
        WatchState::NoFunction,
        WatchState::Learning(57),
        WatchState::NoHistograms,
        WatchState::NoTime,
    ] {
        let watch = &mut snapshot.watches[0];
        watch.state = state;
        if state == WatchState::Watching {
            for path in &mut watch.paths {
                path.slow = PathSums::default();
            }
            watch.causes.clear();
            watch.exemplars.clear();
        }
        if state == WatchState::NoFunction {
            watch.paths.clear();
            watch.threshold_ticks = 0;
        }
        said.push(format!("{state:?}\n{}", text(&answer(&snapshot, false))));
    }
    let watch = &mut snapshot.watches[0];
    watch.state = WatchState::Watching;
    said.push(format!("no calls\n{}", text(&answer(&snapshot, false))));
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn causes_of_one_name_say_where() {
    let mut snapshot = fixture::slow_frames();
    let watch = &mut snapshot.watches[0];
    let again = WatchedPath {
        parent: 1,
        ..watch.paths[2]
    };
    watch.paths.push(again);
    let other = CauseSum {
        path: 4,
        calls: 1,
        ..watch.causes[0]
    };
    watch.causes.push(other);
    let why = answer(&snapshot, false).why().unwrap();
    assert!(why.starts_with("scene::lookup: most of it in 20 calls"), "{why}");
    assert!(why.ends_with("1 other cause in 1"), "{why}");
    snapshot.watches[0].causes.remove(1);
    let why = answer(&snapshot, false).why().unwrap();
    assert!(why.contains("scene::parse › scene::lookup: in 1, +"), "{why}");
}

#[test]
fn a_path_that_is_called_more_and_waits_there_says_both() {
    let mut snapshot = fixture::slow_frames();
    let watch = &mut snapshot.watches[0];
    let flush = &mut watch.paths[3];
    (flush.typical.calls, flush.slow.calls) = (0, 30);
    watch.causes = vec![CauseSum {
        path: 3,
        kind: CauseKind::Calls,
        calls: 30,
        path_calls: 30,
        ..watch.causes[0]
    }];
    let why = answer(&snapshot, false).why().unwrap();
    assert!(why.ends_with(", 1 call instead of 0, waiting"), "{why}");
}

#[test]
fn what_is_not_in_the_numbers_is_told() {
    let mut snapshot = fixture::slow_frames();
    snapshot.watches[0].lost = LostCalls {
        discarded: 1,
        missed: 0,
        not_kept: 21_400,
    };
    snapshot.watches[0].over = Over::Ns(1_900_000);
    let answer = answer(&snapshot, false);
    let lost = answer.lost().unwrap();
    assert!(
        lost.starts_with("1 call not counted: ")
            && lost.ends_with("; 21 400 calls counted and not kept whole")
    );
    assert!(answer.facts().unwrap().contains("(>= 1.90ms, 1.90ms asked for)"));
}

#[test]
fn a_call_that_is_slow_by_itself_and_had_no_cpu_says_both() {
    let mut snapshot = fixture::slow_frames();
    let exemplar = &mut snapshot.watches[0].exemplars[0];
    exemplar.cause = Some((3, CauseKind::SelfTime));
    let trace = exemplar.trace.as_mut().unwrap();
    let ready = trace.off_cpu[0].1;
    trace.off_cpu[0] = (3, 0, ready);
    let answer = answer(&snapshot, false);
    let exemplar = &snapshot.watches[0].exemplars[0];
    let said = answer.exemplar_cause(exemplar, exemplar.trace.as_ref());
    assert_eq!(said, "disk::flush 59.0µs, no CPU for 8.00ms");
}

#[test]
fn a_wait_has_the_name_of_the_call_that_threads_were_found_in() {
    let mut snapshot = fixture::slow_frames();
    // Add samples of waiting on the path of `flush` and on another path.
    let (flush, lookup) = (3, 2);
    snapshot.waits_in = WaitsIn::new(
        [(lookup, "futex", 70), (flush, "fsync", 9), (flush, "futex", 2)],
        [],
    );
    let said = |snapshot: &Snapshot| answer(snapshot, false).why().unwrap();
    assert!(
        said(&snapshot).contains("each, waiting in fsync; "),
        "{}",
        said(&snapshot)
    );
    snapshot.waits_in = WaitsIn::new([(flush, "fsync", 1), (flush, "futex", 1)], []);
    assert!(said(&snapshot).contains("each, waiting; "), "{}", said(&snapshot));
}

use tickscope_format::snapshot::{CauseSum, LostCalls, Over, PathSums, Snapshot, WatchState, WatchedPath};
use tickscope_testkit::fixture;

use super::*;

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
    let all = [text(&answer), markdown(&answer), json(&answer)].join("\n=====\n");
    insta::assert_snapshot!(all);
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

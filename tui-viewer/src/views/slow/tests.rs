//! Golden screens of the Slow view.

use insta::assert_snapshot;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::WatchState;
use tickscope_testkit::fixture;

use crate::test_driver::{golden, live, looks, showing, text};

/// Returns a snapshot in which the watch is in this state. The calls recorded so far are the same for every state.
fn slow_frames(state: WatchState) -> Snapshot {
    let mut s = fixture::slow_frames();
    s.watches[0].state = state;
    s
}

#[test]
fn why_slow_calls_are_slow() {
    golden!("slow", [(160, 42), (120, 30), (60, 15)], "8j", |width, height| {
        showing(width, height, slow_frames(WatchState::Watching))
    });
    let app = showing(120, 30, slow_frames(WatchState::Watching)).after("8J++l");
    assert_snapshot!("slow_zoomed_120x30", looks(&app));
}

#[test]
fn what_is_said_where_slow_calls_cannot_be_told() {
    let app = live(80, 24).after("8");
    let mut screens = vec![text(&app)];
    for state in [WatchState::Learning(57), WatchState::NoTail] {
        let mut snapshot = slow_frames(state);
        if state != WatchState::NoTail {
            snapshot.watches[0].exemplars.clear();
            snapshot.watches[0].causes.clear();
            snapshot.watches[0].paths.clear();
            snapshot.watches[0].threshold_ticks = 0;
        }
        let app = showing(80, 24, snapshot).after("8");
        screens.push(text(&app));
    }
    assert_snapshot!(screens.join("\n"));
}

#[test]
fn functions_with_a_tail_are_reversed_by_their_key() {
    let rows = |typed: &str| -> Vec<u32> {
        let app = live(80, 24).after(typed);
        app.list().rows.iter().map(|row| row.what.row).collect()
    };
    let (largest_first, mut smallest_first) = (rows("8"), rows("8I"));
    smallest_first.reverse();
    assert!(largest_first.len() > 1 && largest_first == smallest_first);
}

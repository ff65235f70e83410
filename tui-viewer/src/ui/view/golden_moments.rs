//! Golden screens of windows, the past, comparisons and sparklines.

use insta::assert_snapshot;
use tickscope_programs::status::Status;

use crate::app::tests::moments::{lives, other_build, watched};
use crate::orderbook;
use crate::test_driver::{empty, events, keys, looks, text};

const SIZES: [(u16, u16); 2] = [(120, 30), (60, 15)];

#[test]
fn a_window() {
    for (width, height) in SIZES {
        let app = watched(width, height).after("wwjjj");
        assert_snapshot!(format!("window_{width}x{height}"), looks(&app));
    }
}

#[test]
fn the_past() {
    let mut app = watched(120, 30).after("{");
    lives(&mut app, 1_341..=1_350);
    assert_snapshot!("past_120x30", looks(&app));
}

#[test]
fn differences() {
    for (width, height) in SIZES {
        let mut app = empty(width, height);
        app.compare_with(orderbook::snapshot(1_340).into(), "before.tks".into());
        events(&mut app, Status::Live, Some(other_build()));
        keys(&mut app, "jjjj");
        assert_snapshot!(format!("compare_{width}x{height}"), looks(&app));
    }
    let mut hot = empty(120, 30);
    hot.compare_with(orderbook::snapshot(1_340).into(), "before.tks".into());
    events(&mut hot, Status::Live, Some(other_build()));
    keys(&mut hot, "2");
    assert_snapshot!("compare_hot_120x30", looks(&hot));
}

#[test]
fn sparklines() {
    let app = watched(160, 30).after("jj");
    assert_snapshot!("sparklines_160x30", text(&app));
}

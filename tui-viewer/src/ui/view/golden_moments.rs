//! Golden screens of moments and stretches of time.

use insta::assert_snapshot;

use crate::app::tests::moments::{lives, other_build, watched};
use crate::orderbook;
use crate::source::status::Status;
use crate::test_driver::{empty, keys, looks, news, text};

const SIZES: [(u16, u16); 3] = [(120, 30), (80, 24), (60, 15)];

#[test]
fn a_window() {
    for (width, height) in SIZES {
        let mut model = watched(width, height);
        keys(&mut model, "wwjjj");
        assert_snapshot!(format!("window_{width}x{height}"), looks(&model));
    }
}

#[test]
fn the_past() {
    let mut model = watched(120, 30);
    keys(&mut model, "{");
    lives(&mut model, 1_341..=1_350);
    assert_snapshot!("past_120x30", looks(&model));
}

#[test]
fn differences() {
    for (width, height) in SIZES {
        let mut model = empty(width, height);
        model.compare_with(orderbook::snapshot(1_340).into(), "before.tks".into());
        news(&mut model, Status::Live, Some(other_build()));
        keys(&mut model, "jjjj");
        assert_snapshot!(format!("compare_{width}x{height}"), looks(&model));
    }
    let mut hot = empty(120, 30);
    hot.compare_with(orderbook::snapshot(1_340).into(), "before.tks".into());
    news(&mut hot, Status::Live, Some(other_build()));
    keys(&mut hot, "2");
    assert_snapshot!("compare_hot_120x30", looks(&hot));
}

#[test]
fn sparklines() {
    let mut model = watched(160, 30);
    keys(&mut model, "jj");
    assert_snapshot!("sparklines_160x30", text(&model));
}

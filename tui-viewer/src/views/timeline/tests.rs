//! Golden screens of the Timeline view.

use insta::assert_snapshot;

use crate::app::tests::moments::watched;
use crate::test_driver::{golden, looks};

const SIZES: [(u16, u16); 2] = [(120, 30), (60, 15)];

#[test]
fn the_time_line() {
    golden!("timeline", SIZES, "9", watched);
    let app = watched(120, 30).after("9f<<<<");
    assert_snapshot!("timeline_functions_120x30", looks(&app));
}

#[test]
fn the_time_line_below_the_tree() {
    let app = watched(120, 40).after("9<<<<<1PP");
    assert_snapshot!("timeline_below_120x40", looks(&app));
}

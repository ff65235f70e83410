//! Golden screens of the view Flame.

use insta::assert_snapshot;

use crate::test_driver::{golden, live, looks};

/// A large screen, a small one, and one with room only for the list. The tests of invariants cover all sizes.
const SIZES: [(u16, u16); 3] = [(120, 30), (60, 15), (20, 5)];

#[test]
fn the_flame() {
    golden!("flame", SIZES, "5jj", live);
    let app = live(80, 24).after("5jj\n");
    assert_snapshot!("flame_zoomed_80x24", looks(&app));
}

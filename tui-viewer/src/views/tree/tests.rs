//! Golden screens of the Tree view.

use crate::test_driver::{golden, live};

#[test]
fn the_tree() {
    golden!("tree", [(120, 30), (80, 24), (60, 15), (20, 5)], "jjj", live);
}

//! Golden screens of the Hot view.

use crate::test_driver::{golden, live};

#[test]
fn the_hotspots() {
    golden!("hot", [(120, 30), (60, 15)], "jjj2", live);
}

//! Golden screens of the view Tasks.

use insta::assert_snapshot;
use tickscope_testkit::fixture;

use crate::test_driver::{golden, live, showing, text};

/// A large screen, a small one, and one that fits only the list; tests of invariants cover every size.
const SIZES: [(u16, u16); 3] = [(120, 30), (60, 15), (20, 5)];

#[test]
fn tasks_in_flight_and_what_they_wait_for() {
    golden!("tasks", SIZES, "7jj", |width, height| showing(
        width,
        height,
        fixture::serving()
    ));
    let app = live(80, 24).after("7");
    assert_snapshot!("tasks_of_a_program_without_futures", text(&app));
}

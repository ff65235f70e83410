//! Golden screens of the Tasks view.

use insta::assert_snapshot;
use tickscope_testkit::fixture;

use crate::test_driver::{golden, live, showing, text};

/// A large screen, a small one, and one on which only the list fits. Other tests check invariants at every size.
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

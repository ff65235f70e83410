//! Golden screens of the Threads view.

use tickscope_programs::status::Status;

use crate::app::state::App;
use crate::test_driver::{empty, events, golden};
use crate::ui::view::golden_tables::with_cpu;

/// A large screen, a small one, and one on which only the list fits. Other tests check invariants at every size.
const SIZES: [(u16, u16); 3] = [(120, 30), (60, 15), (20, 5)];

fn watched(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    for tenths in 1_320..=1_340 {
        events(&mut app, Status::Live, Some(with_cpu(tenths)));
    }
    app
}

#[test]
fn the_threads() {
    golden!("threads", SIZES, "4", watched);
}

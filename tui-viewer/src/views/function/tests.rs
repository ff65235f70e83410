//! Golden screens of the view Function.

use insta::assert_snapshot;
use tickscope_programs::status::Status;
use tickscope_testkit::fixture;

use crate::keys::decoder::Code;
use crate::test_driver::{empty, events, find_code, key, keys, looks};

#[test]
fn the_source_of_a_function() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut app = empty(width, height);
        let effects = events(&mut app, Status::Live, Some(fixture::sampled()));
        find_code(&mut app, effects);
        keys(&mut app, "1");
        let effects = key(&mut app, Code::Char('S'));
        find_code(&mut app, effects);
        assert_snapshot!(format!("source_{width}x{height}"), looks(&app));
    }
}

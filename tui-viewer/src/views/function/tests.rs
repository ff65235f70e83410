//! Golden screens of the Function view.

use insta::assert_snapshot;

use crate::keys::decoder::Code;
use crate::test_driver::{key_and_code, looks, sampled};

#[test]
fn the_source_of_a_function() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut app = sampled(width, height);
        key_and_code(&mut app, Code::Char('S'));
        assert_snapshot!(format!("source_{width}x{height}"), looks(&app));
    }
}

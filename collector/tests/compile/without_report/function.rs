//! What asserting needs.

fn main() {
    assert_eq!(tickscope::snapshot().function("parse").calls, 0);
}

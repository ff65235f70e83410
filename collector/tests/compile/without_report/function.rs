//! `Snapshot::function`, meant for assertions in tests, needs the feature `report`.

fn main() {
    assert_eq!(tickscope::snapshot().function("parse").calls, 0);
}

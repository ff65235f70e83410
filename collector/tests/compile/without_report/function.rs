//! `Snapshot::function`, which assertions use, needs the feature `report`.

fn main() {
    assert_eq!(tickscope::snapshot().function("parse").calls, 0);
}

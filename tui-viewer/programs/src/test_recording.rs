//! Recordings for tests.

use std::path::Path;

use tickscope_format::Snapshot;
use tickscope_format::recording::Writer;
use tickscope_format::ring::Stamp;
use tickscope_testkit::test_program::payload;

/// Writes a recording of these snapshots.
pub(crate) fn recorded(path: &Path, snapshots: impl IntoIterator<Item = Snapshot>) {
    let mut writer = Writer::create(path, true).unwrap();
    for snapshot in snapshots {
        writer
            .append(Stamp::from(&snapshot.capture), &payload(&snapshot))
            .unwrap();
    }
    writer.finish().unwrap();
}

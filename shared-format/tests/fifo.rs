//! Alone in its process: a child being started holds the locks of other tests for a moment.

use std::process::Command;

use tickscope_format::file::open::RingFile;

#[test]
fn a_fifo_is_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fifo.ring");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = RingFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("is a FIFO"), "{error}");
}

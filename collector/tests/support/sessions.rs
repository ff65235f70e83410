//! Sessions and their publishers.

use std::fs;
use std::time::Duration;

use tickscope::{Builder, Session};
use tickscope_format::file::open::{Liveness, RingFile};

use super::wait_for;

/// Starts a session that publishes a hundred times a second.
pub(crate) fn quick(name: &str) -> Session {
    started(Builder::new(name).interval(Duration::from_millis(10)))
}

/// Starts a session that publishes.
pub(crate) fn started(builder: Builder) -> Session {
    builder.try_start().unwrap()
}

/// Opens the ring of a session that publishes.
pub(crate) fn ring_of(session: &Session) -> RingFile {
    RingFile::open(&session.path().unwrap()).unwrap()
}

/// Returns whether the program that owns a ring has ended and has written its last record.
pub(crate) fn has_exited(ring: &RingFile) -> bool {
    matches!(ring.liveness().unwrap(), Liveness::Exited { .. })
}

/// Waits for the publisher thread of a process, and returns its thread id.
pub(crate) fn publisher_of(pid: u32) -> u32 {
    wait_for("the publisher", || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        tasks
            .filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok())
            .find(|tid| {
                let name = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm"));
                name.is_ok_and(|name| name == "tickscope\n")
            })
    })
}

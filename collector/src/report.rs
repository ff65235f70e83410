//! The report at exit.

use tickscope_format::Snapshot;
use tickscope_format::kept;
use tickscope_format::render::ProcessState;
use tickscope_format::render::text::{TextOptions, report};

use crate::options::Destination;
use crate::os;

/// Writes the text report. Where that fails, standard error hears why; where that fails too, nobody can.
pub(crate) fn write(snapshot: &Snapshot, destination: &Destination) {
    let text = report(
        snapshot,
        &TextOptions {
            state: ProcessState::Exited,
            ..TextOptions::default()
        },
    );
    let said = |error: std::io::Error| error.to_string();
    let written = match destination {
        Destination::Stderr => os::write_all(libc::STDERR_FILENO, text.as_bytes()).map_err(said),
        Destination::Stdout => os::write_all(libc::STDOUT_FILENO, text.as_bytes()).map_err(said),
        Destination::File(path) => kept::write_new(path, text.as_bytes()).map_err(|error| error.to_string()),
    };
    if let Err(error) = written {
        let line = format!("tickscope: no report at exit: {error}\n");
        let _ = os::write_all(libc::STDERR_FILENO, line.as_bytes());
    }
}

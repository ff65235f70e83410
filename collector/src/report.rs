//! The report at exit.

use std::io::Write;

use tickscope_format::Snapshot;
use tickscope_format::kept;
use tickscope_format::render::ProcessState;
use tickscope_format::render::text::{TextOptions, report};

use crate::options::Destination;

/// Writes the text report. Where that fails, standard error hears why; where that fails too, nobody can.
pub(crate) fn write(snapshot: &Snapshot, destination: &Destination) {
    let text = report(
        snapshot,
        &TextOptions {
            state: ProcessState::Exited,
            ..TextOptions::default()
        },
    );
    let written = match destination {
        Destination::Stderr => std::io::stderr()
            .write_all(text.as_bytes())
            .map_err(|error| error.to_string()),
        Destination::Stdout => std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| error.to_string()),
        Destination::File(path) => kept::write_new(path, text.as_bytes()).map_err(|error| error.to_string()),
    };
    if let Err(error) = written {
        let _ = writeln!(std::io::stderr(), "tickscope: no report at exit: {error}");
    }
}

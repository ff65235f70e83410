//! Lines that a child writes to its parent.

use std::io::Write;

/// Prefix of a result row. Lines that are neither a row nor [`END`] come from the peer itself, and the parent ignores
/// them.
pub(crate) const ROW: &str = "ROW ";
/// Line that a child writes after its last scope, before it finishes the profiler.
pub(crate) const END: &str = "END";

/// Reports to the parent that the last scope has ended.
pub(crate) fn end_begins() {
    // Writing fails if the parent has exited; the report is then not needed.
    let _ = say(END);
}

pub(crate) fn say(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())
}

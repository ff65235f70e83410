//! Lines that a child writes to its parent.

use std::io::Write;

/// Start of a row; other output of a peer is ignored.
pub(crate) const ROW: &str = "ROW ";
/// Line that a child writes when the scopes are over and the end begins.
pub(crate) const END: &str = "END";

/// Reports to the parent that the scopes are over.
pub(crate) fn end_begins() {
    // A parent that has ended needs no report.
    let _ = say(END);
}

pub(crate) fn say(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())
}

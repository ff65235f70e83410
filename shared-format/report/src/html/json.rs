//! Writes the members of a JSON object by hand. Each member is followed by a comma; [`end`] removes the last comma and closes the
//! object.

use std::fmt::{Display, Write};

use crate::escape::Json;

/// Appends a member whose value is already JSON.
pub(crate) fn member(out: &mut String, name: &str, value: impl Display) {
    let _ = write!(out, "\n\"{name}\":{value},");
}

/// Appends a member that is a list of strings.
pub(crate) fn strings(out: &mut String, name: &str, values: impl Iterator<Item = impl AsRef<str>>) {
    list(out, name, values.map(Json));
}

/// Appends a member that is a list of values which are already JSON.
pub(crate) fn list(out: &mut String, name: &str, values: impl Iterator<Item = impl Display>) {
    let _ = write!(out, "\n\"{name}\":[");
    join(out, values);
    out.push_str("],");
}

/// Appends all values with commas between them.
pub(crate) fn join(out: &mut String, values: impl Iterator<Item = impl Display>) {
    for (at, value) in values.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{value}");
    }
}

/// Ends an object that has at least one member.
pub(crate) fn end(out: &mut String) {
    // Remove the comma after the last member.
    out.pop();
    out.push('}');
}

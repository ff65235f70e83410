//! Members of JSON, written by hand.

use std::fmt::{Display, Write};

use crate::escape::Json;

/// Appends a member, without the comma after it.
pub(crate) fn member(out: &mut String, name: &str, value: impl Display) {
    let _ = write!(out, "\n\"{name}\":{value}");
}

/// Appends a member that is a list of texts, and a comma.
pub(crate) fn strings(out: &mut String, name: &str, values: impl Iterator<Item = String>) {
    let _ = write!(out, "\n\"{name}\":[");
    join(out, values, |out, value| {
        let _ = write!(out, "{}", Json(&value));
    });
    out.push_str("],");
}

/// Appends a member that is a list, and a comma.
pub(crate) fn list<T: Display>(out: &mut String, name: &str, values: impl Iterator<Item = T>) {
    let _ = write!(out, "\n\"{name}\":[");
    join(out, values, |out, value| {
        let _ = write!(out, "{value}");
    });
    out.push_str("],");
}

/// Appends all values with commas between them.
pub(crate) fn join<T>(out: &mut String, values: impl Iterator<Item = T>, one: impl Fn(&mut String, T)) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push(',');
        }
        one(out, value);
    }
}

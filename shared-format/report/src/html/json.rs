//! Members of JSON, written by hand.

use std::fmt::{Display, Write};

use crate::escape::Json;

pub(super) fn member(out: &mut String, name: &str, value: impl Display) {
    let _ = write!(out, "\n\"{name}\":{value}");
}

pub(super) fn strings(out: &mut String, name: &str, values: impl Iterator<Item = String>) {
    let _ = write!(out, "\n\"{name}\":[");
    join(out, values, |out, value| {
        let _ = write!(out, "{}", Json(&value));
    });
    out.push_str("],");
}

pub(super) fn list<T: Display>(out: &mut String, name: &str, values: impl Iterator<Item = T>) {
    let _ = write!(out, "\n\"{name}\":[");
    join(out, values, |out, value| {
        let _ = write!(out, "{value}");
    });
    out.push_str("],");
}

pub(super) fn join<T>(out: &mut String, values: impl Iterator<Item = T>, one: impl Fn(&mut String, T)) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push(',');
        }
        one(out, value);
    }
}

//! The snapshot as JSON: every fact, threads apart, one thread or node a line.
//!
//! Members keep their order and meaning within version 1; new ones come after the old.

mod document;
mod layout;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::render::ProcessState;
use crate::snapshot::Snapshot;

/// The JSON text of a snapshot, ending in a newline. The same snapshot always gives the same text.
pub fn report(snapshot: &Snapshot, state: ProcessState) -> String {
    let document = document::Document::new(snapshot, state);
    let mut out = Vec::with_capacity(2_000 + snapshot.nodes.len() * 300);
    let mut writer = serde_json::Serializer::with_formatter(&mut out, layout::Lines::default());
    // Neither the Vec nor structs with fixed names can fail to be written.
    let _ = document.serialize(&mut writer);
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

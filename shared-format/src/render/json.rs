//! The snapshot as JSON: every fact, threads apart, one thread or node a line.
//!
//! Members keep their order and meaning within version 1; new ones come after the old.

mod document;
mod groups;
mod layout;
pub(in crate::render) mod node;
mod sites;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::profile::compensate::compensated;
use crate::render::ProcessState;
use crate::snapshot::Snapshot;

/// The JSON text of a snapshot, ending in a newline. The same snapshot always gives the same text.
pub fn report(snapshot: &Snapshot, state: ProcessState) -> String {
    let document = document::Document::new(snapshot, state);
    written(&document, snapshot.nodes.len())
}

/// The same with what measuring costs at least taken off the times; see [`compensated`].
pub fn compensated_report(snapshot: &Snapshot, state: ProcessState) -> String {
    of_compensated(&compensated(snapshot), snapshot, state)
}

/// The same of a snapshot that was compensated already, and perhaps narrowed since; `raw` is as it was measured.
pub fn of_compensated(less: &Snapshot, raw: &Snapshot, state: ProcessState) -> String {
    let document = document::Document::compensated(less, raw, state);
    written(&document, less.nodes.len())
}

/// The sites of a snapshot and the rules that switch them off and on, ending in a newline.
pub fn sites(snapshot: &Snapshot, state: ProcessState) -> String {
    let document = sites::SitesDocument::new(snapshot, state);
    written(&document, snapshot.sites.len())
}

pub(in crate::render) fn written(document: &impl Serialize, lines: usize) -> String {
    let mut out = Vec::with_capacity(2_000 + lines * 400);
    let mut writer = serde_json::Serializer::with_formatter(&mut out, layout::Lines::default());
    // Neither the Vec nor structs with fixed names can fail to be written.
    let _ = document.serialize(&mut writer);
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

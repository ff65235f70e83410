//! The snapshot as JSON: every fact, threads apart, one thread or node a line.
//!
//! Members keep their order and meaning within version 1; new ones come after the old.

mod document;
mod groups;
mod layout;
pub(crate) mod node;
mod raw;
mod sites;

#[cfg(test)]
mod tests;

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::snapshot::Snapshot;

use crate::{Extent, ProcessState};

/// The JSON text of a snapshot, ending in a newline. The same snapshot always gives the same text.
pub fn report(snapshot: &Snapshot, state: ProcessState) -> String {
    of_part(snapshot, None, None, state, &Extent::default())
}

/// The same of a part of a run, times and calls divided by those of one function where that is given; `raw` is the
/// snapshot as it was measured, where `shown` was [`compensated`]. What is compensated or divided says so, and cannot be
/// read back.
///
/// [`compensated`]: tickscope_analysis::overhead_correction::compensated
pub fn of_part(
    shown: &Snapshot,
    raw: Option<&Snapshot>,
    per: Option<&PerCall>,
    state: ProcessState,
    extent: &Extent,
) -> String {
    let document = match raw {
        Some(raw) => document::Document::compensated(shown, raw, per, state),
        None => document::Document::new(shown, per, state),
    };
    written(&document.within(extent), shown.nodes.len())
}

/// The sites of a snapshot and the rules that switch them off and on, ending in a newline.
pub fn sites(snapshot: &Snapshot, state: ProcessState) -> String {
    let document = sites::SitesDocument::new(snapshot, state);
    written(&document, snapshot.sites.len())
}

pub(crate) fn written(document: &impl Serialize, lines: usize) -> String {
    let mut out = Vec::with_capacity(2_000 + lines * 400);
    let mut writer = serde_json::Serializer::with_formatter(&mut out, layout::Lines::default());
    // Neither the Vec nor structs with fixed names can fail to be written.
    let _ = document.serialize(&mut writer);
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

//! A snapshot as JSON, with all data of each thread. Each thread and each node is on one line.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

mod document;
pub(crate) mod futures;
mod groups;
mod layout;
mod lines;
pub(crate) mod measures;
pub(crate) mod node;
mod raw;
mod sites;
mod tally;

#[cfg(test)]
mod tests;

pub(crate) use self::layout::VERSION;

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::Snapshot;

use crate::{Extent, ProcessState};

/// Returns a part of a run as a JSON document that ends in a newline and depends only on the arguments. With `per`, times and
/// calls are divided by the number of calls of that function, which the document names. `extent` says which part of the run it
/// is. `addresses` contains the functions and source lines of sampled addresses, as far as they are known.
pub fn of_part(
    snapshot: &Snapshot,
    per: Option<&PerCall>,
    state: ProcessState,
    extent: &Extent,
    addresses: &Addresses,
) -> String {
    let document = document::Document::new(snapshot, per, state, extent, addresses);
    written(&document, snapshot.nodes.len())
}

/// Returns a JSON document with the sites of a snapshot and the rules that disable sites. It ends in a newline.
pub fn sites(snapshot: &Snapshot, state: ProcessState) -> String {
    let document = sites::SitesDocument::new(snapshot, state);
    written(&document, snapshot.sites.len())
}

pub(crate) fn written(document: &impl Serialize, lines: usize) -> String {
    let mut out = Vec::with_capacity(2_000 + lines * 400);
    let mut writer = serde_json::Serializer::with_formatter(&mut out, layout::Lines::default());
    // Writing to a `Vec` and writing structs with fixed names cannot fail.
    let _ = document.serialize(&mut writer);
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

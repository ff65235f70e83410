//! The sites of a program as JSON, most calls first.
//!
//! Members keep their order and meaning within version 1; new members are added at the end.

use std::cmp::Reverse;

use serde::Serialize;
use tickscope_analysis::sites::{SiteRow, sites};
use tickscope_format::pattern::Pattern;

use super::{Length, Program, Subject, cut, place};
use crate::json::{VERSION, written};

#[derive(Serialize)]
struct Document<'a> {
    tickscope: u32,
    program: Program,
    /// Unit of the numbers in `sites`.
    unit: &'static str,
    estimated: bool,
    matching: Option<&'a str>,
    shown: usize,
    total: usize,
    /// Number of matching sites that are switched off.
    off: usize,
    sites: Vec<Row>,
    notes: &'a [String],
    next: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    site: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    calls: u64,
    off: bool,
}

/// Returns the sites that match `matching`, or all sites, as a JSON document that ends in a newline.
pub fn json(subject: &Subject<'_>, matching: Option<&Pattern>, length: Length) -> String {
    let snapshot = subject.snapshot;
    let site = |row: &SiteRow| &snapshot.sites[row.site.index()];
    let mut rows = sites(snapshot);
    rows.retain(|row| matching.is_none_or(|pattern| pattern.matches(site(row))));
    rows.sort_by_cached_key(|row| (Reverse(row.calls), site(row).path()));
    let document = |count: usize| {
        let listed = &rows[..count];
        let document = Document {
            tickscope: VERSION,
            program: Program::of(snapshot, subject.state),
            unit: "calls",
            estimated: false,
            matching: matching.map(Pattern::as_str),
            shown: listed.len(),
            total: rows.len(),
            off: rows.iter().filter(|row| row.off).count(),
            sites: listed
                .iter()
                .map(|row| Row {
                    site: cut(&site(row).path()),
                    at: place(&site(row).file, site(row).line),
                    calls: row.calls,
                    off: row.off,
                })
                .collect(),
            notes: subject.notes,
            next: [
                Some(subject.next.top()),
                subject.next.all("tickscope sites TARGET -f json"),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        written(&document, listed.len())
    };
    length.of(rows.len(), document)
}

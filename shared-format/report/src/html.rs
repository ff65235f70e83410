//! The report as one HTML file that needs nothing else: no network, no other file, no framework.
//!
//! The page shows the call tree, its icicle and the functions that cost most; it merges threads, sorts and searches
//! itself. What it shows is a table of numbers (`data`), and beside it stands the snapshot (`carried`), from which it
//! can be read back to the last bit. Without scripts it shows the text report.

mod base64;
mod carried;
mod data;

#[cfg(test)]
mod tests;

use crate::escape::visible;
use crate::text::{self, TextOptions};
use crate::{Extent, ProcessState};
use tickscope_analysis::overhead_correction::compensated;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::FormatError;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Snapshot;

pub use carried::snapshot_of;

/// Around everything; `{{NAME}}` says what goes where.
const PAGE: &str = include_str!("html/page.html");

const STYLE: &str = include_str!("html/style.css");

/// In this order: what comes later uses what came before.
const SCRIPTS: [&str; 16] = [
    include_str!("html/script/number.js"),
    include_str!("html/script/latency.js"),
    include_str!("html/script/model.js"),
    include_str!("html/script/colours.js"),
    include_str!("html/script/columns.js"),
    include_str!("html/script/grid.js"),
    include_str!("html/script/flame.js"),
    include_str!("html/script/details.js"),
    include_str!("html/script/page.js"),
    include_str!("html/script/texts.js"),
    include_str!("html/script/rows.js"),
    include_str!("html/script/draw.js"),
    include_str!("html/script/search.js"),
    include_str!("html/script/head.js"),
    include_str!("html/script/start.js"),
    include_str!("html/script/check.js"),
];

/// Rows with a smaller share are left out of the text that is shown without scripts.
const MIN_SHARE_WITHOUT_SCRIPTS: f64 = 0.01;

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageOptions {
    /// How the program is doing.
    pub state: ProcessState,
    /// The thread that is chosen when the page opens; none merges all threads by path.
    pub thread: Option<ThreadId>,
    /// What measuring costs at least is taken off the times; see [`compensated`]. The snapshot that the page carries
    /// stays as it was measured.
    pub compensated: bool,
    /// Whose calls times and counts are divided by where they are shown.
    pub per: Option<PerCall>,
    /// Which part of the run it is of.
    pub extent: Extent,
}

// === impl PageOptions ===

impl PageOptions {
    fn as_text(&self) -> TextOptions {
        TextOptions {
            state: self.state,
            compensated: self.compensated,
            extent: self.extent.clone(),
            min_share: MIN_SHARE_WITHOUT_SCRIPTS,
            per: self.per.clone(),
            ..TextOptions::default()
        }
    }
}

/// The page of a snapshot. The same snapshot always gives the same text.
///
/// # Errors
/// [`FormatError::TooLarge`] where the snapshot exceeds what a reader would accept.
pub fn page(snapshot: &Snapshot, options: &PageOptions) -> Result<String, FormatError> {
    let less = options.compensated.then(|| compensated(snapshot));
    let shown = less.as_ref().unwrap_or(snapshot);
    let mut out =
        String::with_capacity(100_000 + snapshot.nodes.len() * 64 + snapshot.latencies.packed.len() * 4);
    // What is put in is never looked at again: a name that looks like a place stays a name.
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (place, after) = after.split_once("}}").unwrap_or((after, ""));
        match place {
            "title" => escape(&mut out, &visible(&snapshot.process.name, false)),
            "style" => out.push_str(STYLE),
            "text" => escape(&mut out, &text::report(snapshot, &options.as_text())),
            "data" => data::write(&mut out, shown, snapshot, options),
            "snapshot" => carried::write(&mut out, snapshot)?,
            "script" => SCRIPTS.iter().for_each(|script| out.push_str(script)),
            _ => {}
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Appends text so that it is shown as it is, between tags and in an attribute.
pub(super) fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

//! A report as one self-contained HTML file. It needs no network, no other file and no framework.
//!
//! The page shows the call tree, its flame graph, the functions with the most self time, the slow calls of watched functions, and
//! a timeline of what each thread did during a recording. Its scripts merge threads, sort and search, using a table of numbers
//! (`data`). The page also contains the snapshot itself (`carried`), which can be read back without loss. If scripts are
//! disabled, the page shows the text report.

mod carried;
mod data;
pub(crate) mod json;
mod slow;
mod timeline;

#[cfg(test)]
mod tests;

use tickscope_format::FormatError;
use tickscope_format::snapshot::Snapshot;

use crate::escape::visible;
use crate::form_options::FormOptions;
use crate::slow::{Answer, SlowOptions, text as slow_text};
use crate::text;

pub use self::carried::snapshot_of;

/// Skeleton of the page, in which each `{{NAME}}` is a placeholder.
const PAGE: &str = include_str!("html/page.html");

const STYLE: &str = concat!(include_str!("html/style.css"), include_str!("html/heard.css"));

/// Script of the flame graph. The page that compares two builds uses it too.
pub(crate) const FLAME_SCRIPT: &str = include_str!("html/script/flame.js");

/// Scripts of the page, ordered so that each script comes after those that it uses.
const SCRIPTS: [&str; 21] = [
    include_str!("html/script/number.js"),
    include_str!("html/script/latency.js"),
    include_str!("html/script/tally.js"),
    include_str!("html/script/model.js"),
    include_str!("html/script/bottom_up.js"),
    include_str!("html/script/colours.js"),
    include_str!("html/script/columns.js"),
    FLAME_SCRIPT,
    include_str!("html/script/grid.js"),
    include_str!("html/script/waterfall.js"),
    include_str!("html/script/slow.js"),
    include_str!("html/script/threads.js"),
    include_str!("html/script/timeline.js"),
    include_str!("html/script/details.js"),
    include_str!("html/script/page.js"),
    include_str!("html/script/texts.js"),
    include_str!("html/script/rows.js"),
    include_str!("html/script/draw.js"),
    include_str!("html/script/search.js"),
    include_str!("html/script/head.js"),
    include_str!("html/script/start.js"),
];

/// Returns the page of a snapshot. The same arguments always give the same page.
///
/// # Errors
/// [`FormatError::TooLarge`] if the snapshot is larger than a reader accepts.
pub fn page(snapshot: &Snapshot, options: &FormOptions) -> Result<String, FormatError> {
    let mut out =
        String::with_capacity(100_000 + snapshot.nodes.len() * 64 + snapshot.latencies.packed.len() * 4);
    // Inserted text is not scanned for placeholders; otherwise a function called `{{NAME}}` would be replaced too.
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (place, after) = after.split_once("}}").unwrap_or((after, ""));
        match place {
            "title" => escape(&mut out, &visible(&snapshot.process.name, false)),
            "style" => out.push_str(STYLE),
            "text" => {
                escape(&mut out, &text::report(snapshot, &options.of_page_text()));
                for watch in &snapshot.watches {
                    let answer = Answer::of(snapshot, watch, SlowOptions::default());
                    escape(&mut out, &format!("\n{}", slow_text(&answer)));
                }
            }
            "data" => data::write(&mut out, snapshot, options),
            "snapshot" => carried::write(&mut out, snapshot)?,
            "script" => SCRIPTS.iter().for_each(|script| out.push_str(script)),
            _ => {}
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Appends text, escaped for HTML between tags or in an attribute.
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

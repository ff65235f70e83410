//! The report: what people read in a terminal and paste into an issue.
//!
//! A header with everything that tells how far to trust the numbers, the call tree, the functions that cost
//! most themselves. Columns of fixed width come first, names last, so that it stays aligned at 100 columns.

mod header;
mod top;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::ids::ThreadId;
use crate::profile::tree::CallTree;
use crate::render::ProcessState;
use crate::render::glyphs::Glyphs;
use crate::render::{label, number};
use crate::snapshot::Snapshot;

/// What a report shows.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// How the program is doing.
    pub state: ProcessState,
    /// The one thread to show; none merges all threads by path.
    pub thread: Option<ThreadId>,
    /// Nothing but ASCII.
    pub ascii: bool,
    /// How many functions to list by self time; 0 leaves the list out.
    pub top: usize,
    /// Rows of the tree whose share of the measured time is below this (0 to 1) are left out, and counted.
    pub min_share: f64,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            state: ProcessState::default(),
            thread: None,
            ascii: false,
            // A screen full.
            top: 30,
            min_share: 0.0,
        }
    }
}

/// The report on a snapshot, ending in a newline.
pub fn report(snapshot: &Snapshot, options: &TextOptions) -> String {
    let page = Page::new(snapshot, options);
    let mut out = String::with_capacity(2_000 + page.tree.rows.len() * 100);
    // Writing into a String does not fail.
    let _ = page.write(&mut out);
    out
}

/// What every part of the report needs.
struct Page<'a> {
    snapshot: &'a Snapshot,
    options: &'a TextOptions,
    tree: CallTree,
    /// By function id.
    labels: Vec<String>,
    glyphs: &'static Glyphs,
    /// What 100 % is.
    measured_ns: u64,
}

// === impl Page ===

impl<'a> Page<'a> {
    fn new(snapshot: &'a Snapshot, options: &'a TextOptions) -> Self {
        let tree = CallTree::build(snapshot, |thread| {
            options.thread.is_none_or(|chosen| chosen == thread)
        });
        let labels = label::labels(&tree.functions, options.ascii);
        let measured_ns = tree.measured_ns();
        Self {
            snapshot,
            options,
            tree,
            labels,
            glyphs: Glyphs::of(options.ascii),
            measured_ns,
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        header::write(out, self)?;
        tree::write(out, self)?;
        top::write(out, self)
    }

    fn duration(&self, ns: u64) -> String {
        let text = number::duration(ns);
        if self.options.ascii {
            number::ascii(text)
        } else {
            text
        }
    }

    fn share(&self, ns: u64) -> f64 {
        if self.measured_ns == 0 {
            return 0.0;
        }
        ns as f64 / self.measured_ns as f64
    }

    fn percent(&self, ns: u64) -> String {
        number::percent(self.share(ns))
    }

    /// The mean of a call; unknown where no call began since the reset, though one may still be open.
    fn average(&self, total_ns: u64, calls: u64) -> String {
        match total_ns.checked_div(calls) {
            Some(ns) => self.duration(ns),
            None => "-".to_string(),
        }
    }
}

//! The report: what people read in a terminal and paste into an issue.
//!
//! A header with everything that tells how far to trust the numbers, the call tree, the functions that cost
//! most themselves. Columns of fixed width come first, names last, so that it stays aligned at 100 columns.

mod columns;
mod flat;
mod groups;
mod header;
mod top;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

use crate::ids::ThreadId;
use crate::profile::compensate::compensated;
use crate::profile::spread::Spread;
use crate::profile::tree::CallTree;
use crate::render::ProcessState;
use crate::render::glyphs::Glyphs;
use crate::render::{label, number};
use crate::snapshot::Snapshot;

/// What stands below the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The tree, and the top functions.
    #[default]
    Both,
    /// The tree alone.
    Tree,
    /// All functions by self time.
    Hot,
    /// The same as gprof's flat profile.
    Flat,
}

/// Which time the numbers are of, where that is not all since the reset up to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// All since the reset up to a moment: which one.
    Moment(String),
    /// What happened between two moments: how long, and which.
    Window(String),
}

/// What a report shows.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// How the program is doing.
    pub state: ProcessState,
    /// What stands below the header.
    pub view: View,
    /// The one thread to show; none merges all threads by path.
    pub thread: Option<ThreadId>,
    /// Nothing but ASCII.
    pub ascii: bool,
    /// How many functions to list below the tree by self time; 0 leaves the list out.
    pub top: usize,
    /// Rows of the tree whose share of the measured time is below this (0 to 1) are left out, and counted; so are
    /// functions whose self time is.
    pub min_share: f64,
    /// What measuring costs at least is taken off the times; see [`compensated`].
    pub compensated: bool,
    /// Which time the snapshot is of, for the header.
    pub stretch: Option<Stretch>,
    /// Cells of a line; where they are few, the columns of percentiles are left out.
    pub width: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            state: ProcessState::default(),
            view: View::default(),
            thread: None,
            ascii: false,
            // A screen full.
            top: 30,
            min_share: 0.0,
            compensated: false,
            stretch: None,
            width: 100,
        }
    }
}

/// The report on a snapshot, ending in a newline.
pub fn report(snapshot: &Snapshot, options: &TextOptions) -> String {
    let less = options.compensated.then(|| compensated(snapshot));
    let page = Page::new(less.as_ref().unwrap_or(snapshot), snapshot, options);
    let mut out = String::with_capacity(2_000 + page.tree.rows.len() * 100);
    // Writing into a String does not fail.
    let _ = page.write(&mut out);
    out
}

/// The lines of the report's head below its title: names and texts.
pub(crate) fn facts(snapshot: &Snapshot, options: &TextOptions) -> Vec<(&'static str, String)> {
    let less = options.compensated.then(|| compensated(snapshot));
    header::facts(&Page::new(less.as_ref().unwrap_or(snapshot), snapshot, options))
}

/// What every part of the report needs.
struct Page<'a> {
    /// What is shown.
    snapshot: &'a Snapshot,
    /// The same as it was measured.
    raw: &'a Snapshot,
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
    fn new(snapshot: &'a Snapshot, raw: &'a Snapshot, options: &'a TextOptions) -> Self {
        let tree = CallTree::build(snapshot, |thread| {
            options.thread.is_none_or(|chosen| chosen == thread)
        });
        let labels = label::labels(&tree.functions, options.ascii);
        let measured_ns = tree.measured_ns();
        Self {
            snapshot,
            raw,
            options,
            tree,
            labels,
            glyphs: Glyphs::of(options.ascii),
            measured_ns,
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        header::write(out, self)?;
        let doubtful_shown = match self.options.view {
            View::Both => {
                let in_tree = tree::write(out, self)?;
                top::write(out, self, self.options.top)? || in_tree
            }
            View::Tree => tree::write(out, self)?,
            View::Hot | View::Flat if self.tree.rows.is_empty() => tree::write(out, self)?,
            View::Hot => top::write(out, self, usize::MAX)?,
            View::Flat => flat::write(out, self)?,
        };
        if self.options.view != View::Tree {
            groups::write(out, self)?;
        }
        if doubtful_shown {
            writeln!(
                out,
                "\n{} less than {} a call on average, three times what measuring one costs at most: doubtful",
                self.glyphs.doubtful,
                self.duration(self.snapshot.doubtful_below_ns().round() as u64),
            )?;
        }
        Ok(())
    }

    fn duration(&self, ns: u64) -> String {
        self.in_charset(number::duration(ns))
    }

    fn in_charset(&self, text: String) -> String {
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

    /// Whether a time of the tree is an estimate.
    fn has_estimates(&self) -> bool {
        (0..self.tree.rows.len() as u32).any(|row| self.tree.spread(row).is_some())
    }

    /// How far the sum of all is known; none where it is exact.
    fn measured_spread(&self) -> Option<Spread> {
        self.tree.sum_of(self.tree.top())
    }
}

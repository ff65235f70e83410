//! The report: what people read in a terminal and paste into an issue.
//!
//! A header with everything that tells how far to trust the numbers, the call tree, the functions that cost
//! most themselves. Columns of fixed width come first, names last, so that it stays aligned at 100 columns.

mod columns;
mod flat;
mod graph;
mod groups;
mod header;
mod scale;
mod threads;
mod top;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

use self::scale::Time;
use crate::glyphs::Glyphs;
use crate::unit::Unit;
use crate::{Extent, ProcessState};
use crate::{label, number};
use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::overhead_correction::compensated;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::uncertainty::Spread;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Snapshot;

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
    /// Each function between its callers and its callees, as gprof's call graph.
    Graph,
    /// The threads, and where they are now.
    Threads,
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
    /// Which part of the run it is of.
    pub extent: Extent,
    /// Cells of a line; where they are few, the columns of percentiles are left out.
    pub width: usize,
    /// In what times are given.
    pub unit: Unit,
    /// Whose calls times and counts are divided by.
    pub per: Option<PerCall>,
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
            extent: Extent::default(),
            width: 100,
            unit: Unit::Ns,
            per: None,
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
    /// Whether a time of the tree is an estimate.
    has_estimates: bool,
}

// === impl Page ===

impl<'a> Page<'a> {
    fn new(snapshot: &'a Snapshot, raw: &'a Snapshot, options: &'a TextOptions) -> Self {
        let tree = CallTree::build(snapshot, |thread| {
            options.thread.is_none_or(|chosen| chosen == thread)
        });
        let labels = label::labels(&tree.functions, options.ascii);
        let measured_ns = tree.measured_ns();
        let has_estimates = (0..tree.rows.len() as u32).any(|row| tree.spread(row).is_some());
        Self {
            snapshot,
            raw,
            options,
            tree,
            labels,
            glyphs: Glyphs::of(options.ascii),
            measured_ns,
            has_estimates,
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
            View::Threads if !self.snapshot.threads.is_empty() => {
                threads::write(out, self)?;
                false
            }
            _ if self.tree.rows.is_empty() => tree::write(out, self)?,
            View::Threads => false,
            View::Hot => top::write(out, self, usize::MAX)?,
            View::Flat => flat::write(out, self)?,
            View::Graph => graph::write(out, self)?,
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

    /// The same, without saying how far it is known.
    fn measured(&self) -> Time {
        let ticks = self.tree.rows.iter().map(|row| row.self_ticks).sum();
        Time::own(self.measured_ns, ticks, None)
    }

    /// How far the sum of all is known; none where it is exact.
    fn measured_spread(&self) -> Option<Spread> {
        self.tree.sum_of(self.tree.top())
    }
}

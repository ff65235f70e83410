//! Short answers for scripts and agents, as JSON. Each answer says which unit its values have, whether they are estimates, how
//! many of the rows it shows, and which commands could come next.
//!
//! ```text
//! Snapshot -> top        the functions with the highest values of a measure
//!          -> sites      the sites that were entered, and the sites that are switched off
//! Rings    -> programs   the programs that use tickscope
//! Verdict  -> condition  whether a condition is true, and the values found
//! ```
//!
//! The answers about slow calls ([`slow`](crate::slow)) and comparisons ([`diff`](crate::diff)) are defined next to the other
//! forms of these reports.

pub mod condition;
mod fit;
mod next;
pub mod programs;
pub mod sites;
pub mod top;

#[cfg(test)]
mod tests;

use serde::Serialize;
use tickscope_format::snapshot::Snapshot;

use crate::ProcessState;

pub use self::fit::BYTES_MAX;
pub(crate) use self::fit::{cut, fitted};
pub use self::next::{Next, shell_word};

/// Maximum number of rows in a short answer.
const ROWS: usize = 10;

/// What an answer is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The snapshot that the answer is based on.
    pub snapshot: &'a Snapshot,
    /// Whether the program runs.
    pub state: ProcessState,
    /// The part of the run that the snapshot covers, in words; `None` if it covers everything since the reset.
    pub when: Option<&'a str>,
    /// Notes for the reader, one sentence each.
    pub notes: &'a [String],
    /// How to write the suggested next commands.
    pub next: &'a Next,
}

/// How many rows an answer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// At most ten rows, or fewer if they do not fit into [`BYTES_MAX`].
    #[default]
    Brief,
    /// This many rows, if there are enough.
    Rows(usize),
}

impl Length {
    /// Returns the document with as many rows as this length allows, but at most `all`. `document` makes a document with the
    /// given number of rows.
    pub(crate) fn of(self, all: usize, document: impl Fn(usize) -> String) -> String {
        match self {
            Self::Brief => fitted(all.min(ROWS), document),
            Self::Rows(count) => document(count.min(all)),
        }
    }
}

/// The program in an answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Program {
    name: String,
    pid: u32,
    state: &'static str,
}

impl Program {
    pub(crate) fn of(snapshot: &Snapshot, state: ProcessState) -> Self {
        Self {
            name: cut(&snapshot.process.name),
            pid: snapshot.process.pid,
            state: state.as_str(),
        }
    }
}

/// Returns the file and line of a function or a site, such as `src/book.rs:20`, or `None` if they are unknown.
pub(crate) fn place(file: &str, line: u32) -> Option<String> {
    (!file.is_empty()).then(|| crate::label::place(file, line, false))
}

//! Short answers for scripts and agents: JSON that says its unit, whether it is estimated, how much of the whole it shows, and
//! how to go on.
//!
//! ```text
//! Snapshot -> top        the functions with the most of a measure
//!          -> sites      what was met, and what is switched off
//! Rings    -> programs   which programs there are
//! Verdict  -> condition  whether a condition is true, and what was found
//! ```
//!
//! The answers on slow calls ([`slow`](crate::slow)) and on comparisons ([`diff`](crate::diff)) are beside their other forms.

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

/// What an answer is on.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The state of its program.
    pub state: ProcessState,
    /// Which part of the run it is, in words; none for all since the reset.
    pub when: Option<&'a str>,
    /// What the reader has to know of it, a sentence each.
    pub notes: &'a [String],
    /// How commands to go on with are written.
    pub next: &'a Next,
}

/// How many rows an answer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// Ten at most, and fewer where they do not fit into [`BYTES_MAX`].
    #[default]
    Brief,
    /// So many, if there are as many.
    Rows(usize),
}

/// Which program.
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

/// Where a function or a site stands: `src/book.rs:20`, or nothing where that is not known.
pub(crate) fn place(file: &str, line: u32) -> Option<String> {
    (!file.is_empty()).then(|| crate::label::place(file, line, false))
}

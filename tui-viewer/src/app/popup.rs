//! What stands on top of a view and takes the keys.

use crate::source::events::Request;

/// A list or question on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Popup {
    /// The keys.
    Help {
        /// Lines scrolled away.
        scroll: usize,
    },
    /// Choose a thread.
    Threads {
        /// The selected line.
        index: usize,
    },
    /// Choose how to measure.
    Modes {
        /// The selected line.
        index: usize,
    },
    /// Reset, although others watch?
    Ask(Request),
}

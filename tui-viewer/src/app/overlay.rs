//! The overlay on top of the view, which takes the keys.

use tickscope_format::ids::ThreadId;
use tickscope_programs::events::Request;

use crate::app::help_screen::HelpScreen;

/// The overlay that has the keyboard in place of the view. There is at most one overlay.
#[derive(Debug)]
pub(crate) enum Overlay {
    /// The line in which a search is typed.
    Search,
    Help(HelpScreen),
    /// The list of threads to choose from.
    Threads {
        /// The selected line; the first stands for all threads.
        index: usize,
        /// Threads of the snapshot on screen in the order of the list.
        order: Vec<ThreadId>,
    },
    /// The list of modes.
    Modes {
        /// The selected line.
        index: usize,
    },
    /// The question whether to send this request although others watch the program.
    Confirm(Request),
}

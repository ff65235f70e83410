//! Meanings and their looks: styles per theme, marks per character set.

mod choice;
mod ground;
mod palette;

use tickscope_programs::status::Mark;

pub use crate::cli::args::look::ThemeKind;
pub(crate) use crate::ui::theme::choice::{Colours, chosen, colours, decide};
pub(crate) use crate::ui::theme::ground::{Ground, Heat};
pub(crate) use crate::ui::theme::palette::{indexed, sixteen};

/// Meaning of a text, which decides its looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Plain text.
    Plain,
    /// Text that the eye should find first.
    Strong,
    /// Text that may be overlooked: units of the frame, hints.
    Quiet,
    /// Lines that only divide.
    Rule,
    /// The selected row.
    Selected,
    /// A share of a quarter or more.
    Hottest,
    /// A share of a twentieth or more.
    Warm,
    /// A share below a hundredth.
    Small,
    /// Title of the column that rows are sorted by.
    Sorted,
    /// A match of the search.
    Match,
    /// All is well.
    Good,
    /// Time off the CPU, and threads that wait.
    Waiting,
    /// Unusual state, which is not wrong.
    Notable,
    /// State that is over, or wrong.
    Ended,
    /// Error that the user should notice.
    Alarm,
}

impl Meaning {
    /// Returns the meaning of a state.
    pub(crate) fn of(mark: Mark) -> Self {
        match mark {
            Mark::Live => Self::Good,
            Mark::Frozen | Mark::Stale => Self::Notable,
            Mark::Ended => Self::Ended,
            Mark::Kept | Mark::Waiting => Self::Strong,
        }
    }
}

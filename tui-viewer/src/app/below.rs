//! What stands below the tree, on screens with room for a second view.

/// A second view, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// The flame graph of the tree.
    Flame,
    /// The time line of threads.
    Timeline,
    /// The tree has all lines.
    Nothing,
}

impl Below {
    /// What the key brings next. Bottom-up a row is no part of the one above it, so there is no graph then.
    pub(super) fn next(self, bottom_up: bool) -> Self {
        match self {
            Self::Nothing if bottom_up => Self::Timeline,
            Self::Nothing => Self::Flame,
            Self::Flame => Self::Timeline,
            Self::Timeline => Self::Nothing,
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Flame => "the flame graph",
            Self::Timeline => "the time line of threads",
            Self::Nothing => "nothing",
        }
    }
}

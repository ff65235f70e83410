//! The views: one question each.

/// What the list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// Where inside what.
    #[default]
    Tree,
    /// Which function costs most itself.
    Hot,
}

// === impl View ===

impl View {
    /// All of them, from left to right.
    pub(crate) const ALL: [Self; 2] = [Self::Tree, Self::Hot];

    /// Its name on its tab.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Tree => "Tree",
            Self::Hot => "Hot",
        }
    }
}

//! The wholes that percents are of.

/// The whole of which a row is a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PercentOf {
    /// All measured time of the threads in scope.
    #[default]
    Measured,
    /// All time of the threads in scope, outside of scopes too.
    Wall,
    /// The row's parent.
    Parent,
}

impl PercentOf {
    /// Returns the choice that applies in a view: in a view without parents, all measured time takes the
    /// place of the parent.
    pub(crate) fn within(self, has_parents: bool) -> Self {
        if self == Self::Parent && !has_parents {
            return Self::Measured;
        }
        self
    }

    /// Returns the next choice that makes a difference.
    pub(crate) fn next(self, has_parents: bool) -> Self {
        match self.within(has_parents) {
            Self::Measured => Self::Wall,
            Self::Wall if has_parents => Self::Parent,
            Self::Wall | Self::Parent => Self::Measured,
        }
    }

    /// Returns the label for the line above the columns.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Measured => "% of measured",
            Self::Wall => "% of wall time",
            Self::Parent => "% of parent",
        }
    }
}

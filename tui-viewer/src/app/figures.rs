//! The place of a row's figures.

/// Place of a row's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A row of the call tree.
    Tree(u32),
    /// A row of the hotspots.
    Hot(u32),
    /// A line of a function's callers and callees.
    Call(u32),
    /// A row of the threads.
    Thread(u32),
    /// A row of the sites.
    Site(u32),
    /// A row of the tasks.
    Task(u32),
    /// A path of a watched function.
    Slow(u32),
    /// The time outside any scope.
    Outside,
}

impl What {
    /// Returns the index of the row in its table.
    pub(crate) fn row(self) -> Option<u32> {
        match self {
            Self::Tree(row)
            | Self::Hot(row)
            | Self::Call(row)
            | Self::Thread(row)
            | Self::Site(row)
            | Self::Task(row)
            | Self::Slow(row) => Some(row),
            Self::Outside => None,
        }
    }
}

/// Part of a row's time that a number shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    /// The row and all rows below it.
    Total,
    /// The row itself.
    Own,
}

/// Returns a part of a whole, from 0 to 1; 0 where the whole is 0.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        (part_ns as f64 / whole_ns as f64).min(1.0)
    }
}

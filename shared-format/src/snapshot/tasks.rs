//! Calls of futures that are in flight. They are grouped by path, which is the chain of futures that await one another.

use bincode::{Decode, Encode};

use crate::ids::{NO_PARENT, SiteId};
use crate::latency::Latencies;

/// Futures that had begun and not ended at the time of a snapshot.
///
/// A call belongs to the path of futures that await one another, no matter which thread polls it. Scopes are not part
/// of this path.
// An encoded snapshot contains the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Tasks {
    /// The paths, parents before children.
    pub paths: Vec<TaskPath>,
    /// Histograms of how long ago the calls in flight began, in ticks. The row of a histogram is the index of a path.
    pub ages: Latencies,
    /// Number of calls in flight that are on no path, because the table of calls is full.
    pub beyond: u64,
}

/// A path, and the calls in flight of the future at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct TaskPath {
    /// Index of the path of the future that awaits this one, or [`NO_PARENT`] if there is none.
    pub parent: u32,
    /// Site of the future.
    pub site: SiteId,
    /// Whether the site is a named await (`wait!`), and not a function or a block.
    pub names_await: bool,
    /// Number of calls in flight on this path.
    pub in_flight: u64,
    /// Number of these calls that are being polled.
    pub polled: u64,
    /// Number of these calls that are not being polled and do not await a measured future. What they await has no name,
    /// unless this path is a named await.
    pub innermost: u64,
    /// Age of the oldest of these calls, in whole nanoseconds.
    pub oldest_ns: u64,
    /// Age of the oldest innermost call, in whole nanoseconds.
    pub innermost_oldest_ns: u64,
}

impl Tasks {
    /// Returns whether no future is in flight.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.beyond == 0
    }

    /// Returns the number of calls in flight that no other measured future awaits.
    pub fn roots_in_flight(&self) -> u64 {
        let roots = self.paths.iter().filter(|path| path.parent == NO_PARENT);
        roots.fold(self.beyond, |sum, path| sum.saturating_add(path.in_flight))
    }
}

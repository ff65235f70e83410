//! Calls of futures in flight, by their logical path of futures that await each other.

use bincode::{Decode, Encode};

use crate::ids::{NO_PARENT, SiteId};
use crate::latency::Latencies;

/// Futures that have begun and not ended, at the moment of a snapshot.
///
/// A call belongs to the path of futures that await each other, whichever thread polls it. Scopes are no part of this path.
// The section of futures in flight has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Tasks {
    /// The paths, parents before children.
    pub paths: Vec<TaskPath>,
    /// Histograms of the ages of the calls in flight, in ticks, by the index of the path.
    pub ages: Latencies,
    /// Calls in flight that are on no path, because the table of calls is full.
    pub beyond: u64,
}

/// A future on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct TaskPath {
    /// Index of the path of the future that awaits this one, or [`NO_PARENT`].
    pub parent: u32,
    /// Site of the future.
    pub site: SiteId,
    /// Whether the site is the name of an await (`wait!`), and not a function or a block.
    pub names_await: bool,
    /// Number of calls in flight on this path.
    pub in_flight: u64,
    /// Number of calls in flight that are being polled.
    pub polled: u64,
    /// Number of calls in flight that are not being polled and contain no measured future in flight. Their awaits have
    /// no name, unless this path names one.
    pub innermost: u64,
    /// Whole nanoseconds since the oldest of the calls in flight began.
    pub oldest_ns: u64,
    /// Whole nanoseconds since the oldest innermost call began.
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

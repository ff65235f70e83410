//! Where a record lies in the program's past, and how much time passed between two records.
//!
//! How the counts between two records are computed depends on what happened between them:
//!
//! | between the records | counts |
//! |---|---|
//! | nothing, or a reset that was undone | the later record's counts minus the earlier record's counts |
//! | a reset, or a broken clock | the later record's counts, which began at zero; the timeline adds earlier counts |
//! | the undo of a reset before both records | unknown: the later record also counts calls from before the earlier one |
//! | a lost ring | as above: the next ring continues the same counts, and the time without records is a gap |
//! | the start of another run | none: the whole past is dropped |

use tickscope_analysis::series::{Origin, RecordEpoch};
use tickscope_format::Snapshot;

/// When a record was made, and the run and reset epoch that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(super) run: (u32, u64),
    pub(super) unix_ns: u64,
    since_reset_ns: u64,
    epoch: RecordEpoch,
}

/// The time between two records, if the counts in that time are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since {
    /// Length in ns; not 0.
    pub(crate) ns: u64,
    /// Whether the counters began at zero between the records. If so, all counts of the later record belong to the last `ns`.
    pub(crate) from_zero: bool,
}

impl From<&Snapshot> for Moment {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            run: (snapshot.process.pid, snapshot.process.started_unix_ns),
            unix_ns: snapshot.capture.unix_ns,
            since_reset_ns: snapshot.capture.since_reset_ns,
            epoch: RecordEpoch::from(&snapshot.capture),
        }
    }
}

impl Moment {
    /// Returns the time since an earlier moment; `None` if the counts in that time are unknown.
    pub(super) fn since(self, earlier: Self) -> Option<Since> {
        let (ns, from_zero) = match self.epoch.origin(earlier.epoch) {
            _ if self.run != earlier.run => return None,
            Origin::Same => (self.since_reset_ns.checked_sub(earlier.since_reset_ns)?, false),
            Origin::Later => (self.since_reset_ns, true),
            Origin::Earlier => return None,
        };
        (ns > 0).then_some(Since { ns, from_zero })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook;

    /// Returns the moment `tenths` tenths of a second after the counters began.
    fn moment(tenths: u64, reset_epoch: u64, withdraws: Option<u64>) -> Moment {
        let mut snapshot = orderbook::snapshot(tenths);
        snapshot.capture.reset_epoch = reset_epoch;
        snapshot.capture.withdraws = withdraws;
        Moment::from(&snapshot)
    }

    #[test]
    fn the_time_between_two_records_is_the_time_of_their_counts() {
        let before = moment(100, 1, None);
        let since = |ns, from_zero| Some(Since { ns, from_zero });
        assert_eq!(moment(103, 1, None).since(before), since(300_000_000, false));
        assert_eq!(moment(2, 2, None).since(before), since(200_000_000, true));
        let undone = moment(105, 3, Some(1));
        assert_eq!(undone.since(before), since(500_000_000, false));
        assert_eq!(undone.since(moment(2, 2, None)), None);
        assert_eq!(before.since(before), None);
        let other = Moment {
            run: (7, 7),
            ..undone
        };
        assert_eq!(other.since(before), None);
    }
}

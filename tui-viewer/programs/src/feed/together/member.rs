//! One of the processes that are shown together: its ring, its records, and its state.

use std::rc::Rc;

use tickscope_analysis::side_by_side::{Part, ratio};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::snapshot::{ClockInfo, ClockSource};
use tickscope_format::{FormatError, Snapshot};

use crate::feed::attached::Attached;
use crate::feed::together::counted::Counted;
use crate::ring_reads::{NewRecords, RunKey};
use crate::target::runs_on;
use crate::target::wanted::is_live;

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// The process runs.
    Running,
    /// The process is running, but has shown no sign of life since this time: nanoseconds since the Unix epoch.
    Stale(u64),
    /// The process ended at this time: nanoseconds since the Unix epoch.
    Ended(u64),
}

/// A process that is shown with others.
#[derive(Debug)]
pub(super) struct Member {
    /// Number that identifies the process in this feed.
    pub(super) id: u64,
    pub(super) key: RunKey,
    pub(super) attached: Attached,
    records: NewRecords,
    pub(super) counted: Counted,
    /// Reason why the ring cannot be read, and whether the reason was reported.
    pub(super) trouble: Option<String>,
    pub(super) is_told: bool,
    /// State at the last check.
    pub(super) life: Life,
    /// Whether the process started after the feed began, so that all its counts are shown.
    is_new: bool,
    clock: Option<(ClockSource, u32)>,
    /// Number of ticks of the common clock that correspond to one tick of this process's clock.
    pub(super) ratio: f64,
}

impl Member {
    pub(super) fn new(id: u64, ring: RingFile, is_new: bool) -> Self {
        Self {
            id,
            key: RunKey::of(&ring),
            attached: Attached::new(ring),
            records: NewRecords::default(),
            counted: Counted::default(),
            trouble: None,
            is_told: false,
            life: Life::Running,
            is_new,
            clock: None,
            ratio: 1.0,
        }
    }

    /// Continues with another ring that the same process has created.
    pub(super) fn go_on(&mut self, ring: RingFile) {
        self.attached = Attached::new(ring);
        (self.trouble, self.is_told) = (None, false);
    }

    /// Updates the state, and checks that the ring is whole. Without the check, the last record of a damaged ring might stay
    /// on the screen forever. A ring that is lost while its process runs will be replaced by another ring.
    pub(super) fn check(&mut self) {
        let ring = &self.attached.ring;
        let last = || self.counted.newest().map_or(0, |newest| newest.capture.unix_ns);
        let liveness = ring.liveness();
        self.life = match &liveness {
            Ok(Liveness::Running) => Life::Running,
            Ok(Liveness::Stale { since_unix_ns }) => Life::Stale(*since_unix_ns),
            Ok(Liveness::Exited { unix_ns }) => Life::Ended(*unix_ns),
            Ok(Liveness::Crashed { .. }) | Err(_) if runs_on(ring.header()) => Life::Stale(last()),
            Ok(Liveness::Crashed { unix_ns }) => Life::Ended(*unix_ns),
            Err(_) => Life::Ended(last()),
        };
        if let Err(error) = liveness {
            self.trouble.get_or_insert(error.to_string());
        }
    }

    /// Reads new records. Returns whether there are any.
    pub(super) fn look(&mut self, common: &mut Option<ClockInfo>) -> bool {
        match self.records.read(&self.attached.ring, self.is_new) {
            Ok(records) => {
                let is_more = !records.is_empty();
                if is_more {
                    (self.trouble, self.is_told) = (None, false);
                }
                for record in records {
                    self.take(Rc::new(record), common);
                }
                is_more
            }
            // The ring has just been made, or is written faster than it can be read. The next read tries again.
            Err(FormatError::NoRecord | FormatError::Lapped { .. }) => false,
            Err(error) => {
                self.trouble = Some(error.to_string());
                false
            }
        }
    }

    fn take(&mut self, record: Rc<Snapshot>, common: &mut Option<ClockInfo>) {
        let clock = (record.clock.source, record.clock.epoch);
        // The ratio is computed anew only when the process changes its clock. Later measurements of the clock's rate
        // are more accurate, but if the ratio followed them, counts could decrease.
        if self.clock.replace(clock) != Some(clock) {
            self.ratio = ratio(common.get_or_insert_with(|| record.clock.clone()), &record.clock);
        }
        self.counted.take(record);
    }

    /// Whether another ring of the process should replace this one.
    pub(super) fn needs_another(&self) -> bool {
        let liveness = self.attached.ring.liveness();
        self.trouble.is_some() || !liveness.is_ok_and(|liveness| is_live(&liveness))
    }

    /// Returns counts of this process as a part of the sum.
    pub(super) fn part<'a>(&self, snapshot: &'a Snapshot) -> Part<'a> {
        Part {
            snapshot,
            pid: Some(self.key.pid),
            ratio: self.ratio,
        }
    }
}

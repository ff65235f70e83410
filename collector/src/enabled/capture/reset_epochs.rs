//! The reset epochs: the current epoch, the epoch that an undo returns to, and the closing snapshots of epochs that the
//! program ended.
//!
//! Every reset and every undo begins an epoch with its own number. The mode never changes within an epoch. Only the
//! last reset can be undone, and only if neither the mode nor the length of a tick has changed since. Closing snapshots
//! are kept only while there is a publisher to collect them.

use std::collections::VecDeque;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::CaptureInfo;

use crate::enabled::platform::os;
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::runtime::config;

/// Maximum number of closing snapshots that wait for the publisher. Further snapshots are dropped.
const CLOSINGS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct ResetEpochs {
    number: u64,
    /// Monotonic time of the last reset; `None` before the first.
    reset_ns: Option<u64>,
    /// How scopes are measured in this epoch; `None` before the first use.
    switch: Option<Switch>,
    /// The epoch whose counts an undo would continue, and the monotonic time of the reset that began that epoch.
    undo: Option<(u64, Option<u64>)>,
    /// After an undo: the epoch whose counts the current epoch continues.
    withdrawn: Option<u64>,
    /// Closing snapshots of resets by the program, oldest first.
    closings: VecDeque<Snapshot>,
    /// Whether there is a publisher to collect the closing snapshots.
    is_publishing: bool,
}

impl ResetEpochs {
    pub(crate) fn switch(&mut self) -> Switch {
        *self.switch.get_or_insert_with(mode_switch::newest)
    }

    /// Sets how scopes are measured; with `None`, this is decided at first use. Must be called before this epoch has
    /// any counts.
    pub(crate) fn set_switch(&mut self, switch: Option<Switch>) {
        self.switch = switch;
    }

    /// Returns the time since the last reset, or since the start, in nanoseconds.
    pub(crate) fn since_reset_ns(&self) -> u64 {
        os::monotonic_ns().saturating_sub(self.reset_ns.unwrap_or(config::get().started_ns))
    }

    /// Returns the monotonic time of the last reset; 0 before the first.
    pub(crate) fn reset_ns(&self) -> u64 {
        self.reset_ns.unwrap_or(0)
    }

    /// Returns what a snapshot says about the epoch.
    pub(crate) fn described(&mut self) -> CaptureInfo {
        CaptureInfo {
            mode: self.switch().mode,
            reset_epoch: self.number,
            since_reset_ns: self.since_reset_ns(),
            withdraws: self.withdrawn,
            ..CaptureInfo::default()
        }
    }

    /// Begins an epoch after a reset.
    pub(crate) fn reset(&mut self) {
        let begin = self.withdrawn.unwrap_or(self.number);
        self.undo = Some((begin, self.reset_ns));
        self.withdrawn = None;
        self.number += 1;
        self.reset_ns = Some(os::monotonic_ns());
    }

    /// Makes the last reset final, because the ticks before and after this moment cannot be added up.
    pub(crate) fn forget_undo(&mut self) {
        self.undo = None;
    }

    /// Begins an epoch that continues the epoch before the last reset. Returns false if there is no reset to undo.
    pub(crate) fn undo(&mut self) -> bool {
        let Some((begin, reset_ns)) = self.undo.take() else {
            return false;
        };
        self.withdrawn = Some(begin);
        self.number += 1;
        self.reset_ns = reset_ns;
        true
    }

    /// Tells whether a publisher is running. Closing snapshots for an earlier publisher are dropped.
    pub(crate) fn set_publishing(&mut self, is_publishing: bool) {
        self.is_publishing = is_publishing;
        self.closings.clear();
    }

    /// Keeps the closing snapshot of a reset that the program requested, until the publisher collects it.
    pub(crate) fn keep_closing(&mut self, closing: &Snapshot) {
        if self.is_publishing && self.closings.len() < CLOSINGS_MAX {
            self.closings.push_back(closing.clone());
        }
    }

    /// Returns the closing snapshots since the last call, oldest first.
    pub(crate) fn take_closings(&mut self) -> VecDeque<Snapshot> {
        std::mem::take(&mut self.closings)
    }

    pub(crate) fn has_closings(&self) -> bool {
        !self.closings.is_empty()
    }
}

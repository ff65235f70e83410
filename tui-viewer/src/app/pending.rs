//! A request on its way: it is done when its effect is on the screen, not when it was sent.

use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_format::profile::sites::sites;

use crate::source::events::Request;

/// So long a program may take to answer before the user is told.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// A reset, its undoing, or another mode on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// What was asked for.
    pub(crate) request: Request,
    /// When.
    pub(crate) asked: Duration,
    /// The reset epoch that the program named in its answer.
    pub(crate) epoch: Option<u64>,
}

impl Pending {
    /// For the header.
    pub(crate) fn word(&self) -> &'static str {
        match self.request {
            Request::Reset => "resetting",
            Request::Undo => "undoing",
            Request::Mode(_) | Request::SitesOff(_) | Request::SitesOn(_) => "switching",
            Request::Interval { .. } => "",
        }
    }

    /// When waiting has been long enough.
    pub(crate) fn deadline(&self) -> Duration {
        self.asked + PATIENCE
    }
}

/// Snapshots a second, as the program says.
pub(crate) fn rate_hz(snapshot: &Snapshot) -> u64 {
    let interval = snapshot.capture.interval_ns.max(1);
    ((1_000_000_000 + interval / 2) / interval).max(1)
}

/// A rule on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switching {
    /// What was asked for.
    pub(super) request: Request,
    pub(super) asked: Duration,
    /// The program has said that it is done.
    pub(super) granted: bool,
}

/// The pattern of a request, and whether it switches off.
pub(crate) fn rule_of(request: Request) -> Option<(Pattern, bool)> {
    match request {
        Request::SitesOff(pattern) => Some((pattern, true)),
        Request::SitesOn(pattern) => Some((pattern, false)),
        Request::Reset | Request::Undo | Request::Interval { .. } | Request::Mode(_) => None,
    }
}

impl Switching {
    /// Whether a snapshot shows it.
    pub(super) fn is_in(&self, snapshot: &Snapshot) -> bool {
        rule_of(self.request).is_none_or(|(pattern, off)| {
            sites(snapshot)
                .iter()
                .filter(|row| pattern.matches(&snapshot.sites[row.site.index()]))
                .all(|row| row.off == off)
        })
    }
}

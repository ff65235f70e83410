//! A request on its way: it is done when its effect is on the screen, not when it was sent.

use std::time::Duration;

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

// === impl Pending ===

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

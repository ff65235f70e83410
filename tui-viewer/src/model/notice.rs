//! One line on what just happened, for some seconds.

use std::time::Duration;

/// How long a line stands that says what was done.
pub(crate) const SHOWN_FOR: Duration = Duration::from_secs(5);

/// A line that goes away by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// What happened.
    pub(crate) text: String,
    /// It went wrong.
    pub(crate) error: bool,
    /// Until when it stands.
    pub(crate) until: Duration,
}

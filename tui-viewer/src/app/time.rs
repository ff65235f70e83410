//! Which moment is shown: the newest, one that the screen was frozen at, or one of the past.

use crate::app::activity::Pulse;
use crate::app::compare::{Against, Mark};
use crate::app::window::{Stretch, Window};
use crate::source::history::History;

/// Where the screen stands in time.
#[derive(Debug, Default)]
pub(crate) struct Time {
    /// The program's past.
    pub(crate) history: History,
    /// When a recording begins, where it is one that is read: not all of it may have been read yet.
    pub(crate) begin_ns: Option<u64>,
    /// Which stretch of time was asked for.
    pub(crate) window: Window,
    /// The one on screen; none since the reset.
    pub(crate) stretch: Option<Stretch>,
    /// The screen shows a moment that the user went back to.
    pub(crate) past: bool,
    /// The newest snapshot when the screen stopped.
    pub(super) stopped_ns: Option<u64>,
    /// A moment to compare with.
    pub(crate) mark: Option<Mark>,
    /// The differences to something are shown.
    pub(crate) against: Option<Against>,
    /// How long the window is that the one on screen is compared with; none where the past does not reach so far.
    pub(crate) before_ns: Option<u64>,
    /// How busy each row was in the last seconds.
    pub(crate) pulse: Pulse,
    /// The same before the moment at which the screen stands still.
    pub(crate) pulse_then: Option<Pulse>,
}

//! A viewer as the program sees it: a slot that is taken, for which it writes ten records a second.

use tickscope_format::file::open::{RingFile, Slot};

/// Attaches until the result is dropped; `None` if nothing is published.
pub(crate) fn attach(session: &tickscope::Session) -> Option<Slot> {
    let ring = RingFile::open(&session.path()?).ok()?;
    ring.take_slot().ok().flatten()
}

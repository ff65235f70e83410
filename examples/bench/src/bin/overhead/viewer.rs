//! A viewer, as far as the program can tell: a slot that is taken, for which it writes ten records a second.

use tickscope_format::file::open::{RingFile, Slot};

/// Attaches until what comes back is dropped; none where nothing is published.
pub(crate) fn attach(session: &tickscope::Session) -> Option<Slot> {
    let ring = RingFile::open(&session.path()?).ok()?;
    ring.take_slot().ok().flatten()
}

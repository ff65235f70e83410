//! A viewer attached to this process, so that its session writes ten records per second.

use tickscope::Session;
use tickscope_format::file::open::{RingFile, Slot};

/// Opens a session's ring and takes a viewer slot in it. The session has a viewer until the slot is dropped.
pub(crate) fn attach(session: &Session) -> Result<(RingFile, Slot), String> {
    let path = session.path();
    let path = path.ok_or_else(|| format!("no ring: {}", session.warnings().join("; ")))?;
    let ring = RingFile::open(&path).map_err(|error| error.to_string())?;
    let slot = ring.take_slot().map_err(|error| error.to_string())?;
    Ok((ring, slot.ok_or("no slot for a viewer")?))
}

//! The publisher's ring files: the ring in use, and the replacement of rings that were destroyed from outside.
//!
//! A program may run for months, and its directory may be cleaned up. The program should become visible again without a
//! restart. The first lost ring is replaced at once, and later rings at most once a minute. So another process that
//! keeps deleting rings costs the program little time.

use std::path::Path;
use std::time::{Duration, Instant};

use tickscope_format::FormatError;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::{clean, places};

use crate::enabled::capture::capture_lock;

/// Prefix of warnings about lost rings. A new warning replaces the previous one, so that warnings do not accumulate
/// over months.
const RINGS_LOST: &str = "ring files lost: ";

/// Minimum time between two attempts to replace a lost ring.
const BETWEEN: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Rings {
    /// `None` while a lost ring has no replacement.
    pub(super) current: Option<OwnRing>,
    /// Number of records and rings that could not be written, for the ring's header.
    pub(super) faults: u64,
    lost: u64,
    last_loss: String,
    /// Whether the ring's file was removed or moved. A viewer that has it open can still read it.
    removed: bool,
    /// When a lost ring was last replaced, or an attempt to replace it failed.
    replaced: Option<Instant>,
    /// Message that the session has not received yet.
    said: Option<String>,
}

/// Makes a ring and writes its first record, in the first directory where this works. Adds a warning for each directory
/// where it failed, and for a ring that had to be smaller than requested.
///
/// # Errors
/// The error from the last directory.
pub(super) fn make(
    dir: Option<&Path>,
    header: &Header,
    ring_bytes: u64,
    warnings: &mut Vec<String>,
    mut first_record: impl FnMut(&mut OwnRing) -> Result<(), FormatError>,
) -> Result<OwnRing, FormatError> {
    let mut failed = FormatError::NoRecord;
    for place in places::places(dir) {
        let made = OwnRing::create(&place, header.clone()).and_then(|mut ring| {
            first_record(&mut ring)?;
            Ok(ring)
        });
        match made {
            Ok(ring) => {
                if ring.ring_bytes() < ring_bytes {
                    warnings.push(format!(
                        "space is short in {}: the ring has {} instead of {ring_bytes} bytes; free some, or choose \
                         another place with TICKSCOPE_DIR",
                        place.display(),
                        ring.ring_bytes(),
                    ));
                }
                return Ok(ring);
            }
            Err(error) => {
                warnings.push(format!("{error}; trying the next place"));
                failed = error;
            }
        }
    }
    Err(failed)
}

/// Replaces the warning about lost rings.
pub(crate) fn replace_ring_warning(warnings: &mut Vec<String>, said: &str) {
    warnings.retain(|warning| !warning.starts_with(RINGS_LOST));
    warnings.push(format!("{RINGS_LOST}{said}"));
}

/// Removes old rings of ended programs from the directory of this ring.
pub(crate) fn clean_beside(own: &Path) {
    if let Some(place) = own.parent() {
        clean::clean(place, clean::RINGS_KEPT, Some(own));
    }
}

/// Returns whether the directory of this ring is crowded, so that old rings should be removed at once.
pub(crate) fn is_crowded(own: &Path) -> bool {
    own.parent().is_some_and(clean::is_crowded)
}

impl Rings {
    pub(super) fn path(&self) -> Option<&Path> {
        self.current.as_ref().map(OwnRing::path)
    }

    /// Checks the ring. Returns true if another ring should be made now, because the ring is lost or its file was removed or
    /// moved. The caller reports the result to [`Rings::replaced`].
    pub(super) fn look(&mut self) -> bool {
        let removed_before = self.removed;
        let mut found = None;
        if let Some(ring) = &mut self.current {
            match ring.look() {
                Ok(()) if !removed_before && ring.is_removed() => {
                    let path = ring.path().display();
                    found = Some(format!(
                        "{path}: was removed or moved by another program, or another file took its name"
                    ));
                    self.removed = true;
                }
                Ok(()) => {}
                Err(error) => {
                    found = Some(error.to_string());
                    self.faults += 1;
                    self.current = None;
                }
            }
        }
        let is_news = found.is_some();
        if let Some(found) = found {
            self.lost += u64::from(!removed_before);
            self.last_loss = found;
        }
        if self.current.is_some() && !self.removed {
            return false;
        }
        let due = self.replaced.is_none_or(|last| last.elapsed() >= BETWEEN);
        if due {
            self.replaced = Some(Instant::now());
            // The message is set before the first record of the new ring, so that the record contains it.
            self.say("a new ring was made; earlier records are gone");
        } else if is_news {
            self.say(
                "the next ring is made a minute after the last; until then new viewers find nothing; for a ring at \
                 once, restart the session",
            );
        }
        due
    }

    /// Gives up a ring that has no space for its records. The next check replaces it, with a smaller ring if there is
    /// still too little space.
    pub(super) fn give_up(&mut self, error: &FormatError) {
        if let Some(ring) = self.current.take() {
            ring.remove();
            self.lost += 1;
            self.faults += 1;
            self.last_loss = error.to_string();
        }
    }

    /// Takes the ring that was made to replace a lost ring, or reports why no ring was made.
    pub(super) fn replaced(&mut self, made: Result<OwnRing, FormatError>) {
        match made {
            Ok(ring) => {
                self.current = Some(ring);
                self.removed = false;
            }
            Err(error) => self.say(&format!(
                "a new ring could not be made ({error}), which is tried again every minute; free some space, or set \
                 TICKSCOPE_DIR and restart the session"
            )),
        }
    }

    fn say(&mut self, outcome: &str) {
        let said = format!("{}; the last: {}; {outcome}", self.lost, self.last_loss);
        capture_lock::with(|state| replace_ring_warning(&mut state.session.warnings, &said));
        self.said = Some(said);
    }

    /// Takes the message about rings lost since the last call.
    pub(super) fn take_said(&mut self) -> Option<String> {
        self.said.take()
    }
}

//! The publisher's ring: making it, and making another one where somebody has destroyed it.
//!
//! A program runs for months, and somebody tidies up the directory: it should be watchable again without being started
//! anew. The first lost ring is replaced at once, the next ones at most once a minute, so that a fight over the directory
//! costs the program nothing.

use std::mem;
use std::time::{Duration, Instant};

use tickscope_format::FormatError;
use tickscope_format::file::create::OwnRing;
use tickscope_format::file::places;
use tickscope_format::snapshot::CaptureKind;

use super::Publisher;
use crate::enabled::capture::collector_state;

/// Between two rings that replace lost ones, at least.
const BETWEEN: Duration = Duration::from_secs(60);

/// How what is said of lost rings begins. Each time it takes the place of what was said before: months are long.
const LOST: &str = "ring files lost: ";

/// What became of rings so far.
#[derive(Debug, Default)]
pub(super) struct Lost {
    count: u64,
    /// What was done to the last one.
    last: String,
    /// The ring has no name any more; who has it open can still read it.
    removed: bool,
    /// When a lost one was replaced last, or that was tried.
    replaced: Option<Instant>,
    /// What the session has not heard yet.
    said: Option<String>,
}

/// Adds what is said of lost rings to the warnings, in place of what was said before.
pub(crate) fn replace_warning(warnings: &mut Vec<String>, said: String) {
    warnings.retain(|warning| !warning.starts_with(LOST));
    warnings.push(said);
}

// === impl Publisher ===

impl Publisher {
    /// Makes the ring in the first place that works, its first record in it. Each place that did not work, and
    /// a ring that had to be smaller, is a warning.
    ///
    /// # Errors
    /// The reason of the last place.
    pub(super) fn make_ring(&mut self, warnings: &mut Vec<String>) -> Result<(), FormatError> {
        let header = self.identity.header(&self.settings);
        let mut failed = FormatError::NoRecord;
        for place in places::places(self.settings.dir.as_deref()) {
            let made = OwnRing::create(&place, header.clone()).and_then(|mut ring| {
                self.first_record(&mut ring)?;
                Ok(ring)
            });
            match made {
                Ok(ring) => {
                    if ring.ring_bytes() < self.settings.ring_bytes {
                        warnings.push(format!(
                            "space is short in {}: the ring has {} instead of {} bytes; free some, or choose \
                             another place with TICKSCOPE_DIR",
                            place.display(),
                            ring.ring_bytes(),
                            self.settings.ring_bytes,
                        ));
                    }
                    self.ring = Some(ring);
                    return Ok(());
                }
                Err(error) => {
                    warnings.push(format!("{error}; trying the next place"));
                    failed = error;
                }
            }
        }
        Err(failed)
    }

    fn first_record(&mut self, ring: &mut OwnRing) -> Result<(), FormatError> {
        self.tell();
        if let Some(snapshot) = collector_state::books().map(|mut books| books.capture(CaptureKind::Periodic))
        {
            super::publish(&snapshot, ring, &mut self.payload)?;
            self.note(&snapshot);
        }
        if self.faults > 0 {
            ring.fault(self.faults);
        }
        super::beat(ring, self.interval);
        ring.link()
    }

    /// Looks whether the ring is what it was, and makes another one where it is lost or nobody finds it any more.
    pub(super) fn look_after_ring(&mut self) {
        let removed_before = self.lost.removed;
        let mut found = None;
        if let Some(ring) = &mut self.ring {
            match ring.look() {
                Ok(()) if !removed_before && ring.is_removed() => {
                    let path = ring.path().display();
                    found = Some(format!(
                        "{path}: was removed from outside, or another file took its name"
                    ));
                    self.lost.removed = true;
                }
                Ok(()) => {}
                Err(error) => {
                    found = Some(error.to_string());
                    self.faults += 1;
                    self.ring = None;
                }
            }
        }
        let is_news = found.is_some();
        if let Some(found) = found {
            self.lost.count += u64::from(!removed_before);
            self.lost.last = found;
        }
        if self.ring.is_some() && !self.lost.removed {
            return;
        }
        if self.lost.replaced.is_none_or(|last| last.elapsed() >= BETWEEN) {
            self.replace();
        } else if is_news {
            self.say(
                "the next one is made when a minute has passed since the last; until then nothing is published for who \
                 comes new; to have it at once start the session anew",
            );
        }
    }

    fn replace(&mut self) {
        self.lost.replaced = Some(Instant::now());
        // Before its first record, which is to say so.
        self.say("a new one was made; records from before are gone");
        match self.make_ring(&mut Vec::new()) {
            Ok(()) => {
                self.lost.removed = false;
                self.coarse_failed = false;
            }
            Err(error) => self.say(&format!(
                "a new one could not be made ({error}) and is tried again each minute; free some space, or set \
                 TICKSCOPE_DIR and start the session anew"
            )),
        }
    }

    fn say(&mut self, outcome: &str) {
        let Lost { count, last, .. } = &self.lost;
        let said = format!("{LOST}{count}; the last: {last}; {outcome}");
        if let Some(mut books) = collector_state::books() {
            replace_warning(&mut books.around.warnings, said.clone());
        }
        self.lost.said = Some(said);
    }

    /// What there is to say of lost rings since the last call.
    pub(crate) fn take_said(&mut self) -> Option<String> {
        mem::take(&mut self.lost.said)
    }
}

//! Ask the second program for resets and their undo, and count the epochs that must result.

use std::thread;
use std::time::Duration;

use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::slots::{Op, Outcome, Reply};

use crate::over::Over;
use crate::random::Random;
use crate::tally::{Count, Tally};

/// The time between two looks for an answer.
const LOOK: Duration = Duration::from_millis(1);

/// What was asked of one program.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Answered requests that began an epoch.
    begun: Count,
    /// Requests that may have begun one, whose answer was not awaited.
    open: Count,
}

impl Asked {
    /// Returns the reset epochs that the program can be in if it carries out each request once.
    pub(crate) fn epochs(&self) -> std::ops::RangeInclusive<u64> {
        let begun = self.begun.get();
        begun..=begun + self.open.get()
    }
}

/// Asks until it is `over`. Waits for the last answer unless the program is `gone`.
pub(crate) fn ask(
    ring: &RingFile,
    mut random: Random,
    (over, gone): (&Over, &Over),
    asked: &Asked,
    tally: &Tally,
) {
    let mut slot = None;
    while !over.sleep(random.ms(0, 4)) {
        let mut held = match slot
            .take()
            .map_or_else(|| ring.take_slot(), |slot| Ok(Some(slot)))
        {
            Ok(Some(held)) => held,
            // The file may be gone or truncated by now, and the program gone with it.
            Ok(None) | Err(_) => continue,
        };
        let op = *random.of(&[Op::Reset, Op::Reset, Op::UndoReset, Op::PublishNow]);
        // An asker that is killed waits for no answer.
        let patient = !random.one_in(10);
        match request(&mut held, op, patient.then_some(gone)) {
            Some(reply) => {
                tally.answered.add(1);
                asked
                    .begun
                    .add(u64::from(op != Op::PublishNow && reply.outcome == Outcome::Done));
                if reply.outcome != Outcome::Done
                    && (op, reply.outcome) != (Op::UndoReset, Outcome::NothingToUndo)
                {
                    tally.error(format!("{op:?} was answered with {:?}", reply.outcome));
                }
            }
            None => {
                tally.unanswered.add(1);
                asked.open.add(u64::from(op != Op::PublishNow));
            }
        }
        slot = patient.then_some(held);
    }
}

/// Asks, and waits for the answer unless the program is gone. Without `gone` it does not wait.
fn request(slot: &mut Slot, op: Op, gone: Option<&Over>) -> Option<Reply> {
    let sent = slot.send(op).ok()?;
    let gone = gone?;
    loop {
        // An answer from before the program ended counts.
        let last = gone.is_set();
        if let Ok(Some(reply)) = slot.reply(&sent) {
            return Some(reply);
        }
        if last {
            return None;
        }
        thread::sleep(LOOK);
    }
}

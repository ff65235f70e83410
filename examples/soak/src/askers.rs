//! Ask the second program for resets and their undo, and count the epochs that must result.

use anyhow::anyhow;
use fastrand::Rng;
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::slots::{Op, Outcome};

use crate::soak::{Count, Over, Tally, one_in, one_of};

const OPS: [Op; 4] = [Op::Reset, Op::Reset, Op::UndoReset, Op::PublishNow];

/// What was asked of one program.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Set when no more is to be asked, and when the program is gone.
    pub(crate) enough: Over,
    pub(crate) gone: Over,
    /// Answered requests that began an epoch, and requests that may have begun one, whose answer was not awaited.
    begun: Count,
    open: Count,
}

impl Asked {
    /// Checks the number of epochs of a program that carries out each request once.
    pub(crate) fn check(&self, begun: u64) -> anyhow::Result<()> {
        let wanted = self.begun.get()..=self.begun.get() + self.open.get();
        let why = || anyhow!("{begun} epochs began, {wanted:?} were asked for");
        wanted.contains(&begun).then_some(()).ok_or_else(why)
    }

    /// Asks until it is enough. Waits for the last answer unless the program is gone.
    pub(crate) fn ask(&self, ring: &RingFile, mut random: Rng, tally: &Tally) {
        let mut kept = None;
        while !self.enough.sleep(random.u64(0..=4)) {
            // The file may be gone or truncated by now, and the program gone with it.
            let Some(mut slot) = kept.take().or_else(|| ring.take_slot().ok()?) else {
                continue;
            };
            let op = one_of(&mut random, &OPS);
            // An asker that is killed waits for no answer.
            let patient = !one_in(&mut random, 10);
            let begins = u64::from(op != Op::PublishNow);
            if let Some(outcome) = self.request(&mut slot, op, patient) {
                tally.requests.all.add(1);
                match (op, outcome) {
                    (_, Outcome::Done) => self.begun.add(begins),
                    (Op::UndoReset, Outcome::NothingToUndo) => {}
                    _ => tally.error(format!("{op:?} was answered with {outcome:?}")),
                }
            } else {
                tally.did("requests without an answer, their asker or program killed", 1);
                self.open.add(begins);
            }
            kept = patient.then_some(slot);
        }
    }

    /// Asks, and waits for the answer if it is `patient`, unless the program is gone.
    fn request(&self, slot: &mut Slot, op: Op, patient: bool) -> Option<Outcome> {
        let sent = slot.send(op).ok().filter(|_| patient)?;
        loop {
            // An answer from before the program ended counts.
            let last = self.gone.is_set();
            match slot.reply(&sent) {
                Ok(Some(reply)) => return Some(reply.outcome),
                _ if last => return None,
                _ => _ = Over::default().sleep(1),
            }
        }
    }
}

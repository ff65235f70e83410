//! `tickscope reset`: sets a program's counters to zero and waits for its word.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use tickscope_format::slots::Op;

use crate::args::TargetArgs;
use crate::command::{fresh, output};
use crate::feed::result_of;
use crate::target::{Found, Wanted, is_live, line_of};

/// How long the program may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Resets a target; returns once it has said so.
///
/// # Errors
/// No such target, or why it did not do it.
pub fn run(args: &TargetArgs, after: Option<Duration>) -> anyhow::Result<u8> {
    thread::sleep(after.unwrap_or_default());
    let wanted = Wanted::of(args);
    let (ring, liveness) = match fresh::find(&wanted, args.dir.as_deref(), None)? {
        Found::Ring(ring, liveness) => (ring, liveness),
        Found::Kept(path) => bail!("{} is a kept snapshot: no program is behind it", path.display()),
    };
    if !is_live(&liveness) {
        bail!(
            "{} does not run any more; there is nothing to reset",
            line_of(&ring, &liveness)
        );
    }
    let Some(mut slot) = ring.take_slot()? else {
        bail!(
            "{} takes no requests from here (Builder::control is off, the file is not yours to write, or 16 \
             viewers are there already)",
            line_of(&ring, &liveness)
        );
    };
    let sent = slot.send(Op::Reset)?;
    let begin = Instant::now();
    let reply = loop {
        match slot.reply(&sent)? {
            Some(reply) => break reply,
            None if begin.elapsed() > ANSWER => {
                // Another request in its place: else a stopped program would do it whenever it goes on.
                slot.send(Op::PublishNow)?;
                bail!(
                    "{} did not answer within 2 s (is it stopped?); the request is withdrawn",
                    line_of(&ring, &ring.liveness()?)
                )
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let epoch = result_of(&reply).map_err(|why| anyhow!(why))?;
    output::write(
        &format!("{} was reset; epoch {epoch}\n", line_of(&ring, &liveness)),
        None,
    )?;
    Ok(output::DONE)
}

//! What a command asks of a program that runs: sent, and its word waited for.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use tickscope_format::Snapshot;
use tickscope_format::file::open::RingFile;
use tickscope_format::slots::{Op, Outcome};

use crate::cli::args::TargetArgs;
use crate::cli::commands::live_snapshot;
use crate::output::console::printable;
use crate::source::feed::{RULES_FULL, refusal, result_of};
use crate::source::target::wanted::{Found, Wanted, is_live, line_of};

/// How long the program may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// A request that the program has carried out.
#[derive(Debug)]
pub struct Granted {
    /// The reset epoch in force since.
    pub epoch: u64,
    ring: RingFile,
    /// Whether there is a record that shows it.
    published: bool,
}

impl Granted {
    /// The program: name and pid.
    pub fn who(&self) -> String {
        let header = self.ring.header();
        format!("{} ({})", printable(&header.name), header.pid)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.ring.header().pid
    }

    /// What the program shows since; none where it could not publish.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let newest = self.published.then(|| self.ring.newest_snapshot().ok());
        newest.flatten().map(|(_, snapshot)| snapshot)
    }
}

/// Asks a target and returns once it has said that it is done. `what` is what is then done: "reset".
///
/// # Errors
/// No such target, or why it did not do it.
pub fn ask(args: &TargetArgs, op: Op, what: &str) -> anyhow::Result<Granted> {
    let (ring, liveness) = match live_snapshot::find(&Wanted::of(args), args.dir.as_deref(), None)? {
        Found::Ring(ring, liveness) => (ring, liveness),
        Found::Kept(path) => bail!("{} is a kept snapshot: no program is behind it", path.display()),
    };
    let line = line_of(&ring, &liveness);
    if !is_live(&liveness) {
        bail!("{line} does not run any more; there is nothing to {what}");
    }
    let Some(mut slot) = ring.take_slot()? else {
        bail!("{line} {}", refusal(&ring));
    };
    let sent = slot.send(op)?;
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
    if reply.outcome == Outcome::Refused && matches!(op, Op::SitesOff(_) | Op::SitesOn(_)) {
        bail!("{line}: {RULES_FULL}");
    }
    let epoch = result_of(&reply).map_err(|why| anyhow!("{line}: {why}"))?;
    Ok(Granted {
        epoch,
        ring: *ring,
        published: reply.record != 0,
    })
}

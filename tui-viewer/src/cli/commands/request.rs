//! Sends the requests that commands make to running programs, and waits for the replies.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use tickscope_command::console::printable;
use tickscope_format::Snapshot;
use tickscope_format::file::open::RingFile;
use tickscope_format::slots::{Op, Outcome};
use tickscope_programs::feed::{RULES_FULL, TOO_OLD, refusal, result_of};
use tickscope_programs::target::wanted::{Found, is_live, line_of, one_alone};

use crate::cli::args::TargetArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;
use crate::outcome::watched;

/// Longest wait for the program's reply.
const ANSWER: Duration = Duration::from_secs(2);

/// Request that the program has carried out.
#[derive(Debug)]
pub struct Granted {
    /// Reset epoch after the request.
    pub epoch: u64,
    /// Ring of the program.
    pub ring: RingFile,
    /// Whether the program has published a record after the request.
    published: bool,
}

impl Granted {
    /// Returns the name and the process id of the program.
    pub fn who(&self) -> String {
        let header = self.ring.header();
        format!("{} ({})", printable(&header.name), header.pid)
    }

    /// Returns the snapshot that the program published after the request; `None` if it could not publish.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let newest = self.published.then(|| self.ring.newest_snapshot().ok());
        newest.flatten().map(|(_, snapshot)| snapshot)
    }
}

/// Sends a request. Returns once the program has confirmed it. `what` names the action for messages, such as "reset".
///
/// # Errors
/// There is no such target, or it did not carry out the request.
pub fn ask(args: &TargetArgs, op: Op, what: &str) -> anyhow::Result<Granted> {
    ask_of(find(args, what)?, op, what)
}

/// Returns the ring of a running program. `what` is as in [`ask`].
///
/// # Errors
/// There is no such target, or it takes no requests.
pub fn find(args: &TargetArgs, what: &str) -> anyhow::Result<RingFile> {
    match live_snapshot::find(args, Reader::Person, None)? {
        Found::Ring(ring, liveness) if is_live(&liveness) => Ok(*ring),
        Found::Ring(ring, liveness) => bail!(
            "{} has ended; there is nothing to {what}",
            line_of(&ring, &liveness)
        ),
        Found::Together(name, _) => Err(one_alone(
            &name,
            "requests go to a program (on the screen of tickscope NAME --all, to all)",
        )
        .into()),
        Found::Kept(path) => bail!("{} is a kept snapshot: no program is behind it", path.display()),
        Found::Streamed(_) => {
            bail!("standard input is a stream, which takes no requests: send them on the program's host")
        }
    }
}

/// Sends a request to the program that writes to this ring. Otherwise like [`ask`].
///
/// # Errors
/// The program did not carry out the request.
pub fn ask_of(ring: RingFile, op: Op, what: &str) -> anyhow::Result<Granted> {
    let liveness = ring.liveness()?;
    let line = line_of(&ring, &liveness);
    if !is_live(&liveness) {
        bail!("{line} has ended; there is nothing to {what}");
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
                // A harmless request replaces the unanswered one, which a stopped program would otherwise carry out
                // when it continues.
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
    if reply.outcome == Outcome::Refused && matches!(op, Op::Watch(..)) {
        let newest = ring.newest_snapshot().ok();
        let why = watched::refused(newest.as_ref().map(|(_, newest)| newest));
        bail!("{line}: {why}");
    }
    if reply.outcome == Outcome::Unknown && matches!(op, Op::Watch(..) | Op::Unwatch(_) | Op::Lines(_)) {
        bail!("{line}: {TOO_OLD}");
    }
    let epoch = result_of(&reply).map_err(|why| anyhow!("{line}: {why}"))?;
    Ok(Granted {
        epoch,
        ring,
        published: reply.record != 0,
    })
}

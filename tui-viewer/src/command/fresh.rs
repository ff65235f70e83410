//! A snapshot for a command: of a program that runs, one captured after the command began.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::kept;
use tickscope_format::render::ProcessState;
use tickscope_format::slots::Op;

use crate::command::output::say;
use crate::target::{self, Found, NoTarget, Wanted, is_live, line_of};

/// How long a program may take to publish.
const ANSWER: Duration = Duration::from_secs(1);

/// Between two looks for an answer or a program.
const PAUSE: Duration = Duration::from_millis(5);

/// A snapshot and how its program does.
#[derive(Debug)]
pub struct Fresh {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// How the program does.
    pub state: ProcessState,
}

/// Finds a target, waiting so long for it to appear.
///
/// # Errors
/// As [`target::find`].
pub fn find(wanted: &Wanted, dir: Option<&Path>, wait: Option<Duration>) -> anyhow::Result<Found> {
    let begin = Instant::now();
    loop {
        match target::find(wanted, dir) {
            Err(error) if may_come(&error) && wait.is_some_and(|wait| begin.elapsed() < wait) => {
                thread::sleep(PAUSE);
            }
            found => return found,
        }
    }
}

fn may_come(error: &anyhow::Error) -> bool {
    error.downcast_ref::<NoTarget>().is_some_and(|none| none.may_come)
}

/// The snapshot of a target. Says on standard error what is not as one would think: a program that has ended
/// though another was meant, a record that is old.
///
/// # Errors
/// Why nothing can be read.
pub fn of(found: &Found, wanted: &Wanted) -> anyhow::Result<Fresh> {
    match found {
        Found::Kept(path) => Ok(Fresh {
            snapshot: kept::read(path)?,
            state: ProcessState::Kept,
        }),
        Found::Ring(ring, liveness) => of_ring(ring, liveness, wanted),
    }
}

fn of_ring(ring: &RingFile, liveness: &Liveness, wanted: &Wanted) -> anyhow::Result<Fresh> {
    if is_live(liveness) {
        if let Err(why) = publish_now(ring) {
            let age = ring
                .newest()
                .map(|record| seconds_since(record.stamp.unix_ns))
                .unwrap_or_default();
            say(&format!("{why}; showing the newest record, {age:.1} s old"));
        }
    } else if matches!(wanted, Wanted::Name(_)) {
        say(&format!(
            "no live program called so; showing {}",
            line_of(ring, liveness)
        ));
    }
    let (_, snapshot) = ring.newest_snapshot()?;
    Ok(Fresh {
        snapshot,
        state: state_of(&ring.liveness()?),
    })
}

fn seconds_since(unix_ns: u64) -> f64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    now.as_secs_f64() - unix_ns as f64 / 1e9
}

/// Has the program capture and publish now.
fn publish_now(ring: &RingFile) -> Result<(), String> {
    let slot = ring.take_slot().map_err(|error| error.to_string())?;
    let mut slot = slot.ok_or("the program takes no requests from here")?;
    let sent = slot.send(Op::PublishNow).map_err(|error| error.to_string())?;
    let begin = Instant::now();
    loop {
        if let Some(_reply) = slot.reply(&sent).map_err(|error| error.to_string())? {
            return Ok(());
        }
        // A program that ends meanwhile leaves its last record, which is as new as can be.
        if begin.elapsed() > PAUSE * 20 && ring.liveness().is_ok_and(|liveness| !is_live(&liveness)) {
            return Ok(());
        }
        if begin.elapsed() > ANSWER {
            return Err("the program does not answer (is it stopped?)".into());
        }
        thread::sleep(PAUSE);
    }
}

/// The state of a program in a report.
pub fn state_of(liveness: &Liveness) -> ProcessState {
    match liveness {
        Liveness::Running => ProcessState::Running,
        Liveness::Stale { .. } => ProcessState::Stale,
        Liveness::Exited { .. } => ProcessState::Exited,
        Liveness::Crashed { .. } => ProcessState::Crashed,
    }
}

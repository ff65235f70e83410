//! A snapshot for a command: of a program that runs, one captured after the command began.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use tickscope_analysis::side_by_side::{Part, ratio, side_by_side};
use tickscope_format::Snapshot;
use tickscope_format::file::open::{Liveness, RingFile, Slot};
use tickscope_format::os;
use tickscope_format::slots::{Op, Reply};
use tickscope_format::snapshot::CaptureKind;
use tickscope_report::ProcessState;
use tickscope_report::archive;

use crate::cli::args::TargetArgs;
use crate::output::console::{Misuse, about, say};
use crate::source::status::state_of;
use crate::source::target;
use crate::source::target::wanted::{Found, NoTarget, Wanted, is_live, line_of, one_alone};

/// How long a program may take to publish.
const ANSWER: Duration = Duration::from_secs(1);

/// Between two looks for an answer or a program.
const PAUSE: Duration = Duration::from_millis(5);

/// A snapshot and how its program does.
#[derive(Debug)]
pub struct LiveSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// How the program does.
    pub state: ProcessState,
}

/// Finds a target, waiting so long for it to appear. By name it is a program to come that is waited for, as
/// long as only runs are there that had ended before.
///
/// # Errors
/// As [`target::find`].
pub fn find(wanted: &Wanted, dir: Option<&Path>, wait: Option<Duration>) -> anyhow::Result<Found> {
    let (begin, begin_unix_ns) = (Instant::now(), unix_ns());
    loop {
        let waits = wait.is_some_and(|wait| begin.elapsed() < wait);
        match target::find(wanted, dir) {
            Err(error) if waits && may_come(&error) => {}
            Ok(Found::Ring(ring, liveness))
                if waits
                    && matches!(wanted, Wanted::Name(_))
                    && !is_live(&liveness)
                    && ring.header().started_unix_ns < begin_unix_ns => {}
            found => return found,
        }
        thread::sleep(PAUSE);
    }
}

/// The ring of a program that runs; `why` says why nothing else will do.
///
/// # Errors
/// As [`find`]; the target does not run, or never did.
pub fn find_running(target: &TargetArgs, wait: Option<Duration>, why: &str) -> anyhow::Result<RingFile> {
    let what = match find(&Wanted::of(target), target.dir.as_deref(), wait)? {
        Found::Ring(ring, liveness) if is_live(&liveness) => return Ok(*ring),
        Found::Ring(ring, liveness) => format!("{} does not run any more", line_of(&ring, &liveness)),
        Found::Together(name, _) => return Err(one_alone(&name, why).into()),
        Found::Kept(path) => format!("{} is a file", path.display()),
        Found::Streamed(_) => "standard input is a stream".into(),
    };
    Err(Misuse(format!("{what}; {why}")).into())
}

fn may_come(error: &anyhow::Error) -> bool {
    error.downcast_ref::<NoTarget>().is_some_and(|none| none.may_come)
}

/// The snapshot of a target. Says on standard error what is not as one would think: a program that has ended
/// though another was meant, a record that is old.
///
/// # Errors
/// Why nothing can be read.
pub fn of(found: &Found, wanted: &Wanted) -> anyhow::Result<LiveSnapshot> {
    let (live, note) = with_note(found, wanted)?;
    if let Some(note) = note {
        say(&note);
    }
    Ok(live)
}

/// The same; what is not as one would think comes beside it.
///
/// # Errors
/// Why nothing can be read.
pub(super) fn with_note(found: &Found, wanted: &Wanted) -> anyhow::Result<(LiveSnapshot, Option<String>)> {
    match found {
        Found::Kept(path) => {
            let snapshot = archive::read(path).map_err(|error| anyhow!(about(path, &error)))?;
            let state = ProcessState::FromFile;
            Ok((LiveSnapshot { snapshot, state }, None))
        }
        Found::Streamed(snapshot) => {
            let state = if snapshot.capture.kind == CaptureKind::Final {
                ProcessState::Exited
            } else {
                ProcessState::FromFile
            };
            let snapshot = (**snapshot).clone();
            Ok((LiveSnapshot { snapshot, state }, None))
        }
        Found::Ring(ring, liveness) => of_ring(ring, liveness, wanted),
        Found::Together(name, rings) => of_all(name, rings),
    }
}

/// What all of several programs have counted; which of them are not in it comes beside it.
fn of_all(name: &str, rings: &[(RingFile, Liveness)]) -> anyhow::Result<(LiveSnapshot, Option<String>)> {
    let mut notes = Vec::new();
    let mut snapshots = Vec::new();
    for (ring, _) in rings {
        let pid = ring.header().pid;
        if let Err(why) = publish_now(ring) {
            notes.push(format!("pid {pid}: {why}"));
        }
        match ring.newest_snapshot() {
            Ok((_, snapshot)) => snapshots.push((pid, snapshot)),
            Err(error) => notes.push(format!("pid {pid} is left out: {error}")),
        }
    }
    let Some((_, first)) = snapshots.first() else {
        return Err(anyhow!(notes.join("; ")));
    };
    let clock = first.clock.clone();
    let parts = snapshots.iter().map(|(pid, snapshot)| Part {
        snapshot,
        pid: Some(*pid),
        ratio: ratio(&clock, &snapshot.clock),
    });
    let mut snapshot = side_by_side(&clock, &Vec::from_iter(parts));
    snapshot.process.name = format!("{} ({} processes)", target::title_of(name), snapshots.len());
    snapshot.process.started_unix_ns = snapshot
        .capture
        .unix_ns
        .saturating_sub(snapshot.process.uptime_ns);
    let state = ProcessState::Running;
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok((LiveSnapshot { snapshot, state }, note))
}

fn of_ring(
    ring: &RingFile,
    liveness: &Liveness,
    wanted: &Wanted,
) -> anyhow::Result<(LiveSnapshot, Option<String>)> {
    let note = match wanted {
        _ if is_live(liveness) => publish_now(ring).err().map(|why| {
            let age = ring
                .newest()
                .map(|record| seconds_since(record.stamp.unix_ns))
                .unwrap_or_default();
            format!("{why}; showing the newest record, {age:.1} s old")
        }),
        Wanted::Name(_) => Some(format!(
            "no live {wanted}; showing the newest that has ended: {}",
            line_of(ring, liveness)
        )),
        Wanted::Pid(pid) if os::start_time(*pid).is_some() => Some(format!(
            "process {pid} has no ring; showing what an earlier process {pid} left: {}",
            line_of(ring, liveness)
        )),
        Wanted::Only
        | Wanted::Pid(_)
        | Wanted::File(_)
        | Wanted::All(_)
        | Wanted::Stdin
        | Wanted::Started { .. } => None,
    };
    let (_, snapshot) = ring
        .newest_snapshot()
        .map_err(|error| anyhow!(about(ring.path(), &error)))?;
    let state = state_of(&ring.liveness()?);
    Ok((LiveSnapshot { snapshot, state }, note))
}

fn seconds_since(then_unix_ns: u64) -> f64 {
    unix_ns().saturating_sub(then_unix_ns) as f64 / 1e9
}

pub(super) fn unix_ns() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64)
}

/// Has the program capture and publish now.
fn publish_now(ring: &RingFile) -> Result<(), String> {
    let slot = ring.take_slot().map_err(|error| error.to_string())?;
    let mut slot = slot.ok_or("the program takes no requests from here")?;
    publish_by(ring, &mut slot)
}

/// The same by a slot that is held already.
pub(super) fn publish_by(ring: &RingFile, slot: &mut Slot) -> Result<(), String> {
    match answer(ring, slot, Op::PublishNow)? {
        Some(reply) if reply.record == 0 => {
            Err("the program could not publish (is its snapshot larger than half its ring?)".into())
        }
        // A program that ends meanwhile leaves its last record, which is as new as can be.
        _ => Ok(()),
    }
}

/// What a program answers; none where it has ended.
pub(super) fn answer(ring: &RingFile, slot: &mut Slot, op: Op) -> Result<Option<Reply>, String> {
    let sent = slot.send(op).map_err(|error| error.to_string())?;
    let begin = Instant::now();
    loop {
        if let Some(reply) = slot.reply(&sent).map_err(|error| error.to_string())? {
            return Ok(Some(reply));
        }
        if begin.elapsed() > PAUSE * 20 && ring.liveness().is_ok_and(|liveness| !is_live(&liveness)) {
            return Ok(None);
        }
        if begin.elapsed() > ANSWER {
            return Err("the program does not answer (is it stopped?)".into());
        }
        thread::sleep(PAUSE);
    }
}

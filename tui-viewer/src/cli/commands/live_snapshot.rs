//! Snapshots for commands. A running program captures a new one when the command asks for it.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use tickscope_analysis::side_by_side::{Part, ratio, side_by_side};
use tickscope_command::console::{Misuse, about, say};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::file::open::{Liveness, RingFile, Slot};
use tickscope_format::os;
use tickscope_format::slots::{Op, Reply};
use tickscope_format::snapshot::CaptureKind;
use tickscope_programs::clock_time::{age, now_unix_ns};
use tickscope_programs::sampled_code;
use tickscope_programs::status::{since_unix_ns, state_of};
use tickscope_programs::target;
use tickscope_programs::target::wanted::{Found, NoTarget, Wanted, is_live, line_of, one_alone};
use tickscope_report::ProcessState;
use tickscope_report::archive;

use crate::cli::args::TargetArgs;

/// Longest wait for a program's answer to a request.
const ANSWER: Duration = Duration::from_secs(1);

/// Time between two checks for an answer or for a program.
const PAUSE: Duration = Duration::from_millis(5);

/// Snapshot of a target, with the state of its program.
#[derive(Debug)]
pub struct LiveSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// State of the program.
    pub state: ProcessState,
    /// Names of the sampled addresses, if the snapshot is from a recording.
    pub addresses: Addresses,
}

/// Who reads a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person, who sees the note that the run has ended.
    Person,
    /// A script, which would mistake an ended run for the program that it asked for.
    Script,
}

impl Reader {
    /// Returns who reads an output format: a person if it is text or a web page, otherwise a script.
    pub fn of_text(is_text: bool) -> Self {
        if is_text { Self::Person } else { Self::Script }
    }
}

/// Finds a target, waiting up to `wait` for it to appear. If the target is a name or the id of a running process,
/// finding only the ring of an earlier run does not end the wait.
///
/// # Errors
/// The errors of [`target::find`]. For a script, also that only an earlier run is found and `--ended` is not given.
pub fn find(target: &TargetArgs, reader: Reader, wait: Option<Duration>) -> anyhow::Result<Found> {
    let wanted = target.wanted();
    let (begin, begin_unix_ns) = (Instant::now(), now_unix_ns());
    loop {
        let waits = wait.is_some_and(|wait| begin.elapsed() < wait);
        match target::find(&wanted, target.dir.as_deref()) {
            Err(error) if waits && NoTarget::may_come(&error) => {}
            Ok(Found::Ring(ring, liveness)) => {
                let earlier = earlier_run(&wanted, &ring, &liveness);
                // The user is waiting for a run that starts after this command. Such a run counts even if it has
                // already ended.
                let came = wait.is_some() && ring.header().started_unix_ns >= begin_unix_ns;
                match earlier.filter(|_| !came) {
                    Some(_) if waits => {}
                    Some(earlier) if reader == Reader::Script && !target.ended => {
                        return Err(NoTarget::new(earlier.refused(&ring, &liveness), true).into());
                    }
                    _ => return Ok(Found::Ring(ring, liveness)),
                }
            }
            found => return found,
        }
        thread::sleep(PAUSE);
    }
}

/// Why an earlier run was found instead of the requested one.
enum Earlier {
    /// No program with this name is running.
    OfName(String),
    /// The process has no ring, but an earlier process with its id had one.
    OfPid(u32),
}

/// Returns why the ring belongs to an earlier run, or `None` if it belongs to the requested one.
fn earlier_run(wanted: &Wanted, ring: &RingFile, liveness: &Liveness) -> Option<Earlier> {
    let header = ring.header();
    let is_other = |started| started != header.start_time || header.boot_id != os::boot_id();
    match wanted {
        _ if is_live(liveness) => None,
        Wanted::Name(_) => Some(Earlier::OfName(wanted.to_string())),
        Wanted::Pid(pid) if os::start_time(*pid).is_some_and(is_other) => Some(Earlier::OfPid(*pid)),
        Wanted::Only
        | Wanted::Pid(_)
        | Wanted::File(_)
        | Wanted::All(_)
        | Wanted::Stdin
        | Wanted::Started { .. } => None,
    }
}

impl Earlier {
    /// Returns the note for a person, who is shown the numbers of the earlier run.
    fn shown(&self, ring: &RingFile, liveness: &Liveness) -> String {
        let line = line_of(ring, liveness);
        match self {
            Self::OfName(wanted) => format!("no running {wanted}; showing its newest ended run: {line}"),
            Self::OfPid(pid) => {
                format!("process {pid} has no ring; showing the ring of an earlier process {pid}: {line}")
            }
        }
    }

    /// Returns the error that a script gets instead of the numbers of the earlier run.
    fn refused(&self, ring: &RingFile, liveness: &Liveness) -> String {
        let line = line_of(ring, liveness);
        let since = since_unix_ns(ring.header().started_unix_ns, liveness);
        let age = age(now_unix_ns().saturating_sub(since));
        match self {
            Self::OfName(wanted) => format!(
                "no running {wanted}; its newest run ended {age} ago: {line}; give its pid, or give --ended, for its \
                 numbers"
            ),
            Self::OfPid(pid) => format!(
                "process {pid} has no ring; an earlier process {pid} left a ring {age} ago: {line}; give --ended for its numbers"
            ),
        }
    }
}

/// Returns the ring of a running program. `why` is the last part of the error message, which says why the program must
/// be running.
///
/// # Errors
/// The errors of [`find`], or the target is not a single running program.
pub fn find_running(target: &TargetArgs, wait: Option<Duration>, why: &str) -> anyhow::Result<RingFile> {
    let found = find(target, Reader::Person, wait)?;
    match found {
        Found::Ring(ring, liveness) if is_live(&liveness) => Ok(*ring),
        Found::Ring(..) | Found::Together(..) | Found::Kept(_) | Found::Streamed(_) => {
            Err(not_running(&found, why).into())
        }
    }
}

/// Returns the error for a target that is not a single running program.
pub(super) fn not_running(found: &Found, why: &str) -> Misuse {
    let what = match found {
        Found::Ring(ring, liveness) => format!("{} has ended", line_of(ring, liveness)),
        Found::Together(name, _) => return one_alone(name, why),
        Found::Kept(path) => format!("{} is a file", path.display()),
        Found::Streamed(_) => "standard input is a stream".into(),
    };
    Misuse(format!("{what}; {why}"))
}

/// Returns the snapshot of a target. Prints a note to standard error if the snapshot comes from an ended program instead of
/// a running one, contains an old record because a program did not answer, or leaves out a program.
///
/// # Errors
/// The target cannot be read.
pub fn of(found: &Found, wanted: &Wanted) -> anyhow::Result<LiveSnapshot> {
    let (live, note) = with_note(found, wanted)?;
    if let Some(note) = note {
        say(&note);
    }
    Ok(live)
}

/// Returns the snapshot of a target, and the note that [`of`] prints.
///
/// # Errors
/// The target cannot be read.
pub(super) fn with_note(found: &Found, wanted: &Wanted) -> anyhow::Result<(LiveSnapshot, Option<String>)> {
    let mut addresses = Addresses::default();
    let (snapshot, state, note) = match found {
        Found::Kept(path) => {
            addresses = archive::addresses(path);
            let snapshot = archive::read(path).map_err(|error| anyhow!(about(path, &error)))?;
            (snapshot, ProcessState::FromFile, None)
        }
        Found::Streamed(streamed) => {
            let (snapshot, named) = (**streamed).clone();
            addresses = named;
            let has_ended = snapshot.capture.kind == CaptureKind::Final;
            let state = match has_ended {
                true => ProcessState::Exited,
                false => ProcessState::FromFile,
            };
            (snapshot, state, None)
        }
        Found::Ring(ring, liveness) => of_ring(ring, liveness, wanted)?,
        Found::Together(name, rings) => {
            let (snapshot, note) = of_all(name, rings)?;
            (snapshot, ProcessState::Running, note)
        }
    };
    let live = LiveSnapshot {
        snapshot,
        state,
        addresses,
    };
    Ok((live, note))
}

/// Sums the counts of several programs. Returns a note on programs that did not answer or were left out.
fn of_all(name: &str, rings: &[(RingFile, Liveness)]) -> anyhow::Result<(Snapshot, Option<String>)> {
    let mut notes = Vec::new();
    let mut snapshots = Vec::new();
    let mut addresses = Addresses::default();
    for (ring, _) in rings {
        let pid = ring.header().pid;
        if let Err(why) = publish_now(ring) {
            notes.push(format!("pid {pid}: {why}"));
        }
        match ring.newest_snapshot() {
            Ok((_, mut snapshot)) => {
                addresses = sampled_code::read_code(&mut snapshot, addresses).addresses;
                snapshots.push((pid, snapshot));
            }
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
    Ok((snapshot, (!notes.is_empty()).then(|| notes.join("; "))))
}

fn of_ring(
    ring: &RingFile,
    liveness: &Liveness,
    wanted: &Wanted,
) -> anyhow::Result<(Snapshot, ProcessState, Option<String>)> {
    let note = if is_live(liveness) {
        publish_now(ring).err().map(|why| {
            let newest_ns = ring.newest().map(|record| record.stamp.unix_ns);
            let age_ns = newest_ns.map_or(0, |newest_ns| now_unix_ns().saturating_sub(newest_ns));
            format!(
                "{why}; showing the newest record, {:.1} s old",
                age_ns as f64 / 1e9
            )
        })
    } else {
        earlier_run(wanted, ring, liveness).map(|earlier| earlier.shown(ring, liveness))
    };
    let (_, snapshot) = ring
        .newest_snapshot()
        .map_err(|error| anyhow!(about(ring.path(), &error)))?;
    Ok((snapshot, state_of(&ring.liveness()?), note))
}

/// Makes the program capture and publish a snapshot.
fn publish_now(ring: &RingFile) -> Result<(), String> {
    let slot = ring.take_slot().map_err(|error| error.to_string())?;
    let mut slot = slot.ok_or("the program takes no requests from this viewer")?;
    publish_by(ring, &mut slot)
}

/// Makes the program publish a snapshot, by sending a request through the slot that the caller holds.
pub(super) fn publish_by(ring: &RingFile, slot: &mut Slot) -> Result<(), String> {
    match answer(ring, slot, Op::PublishNow)? {
        Some(reply) if reply.record == 0 => {
            Err("the program could not publish (is its snapshot larger than half its ring?)".into())
        }
        // `None` means that the program has ended. Its last record is then the newest there can be.
        _ => Ok(()),
    }
}

/// Sends a request and returns the program's reply; `None` if the program has ended.
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

#[cfg(test)]
mod tests {
    use tickscope_format::file::create::OwnRing;
    use tickscope_format::file::header::Header;
    use tickscope_format::ring::Stamp;
    use tickscope_testkit::test_program::payload;

    use super::*;

    /// Creates the ring file of an ended run.
    fn leave(dir: &std::path::Path, name: &str, started_unix_ns: u64) {
        let header = Header {
            started_unix_ns,
            nonce: started_unix_ns,
            ..tickscope_testkit::ring::header(name)
        };
        let mut ring = OwnRing::create(dir, header).unwrap();
        let mut last = Snapshot::default();
        last.capture.kind = CaptureKind::Final;
        ring.publish(Stamp::from(&last.capture), &payload(&last)).unwrap();
        ring.exit(1);
        ring.link().unwrap();
    }

    #[test]
    fn a_script_gets_a_run_that_has_ended_by_its_flag_or_if_it_came_while_it_was_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        leave(dir.path(), "earlier", 1);
        leave(dir.path(), "came", u64::MAX);
        let found = |name: &str, reader, ended, wait: Option<u64>| {
            let target = TargetArgs {
                target: Some(name.into()),
                ended,
                dir: Some(dir.path().into()),
                ..TargetArgs::default()
            };
            find(&target, reader, wait.map(Duration::from_millis))
        };
        let refused = found("earlier", Reader::Script, false, None).unwrap_err();
        assert!(refused.is::<NoTarget>(), "{refused}");
        assert!(refused.to_string().contains("--ended"), "{refused}");
        assert!(found("earlier", Reader::Script, false, Some(20)).is_err());
        assert!(found("earlier", Reader::Script, true, None).is_ok());
        assert!(found("earlier", Reader::Script, true, Some(20)).is_ok());
        assert!(found("earlier", Reader::Person, false, None).is_ok());
        assert!(
            found("came", Reader::Script, false, None).is_err(),
            "nobody waited"
        );
        assert!(found("came", Reader::Script, false, Some(20)).is_ok());
    }
}

//! Where the screen's data comes from: a ring file, found, read, asked and followed.

mod pace;
mod past;
mod recorded;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tickscope_format::archive;
use tickscope_format::codec::Decoder;
use tickscope_format::file::list;
use tickscope_format::file::open::{Liveness, RingFile, Sent, Slot};
use tickscope_format::file::places;
use tickscope_format::kept;
use tickscope_format::ring::Record;
use tickscope_format::slots::{Op, Outcome as Answer, Reply};
use tickscope_format::{FormatError, Snapshot};

use crate::feed::pace::{LOOK, Pace};
use crate::feed::past::{Earlier, past_of};
use crate::feed::recorded::Recorded;
use crate::news::{Feed, News, Outcome, Past, Request, RingLine, Target};
use crate::process_time::{UtcOffset, clock_time};
use crate::status::Status;
use crate::target::{self, Found, NoTarget, Wanted, is_live};

/// Between two looks at what changes seldom: locks, directories, what has ended.
const LOOK_AROUND: Duration = Duration::from_millis(400);

/// Reading what a file holds from before takes so long at each look, and leaves so much time between them.
const PAST_SLICE: Duration = Duration::from_millis(5);
const PAST_REST: Duration = Duration::from_millis(5);

/// So many records that came since the last look are handed over beside the newest.
const MISSED_MOST: usize = 8;

/// Why a started program that has ended shows nothing.
const ENDED_WITHOUT: &str = "The program has ended and opened no scope (does it depend on tickscope with the feature \
                             `enable`, and mark a function with #[tickscope::profile]?). q shows its output.";

/// Why a program takes no further rule on sites.
pub const RULES_FULL: &str = "the program has as many rules as it takes; `on *` takes all of them away";

/// A feed from ring files.
#[derive(Debug)]
pub struct RingFeed {
    wanted: Wanted,
    dir: Option<PathBuf>,
    offset: UtcOffset,
    open: Open,
    /// When to look around next.
    look_around_at: Instant,
    status: Status,
    /// What was listed last, so that only changes are told.
    listed: Vec<RingLine>,
    outcomes: Vec<Outcome>,
    new_run: Option<(u32, u32)>,
}

#[derive(Debug)]
enum Open {
    Nothing,
    Ring(Box<Attached>),
    /// A kept snapshot, until it is handed over, and what was recorded before it.
    Kept(Target, Option<Rc<Snapshot>>, Option<Box<Recorded>>),
}

#[derive(Debug)]
struct Attached {
    ring: RingFile,
    target: Target,
    /// Sites that do not change are read once.
    decoder: Decoder,
    /// None where the program takes no requests, or all slots are taken.
    slot: Option<Slot>,
    sent: Vec<(Request, Sent)>,
    /// Where the record begins that was handed over last, and its number.
    shown: Option<(u64, u64)>,
    /// What is still to be read from before the first one that was handed over.
    earlier: Option<Earlier>,
    /// Requests that wait for the one before: a slot holds one at a time.
    queue: Vec<Request>,
    /// When to look for the next record.
    pace: Pace,
}

// === impl RingFeed ===

impl RingFeed {
    /// A feed from what is wanted; nothing is opened before the first look.
    pub fn new(wanted: Wanted, dir: Option<PathBuf>, utc_offset_s: Option<i32>) -> Self {
        Self {
            status: Status::Waiting { why: String::new() },
            wanted,
            dir,
            offset: utc_offset_s,
            open: Open::Nothing,
            look_around_at: Instant::now(),
            listed: Vec::new(),
            outcomes: Vec::new(),
            new_run: None,
        }
    }

    fn look_around(&mut self) {
        match &self.open {
            Open::Nothing => self.seek(),
            Open::Ring(attached) => {
                let before = attached.target.pid;
                self.status = status_of(&attached.ring);
                if !self.status.answers() && self.wanted.follows_restarts() {
                    self.follow(before);
                }
            }
            Open::Kept(..) => self.status = Status::Kept,
        }
    }

    fn seek(&mut self) {
        match target::find(&self.wanted, self.dir.as_deref()) {
            Ok(found) => self.take(found),
            Err(error) => match error.downcast_ref::<NoTarget>() {
                Some(none) => {
                    let ended = matches!(self.wanted, Wanted::Started { pid, .. } if has_ended(pid));
                    let why = if ended {
                        ENDED_WITHOUT.into()
                    } else {
                        none.lead.clone()
                    };
                    self.status = Status::Waiting { why };
                }
                None => {
                    self.status = Status::Broken {
                        why: format!("{error:#}"),
                    }
                }
            },
        }
    }

    /// The program has ended: is it there again, as another process?
    fn follow(&mut self, before: u32) {
        let name = match &self.open {
            Open::Ring(attached) => Wanted::Name(attached.target.name.clone()),
            Open::Nothing | Open::Kept(..) => return,
        };
        if let Ok(Found::Ring(ring, liveness)) = target::find(&name, self.dir.as_deref())
            && is_live(&liveness)
        {
            self.new_run = Some((before, ring.header().pid));
            self.take(Found::Ring(ring, liveness));
        }
    }

    fn take(&mut self, found: Found) {
        self.open = match found {
            Found::Ring(ring, _) => {
                self.status = status_of(&ring);
                Open::Ring(Box::new(Attached::new(*ring)))
            }
            Found::Kept(path) => match read_kept(&path) {
                Ok((snapshot, recorded)) => {
                    self.status = Status::Kept;
                    let target = Target {
                        name: snapshot.process.name.clone(),
                        pid: snapshot.process.pid,
                        path,
                    };
                    Open::Kept(target, Some(Rc::new(snapshot)), recorded)
                }
                Err(error) => {
                    self.status = Status::Broken {
                        why: format!("{}: {error}", path.display()),
                    };
                    Open::Nothing
                }
            },
        };
    }

    /// All rings there are, if that has changed.
    fn rings(&mut self) -> Option<Vec<RingLine>> {
        let listed = list::list(&places::places(self.dir.as_deref()));
        let rings = listed
            .into_iter()
            .filter_map(|listed| Some((listed.path, listed.ring.ok()?)));
        let lines: Vec<RingLine> = rings
            .map(|(path, (ring, liveness))| ring_line(path, &ring, &liveness, self.offset))
            .collect();
        (lines != self.listed).then(|| {
            self.listed.clone_from(&lines);
            lines
        })
    }
}

/// The newest snapshot of a file, and what stands before it.
fn read_kept(path: &Path) -> Result<(Snapshot, Option<Box<Recorded>>), FormatError> {
    if !kept::is_kept(path) {
        return archive::read(path).map(|snapshot| (snapshot, None));
    }
    let (recorded, snapshot) = Recorded::open(path)?;
    let recorded = Some(Box::new(recorded)).filter(|recorded| !recorded.is_done());
    Ok((snapshot, recorded))
}

fn ring_line(path: PathBuf, ring: &RingFile, liveness: &Liveness, offset: UtcOffset) -> RingLine {
    let (state, since) = match *liveness {
        Liveness::Running => ("running", ring.header().started_unix_ns),
        Liveness::Stale { since_unix_ns } => ("stale", since_unix_ns),
        Liveness::Exited { unix_ns } => ("exited", unix_ns),
        Liveness::Crashed { unix_ns } => ("crashed", unix_ns),
    };
    RingLine {
        path,
        name: ring.header().name.clone(),
        pid: ring.header().pid,
        state: state.into(),
        since: clock_time(since, offset),
        live: is_live(liveness),
    }
}

fn status_of(ring: &RingFile) -> Status {
    match ring.liveness() {
        Ok(Liveness::Running) => Status::Live,
        Ok(Liveness::Stale { since_unix_ns }) => Status::Stale { since_unix_ns },
        Ok(Liveness::Exited { unix_ns }) => Status::Exited { unix_ns },
        Ok(Liveness::Crashed { unix_ns }) => Status::Crashed {
            unix_ns: Some(unix_ns),
        },
        Err(error) => Status::Broken {
            why: format!("{}: {error}", ring.path().display()),
        },
    }
}

impl Feed for RingFeed {
    fn poll(&mut self) -> News {
        let now = Instant::now();
        let mut rings = None;
        if now >= self.look_around_at {
            self.look_around();
            if matches!(self.open, Open::Nothing) {
                rings = self.rings();
            }
            self.look_around_at = now + LOOK_AROUND;
        }
        let mut past = Vec::new();
        let mut begin_ns = None;
        let (target, snapshot) = match &mut self.open {
            Open::Nothing => (None, None),
            Open::Kept(target, snapshot, recorded) => {
                begin_ns = recorded.as_ref().and_then(|recorded| recorded.begin_ns());
                // Not at the first look: that is to be seen soon.
                if snapshot.is_none()
                    && let Some(earlier) = recorded
                {
                    past.extend(earlier.slice(PAST_SLICE));
                    recorded.take_if(|recorded| recorded.is_done());
                }
                (Some(target.clone()), snapshot.take())
            }
            Open::Ring(attached) => {
                self.outcomes.extend(attached.answers());
                // Not at the first look: that is to be seen soon.
                past.extend(attached.slice_of_past());
                let snapshot = match attached.newest(&mut past) {
                    Ok(snapshot) => snapshot,
                    Err(why) => {
                        self.status = Status::Broken { why };
                        None
                    }
                };
                (Some(attached.target.clone()), snapshot)
            }
        };
        News {
            status: self.status.clone(),
            target,
            snapshot,
            past,
            begin_ns,
            rings,
            outcomes: std::mem::take(&mut self.outcomes),
            new_run: self.new_run.take(),
        }
    }

    fn send(&mut self, request: Request) -> Result<(), String> {
        match &mut self.open {
            Open::Ring(attached) => attached.ask(request),
            Open::Kept(..) => Err("a kept snapshot has no program behind it".into()),
            Open::Nothing => Err("no program is open".into()),
        }
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        let found = target::find(&Wanted::File(path.to_path_buf()), self.dir.as_deref());
        self.take(found.map_err(|error| format!("{error:#}"))?);
        // From now on it is this one's name that is wanted: also when it starts again.
        if let Open::Ring(attached) = &self.open {
            self.wanted = Wanted::Name(attached.target.name.clone());
        }
        Ok(())
    }

    fn next_look(&self) -> Duration {
        let around = self.look_around_at.saturating_duration_since(Instant::now());
        match (&self.open, &self.status) {
            (Open::Ring(attached), _) if attached.earlier.is_some() => PAST_REST.min(around),
            (Open::Kept(_, _, Some(_)), _) => PAST_REST.min(around),
            (Open::Ring(attached), Status::Live | Status::Stale { .. }) => attached.rest().min(around),
            _ => around,
        }
    }
}

// === impl Attached ===

impl Attached {
    fn new(ring: RingFile) -> Self {
        let header = ring.header();
        let target = Target {
            name: header.name.clone(),
            pid: header.pid,
            path: ring.path().to_path_buf(),
        };
        // Holding a slot is what makes the program publish at the watched rate.
        let slot = ring.take_slot().ok().flatten();
        Self {
            ring,
            target,
            slot,
            sent: Vec::new(),
            decoder: Decoder::default(),
            shown: None,
            earlier: None,
            queue: Vec::new(),
            pace: Pace::new(Instant::now()),
        }
    }

    /// How long nobody needs to look at the ring.
    fn rest(&self) -> Duration {
        if self.sent.is_empty() && self.queue.is_empty() {
            self.pace.rest(Instant::now())
        } else {
            LOOK
        }
    }

    /// The newest snapshot, if it was not handed over yet; its record, and those between it and the last one, go to
    /// the past.
    fn newest(&mut self, past: &mut Vec<Past>) -> Result<Option<Rc<Snapshot>>, String> {
        let latest = self.ring.latest().map_err(|error| error.to_string())?;
        if self.shown.is_some_and(|(position, _)| position == latest) {
            return Ok(None);
        }
        let mut record = self.ring.newest().map_err(|error| error.to_string())?;
        let snapshot = self
            .decoder
            .decode(&record.payload)
            .map_err(|error| error.to_string())?;
        let newest = past_of(&mut record);
        match self.shown.replace((record.position, record.sequence)) {
            Some((_, shown)) => past.extend(self.missed(&record, shown)),
            None => self.earlier = Some(Earlier::than(record)),
        }
        past.push(newest);
        self.pace.saw(Instant::now(), snapshot.capture.interval_ns);
        Ok(Some(Rc::new(snapshot)))
    }

    /// Records between one and that of the given number, oldest first.
    fn missed(&self, newest: &Record, shown: u64) -> Vec<Past> {
        let mut missed: Vec<Past> = Vec::new();
        let mut next = self.before(newest, shown);
        while let Some(mut record) = next.filter(|_| missed.len() < MISSED_MOST) {
            missed.push(past_of(&mut record));
            next = self.before(&record, shown);
        }
        missed.reverse();
        missed
    }

    /// The record before one, if that is not the one of the given number. What is gone is no trouble.
    fn before(&self, record: &Record, shown: u64) -> Option<Record> {
        let between = record.sequence > shown + 1;
        let before = between.then(|| self.ring.before(record));
        before.and_then(|before| before.ok().flatten())
    }

    /// The next of what the file holds from before.
    fn slice_of_past(&mut self) -> Vec<Past> {
        let Some(earlier) = &mut self.earlier else {
            return Vec::new();
        };
        let slice = earlier.slice(&self.ring, PAST_SLICE);
        if earlier.is_done() {
            self.earlier = None;
        }
        slice
    }

    fn ask(&mut self, request: Request) -> Result<(), String> {
        if self.slot.is_none() {
            self.slot = self.ring.take_slot().map_err(|error| error.to_string())?;
        }
        if self.slot.is_none() {
            return Err(
                "the program takes no requests from here (control is off, the file is not ours to \
                        write, or 16 viewers are there already)"
                    .into(),
            );
        }
        self.queue.push(request);
        self.send_next()
    }

    /// Sends the next request if the slot is free for it.
    fn send_next(&mut self) -> Result<(), String> {
        let Some(slot) = &mut self.slot else { return Ok(()) };
        if !self.sent.is_empty() || self.queue.is_empty() {
            return Ok(());
        }
        let request = self.queue.remove(0);
        let op = match request {
            Request::Reset => Op::Reset,
            Request::Undo => Op::UndoReset,
            Request::Interval { ns } => Op::Interval(ns),
            Request::Mode(mode) => Op::Mode(mode),
            Request::SitesOff(pattern) => Op::SitesOff(pattern),
            Request::SitesOn(pattern) => Op::SitesOn(pattern),
        };
        let sent = slot.send(op).map_err(|error| error.to_string())?;
        self.sent.push((request, sent));
        Ok(())
    }

    fn answers(&mut self) -> Vec<Outcome> {
        let Some(slot) = &self.slot else { return Vec::new() };
        let mut outcomes = Vec::new();
        self.sent.retain(|(request, sent)| match slot.reply(sent) {
            Ok(None) => true,
            Ok(Some(reply)) => {
                outcomes.push(Outcome {
                    request: *request,
                    result: answer_to(*request, &reply),
                });
                false
            }
            Err(error) => {
                outcomes.push(Outcome {
                    request: *request,
                    result: Err(error.to_string()),
                });
                false
            }
        });
        if let Err(why) = self.send_next()
            && let Some(request) = self.queue.first()
        {
            outcomes.push(Outcome {
                request: *request,
                result: Err(why),
            });
        }
        outcomes
    }
}

/// The same as [`result_of`], knowing what was asked for.
fn answer_to(request: Request, reply: &Reply) -> Result<u64, String> {
    let is_rule = matches!(request, Request::SitesOff(_) | Request::SitesOn(_));
    if is_rule && reply.outcome == Answer::Refused {
        return Err(RULES_FULL.into());
    }
    result_of(reply)
}

/// The reset epoch in force since, or why the program did not do it.
pub fn result_of(reply: &Reply) -> Result<u64, String> {
    match reply.outcome {
        Answer::Done => Ok(reply.reset_epoch),
        Answer::NothingToUndo => Err("there is no reset to undo".into()),
        Answer::Unknown => Err("the program's collector is older and does not know this request".into()),
        Answer::Refused => Err("the program takes no requests (Builder::control)".into()),
        _ => Err("the program answered what this viewer does not know; update tickscope".into()),
    }
}

/// Whether a process has ended, also where nobody has asked for its exit code yet: field 3 of `stat`, behind the
/// name, which may hold anything.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !matches!(stat.rsplit_once(") "), Some((_, rest)) if !rest.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_rule_says_that_there_are_too_many() {
        let pattern = tickscope_format::pattern::Pattern::new("alloc::*").unwrap();
        let reply = |outcome| Reply {
            sequence: 1,
            outcome,
            record: 0,
            reset_epoch: 3,
            crc: 0,
        };
        for request in [Request::SitesOff(pattern), Request::SitesOn(pattern)] {
            assert_eq!(
                answer_to(request, &reply(Answer::Refused)),
                Err(RULES_FULL.into())
            );
            assert_eq!(answer_to(request, &reply(Answer::Done)), Ok(3));
        }
        let why = answer_to(Request::Reset, &reply(Answer::Refused)).unwrap_err();
        assert!(why.contains("takes no requests"), "{why}");
    }

    #[test]
    fn a_started_program_that_ended_without_scopes_is_not_waited_for_in_silence() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let wanted = Wanted::Started {
            token: 1,
            pid: child.id(),
        };
        let why = || {
            let status = RingFeed::new(wanted.clone(), Some(dir.path().into()), None)
                .poll()
                .status;
            let Status::Waiting { why } = status else {
                panic!("{status:?}")
            };
            why
        };
        assert!(!why().contains("has ended"), "{}", why());
        child.kill().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while !why().contains("has ended") {
            assert!(Instant::now() < deadline, "{}", why());
        }
        child.wait().unwrap();
        assert!(why().contains("has ended"), "also when it is gone for good");
    }
}

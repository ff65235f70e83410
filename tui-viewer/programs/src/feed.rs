//! Source of the screen's data: finds a ring file, reads it, sends requests, and follows restarts.

mod answer;
mod attached;
mod pace;
mod past;
mod piped;
mod recorded;
mod together;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use answer::{RULES_FULL, TOO_OLD, refusal, result_of};
pub use piped::PipeFeed;
use tickscope_format::addresses::Addresses;
use tickscope_format::file::list;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::file::places;
use tickscope_format::{FormatError, Snapshot};
use tickscope_format::{os, snapshot_file};
use tickscope_report::archive;
pub use together::TogetherFeed;

use crate::clock_time::{UtcOffset, clock_time};
use crate::events::{Events, Feed, Request, RingLine, Target};
use crate::feed::attached::Attached;
use crate::feed::recorded::Recorded;
use crate::status::{Status, since_unix_ns, state_of};
use crate::target;
use crate::target::wanted::{Found, NoTarget, Wanted, is_live, library_of};

/// Time between two checks of what seldom changes: locks, directories, and whether programs have ended.
const LOOK_AROUND: Duration = Duration::from_millis(400);

/// Maximum time that one poll spends on reading a file's earlier records, and the pause before the next poll that does
/// so.
const PAST_SLICE: Duration = Duration::from_millis(5);
const PAST_REST: Duration = Duration::from_millis(5);

/// Message for a started program that has ended without data.
const ENDED_WITHOUT: &str = "The program has ended and opened no scope.\nDoes it depend on tickscope with the feature \
                             `enable`, and mark a function with #[tickscope::profile]? q shows its output.";

/// A feed from ring files.
#[derive(Debug)]
pub struct RingFeed {
    wanted: Wanted,
    dir: Option<PathBuf>,
    offset: UtcOffset,
    open: Open,
    /// Time of the next check of locks and directories.
    look_around_at: Instant,
    status: Status,
    /// The list of rings that was returned last. It is not returned again while it stays the same.
    listed: Vec<RingLine>,
    new_run: Option<(u32, u32)>,
}

#[derive(Debug)]
enum Open {
    Nothing,
    Ring(Box<Attached>),
    /// A kept file. Its newest snapshot and the names of its code addresses stay here until a poll returns them, and
    /// the reader of its earlier records until it has read them all.
    Kept(Target, Option<(Rc<Snapshot>, Addresses)>, Option<Box<Recorded>>),
}

impl RingFeed {
    /// Returns a feed for a target; opens nothing before the first poll.
    pub fn new(wanted: Wanted, dir: Option<PathBuf>, utc_offset_s: Option<i32>) -> Self {
        Self {
            status: Status::default(),
            wanted,
            dir,
            offset: utc_offset_s,
            open: Open::Nothing,
            look_around_at: Instant::now(),
            listed: Vec::new(),
            new_run: None,
        }
    }

    fn look_around(&mut self) {
        match &self.open {
            Open::Nothing => self.seek(),
            Open::Ring(attached) => {
                self.status = status_of(&attached.ring);
                if !self.status.answers()
                    && let Some((ring, liveness)) = self.next_ring(attached)
                {
                    self.new_run = Some((attached.target.pid, ring.header().pid));
                    self.take(Found::Ring(Box::new(ring), liveness));
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
                    let ended =
                        matches!(self.wanted, Wanted::Started { pid, .. } if os::start_time(pid).is_none());
                    let why = if ended {
                        ENDED_WITHOUT.into()
                    } else if matches!(self.wanted, Wanted::Started { .. }) {
                        // A program that does not call `start()` publishes nothing before its first scope.
                        format!("{}\nIt appears here with its first scope.", none.lead)
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

    /// Finds the ring that the same process has created to replace the open one. If there is none, finds the ring of a
    /// running program with the same name.
    fn next_ring(&self, open: &Attached) -> Option<(RingFile, Liveness)> {
        let dir = self.dir.as_deref();
        let successor = target::successor_of(&open.ring, dir);
        // A program given by its path or its process id is not followed across restarts.
        if successor.is_some() || !matches!(self.wanted, Wanted::Only | Wanted::Name(_)) {
            return successor;
        }
        match target::find(&Wanted::Name(open.target.name.clone()), dir) {
            Ok(Found::Ring(ring, liveness)) if is_live(&liveness) => Some((*ring, liveness)),
            _ => None,
        }
    }

    fn take(&mut self, found: Found) {
        self.open = match found {
            Found::Ring(ring, _) => {
                self.status = status_of(&ring);
                Open::Ring(Box::new(Attached::new(*ring)))
            }
            // Streams have their own feed, and so do several programs that are shown together.
            Found::Streamed(_) | Found::Together(..) => Open::Nothing,
            Found::Kept(path) => match read_kept(&path) {
                Ok((snapshot, addresses, recorded)) => {
                    self.status = Status::Kept;
                    let target = Target {
                        name: snapshot.process.name.clone(),
                        pid: snapshot.process.pid,
                        path,
                    };
                    Open::Kept(target, Some((Rc::new(snapshot), addresses)), recorded)
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

    /// Returns all rings, if the list has changed.
    fn rings(&mut self) -> Option<Vec<RingLine>> {
        let listed = list::list(&places::chosen(self.dir.as_deref()));
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

/// Reads the newest snapshot and the names of code addresses from a file, and prepares to read its earlier records, if
/// there are any.
fn read_kept(path: &Path) -> Result<(Snapshot, Addresses, Option<Box<Recorded>>), FormatError> {
    if !snapshot_file::is_snapshot_file(path) {
        return archive::read(path).map(|snapshot| (snapshot, Addresses::default(), None));
    }
    let (recorded, snapshot) = Recorded::open(path)?;
    let addresses = recorded.addresses();
    let recorded = Some(Box::new(recorded)).filter(|recorded| !recorded.is_done());
    Ok((snapshot, addresses, recorded))
}

fn ring_line(path: PathBuf, ring: &RingFile, liveness: &Liveness, offset: UtcOffset) -> RingLine {
    let since = since_unix_ns(ring.header().started_unix_ns, liveness);
    RingLine {
        path,
        name: ring.header().name.clone(),
        pid: ring.header().pid,
        state: state_of(liveness).as_str().into(),
        since: clock_time(since, offset),
        live: is_live(liveness),
        library: library_of(ring),
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
        Err(error) => broken(ring, &format!("{}: ", ring.path().display()), &error.to_string()),
    }
}

/// Returns the status for an unreadable ring. The screen shows only one line of it, so if the program is still running,
/// the text begins with what will happen next.
fn broken(ring: &RingFile, place: &str, why: &str) -> Status {
    let pid = ring.header().pid;
    Status::Broken {
        why: match target::runs_on(ring.header()) {
            true => format!("Ring lost, process {pid} runs on: new ring within a minute. {why}"),
            false => format!("{place}{why}"),
        },
    }
}

impl Feed for RingFeed {
    fn poll(&mut self) -> Events {
        let now = Instant::now();
        let mut rings = None;
        if now >= self.look_around_at {
            self.look_around();
            if matches!(self.open, Open::Nothing) {
                rings = self.rings();
            }
            self.look_around_at = now + LOOK_AROUND;
        }
        let mut events = Events {
            rings,
            new_run: self.new_run.take(),
            ..Events::quiet(self.status.clone())
        };
        match &mut self.open {
            Open::Nothing => {}
            Open::Kept(target, newest, recorded) => {
                events.target = Some(target.clone());
                events.begin_ns = recorded.as_ref().and_then(|recorded| recorded.begin_ns());
                // The first poll reads no earlier records, so that the newest record is shown soon.
                if let Some((snapshot, addresses)) = newest.take() {
                    (events.snapshot, events.addresses) = (Some(snapshot), addresses);
                } else if let Some(earlier) = recorded {
                    events.past = earlier.slice(PAST_SLICE);
                    recorded.take_if(|recorded| recorded.is_done());
                }
            }
            Open::Ring(attached) => {
                events.target = Some(attached.target.clone());
                events.outcomes = attached.answers();
                // Earlier records are read only from the second poll onwards, so that the newest record is shown soon.
                events.past = attached.slice_of_past(PAST_SLICE);
                match attached.newest(&mut events.past) {
                    Ok(snapshot) => events.snapshot = snapshot,
                    Err(why) => {
                        self.status = broken(&attached.ring, "", &why);
                        events.status = self.status.clone();
                    }
                }
                events.lapped = attached.ring.lapped();
                events.functions = attached.functions(events.snapshot.as_deref());
            }
        }
        events
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
        // From here on, the feed follows this program's name, also across restarts.
        if let Open::Ring(attached) = &self.open {
            self.wanted = Wanted::Name(attached.target.name.clone());
        }
        Ok(())
    }

    fn next_look(&self) -> Duration {
        let around = self.look_around_at.saturating_duration_since(Instant::now());
        match (&self.open, &self.status) {
            (Open::Ring(attached), _) if attached.has_past() => PAST_REST.min(around),
            (Open::Kept(_, _, Some(_)), _) => PAST_REST.min(around),
            (Open::Ring(attached), Status::Live | Status::Stale { .. }) => attached.rest().min(around),
            _ => around,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_goes_on_with_the_ring_that_takes_the_place_of_a_lost_one() {
        use tickscope_format::file::create::OwnRing;
        use tickscope_format::file::header::Header;
        use tickscope_format::ring::Stamp;
        use tickscope_testkit::test_program::payload;

        let dir = tempfile::tempdir().unwrap();
        let made = |nonce: u64| {
            let header = Header {
                pid: 77,
                start_time: 78,
                boot_id: tickscope_format::os::boot_id(),
                nonce,
                started_unix_ns: 5,
                ..tickscope_testkit::ring::header("lost")
            };
            let mut ring = OwnRing::create(dir.path(), header).unwrap();
            let mut snapshot = Snapshot::default();
            snapshot.capture.seq = nonce;
            ring.publish(Stamp::from(&snapshot.capture), &payload(&snapshot))
                .unwrap();
            ring.beat(tickscope_format::os::monotonic_ns(), 1);
            ring.link().unwrap();
            ring
        };
        let first = made(1);
        let path = first.path().to_path_buf();
        // A program given by path cannot be found again by name.
        let mut feed = RingFeed::new(Wanted::File(path.clone()), None, None);
        feed.poll();
        assert_eq!(feed.poll().target.unwrap().path, path);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(20_000).unwrap();
        feed.look_around();
        let events = feed.poll();
        assert!(
            matches!(events.status, Status::Broken { ref why } if why.contains("truncated: 20000 bytes"))
        );
        assert_eq!(events.target.unwrap().path, path);
        let second = made(2);
        drop(first);
        feed.look_around();
        let events = feed.poll();
        assert_eq!(events.target.unwrap().path, second.path());
        assert_eq!((events.new_run, events.status), (Some((77, 77)), Status::Live));
        assert_eq!(events.snapshot.unwrap().capture.seq, 2);
    }

    #[test]
    fn a_started_program_that_ended_without_scopes_is_not_waited_for_in_silence() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let wanted = Wanted::Started {
            // A random token that matches no existing ring, because the feed also searches the default directories.
            token: tickscope_format::os::random(),
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
        assert!(
            why()
                == "no scopes: nothing came from the started program.\nIt appears here with its first scope.",
            "{}",
            why()
        );
        let mut feed = RingFeed::new(wanted.clone(), Some(dir.path().into()), None);
        assert_eq!(feed.send(Request::Reset), Err("no program is open".into()));
        child.kill().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while !why().contains("has ended") {
            assert!(Instant::now() < deadline, "{}", why());
        }
        child.wait().unwrap();
        assert!(why().contains("has ended"), "also when it is gone for good");
    }
}

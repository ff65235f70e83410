//! Shows all processes with a given program name as if they were one program, for example the processes of a pre-fork
//! server or of a test run.
//!
//! Thread names include the process, so the threads of different processes stay apart. When a process ends, its counts
//! remain in the sums. A reset from the screen restarts the counts of all processes; a reset that one process makes by
//! itself does not change the sums.

mod answers;
mod asked;
mod counted;
mod member;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tickscope_analysis::side_by_side::{Part, fold, side_by_side};
use tickscope_command::console::{about, printable};
use tickscope_format::file::list::{self, Listed};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::file::places;
use tickscope_format::snapshot::{CaptureKind, ClockInfo, Lifetime};
use tickscope_format::{Snapshot, os};

use crate::clock_time::now_unix_ns;
use crate::events::{Events, Feed, Processes, Request, TOGETHER, Target};
use crate::feed::LOOK_AROUND;
use crate::feed::together::asked::Asked;
use crate::feed::together::member::{Life, Member};
use crate::known_functions::KnownFunctions;
use crate::ring_reads::RunKey;
use crate::status::Status;
use crate::target::wanted::{Wanted, is_live};
use crate::target::{name_and_pid, title_of};

/// Maximum number of processes that are followed: each needs an open file.
const MEMBERS_MOST: usize = 256;

/// Time between two reads of the rings while no records arrive.
const LOOK: Duration = Duration::from_millis(20);

/// Minimum and maximum time between two sums. Within these limits, it follows the publishing interval of the programs.
const SHORTEST: Duration = Duration::from_millis(40);
const LONGEST: Duration = Duration::from_millis(200);

/// Reading and adding up takes at most 1/`PARTS` of the time.
const PARTS: u32 = 5;

/// A feed for all processes with a given program name.
#[derive(Debug)]
pub struct TogetherFeed {
    wanted: Wanted,
    name: String,
    dir: Option<PathBuf>,
    began_unix_ns: u64,
    members: Vec<Member>,
    /// Processes that have ended, and the sum of their counts.
    over: HashSet<RunKey>,
    ended: Option<Snapshot>,
    /// Counts of ended processes from before the screen's last reset, added up. An undo restores them.
    ended_before: Option<Snapshot>,
    /// The epoch to restore if the screen's last reset is undone; `None` if it cannot be undone.
    undoable: Option<u64>,
    /// Lifetime counts of ended processes that a reset has removed from the sum. They are added to the lifetime totals,
    /// so that these do not decrease.
    gone: Lifetime,
    /// Names of the programs that were followed so far.
    programs: HashSet<String>,
    /// Rings of running processes that cannot be read, and the reasons.
    unread: BTreeMap<PathBuf, String>,
    left_out: usize,
    /// The common clock. All times in the sums are in its ticks.
    clock: Option<ClockInfo>,
    /// Sequence number, epoch and capture time of the last sum.
    seq: u64,
    epoch: u64,
    withdraws: Option<u64>,
    unix_ns: u64,
    started_unix_ns: u64,
    next_id: u64,
    asked: Vec<Asked>,
    status: Status,
    look_around_at: Instant,
    look_at: Instant,
    /// Whether anything has changed since the last sum.
    has_news: bool,
    functions: Option<Rc<KnownFunctions>>,
    notices: VecDeque<String>,
}

impl TogetherFeed {
    /// Returns a feed for all processes whose program name matches `name`, where `*` stands for any text. Opens nothing
    /// before the first poll.
    pub fn new(name: &str, dir: Option<PathBuf>) -> Self {
        Self {
            wanted: Wanted::All(name.into()),
            name: name.into(),
            dir,
            began_unix_ns: now_unix_ns(),
            members: Vec::new(),
            over: HashSet::new(),
            ended: None,
            ended_before: None,
            undoable: None,
            gone: Lifetime::default(),
            programs: HashSet::new(),
            unread: BTreeMap::new(),
            left_out: 0,
            clock: None,
            seq: 0,
            epoch: 0,
            withdraws: None,
            unix_ns: 0,
            started_unix_ns: 0,
            next_id: 0,
            asked: Vec::new(),
            status: Status::default(),
            look_around_at: Instant::now(),
            look_at: Instant::now(),
            has_news: false,
            functions: None,
            notices: VecDeque::new(),
        }
    }

    /// Finds processes that have started or ended.
    fn look_around(&mut self) {
        let mut unread = BTreeMap::new();
        let mut left_out = HashSet::new();
        for Listed { path, ring } in list::list(&places::chosen(self.dir.as_deref())) {
            match ring {
                Ok((ring, liveness)) if self.wanted.fits(&ring) => {
                    let key = RunKey::of(&ring);
                    if !self.meet(&key, ring, &liveness) {
                        left_out.insert(key);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let whose = name_and_pid(&path);
                    if let Some((name, pid)) = whose
                        && self.wanted.names(&name)
                        && os::start_time(pid).is_some()
                    {
                        unread.insert(path.clone(), about(&path, &error));
                    }
                }
            }
        }
        self.members.iter_mut().for_each(Member::check);
        self.take_leave();
        for (path, why) in &unread {
            if self.unread.get(path) != Some(why) {
                self.notices
                    .push_back(format!("{}; the others are shown", printable(why)));
            }
        }
        self.unread = unread;
        if left_out.len() > self.left_out {
            self.notices.push_back(format!(
                "{} processes are not shown: {MEMBERS_MOST} are shown at most",
                left_out.len()
            ));
        }
        self.left_out = left_out.len();
        self.status = self.status_now();
    }

    /// Follows a ring's process, if it is new. Returns false if too many processes are followed already.
    fn meet(&mut self, key: &RunKey, ring: RingFile, liveness: &Liveness) -> bool {
        if self.over.contains(key) {
            return true;
        }
        if let Some(member) = self.members.iter_mut().find(|member| member.key == *key) {
            let is_other = member.attached.ring.header().nonce != ring.header().nonce;
            if is_other && is_live(liveness) && member.needs_another() {
                member.go_on(ring);
            }
            return true;
        }
        // A process that ended before this feed began is not shown. A process that started and ended between two checks
        // is shown.
        let is_new = key.started_unix_ns >= self.began_unix_ns;
        if !is_live(liveness) && !is_new {
            return true;
        }
        if self.members.len() >= MEMBERS_MOST {
            return false;
        }
        self.programs.insert(key.name.clone());
        self.members.push(Member::new(self.next_id, ring, is_new));
        self.next_id += 1;
        let started = |member: &Member| (member.key.started_unix_ns, member.key.pid);
        self.members.sort_by_key(started);
        true
    }

    /// Moves members that have ended into the sum of ended processes.
    fn take_leave(&mut self) {
        let mut at = 0;
        while at < self.members.len() {
            let Life::Ended(_) = self.members[at].life else {
                at += 1;
                continue;
            };
            let mut member = self.members.remove(at);
            // The process may have written its last record since the last read.
            member.look(&mut self.clock);
            for asked in &mut self.asked {
                asked.ended(member.id);
            }
            if let Some(shown) = member.counted.shown() {
                self.ended = Some(fold(self.ended.take(), &shown, member.ratio));
            }
            if let Some(before) = member.counted.shown_before() {
                self.ended_before = Some(fold(self.ended_before.take(), before, member.ratio));
            }
            self.over.insert(member.key);
            self.has_news = true;
        }
    }

    fn status_now(&self) -> Status {
        let lives: Vec<Life> = self.members.iter().map(|member| member.life).collect();
        if lives.contains(&Life::Running) {
            return Status::Live;
        }
        let silent = lives.iter().filter_map(|life| match life {
            Life::Stale(since) => Some(*since),
            Life::Running | Life::Ended(_) => None,
        });
        if let Some(since_unix_ns) = silent.max() {
            return Status::Stale { since_unix_ns };
        }
        match self.seq {
            0 => Status::Waiting {
                why: format!("no {} runs.\nEach new process is added here.", self.wanted.one()),
            },
            _ => Status::Exited {
                unix_ns: self.unix_ns,
            },
        }
    }

    /// Reads the new records of each process.
    fn look(&mut self) {
        for member in &mut self.members {
            self.has_news |= member.look(&mut self.clock);
            if let (Some(why), false) = (&member.trouble, member.is_told) {
                member.is_told = true;
                let pid = member.key.pid;
                self.notices.push_back(format!(
                    "pid {pid} cannot be read any more: {}; the others are shown",
                    printable(why)
                ));
            }
            if self.functions.is_none() {
                let newest = member.counted.newest().cloned();
                self.functions = member.attached.functions(newest.as_deref());
            }
        }
    }

    /// Adds up the counts of all processes in one snapshot; returns `None` before the first record.
    fn sum(&mut self, kind: CaptureKind) -> Option<Snapshot> {
        let members = self.members.iter();
        let shown: Vec<(&Member, Cow<'_, Snapshot>)> = members
            .filter_map(|member| Some((member, member.counted.shown()?)))
            .collect();
        let mut parts: Vec<Part<'_>> = shown
            .iter()
            .map(|(member, snapshot)| member.part(snapshot))
            .collect();
        // The process that has been measuring the clock's rate for the longest time has the most accurate result.
        let best = parts.iter().filter(|part| part.ratio == 1.0);
        let best = best.max_by_key(|part| part.snapshot.process.uptime_ns);
        let clock = self.clock.as_mut()?;
        if let Some(best) = best.filter(|best| best.snapshot.clock.source == clock.source) {
            clock.ticks_per_second = best.snapshot.clock.ticks_per_second;
        }
        let clock = clock.clone();
        parts.extend(self.ended.as_ref().map(ended));
        if parts.is_empty() {
            return None;
        }
        let sum = side_by_side(&clock, &parts);
        Some(self.completed(sum, kind))
    }

    /// Sets the fields that describe the sum as a whole.
    fn completed(&mut self, mut sum: Snapshot, kind: CaptureKind) -> Snapshot {
        self.seq += 1;
        self.unix_ns = sum.capture.unix_ns.max(self.unix_ns + 1);
        if self.started_unix_ns == 0 {
            self.started_unix_ns = self.unix_ns.saturating_sub(sum.process.uptime_ns);
        }
        let capture = &mut sum.capture;
        capture.since_reset_ns += self.unix_ns - capture.unix_ns;
        capture.unix_ns = self.unix_ns;
        (capture.seq, capture.reset_epoch, capture.withdraws) = (self.seq, self.epoch, self.withdraws);
        capture.kind = kind;
        let process = &mut sum.process;
        process.name = title_of(&self.name);
        process.started_unix_ns = self.started_unix_ns;
        if self.programs.len() > 1 {
            process.warnings.push(format!(
                "Functions with equal names in {} programs are added up in one row. Name one program to see it alone.",
                self.programs.len()
            ));
        }
        let lifetime = &mut sum.lifetime;
        lifetime.calls = lifetime.calls.saturating_add(self.gone.calls);
        lifetime.ticks = lifetime.ticks.saturating_add(self.gone.ticks);
        sum
    }

    fn processes(&self) -> Processes {
        let troubled = self.members.iter().filter(|member| member.trouble.is_some());
        let troubled: HashSet<u32> = troubled.map(|member| member.key.pid).collect();
        let unread = self.unread.keys().filter_map(|path| name_and_pid(path));
        let known: HashSet<u32> = self.members.iter().map(|member| member.key.pid).collect();
        let others = unread.filter(|(_, pid)| !known.contains(pid)).count();
        Processes {
            running: self.members.len() + others,
            ended: self.over.len(),
            unread: troubled.len() + others,
        }
    }
}

/// Returns the counts of ended processes as a part of the sum. They are already in ticks of the sum's clock.
fn ended(snapshot: &Snapshot) -> Part<'_> {
    Part {
        snapshot,
        pid: None,
        ratio: 1.0,
    }
}

impl Feed for TogetherFeed {
    fn poll(&mut self) -> Events {
        let now = Instant::now();
        if now >= self.look_around_at {
            self.look_around();
            self.look_around_at = now + LOOK_AROUND;
        }
        let is_due = now >= self.look_at;
        if is_due {
            self.look();
        }
        let (outcomes, past) = self.answers(now);
        let mut snapshot = None;
        if is_due || now >= self.look_at {
            self.look_at = now + LOOK;
            if std::mem::take(&mut self.has_news) {
                snapshot = self.sum(CaptureKind::Periodic);
            }
        }
        if let Some(snapshot) = &snapshot {
            let interval = Duration::from_nanos(snapshot.capture.interval_ns);
            let rest = interval.clamp(SHORTEST, LONGEST) - LOOK / 2;
            self.look_at = now + rest.max(now.elapsed() * PARTS);
            self.status = self.status_now();
        }
        Events {
            target: (self.seq > 0).then(|| Target {
                name: title_of(&self.name),
                pid: 0,
                path: TOGETHER.into(),
            }),
            snapshot: snapshot.map(Rc::new),
            past,
            outcomes,
            functions: self.functions.take(),
            notice: self.notices.pop_front(),
            processes: Some(self.processes()),
            ..Events::quiet(self.status.clone())
        }
    }

    fn send(&mut self, request: Request) -> Result<(), String> {
        let Some(first) = self.members.first() else {
            return Err("all of the programs have ended".into());
        };
        let pid = first.key.pid;
        match request {
            Request::Watch(..) | Request::Unwatch(_) => {
                return Err(format!(
                    "slow calls are shown of one process at a time: tickscope {pid}, then W there"
                ));
            }
            Request::Lines(_) => {
                return Err(format!(
                    "lines are shown of one process at a time: tickscope {pid}, then S there"
                ));
            }
            Request::Undo if self.undoable.is_none() => return Err("there is no reset to undo".into()),
            Request::Reset
            | Request::Undo
            | Request::Interval { .. }
            | Request::Mode(_)
            | Request::SitesOff(_)
            | Request::SitesOn(_)
            | Request::ForgetRule(_) => {}
        }
        let mut asked = Asked::new(request, Instant::now());
        for member in &mut self.members {
            // A process that was not reset has nothing to undo.
            if request != Request::Undo || member.counted.was_reset() {
                let sent = member.attached.ask(request);
                asked.sent(member.id, member.key.pid, sent);
            }
        }
        self.asked.push(asked);
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        let path = path.display();
        Err(format!(
            "this screen shows several programs; in another terminal: tickscope {path}"
        ))
    }

    fn next_look(&self) -> Duration {
        let now = Instant::now();
        let rest = |at: Instant| at.saturating_duration_since(now);
        match self.asked.is_empty() {
            true => rest(self.look_at).min(rest(self.look_around_at)),
            false => rest(self.look_at).min(LOOK),
        }
    }
}

#[cfg(test)]
mod tests;

//! An open ring: reads new records from it, and sends requests to its program.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tickscope_format::codec::Decoder;
use tickscope_format::file::open::{RingFile, Sent, Slot};
use tickscope_format::ring::Record;
use tickscope_format::slots::Op;
use tickscope_format::{FormatError, Snapshot};

use crate::events::{Outcome, Past, Request, Target};
use crate::feed::answer::{answer_to, refusal};
use crate::feed::pace::{LOOK, Pace};
use crate::feed::past::{Earlier, past_of};
use crate::known_functions::KnownFunctions;

/// Besides the newest record, a poll returns at most this many of the records since the previous poll.
pub(super) const MISSED_MOST: usize = 8;

#[derive(Debug)]
pub(super) struct Attached {
    pub(super) ring: RingFile,
    pub(super) target: Target,
    /// Decodes unchanged sites only once.
    decoder: Decoder,
    /// Slot for requests; `None` if the program takes no requests, or if all slots are taken.
    slot: Option<Slot>,
    sent: Option<(Request, Sent)>,
    /// Position and sequence number of the record that was handed over last.
    shown: Option<(u64, u64)>,
    /// Earlier records of the ring that are still to be read.
    earlier: Option<Earlier>,
    /// Requests that are waiting for the slot, which takes one request at a time.
    queue: Vec<Request>,
    /// Decides when to check for the next record.
    pace: Pace,
    /// Whether the program's functions were looked up already.
    asked_for_functions: bool,
}

impl Attached {
    pub(super) fn new(ring: RingFile) -> Self {
        let header = ring.header();
        let target = Target {
            name: header.name.clone(),
            pid: header.pid,
            path: ring.path().to_path_buf(),
        };
        // While a viewer holds a slot, the program publishes at the faster rate for viewers.
        let slot = ring.take_slot().ok().flatten();
        Self {
            ring,
            target,
            slot,
            sent: None,
            decoder: Decoder::default(),
            shown: None,
            earlier: None,
            queue: Vec::new(),
            pace: Pace::new(Instant::now()),
            asked_for_functions: false,
        }
    }

    /// Returns the longest time that may pass before the next check of the ring.
    pub(super) fn rest(&self) -> Duration {
        if self.sent.is_none() && self.queue.is_empty() {
            self.pace.rest(Instant::now())
        } else {
            LOOK
        }
    }

    /// Returns the newest snapshot, unless it has already been returned. Adds its record to `past`, along with the
    /// records between the previous snapshot and this one (at most [`MISSED_MOST`] of them).
    pub(super) fn newest(&mut self, past: &mut Vec<Past>) -> Result<Option<Rc<Snapshot>>, String> {
        let latest = self.ring.latest().map_err(|error| error.to_string())?;
        if self.shown.is_some_and(|(position, _)| position == latest) {
            return Ok(None);
        }
        let mut record = match self.ring.newest() {
            Ok(record) => record,
            // The program kept overwriting the record while it was being read. The ring has counted this, and the
            // screen keeps its current snapshot until the next poll.
            Err(FormatError::Lapped { .. }) if self.shown.is_some() => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
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

    /// Looks up all functions of the program the first time that a snapshot says how many there are. Otherwise returns
    /// `None`.
    pub(super) fn functions(&mut self, snapshot: Option<&Snapshot>) -> Option<Rc<KnownFunctions>> {
        let told = snapshot?.functions.as_ref()?;
        if std::mem::replace(&mut self.asked_for_functions, true) {
            return None;
        }
        KnownFunctions::of_process(self.target.pid, told.known).map(Rc::new)
    }

    /// Returns the records with a sequence number above `shown` that are older than `newest`, oldest first. If there
    /// are more than [`MISSED_MOST`], returns only the newest of them.
    fn missed(&self, newest: &Record, shown: u64) -> Vec<Past> {
        let between = self.ring.between(shown, newest).take(MISSED_MOST);
        let mut missed: Vec<Past> = between.map(|mut record| past_of(&mut record)).collect();
        missed.reverse();
        missed
    }

    /// Whether earlier records are left to read.
    pub(super) fn has_past(&self) -> bool {
        self.earlier.is_some()
    }

    /// Reads earlier records for up to `time` and returns them, oldest first.
    pub(super) fn slice_of_past(&mut self, time: Duration) -> Vec<Past> {
        let Some(earlier) = &mut self.earlier else {
            return Vec::new();
        };
        let slice = earlier.slice(&self.ring, time);
        if earlier.is_done() {
            self.earlier = None;
        }
        slice
    }

    pub(super) fn ask(&mut self, request: Request) -> Result<(), String> {
        if self.slot.is_none() {
            self.slot = self.ring.take_slot().map_err(|error| error.to_string())?;
        }
        if self.slot.is_none() {
            return Err(format!("the program {}", refusal(&self.ring)));
        }
        self.queue.push(request);
        self.send_next()
    }

    /// Sends the next request if the slot is free for it.
    fn send_next(&mut self) -> Result<(), String> {
        let Some(slot) = &mut self.slot else { return Ok(()) };
        if self.sent.is_some() || self.queue.is_empty() {
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
            Request::ForgetRule(pattern) => Op::ForgetRule(pattern),
            Request::Watch(pattern, over) => Op::Watch(pattern, over),
            Request::Unwatch(pattern) => Op::Unwatch(pattern),
            Request::Lines(hz) => Op::Lines(hz),
        };
        let sent = slot.send(op).map_err(|error| error.to_string())?;
        self.sent = Some((request, sent));
        Ok(())
    }

    pub(super) fn answers(&mut self) -> Vec<Outcome> {
        let Some(slot) = &self.slot else { return Vec::new() };
        let mut outcomes = Vec::new();
        if let Some((request, sent)) = &self.sent
            && let Some(reply) = slot.reply(sent).transpose()
        {
            let reply = reply.map_err(|error| error.to_string());
            let result = reply.and_then(|reply| answer_to(*request, &reply));
            outcomes.push(Outcome::new(*request, result));
            self.sent = None;
        }
        if let Err(why) = self.send_next()
            && let Some(request) = self.queue.first()
        {
            outcomes.push(Outcome::new(*request, Err(why)));
        }
        outcomes
    }
}

//! The background thread: capture, encode, write into the ring, and answer requests.
//!
//! It is a guest: signals blocked, default scheduling, never joined. It alone touches the mapping, because a
//! store into a mapping can stall for as long as the kernel likes.

mod coarse;
pub(super) mod identity;
mod record;
mod rings;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tickscope_format::file::clean;
use tickscope_format::file::create::OwnRing;
use tickscope_format::layout::slot;
use tickscope_format::pattern::Pattern;
use tickscope_format::ring::Stamp;
use tickscope_format::slots::{Op, Outcome, Request};
use tickscope_format::snapshot::{CaptureKind, Cost, Mode};
use tickscope_format::{FormatError, Snapshot, codec};

use crate::enabled::capture::collector_state;
use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::platform::os;
use crate::enabled::publish::overhead;
use crate::enabled::publish::sampler::Sampler;
use crate::enabled::record::mode_switch;
use crate::enabled::record::mode_switch::Switch;
use crate::enabled::runtime::clock_rate::Moment;
use crate::enabled::runtime::config;
use crate::enabled::runtime::settings::Settings;

use self::coarse::Coarse;
use self::identity::Identity;
use self::rings::Rings;
use crate::enabled::publish::reports::{LOG_IS_MISSING, Log};
use crate::enabled::publish::request_budget::RequestBudget;

/// Requests are looked at this often, whatever the rate of records.
const LOOK: Duration = Duration::from_millis(100);

/// What a viewer gets that has not said how often it wishes to see a record.
const WATCHED: Duration = Duration::from_millis(100);

/// What viewers may wish: 100 to 1 records a second.
const WISHES: std::ops::RangeInclusive<u64> = 10_000_000..=1_000_000_000;

/// A program that has run for so long does not end at once.
const UNHURRIED: Duration = Duration::from_secs(1);

/// Shortest time to reckon the publisher's share over, in nanoseconds.
const SHARE_LEAST_NS: u64 = 5_000_000;

/// The time between two records is at least so many times what one costs: 1 % of a core.
const COST_SHARE: u32 = 100;

/// The same in sampled mode, where looking takes its part.
const COST_SHARE_SAMPLED: u32 = 400;

/// The same while nobody watches: 0.1 % of a core.
const COST_SHARE_UNWATCHED: u32 = 1000;

/// A program that wants records more often than by default, wants them whatever they cost.
const UNWATCHED_USUAL: Duration = Duration::from_secs(1);

/// What a program that is killed may lose at most: unwatched, a record costs more than its share before it is later.
const UNWATCHED_LONGEST: Duration = Duration::from_secs(10);

/// The publisher at work.
#[derive(Debug)]
pub(crate) struct Publisher {
    rings: Rings,
    identity: Identity,
    settings: Settings,
    /// Bytes of the last payload, kept for their capacity.
    payload: Vec<u8>,
    /// What each slot's viewer wishes.
    wishes: [Duration; slot::COUNT],
    watched: Vec<usize>,
    interval: Duration,
    /// CPU time of the dearest of the last records.
    record_cost: Duration,
    last_record: Instant,
    /// CPU time and monotonic time when the share was last reckoned.
    share_since: (u64, u64),
    cost: Cost,
    /// After which switch `cost` was measured.
    cost_of: Option<Switch>,
    /// The clock when it was last found in order.
    in_order: Moment,
    coarse: Coarse,
    /// What the program itself writes of groups, if it does.
    log: Option<Log>,
    /// The coarse ring could not be written, and that was said.
    coarse_failed: bool,
    sampler: Sampler,
    /// When requests were looked at last.
    last_look: Instant,
    /// What requests may still cost.
    budget: RequestBudget,
    began: Instant,
    /// Whether dead rings of others have been cleaned up.
    cleaned: bool,
}

/// Cleans up after programs that ended, in the place of this ring, which stays as it is.
pub(crate) fn clean_beside(own: &Path) {
    if let Some(place) = own.parent() {
        clean::clean(place, clean::RINGS_KEPT, Some(own));
    }
}

/// Writes a snapshot into the ring, pruned where it is too large, and gives the record's sequence number.
fn publish(snapshot: &Snapshot, ring: &mut OwnRing, payload: &mut Vec<u8>) -> Result<u64, FormatError> {
    payload.clear();
    codec::encode(snapshot, payload)?;
    record::shorten(snapshot, payload, ring.longest_payload(), codec::encode)?;
    ring.publish(Stamp::from(&snapshot.capture), payload)
}

fn beat(ring: &mut OwnRing, interval: Duration) {
    ring.beat(os::monotonic_ns(), interval.as_nanos() as u64);
}

impl Publisher {
    /// Makes the ring; what is not as it was asked for is a warning.
    ///
    /// # Errors
    /// There is no place for it.
    pub(crate) fn start(
        identity: Identity,
        settings: Settings,
        warnings: &mut Vec<String>,
    ) -> Result<Self, FormatError> {
        if settings.log_every.is_some() {
            warnings.extend(LOG_IS_MISSING.map(String::from));
        }
        let mut publisher = Self::new(identity, settings);
        publisher.rings.current = Some(publisher.make_ring(warnings)?);
        Ok(publisher)
    }

    fn make_ring(&mut self, warnings: &mut Vec<String>) -> Result<OwnRing, FormatError> {
        let header = self.identity.header(&self.settings);
        let (dir, ring_bytes) = (self.settings.dir.clone(), self.settings.ring_bytes);
        rings::make(dir.as_deref(), &header, ring_bytes, warnings, |ring| {
            self.first_record(ring)
        })
    }

    fn first_record(&mut self, ring: &mut OwnRing) -> Result<(), FormatError> {
        self.tell();
        if let Some(snapshot) = collector_state::lock().map(|mut state| state.capture(CaptureKind::Periodic))
        {
            publish(&snapshot, ring, &mut self.payload)?;
            self.note(&snapshot);
        }
        if self.rings.faults > 0 {
            ring.fault(self.rings.faults);
        }
        beat(ring, self.interval);
        ring.link()
    }

    /// Makes another ring where the one in use is lost.
    fn look_after_ring(&mut self) {
        if self.rings.look() {
            let made = self.make_ring(&mut Vec::new());
            self.coarse_failed &= made.is_err();
            self.rings.replaced(made);
        }
    }

    /// What there is to say of lost rings since the last call.
    pub(crate) fn take_said(&mut self) -> Option<String> {
        self.rings.take_said()
    }

    fn new(identity: Identity, settings: Settings) -> Self {
        Self {
            interval: settings.interval,
            log: settings.log_every.and_then(Log::new),
            rings: Rings::default(),
            identity,
            settings,
            payload: Vec::new(),
            wishes: [WATCHED; slot::COUNT],
            watched: Vec::new(),
            record_cost: Duration::ZERO,
            last_record: Instant::now(),
            share_since: (os::own_cpu_ns(), os::monotonic_ns()),
            cost: Cost::default(),
            cost_of: None,
            in_order: Moment::now(config::get().chosen.clock),
            coarse: Coarse::new(),
            coarse_failed: false,
            sampler: Sampler::new(),
            last_look: Instant::now(),
            budget: RequestBudget::new(os::monotonic_ns()),
            began: Instant::now(),
            cleaned: false,
        }
    }

    /// What has time until the first record can be seen: measures the cost of a scope. Cleaning up after others has even
    /// more, unless there is much to clean up: a program may be about to end, and wait for its last record.
    pub(crate) fn settle(&mut self) {
        self.measure_cost();
        if self.path().and_then(Path::parent).is_some_and(clean::is_crowded) {
            self.clean();
        }
    }

    /// The own ring, whose place is to be cleaned up, if that has not been done.
    pub(crate) fn unclean(&self) -> Option<PathBuf> {
        self.path().filter(|_| !self.cleaned).map(Path::to_path_buf)
    }

    fn clean(&mut self) {
        if let Some(own) = self.unclean() {
            clean_beside(&own);
        }
        self.cleaned = true;
    }

    /// Measures what a scope costs as it is measured now, where that is not known.
    fn measure_cost(&mut self) {
        let switch = mode_switch::newest();
        if self.cost_of != Some(switch) {
            let bounds = overhead::bounds(switch);
            (self.cost.lower_ns, self.cost.upper_ns) = (bounds.lower, bounds.upper);
            self.cost_of = Some(switch);
            if let Some(mut state) = collector_state::lock() {
                state.session.timed_ns = (bounds.timed, bounds.timed_within);
            }
            self.tell();
        }
    }

    /// Where the ring is, while there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.rings.path()
    }

    /// How long to wait until there is something to do.
    pub(crate) fn rest(&self) -> Duration {
        let record = self.interval.saturating_sub(self.last_record.elapsed()).min(LOOK);
        let record = self.log.as_ref().map_or(record, |log| record.min(log.rest()));
        self.sampler.rest().map_or(record, |sample| record.min(sample))
    }

    /// One round: requests, what the program itself did, a record if it is time; with a reset where the program
    /// asked for one. Without a ring all else goes on.
    pub(crate) fn round(&mut self, reset_asked: bool) {
        if let Some(hz) = self.sampler.round()
            && let Some(mut state) = collector_state::lock()
        {
            state.session.sampling_hz = hz;
        }
        let mut due = self.last_record.elapsed() >= self.interval;
        due |= self.log.as_ref().is_some_and(Log::is_due);
        let nothing_else = !due && !reset_asked && self.last_look.elapsed() < LOOK;
        if self.sampler.rest().is_some() && nothing_else {
            return;
        }
        if self.began.elapsed() > UNHURRIED {
            self.clean();
        }
        self.last_look = Instant::now();
        self.look_after_ring();
        self.look_who_watches();
        self.measure_cost();
        if let Some(mut state) = collector_state::lock() {
            state.look_at_sites();
        }
        let answers = self.carry_out_all();
        if reset_asked {
            self.reset();
        }
        due |= self.clock_broke();
        due |= collector_state::lock().is_some_and(|state| state.has_closings()) || reset_asked;
        if due || !answers.is_empty() {
            let before = os::own_cpu_ns();
            let (record, epoch) = self.publish_now(CaptureKind::Periodic);
            if !due {
                self.budget.spend(os::own_cpu_ns().saturating_sub(before));
            }
            if let Some(ring) = &mut self.rings.current {
                for (request, outcome) in answers {
                    ring.answer(&request, outcome, record, epoch);
                }
            }
            self.write_coarse();
        }
        if let Some(ring) = &mut self.rings.current {
            beat(ring, self.interval);
        }
        self.sampler.begin_to_wait();
    }

    /// The last record and the goodbye, after a reset where the program asked for one.
    pub(crate) fn finish(mut self, reset_asked: bool) {
        if reset_asked {
            self.reset();
        }
        self.publish_now(CaptureKind::Final);
        self.write_coarse();
        if let Some(ring) = &mut self.rings.current {
            ring.exit(os::unix_ns());
        }
        // It may have to wait.
        if let Some(mut log) = self.log.take() {
            log.end();
        }
    }

    fn look_who_watches(&mut self) {
        let before = self.watched.len();
        self.watched = self
            .rings
            .current
            .as_ref()
            .map_or_else(Vec::new, OwnRing::watched_slots);
        for index in 0..slot::COUNT {
            if !self.watched.contains(&index) {
                self.wishes[index] = WATCHED;
            }
        }
        let wish = self.watched.iter().map(|&index| self.wishes[index]).min();
        let wished = wish.map_or(self.settings.interval, |wish| wish.min(self.settings.interval));
        let share = match self.sampler.rest() {
            Some(_) => COST_SHARE_SAMPLED,
            None => COST_SHARE,
        };
        self.interval = wished.max(self.record_cost * share);
        if self.watched.is_empty() && self.settings.interval >= UNWATCHED_USUAL {
            let cheap = self.record_cost * COST_SHARE_UNWATCHED;
            self.interval = self.interval.max(cheap.min(UNWATCHED_LONGEST));
        }
        if self.watched.len() > before {
            // Whoever comes wants to see something.
            self.last_record = self
                .last_record
                .checked_sub(self.interval)
                .unwrap_or(self.last_record);
        }
        self.tell();
    }

    /// Tells the collector's state what snapshots say of the publisher.
    fn tell(&mut self) {
        self.cost.publisher_cpu_ns = os::own_cpu_ns();
        if let Some(mut state) = collector_state::lock() {
            state.session.interval_ns = self.interval.as_nanos() as u64;
            state.session.viewers = self.watched.len() as u32;
            state.session.cost = self.cost;
        }
    }

    /// Carries out the requests that are open, as far as there is budget for them; the others stay open.
    fn carry_out_all(&mut self) -> Vec<(Request, Outcome)> {
        let mut answers = Vec::new();
        if !self.budget.is_left(os::monotonic_ns()) {
            return answers;
        }
        let mut requests = self
            .rings
            .current
            .as_mut()
            .map_or_else(Vec::new, OwnRing::requests);
        self.budget.in_turn(&mut requests, |request| request.slot);
        for request in requests {
            if !self.budget.is_left(os::monotonic_ns()) {
                break;
            }
            let before = os::own_cpu_ns();
            let outcome = self.carry_out(&request);
            self.budget.spend(os::own_cpu_ns().saturating_sub(before));
            self.budget.had_turn(request.slot);
            answers.push((request, outcome));
        }
        answers
    }

    fn carry_out(&mut self, request: &Request) -> Outcome {
        if !self.settings.allow_remote_control {
            return Outcome::Refused;
        }
        match request.op {
            Some(Op::PublishNow) => Outcome::Done,
            Some(Op::Reset) => {
                self.reset();
                Outcome::Done
            }
            Some(Op::UndoReset) => {
                if collector_state::lock().is_some_and(|mut state| state.undo_reset()) {
                    Outcome::Done
                } else {
                    Outcome::NothingToUndo
                }
            }
            Some(Op::Interval(ns)) => {
                let ns = ns.clamp(*WISHES.start(), *WISHES.end());
                self.wishes[request.slot] = Duration::from_nanos(ns);
                self.look_who_watches();
                Outcome::Done
            }
            Some(Op::Mode(mode)) => {
                self.switch_to(mode);
                Outcome::Done
            }
            Some(Op::SitesOff(pattern)) => self.rule(pattern, true),
            Some(Op::SitesOn(pattern)) => self.rule(pattern, false),
            Some(_) | None => Outcome::Unknown,
        }
    }

    fn reset(&mut self) {
        self.publish_in_order(|state| Some(state.reset()));
    }

    fn switch_to(&mut self, mode: Mode) {
        self.publish_in_order(|state| state.switch_to(mode, mode_switch::newest().histograms));
        self.measure_cost();
    }

    fn rule(&mut self, pattern: Pattern, off: bool) -> Outcome {
        match collector_state::lock().and_then(|mut state| state.rule(pattern, off)) {
            Some(_) => Outcome::Done,
            None => Outcome::Refused,
        }
    }

    /// Publishes what `take` gives, and before it what resets by the program have closed until then. One lock
    /// around both, so that a reset that comes in between does not find its place in the ring taken.
    fn publish_in_order(&mut self, take: impl FnOnce(&mut CollectorState) -> Option<Snapshot>) -> (u64, u64) {
        let taken = collector_state::lock().map(|mut state| (state.take_closings(), take(&mut state)));
        let Some((closings, snapshot)) = taken else {
            return (0, 0);
        };
        for closing in closings {
            self.publish_or_count(&closing);
            self.note(&closing);
            self.coarse.offer(closing, self.began.elapsed());
        }
        let Some(snapshot) = snapshot else { return (0, 0) };
        let published = (self.publish_or_count(&snapshot), snapshot.capture.reset_epoch);
        self.note(&snapshot);
        self.coarse.offer(snapshot, self.began.elapsed());
        published
    }

    /// Has the log take a snapshot, if it is one that it needs.
    fn note(&mut self, snapshot: &Snapshot) {
        if let Some(log) = &mut self.log
            && !log.note(snapshot)
        {
            self.log = None;
        }
    }

    /// After a break of the clock its ticks are of another kind: a new epoch.
    fn clock_broke(&mut self) -> bool {
        let clock = config::get().chosen.clock;
        if clock.declared_rate().is_some() {
            return false;
        }
        let now = Moment::now(clock);
        let broke = config::CLOCK_RATE.broke_since(self.in_order, now).is_some();
        if broke {
            // The closing record's ticks are of the clock as it was.
            config::CLOCK_RATE.hold();
            self.reset();
            config::CLOCK_RATE.begin_again(Moment::now(clock));
            if let Some(mut state) = collector_state::lock() {
                state.forget_undo();
            }
        }
        // Long enough for the rate in between to be measured well, and so for the rate over all to be trusted.
        if broke || now.ns.saturating_sub(self.in_order.ns) > 1_000_000_000 {
            self.in_order = Moment::now(clock);
            if !broke {
                config::CLOCK_RATE.note_in_order(now);
            }
        }
        broke
    }

    /// Captures and publishes; gives the record's sequence number and reset epoch.
    fn publish_now(&mut self, kind: CaptureKind) -> (u64, u64) {
        let (cpu_before, now_ns) = (os::own_cpu_ns(), os::monotonic_ns());
        // From record to record, so that the one before is in it.
        let passed = now_ns.saturating_sub(self.share_since.1);
        if passed >= SHARE_LEAST_NS {
            self.cost.publisher_share = cpu_before.saturating_sub(self.share_since.0) as f64 / passed as f64;
            self.share_since = (cpu_before, now_ns);
        }
        self.tell();
        let published = self.publish_in_order(|state| Some(state.capture(kind)));
        let cost = Duration::from_nanos(os::own_cpu_ns().saturating_sub(cpu_before));
        // Forgets a dear one slowly, so that the interval does not swing.
        self.record_cost = cost.max(self.record_cost * 7 / 8);
        self.last_record = Instant::now();
        published
    }

    /// Gives the record's sequence number, 0 where there is none.
    fn publish_or_count(&mut self, snapshot: &Snapshot) -> u64 {
        let Some(ring) = &mut self.rings.current else {
            return 0;
        };
        publish(snapshot, ring, &mut self.payload).unwrap_or_else(|error| {
            self.rings.faults += 1;
            // Of one that is lost the next look says it.
            if ring.is_whole() {
                ring.fault(self.rings.faults);
                if self.rings.faults == 1
                    && let Some(mut state) = collector_state::lock()
                {
                    state.session.warnings.push(error.to_string());
                }
            }
            0
        })
    }

    /// Writes what the coarse ring is to have of the last records. Nobody waits for that, and it is not in what a
    /// record costs.
    fn write_coarse(&mut self) {
        let Some(ring) = &mut self.rings.current else {
            return self.coarse.forget();
        };
        let written = self.coarse.write(ring, &mut self.payload);
        if let Err(error) = written
            && ring.is_whole()
            && !std::mem::replace(&mut self.coarse_failed, true)
            && let Some(mut state) = collector_state::lock()
        {
            state
                .session
                .warnings
                .push(format!("no history beyond the ring: {error}; free some space"));
        }
    }
}

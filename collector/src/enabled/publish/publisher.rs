//! The background thread: it captures, encodes, writes into the ring, and answers requests.
//!
//! The thread must not disturb the program: it blocks signals, uses the default scheduling and is never joined. Other
//! threads of the program do the publisher's work, and so wait for it, only twice: the thread that starts a session
//! writes the first record, and the thread that ends it may write the last.

mod coarse;
mod identity;
mod own_cost;
mod pace;
mod requests;
mod rings;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tickscope_format::file::create::OwnRing;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{CaptureKind, Mode};
use tickscope_format::{FormatError, Snapshot, codec};

use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::capture::waiting_looks::Looks;
use crate::enabled::capture::{capture_lock, functions};
use crate::enabled::platform::os;
use crate::enabled::platform::signals::Unsignalled;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::publish::governor::Governor;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::publish::overhead;
use crate::enabled::publish::prune;
use crate::enabled::publish::sampler::Sampler;
use crate::enabled::record::mode_switch;
use crate::enabled::record::registry;
use crate::enabled::runtime::clock_rate::Moment;
use crate::enabled::runtime::settings::Settings;
use crate::enabled::runtime::{config, copies};

use self::coarse::Coarse;
use self::own_cost::OwnCost;
use self::pace::Pace;
use self::rings::Rings;
pub(crate) use self::rings::{clean_beside, is_crowded, replace_ring_warning};
use crate::enabled::publish::reports::{LOG_IS_MISSING, Log};
use crate::enabled::publish::request_budget::RequestBudget;

/// The time between two checks for requests, however often records are written.
const LOOK: Duration = Duration::from_millis(100);

/// Time until the first check for new threads. Later checks come each time the session's age has doubled, but at least
/// once every [`LOOK`].
const FIRST_LOOK: Duration = Duration::from_millis(2);

/// A program that has run this long is unlikely to end soon, so work that can wait is done then.
const UNHURRIED: Duration = Duration::from_secs(1);

pub(crate) struct Publisher {
    rings: Rings,
    name: String,
    settings: Settings,
    /// Buffer for payloads, kept to reuse its memory.
    payload: Vec<u8>,
    pace: Pace,
    cost: OwnCost,
    /// Time at which the clock last behaved normally.
    in_order: Moment,
    coarse: Coarse,
    /// The log of how long threads were inside groups, if the program writes one.
    log: Option<Log>,
    sampler: Sampler,
    /// Finds the system calls in which threads wait.
    looks: Looks,
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    governor: Option<Governor>,
    /// Number of threads that had ever started to count calls, as of the last check for new threads.
    threads: u64,
    /// Time of the last check for requests.
    last_look: Instant,
    budget: RequestBudget,
    began: Instant,
    /// Whether dead rings of other programs have been removed.
    cleaned: bool,
}

/// Writes a snapshot into the ring, pruned if it is too large, and returns the record's sequence number.
fn publish(snapshot: &Snapshot, ring: &mut OwnRing, payload: &mut Vec<u8>) -> Result<u64, FormatError> {
    payload.clear();
    codec::encode(snapshot, payload)?;
    prune::shorten(snapshot, payload, ring.longest_payload(), codec::encode)?;
    ring.publish(Stamp::from(&snapshot.capture), payload)
}

fn beat(ring: &mut OwnRing, interval: Duration) {
    ring.beat(os::monotonic_ns(), interval.as_nanos() as u64);
}

impl Publisher {
    /// Makes the ring. Each setting that could not be applied becomes a warning.
    ///
    /// # Errors
    /// The reason why no directory could be used.
    pub(crate) fn start(
        name: String,
        settings: Settings,
        warnings: &mut Vec<String>,
    ) -> Result<Self, FormatError> {
        let _unsignalled = Unsignalled::new();
        if settings.log_every.is_some() {
            warnings.extend(LOG_IS_MISSING.map(String::from));
        }
        let mut publisher = Self::new(name, settings);
        publisher.rings.current = Some(publisher.make_ring(warnings)?);
        Ok(publisher)
    }

    fn make_ring(&mut self, warnings: &mut Vec<String>) -> Result<OwnRing, FormatError> {
        let header = identity::header(&self.name, &self.settings);
        let (dir, ring_bytes) = (self.settings.dir.clone(), self.settings.ring_bytes);
        rings::make(dir.as_deref(), &header, ring_bytes, warnings, |ring| {
            self.first_record(ring)
        })
    }

    fn first_record(&mut self, ring: &mut OwnRing) -> Result<(), FormatError> {
        self.tell();
        if let Some(snapshot) = capture_lock::with(|state| state.capture(CaptureKind::Periodic)) {
            publish(&snapshot, ring, &mut self.payload)?;
            self.note(&snapshot);
        }
        if self.rings.faults > 0 {
            ring.fault(self.rings.faults);
        }
        beat(ring, self.pace.interval);
        if config::is_settled() {
            ring.link()?;
        }
        Ok(())
    }

    /// Gives the ring its file name, unless it already has one. The ring of a session that was requested through the
    /// environment has no name until the first scope. If the program calls `start` before that, the new session
    /// replaces this ring, which viewers must not have found.
    pub(crate) fn link(&mut self) {
        if let Some(ring) = &mut self.rings.current
            && config::is_settled()
            && let Err(error) = ring.link()
        {
            self.rings.give_up(&error);
        }
    }

    /// Makes another ring if the current one is lost.
    fn look_after_ring(&mut self) {
        if self.rings.look() {
            let made = self.make_ring(&mut Vec::new());
            if made.is_ok() {
                self.coarse.has_failed = false;
            }
            self.rings.replaced(made);
        }
    }

    pub(crate) fn take_said(&mut self) -> Option<String> {
        self.rings.take_said()
    }

    fn new(name: String, settings: Settings) -> Self {
        Self {
            pace: Pace::new(settings.interval),
            cost: OwnCost::default(),
            log: settings.log_every.and_then(Log::new),
            rings: Rings::default(),
            name,
            settings,
            payload: Vec::new(),
            in_order: Moment::now(config::get().chosen.clock),
            coarse: Coarse::new(),
            sampler: Sampler::new(),
            looks: Looks::default(),
            #[cfg(all(feature = "functions", target_arch = "x86_64"))]
            governor: Governor::new(),
            threads: 0,
            last_look: Instant::now(),
            budget: RequestBudget::new(os::monotonic_ns()),
            began: Instant::now(),
            cleaned: false,
        }
    }

    /// Does the work that can wait until the first scope or the start of a session. It makes the ring visible, and measures the
    /// cost of a scope. Two things wait longer, because the program may be about to end and wait for its last record: the rest of
    /// the ring is allocated later unless space is scarce, and old rings are removed later unless there are many.
    fn prepare(&mut self) {
        self.cost.begin();
        self.sampler.begin_to_wait();
        self.link();
        // Frees the buffer now, because another thread has allocated it. That thread may later exit in a signal handler
        // that has interrupted the allocator. Its arena then stays locked, so the buffer could not be freed any more.
        self.payload = Vec::new();
        if let Some(ring) = &mut self.rings.current
            && !ring.has_plenty()
            && let Err(error) = ring.complete()
            && ring.is_whole()
        {
            self.rings.give_up(&error);
        }
        self.measure_cost();
        if self.path().is_some_and(is_crowded) {
            self.clean();
        }
    }

    /// Returns the path of the ring if its directory still has to be cleaned up.
    pub(crate) fn unclean(&self) -> Option<PathBuf> {
        self.path().filter(|_| !self.cleaned).map(Path::to_path_buf)
    }

    fn clean(&mut self) {
        if let Some(own) = self.unclean() {
            clean_beside(&own);
        }
        self.cleaned = true;
    }

    /// Measures the cost of a scope in the current mode, if this cost is not known.
    fn measure_cost(&mut self) {
        if !self.cost.measure() {
            return;
        }
        // Without a budget, there is no governor that would pass this cost to snapshots.
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        if self.governor.is_none() {
            let call_ns = overhead::function_call_ns(mode_switch::newest(), true);
            if call_ns > 0.0 {
                capture_lock::with(|state| state.session.functions.call_ns = call_ns);
            }
        }
        self.tell();
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.rings.path()
    }

    /// Returns the time until there is work.
    pub(crate) fn rest(&self) -> Duration {
        // The first checks come early, so that the threads of a short program are sampled as well.
        let look = self.began.elapsed().clamp(FIRST_LOOK, LOOK);
        // Before the first scope a round does nothing, so no work is due.
        if !config::is_settled() {
            return look;
        }
        if !self.cost.has_begun() {
            return Duration::ZERO;
        }
        let record = self.pace.rest().min(look);
        let record = self.log.as_ref().map_or(record, |log| record.min(log.rest()));
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        let record = self
            .governor
            .as_ref()
            .map_or(record, |governor| record.min(governor.rest()));
        let record = functions::ends_wait().map_or(record, |ends| record.min(ends));
        self.sampler.rest().map_or(record, |sample| record.min(sample))
    }

    /// Runs one round: carries out requests and a reset by the program, and publishes a record if one is due. Without a
    /// ring, the publisher still does all other work.
    pub(crate) fn round(&mut self, reset_asked: bool) {
        // The program has run no scope yet, so its own session may still replace this session.
        if !config::is_settled() {
            return;
        }
        if !self.cost.has_begun() {
            self.prepare();
        }
        if let Some(hz) = self.sampler.round() {
            capture_lock::with(|state| state.session.sampling_hz = hz);
        }
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        let has_switched = self.governor.as_mut().is_some_and(Governor::round);
        #[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
        let has_switched = false;
        if has_switched || functions::ends_wait().is_some_and(|ends| ends.is_zero()) {
            capture_lock::with(CollectorState::look_at_sites);
        }
        let threads = registry::begun();
        if threads != std::mem::replace(&mut self.threads, threads) {
            capture_lock::with(|state| state.lines.look());
        }
        let mut due = self.pace.rest().is_zero();
        due |= self.log.as_ref().is_some_and(Log::is_due);
        let nothing_else = !due && !reset_asked && self.last_look.elapsed() < LOOK;
        if self.sampler.rest().is_some() && nothing_else {
            return;
        }
        if !self.cleaned && self.began.elapsed() > UNHURRIED {
            // Without the rest of the ring, records that need more space ask for it themselves.
            let _ = self.rings.current.as_mut().map(OwnRing::complete);
            self.clean();
        }
        self.last_look = Instant::now();
        self.look_after_ring();
        self.look_who_watches();
        self.measure_cost();
        capture_lock::with(|state| {
            state.look_at_sites();
            state.lines.look();
        });
        let answers = self.carry_out_all();
        if reset_asked {
            self.reset();
        }
        due |= self.clock_broke();
        due |= reset_asked || capture_lock::with(|state| state.epochs.has_closings()) == Some(true);
        if self.looks.is_due() {
            capture_lock::with(|state| state.look_at_waits(&mut self.looks));
        }
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
            beat(ring, self.pace.interval);
        }
        self.sampler.begin_to_wait();
    }

    /// Publishes the last record and marks the ring as ended, after a reset if the program has requested one. Any
    /// thread may do it.
    pub(crate) fn finish(mut self, reset_asked: bool) {
        let _unsignalled = Unsignalled::new();
        self.measure_cost();
        if reset_asked {
            self.reset();
        }
        self.publish_now(CaptureKind::Final);
        self.link();
        capture_lock::with(|state| state.lines.ask_for(0));
        self.write_coarse();
        if let Some(ring) = &mut self.rings.current {
            ring.exit(os::unix_ns());
        }
        // Ending the log may have to wait for standard error, so it is done last.
        if let Some(mut log) = self.log.take() {
            log.end();
        }
    }

    fn look_who_watches(&mut self) {
        let ring = self.rings.current.as_ref();
        let watched = ring.map_or_else(Vec::new, OwnRing::watched_slots);
        self.pace.look(watched, self.sampler.rest().is_some());
        self.tell();
    }

    /// Removes the ring, as if there had been no publisher. Called only if nothing has been counted yet.
    pub(crate) fn withdraw(&self) {
        if let Some(ring) = &self.rings.current {
            ring.remove();
        }
    }

    /// Updates what snapshots say about the publisher.
    fn tell(&mut self) {
        let cost = self.cost.now();
        capture_lock::with(|state| {
            state.session.interval_ns = self.pace.interval.as_nanos() as u64;
            state.session.viewers = self.pace.viewers();
            state.session.cost = cost;
        });
    }

    fn reset(&mut self) {
        self.publish_in_order(|state| Some(state.reset()));
    }

    fn switch_to(&mut self, mode: Mode) {
        self.publish_in_order(|state| state.switch_to(mode, mode_switch::newest().histograms));
        self.measure_cost();
    }

    /// Publishes the snapshot that `take` returns, after the closing snapshots of earlier resets. All are taken under
    /// one lock, so no reset comes between them.
    fn publish_in_order(&mut self, take: impl FnOnce(&mut CollectorState) -> Option<Snapshot>) -> (u64, u64) {
        let taken = capture_lock::with(|state| (state.epochs.take_closings(), take(state)));
        let Some((closings, snapshot)) = taken else {
            return (0, 0);
        };
        for closing in closings {
            self.put(closing);
        }
        let Some(snapshot) = snapshot else { return (0, 0) };
        let epoch = snapshot.capture.reset_epoch;
        (self.put(snapshot), epoch)
    }

    /// Passes a snapshot to the log, if the log needs it.
    fn note(&mut self, snapshot: &Snapshot) {
        if let Some(log) = &mut self.log
            && !log.note(snapshot)
        {
            self.log = None;
        }
    }

    /// Begins a new epoch if the clock broke, which means that the machine slept or the clock's rate changed. Ticks
    /// from before and after such a break cannot be added. Returns whether the clock broke.
    fn clock_broke(&mut self) -> bool {
        let clock = config::get().chosen.clock;
        if clock.declared_rate().is_some() {
            return false;
        }
        let now = Moment::now(clock);
        let broke = config::CLOCK_RATE.broke_since(self.in_order, now);
        if broke {
            // The closing record has ticks from before the break, so it needs the rate from before the break.
            config::CLOCK_RATE.hold();
            self.reset();
            config::CLOCK_RATE.begin_again(Moment::now(clock));
            capture_lock::with(|state| state.epochs.forget_undo());
        }
        // The comparison starts anew after a second, so that a changed rate is noticed soon. If the clock did not
        // break, the rate over the whole run is reliable.
        if broke || now.ns.saturating_sub(self.in_order.ns) > 1_000_000_000 {
            self.in_order = Moment::now(clock);
            if !broke {
                config::CLOCK_RATE.note_in_order(now);
            }
        }
        broke
    }

    /// Captures and publishes. Returns the record's sequence number and reset epoch.
    fn publish_now(&mut self, kind: CaptureKind) -> (u64, u64) {
        let cpu_before = os::own_cpu_ns();
        self.cost.note_share(cpu_before);
        copies::look();
        self.tell();
        let published = self.publish_in_order(|state| Some(state.capture(kind)));
        self.pace
            .note_record(Duration::from_nanos(os::own_cpu_ns().saturating_sub(cpu_before)));
        published
    }

    /// Puts a snapshot into the ring, the log and the coarse ring. Returns its sequence number in the ring.
    fn put(&mut self, snapshot: Snapshot) -> u64 {
        let sequence = self.publish_or_count(&snapshot);
        self.note(&snapshot);
        self.coarse.offer(snapshot, self.began.elapsed());
        sequence
    }

    /// Publishes a snapshot. Returns the record's sequence number, or 0 if there is no ring or the record could not be
    /// written.
    fn publish_or_count(&mut self, snapshot: &Snapshot) -> u64 {
        let Some(ring) = &mut self.rings.current else {
            return 0;
        };
        publish(snapshot, ring, &mut self.payload).unwrap_or_else(|error| {
            self.rings.faults += 1;
            // If the ring is lost, the next check of the ring reports it.
            if ring.is_whole() {
                ring.fault(self.rings.faults);
                if self.rings.faults == 1 {
                    capture_lock::with(|state| state.session.warnings.push(error.to_string()));
                }
            }
            0
        })
    }

    /// Writes the waiting records into the coarse ring. No viewer waits for this, and its time is not part of the cost
    /// of a record.
    fn write_coarse(&mut self) {
        let failed = self.coarse.write(self.rings.current.as_mut(), &mut self.payload);
        if let Some(error) = failed {
            let warning = format!("no history beyond the ring: {error}; free some space");
            capture_lock::with(|state| state.session.warnings.push(warning));
        }
    }
}

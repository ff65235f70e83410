//! The counts that a program should have according to the documentation, kept in plain maps from paths to counts. The
//! model has no nodes, baselines or captures. As time passes, it is added to the path of each thread's innermost call.

use std::collections::{BTreeMap, BTreeSet};

use tickscope_format::latency::{bucket_of, value_bucket};
use tickscope_format::snapshot::Mode;

use super::program::{
    Act, Asked, BLOCKS, BURST, COUNTERS, End, FUTURES, GAUGES, HANDLED, HANDS, PATTERNS, POLLED, SAMPLED,
    SCOPES, VALUES,
};
use super::stage::{self, BURST_TICKS, HANDLED_TICKS, POLLED_TICKS, POLLS, name_of};
use crate::allocations::Allocated;

/// The names from a thread's outermost scope inwards, joined by `/`. The empty path stands for everything outside of all
/// scopes.
pub(crate) type Path = String;

/// Counts of one path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) calls: u64,
    pub(crate) ticks: u64,
    /// Sum of a counter or a value.
    pub(crate) sum: u64,
    /// Number of calls that have ended, by duration bucket.
    pub(crate) ended: BTreeMap<u16, u64>,
    /// How many numbers were recorded by a value, by bucket.
    pub(crate) numbers: BTreeMap<u16, u64>,
    pub(crate) extremes: Option<(u64, u64)>,
    /// The lowest and the highest level of a gauge.
    pub(crate) levels: Option<(i64, i64)>,
    pub(crate) allocated: Allocated,
    pub(crate) futures: Futures,
    /// The path's current state, which resets do not change.
    pub(crate) standing: Standing,
    /// Whether the live bytes include samples of small blocks, which also stand for blocks that were not sampled.
    pub(crate) sampled_small: bool,
}

/// Counts of a future's calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Futures {
    pub(crate) polls: u64,
    pub(crate) ended: u64,
    pub(crate) cancelled: u64,
    pub(crate) ticks: u64,
    /// Number of calls that have ended, by duration bucket.
    pub(crate) lasted: BTreeMap<u16, u64>,
}

/// Current state of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Standing {
    /// Number of calls of a future that began here, minus the calls that ended here.
    pub(crate) in_flight: i64,
    /// Bytes in live blocks that are so large that they are always sampled.
    pub(crate) live: u64,
    /// The level of a gauge, and the tick at which it was set.
    pub(crate) level: Option<(i64, u64)>,
}

/// A block of memory: its size in bytes and, if it is sampled, the owner and path to which its sample belongs.
#[derive(Clone, Debug)]
struct Block {
    bytes: usize,
    owner: Option<(Owner, Path)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Owner {
    Life(u64),
    Finished(String),
}

/// Counts of a thread, or of all finished threads with the same name, in one reset epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted(pub(crate) BTreeMap<Path, Cell>);

/// Counts of the current epoch, and of the previous one in case the reset between them is undone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epochs {
    pub(crate) now: Counted,
    before: Counted,
    pub(crate) standing: BTreeMap<Path, Standing>,
}

/// An open call.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) path: Path,
    /// Tick at which the call began, plus the duration of any pauses since; `None` if it began in a mode that does not
    /// time calls.
    pub(crate) began: Option<u64>,
}

/// A living thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    pub(crate) number: u64,
    /// Whether the thread has had any event that counts.
    pub(crate) registered: bool,
    excluded: bool,
    pauses: u32,
    paused_at: u64,
    pub(crate) open: Vec<Frame>,
    /// All paths in which the thread has counted.
    known: BTreeSet<Path>,
    pub(crate) counted: Epochs,
    /// The thread's guards, each as the path of the call that it ends when dropped; `None` if the call does not count.
    guards: Vec<Option<Path>>,
    /// For each open pause, whether it stopped the thread's clock.
    held_pauses: Vec<bool>,
    /// Allocations that the thread made before it was registered.
    early: Allocated,
}

/// An epoch as shown by its snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    pub(crate) withdraws: Option<u64>,
    /// Ticks since the switch to this mode.
    pub(crate) spent: u64,
    /// Counts by thread.
    pub(crate) counted: BTreeMap<Who, Counted>,
}

/// The owner of rows: all finished threads with the same name, or the living thread of a hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Finished(String),
    Hand(usize),
}

/// The state that the collector should be in now.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// Maximum depth and maximum number of paths of each thread.
    limits: (usize, usize),
    pub(crate) tick: u64,
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    rules: Vec<(usize, bool)>,
    pub(crate) hands: [Option<Life>; HANDS],
    lives: u64,
    pub(crate) finished: BTreeMap<String, Epochs>,
    /// Number of calls counted in rows, over all epochs.
    pub(crate) calls: u64,
    pub(crate) dropped: u64,
    pub(crate) unbalanced: u64,
    pub(crate) epoch: u64,
    undo: Option<u64>,
    pub(crate) withdraws: Option<u64>,
    /// Ticks spent since the mode was last switched.
    pub(crate) spent: u64,
    pub(crate) closed: BTreeMap<u64, Epoch>,
    /// How often each unfinished future has been polled; 0 if the future does not exist.
    polls: [u64; FUTURES as usize],
    /// Tick at which the call of each future began, if the call counts.
    flights: [Option<u64>; FUTURES as usize],
    blocks: [Option<Block>; BLOCKS as usize],
    given: Vec<(u64, Option<Path>)>,
}

fn below(path: &str, name: &str) -> Path {
    if path.is_empty() {
        name.into()
    } else {
        format!("{path}/{name}")
    }
}

/// Returns the counts for allocating one block of this size.
fn taken(bytes: usize) -> Allocated {
    Allocated {
        blocks: 1,
        bytes: bytes as u64,
        ..Allocated::NOTHING
    }
}

/// Returns the counts for freeing one block of this size.
fn given(bytes: usize) -> Allocated {
    Allocated {
        freed_blocks: 1,
        freed_bytes: bytes as u64,
        ..Allocated::NOTHING
    }
}

fn taken_only(all: Allocated) -> Allocated {
    Allocated {
        freed_blocks: 0,
        freed_bytes: 0,
        ..all
    }
}

fn given_only(all: Allocated) -> Allocated {
    Allocated {
        blocks: 0,
        bytes: 0,
        ..all
    }
}

impl Counted {
    fn at(&mut self, path: &str) -> &mut Cell {
        self.0.entry(path.into()).or_default()
    }

    fn add(&mut self, other: &Self) {
        for (path, cell) in &other.0 {
            let mine = self.at(path);
            mine.calls += cell.calls;
            mine.ticks += cell.ticks;
            mine.sum = mine.sum.wrapping_add(cell.sum);
            add_all(&mut mine.ended, &cell.ended);
            add_all(&mut mine.numbers, &cell.numbers);
            mine.extremes = both(mine.extremes, cell.extremes);
            mine.levels = both(mine.levels, cell.levels);
            add_allocated(&mut mine.allocated, cell.allocated);
            mine.futures.polls += cell.futures.polls;
            mine.futures.ended += cell.futures.ended;
            mine.futures.cancelled += cell.futures.cancelled;
            mine.futures.ticks += cell.futures.ticks;
            add_all(&mut mine.futures.lasted, &cell.futures.lasted);
        }
    }
}

fn add_all(sum: &mut BTreeMap<u16, u64>, more: &BTreeMap<u16, u64>) {
    for (bucket, count) in more {
        *sum.entry(*bucket).or_default() += count;
    }
}

fn add_allocated(sum: &mut Allocated, more: Allocated) {
    sum.blocks += more.blocks;
    sum.bytes += more.bytes;
    sum.freed_blocks += more.freed_blocks;
    sum.freed_bytes += more.freed_bytes;
}

/// Returns the smallest range that covers both ranges.
fn both<T: Copy + Ord>(one: Option<(T, T)>, other: Option<(T, T)>) -> Option<(T, T)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

impl Epochs {
    fn add(&mut self, other: &Self) {
        self.now.add(&other.now);
        self.before.add(&other.before);
        for (path, standing) in &other.standing {
            let mine = self.standing.entry(path.clone()).or_default();
            mine.in_flight += standing.in_flight;
            mine.live += standing.live;
            let set = |standing: &Standing| standing.level.map(|(_, tick)| tick);
            if set(standing) >= set(mine) {
                mine.level = standing.level;
            }
        }
    }

    fn reset(&mut self) {
        self.before = std::mem::take(&mut self.now);
        // A level persists until it is set again.
        for (path, standing) in &self.standing {
            if let Some((level, _)) = standing.level {
                self.now.at(path).levels = Some((level, level));
            }
        }
    }

    /// Returns the counts that a snapshot of this epoch shows.
    fn shown(&self) -> Counted {
        let mut shown = self.now.clone();
        for (path, standing) in &self.standing {
            shown.at(path).standing = standing.clone();
        }
        shown
    }

    fn standing(&mut self, path: &str) -> &mut Standing {
        self.standing.entry(path.into()).or_default()
    }

    fn undo(&mut self) {
        let before = std::mem::take(&mut self.before);
        self.now.add(&before);
    }
}

impl Life {
    pub(crate) fn at(&self) -> Path {
        self.open
            .last()
            .map(|frame| frame.path.clone())
            .unwrap_or_default()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.pauses > 0
    }

    /// Returns whether events on this thread count, which they do unless it is excluded. If so, registers the thread.
    fn counts(&mut self) -> bool {
        if !self.excluded {
            self.register();
        }
        !self.excluded
    }

    fn register(&mut self) {
        self.registered = true;
        let early = std::mem::replace(&mut self.early, Allocated::NOTHING);
        add_allocated(&mut self.counted.now.at("").allocated, early);
    }

    /// Returns the path with this name below the innermost call, or `None` if it would exceed the limits.
    fn place(&mut self, name: &str, (depth, nodes): (usize, usize)) -> Option<Path> {
        let path = below(&self.at(), name);
        if !self.known.contains(&path) && (self.known.len() >= nodes || self.open.len() >= depth) {
            return None;
        }
        self.known.insert(path.clone());
        Some(path)
    }

    /// Calls that exceed the limits share one path below the innermost call. Returns that path, or `None` inside such a
    /// call or at the maximum depth.
    fn place_over_the_limit(&self, name: &str, (depth, _): (usize, usize)) -> Option<Path> {
        let at = self.at();
        let is_inside = at.ends_with("over the limit)");
        let over = if name == POLLED {
            "(futures over the limit)"
        } else {
            "(over the limit)"
        };
        (!is_inside && self.open.len() < depth).then(|| below(&at, over))
    }

    fn place_of_any(&mut self, name: &str, limits: (usize, usize)) -> Option<Path> {
        let own = self.place(name, limits);
        own.or_else(|| self.place_over_the_limit(name, limits))
    }
}

impl Model {
    /// Returns the state at the beginning of a program: in exact mode, with histograms and without rules. `epoch` is the
    /// current reset epoch, and `standing` is the state left behind by the finished threads of earlier programs.
    pub(crate) fn new(
        limits: (usize, usize),
        tick: u64,
        epoch: u64,
        standing: BTreeMap<String, BTreeMap<Path, Standing>>,
    ) -> Self {
        let finished = standing.into_iter().map(|(name, standing)| {
            let mut epochs = Epochs {
                standing,
                ..Epochs::default()
            };
            epochs.reset();
            epochs.before = Counted::default();
            (name, epochs)
        });
        Self {
            limits,
            tick,
            mode: Mode::Exact,
            histograms: true,
            rules: Vec::new(),
            hands: [const { None }; HANDS],
            lives: 0,
            finished: finished.collect(),
            calls: 0,
            dropped: 0,
            unbalanced: 0,
            epoch,
            undo: None,
            withdraws: None,
            spent: 0,
            closed: BTreeMap::new(),
            polls: [0; FUTURES as usize],
            flights: [None; FUTURES as usize],
            blocks: [const { None }; BLOCKS as usize],
            given: Vec::new(),
        }
    }

    fn is_timed(&self) -> bool {
        matches!(self.mode, Mode::Exact | Mode::Adaptive)
    }

    /// Returns whether a site counts. The last matching rule decides.
    fn is_on(&self, name: &str) -> bool {
        let matches = |pattern: &str| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => pattern == name,
        };
        let rule = self
            .rules
            .iter()
            .rev()
            .find(|(pattern, _)| matches(PATTERNS[*pattern]));
        self.mode != Mode::Off && !rule.is_some_and(|&(_, off)| off)
    }

    /// Begins a new life (a new thread) for a hand and returns its number, or `None` if the hand already has a living
    /// thread.
    pub(crate) fn begin(&mut self, hand: usize) -> Option<u64> {
        if self.hands[hand].is_some() {
            return None;
        }
        self.lives += 1;
        self.hands[hand] = Some(Life {
            number: self.lives,
            ..Life::default()
        });
        Some(self.lives)
    }

    /// Records the allocations that a new thread has made before its first act.
    pub(crate) fn begun(&mut self, hand: usize, early: Allocated) {
        self.life(hand).early = early;
    }

    /// Lets time pass, and adds the time to the path of each thread's innermost call.
    pub(crate) fn spend(&mut self, ticks: u64) {
        self.tick += ticks;
        self.spent += ticks;
        if !self.is_timed() {
            return;
        }
        for life in self.hands.iter_mut().flatten() {
            if life.registered && !life.excluded && life.pauses == 0 {
                let at = life.at();
                life.counted.now.at(&at).ticks += ticks;
            }
        }
    }

    fn life(&mut self, hand: usize) -> &mut Life {
        self.hands[hand].as_mut().expect("begun before")
    }

    /// Opens a scope that counts as `calls` calls. Returns the scope's path, to be kept by the guard.
    fn open(&mut self, hand: usize, name: &str, calls: u64) -> Option<Path> {
        let (limits, began, on) = (
            self.limits,
            self.is_timed().then_some(self.tick),
            self.is_on(name),
        );
        if !on || !self.life(hand).counts() {
            return None;
        }
        let life = self.life(hand);
        let own = life.place(name, limits);
        let place = own.clone().or_else(|| life.place_over_the_limit(name, limits));
        if own.is_none() {
            self.dropped += if place.is_some() { calls } else { 1 };
        }
        let path = place?;
        let life = self.life(hand);
        life.counted.now.at(&path).calls += calls;
        life.open.push(Frame {
            path: path.clone(),
            began,
        });
        self.calls += calls;
        Some(path)
    }

    /// Drops a guard, which ends its call and all calls that are open inside it.
    fn close(&mut self, hand: usize, guard: Option<Path>) {
        let now = self.tick;
        let measured = self.is_timed() && self.histograms;
        let life = self.life(hand);
        let Some(path) = guard.filter(|_| life.registered && !life.excluded) else {
            return;
        };
        let Some(at) = life.open.iter().position(|frame| frame.path == path) else {
            self.unbalanced += 1;
            return;
        };
        let inside = (life.open.len() - 1 - at) as u64;
        if let Some(began) = life.open[at].began
            && measured
            && life.pauses == 0
        {
            *life
                .counted
                .now
                .at(&path)
                .ended
                .entry(bucket_of(now - began) as u16)
                .or_default() += 1;
        }
        life.open.truncate(at);
        self.unbalanced += inside;
    }

    /// Counts a thread's allocations and frees in the path of its innermost call.
    fn allocated(&mut self, hand: usize, allocated: Allocated) {
        let is_off = self.mode == Mode::Off;
        let life = self.life(hand);
        if life.excluded {
            return;
        }
        if !life.registered {
            add_allocated(&mut life.early, allocated);
        } else if !is_off {
            let at = life.at();
            add_allocated(&mut life.counted.now.at(&at).allocated, allocated);
        }
    }

    /// Returns a newly allocated block. It has an owner if it is sampled.
    fn new_block(&mut self, hand: usize, bytes: usize) -> Block {
        let counts = self.mode != Mode::Off && bytes >= SAMPLED;
        let life = self.life(hand);
        let counts = counts && life.registered && !life.excluded;
        let at = life.at();
        if counts {
            life.counted.standing(&at).live += bytes as u64;
        }
        Block {
            bytes,
            owner: counts.then_some((Owner::Life(life.number), at)),
        }
    }

    /// Removes a block from the live bytes of its owner, whichever thread frees it.
    fn forget_block(&mut self, block: &Block) {
        let Some((owner, path)) = &block.owner else { return };
        let counted = match owner {
            Owner::Finished(name) => self.finished.get_mut(name),
            Owner::Life(number) => {
                let mut lives = self.hands.iter_mut().flatten();
                lives
                    .find(|life| life.number == *number)
                    .map(|life| &mut life.counted)
            }
        };
        counted.expect("it has an owner").standing(path).live -= block.bytes as u64;
    }

    fn allocate(&mut self, hand: usize, which: usize, bytes: usize) {
        self.free(hand, which);
        let block = self.new_block(hand, bytes);
        self.blocks[which] = Some(block);
        self.allocated(hand, taken(bytes));
    }

    fn free(&mut self, hand: usize, which: usize) {
        if let Some(block) = self.blocks[which].take() {
            self.forget_block(&block);
            self.allocated(hand, given(block.bytes));
        }
    }

    fn grow(&mut self, hand: usize, which: usize, bytes: usize) {
        let Some(block) = self.blocks[which].take_if(|block| block.bytes < bytes) else {
            return;
        };
        self.forget_block(&block);
        self.blocks[which] = Some(self.new_block(hand, bytes));
        self.allocated(hand, taken(bytes));
        self.allocated(hand, given(block.bytes));
    }

    /// Polls a future, after creating it if it does not exist.
    fn poll(&mut self, hand: usize, which: usize) {
        let bytes = stage::bytes_of_a_future();
        let is_first = self.polls[which] == 0;
        if is_first {
            self.allocated(hand, taken(bytes));
        }
        let now = self.tick;
        let guard = self.open(hand, POLLED, is_first.into());
        if is_first {
            // If a call had no path at its first poll, its later polls do not count either.
            self.flights[which] = guard.is_some().then_some(now);
            if let Some(path) = &guard {
                self.life(hand).counted.standing(path).in_flight += 1;
            }
        }
        if let Some(path) = guard.as_ref().filter(|_| self.flights[which].is_some()) {
            self.life(hand).counted.now.at(path).futures.polls += 1;
        }
        self.spend(POLLED_TICKS);
        self.close(hand, guard.clone());
        self.polls[which] = (self.polls[which] + 1) % POLLS;
        if self.polls[which] == 0 {
            self.end_flight(hand, which, guard, false);
            self.allocated(hand, given(bytes));
        }
    }

    /// Drops an unfinished future. The drop happens inside the future's scope, if that scope has a path.
    fn drop_future(&mut self, hand: usize, which: usize) {
        if std::mem::take(&mut self.polls[which]) == 0 {
            return;
        }
        if self.flights[which].is_some() {
            let limits = self.limits;
            let life = self.life(hand);
            let counts = life.registered && !life.excluded;
            let guard = if !counts || life.place_of_any(POLLED, limits).is_some() {
                self.open(hand, POLLED, 0)
            } else {
                None
            };
            // Dropping a future is not a poll, so it has no latency.
            if let Some(frame) = self.life(hand).open.last_mut().filter(|_| guard.is_some()) {
                frame.began = None;
            }
            self.close(hand, guard.clone());
            self.end_flight(hand, which, guard, true);
        }
        self.allocated(hand, given(stage::bytes_of_a_future()));
    }

    /// Ends the call of a future. The end is counted in `guard`, the path of the future's last scope, or else in the
    /// future's path on this thread. Without any path, it is not counted.
    fn end_flight(&mut self, hand: usize, which: usize, guard: Option<Path>, is_cancelled: bool) {
        let Some(began) = self.flights[which].take() else {
            return;
        };
        let (limits, ticks) = (self.limits, self.tick - began);
        let life = self.life(hand);
        if !life.registered || life.excluded {
            return;
        }
        let Some(path) = guard.or_else(|| life.place_of_any(POLLED, limits)) else {
            return;
        };
        life.counted.standing(&path).in_flight -= 1;
        let futures = &mut life.counted.now.at(&path).futures;
        futures.ended += u64::from(!is_cancelled);
        futures.cancelled += u64::from(is_cancelled);
        futures.ticks += ticks;
        *futures.lasted.entry(bucket_of(ticks) as u16).or_default() += 1;
    }

    fn pause(&mut self, hand: usize) {
        let now = self.tick;
        let life = self.life(hand);
        let stopped = life.counts();
        if stopped {
            if life.pauses == 0 {
                life.paused_at = now;
            }
            life.pauses += 1;
        }
        life.held_pauses.push(stopped);
    }

    fn resume(&mut self, hand: usize) {
        let now = self.tick;
        let life = self.life(hand);
        if life.held_pauses.pop() != Some(true) {
            return;
        }
        life.pauses -= 1;
        if life.pauses == 0 {
            // The durations of open calls do not include the pause.
            for began in life.open.iter_mut().filter_map(|frame| frame.began.as_mut()) {
                *began += now - life.paused_at.max(*began);
            }
        }
    }

    /// Performs an act of a thread, except its end, and advances the time by as long as the act takes.
    pub(crate) fn act(&mut self, hand: usize, act: &Act) {
        let take = |life: &mut Life, back: usize| {
            let at = life.guards.len().checked_sub(back + 1)?;
            Some(life.guards.remove(at))
        };
        match act {
            Act::Open(scope) | Act::OpenInterrupted(scope) => {
                let guard = self.open(hand, SCOPES[*scope], 1);
                self.life(hand).guards.push(guard);
            }
            Act::Close(back) => {
                if let Some(guard) = take(self.life(hand), *back) {
                    self.close(hand, guard);
                }
            }
            Act::Leak(back) => drop(take(self.life(hand), *back)),
            Act::Give(back) => {
                let life = self.life(hand);
                let given = take(life, *back).map(|guard| (life.number, guard));
                self.given.extend(given);
            }
            Act::DropGiven => {
                if !self.given.is_empty() {
                    let (life, guard) = self.given.remove(0);
                    let mine = self.life(hand).number == life;
                    // A guard that is dropped on another thread finds no matching open call there.
                    self.close(hand, guard.map(|path| if mine { path } else { "?".into() }));
                }
            }
            Act::Nest {
                scopes,
                spend,
                panics,
            } => {
                let mut guards = Vec::new();
                for &scope in scopes {
                    guards.push(self.open(hand, SCOPES[scope], 1));
                    self.spend(*spend);
                }
                let panic = stage::allocated_by_a_panic();
                if *panics {
                    self.allocated(hand, taken_only(panic));
                }
                while let Some(guard) = guards.pop() {
                    self.close(hand, guard);
                }
                if *panics {
                    self.allocated(hand, given_only(panic));
                }
            }
            Act::Count(counter, amount) => {
                if let Some(cell) = self.count(hand, COUNTERS[*counter]) {
                    cell.sum += amount;
                }
            }
            Act::Signal => self.one(hand, HANDLED, 1, HANDLED_TICKS),
            Act::Poll(which) => self.poll(hand, *which),
            Act::DropFuture(which) => self.drop_future(hand, *which),
            Act::Value(which, number) => {
                if let Some(cell) = self.count(hand, VALUES[*which]) {
                    cell.sum += number;
                    *cell.numbers.entry(value_bucket(*number) as u16).or_default() += 1;
                    cell.extremes = both(cell.extremes, Some((*number, *number)));
                }
            }
            Act::Gauge(which, level) => {
                self.spend(1);
                self.set_gauge(hand, GAUGES[*which], *level);
            }
            Act::Allocate(which, bytes) => self.allocate(hand, *which, *bytes),
            Act::Grow(which, bytes) => self.grow(hand, *which, *bytes),
            Act::Free(which) => self.free(hand, *which),
            Act::Burst => (0..BURST).for_each(|_| self.one(hand, SCOPES[SCOPES.len() - 1], 1, BURST_TICKS)),
            Act::Pause => self.pause(hand),
            Act::Resume => self.resume(hand),
            Act::LeakPause => drop(self.life(hand).held_pauses.pop()),
            Act::Exclude => {
                let life = self.life(hand);
                life.excluded = true;
                life.open.clear();
            }
            Act::Include => {
                let life = self.life(hand);
                life.excluded = false;
                life.register();
            }
            Act::Reset => self.reset(),
            Act::SetMode(mode) => self.switch(*mode, self.histograms),
            Act::SetHistogram(on) => self.switch(self.mode, *on),
            Act::Off(pattern) => self.rules.push((*pattern, true)),
            Act::On(pattern) => self.rules.push((*pattern, false)),
            Act::End(_) => {}
        }
    }

    fn one(&mut self, hand: usize, name: &str, calls: u64, ticks: u64) {
        let guard = self.open(hand, name, calls);
        self.spend(ticks);
        self.close(hand, guard);
    }

    /// Counts one execution of a site that is never timed, such as a counter. Returns its cell if the execution counts.
    fn count(&mut self, hand: usize, name: &str) -> Option<&mut Cell> {
        let limits = self.limits;
        if !self.is_on(name) || !self.life(hand).counts() {
            return None;
        }
        let Some(path) = self.life(hand).place(name, limits) else {
            self.dropped += 1;
            return None;
        };
        self.calls += 1;
        let cell = self.life(hand).counted.now.at(&path);
        cell.calls += 1;
        Some(cell)
    }

    fn set_gauge(&mut self, hand: usize, name: &str, level: i64) {
        let tick = self.tick;
        let Some(cell) = self.count(hand, name) else {
            return;
        };
        cell.levels = both(cell.levels, Some((level, level)));
        let life = self.life(hand);
        let path = below(&life.at(), name);
        life.counted.standing(&path).level = Some((level, tick));
    }

    /// Counts as dropped the scopes that the clock opened in the middle of an event.
    pub(crate) fn interrupted(&mut self, times: u64) {
        if self.is_on("interrupting") {
            self.dropped += times;
        }
    }

    /// Ends a thread, and adds its counts to the finished threads with the same name.
    pub(crate) fn end(&mut self, hand: usize, end: End) {
        if end == End::Panic {
            self.allocated(hand, taken_only(stage::allocated_by_a_panic()));
        }
        let mut guards = std::mem::take(&mut self.life(hand).guards);
        match end {
            End::Panic => guards.reverse(),
            End::WrongOrder => {}
            End::Leaking => guards.clear(),
        }
        guards.into_iter().for_each(|guard| self.close(hand, guard));
        let life = self.hands[hand].take().expect("begun before");
        self.given.retain(|(of, _)| *of != life.number);
        if life.registered {
            self.finished.entry(name_of(hand)).or_default().add(&life.counted);
            for (owner, _) in self
                .blocks
                .iter_mut()
                .flatten()
                .flat_map(|block| &mut block.owner)
            {
                if *owner == Owner::Life(life.number) {
                    *owner = Owner::Finished(name_of(hand));
                }
            }
        }
    }

    /// Returns this epoch so far.
    pub(crate) fn shown(&self) -> Epoch {
        let finished = self.finished.iter();
        let finished = finished.map(|(name, epochs)| (Who::Finished(name.clone()), epochs.shown()));
        let living = self.hands.iter().enumerate().filter_map(|(hand, life)| {
            let life = life.as_ref().filter(|life| life.registered)?;
            Some((Who::Hand(hand), life.counted.shown()))
        });
        Epoch {
            mode: self.mode,
            histograms: self.histograms,
            withdraws: self.withdraws,
            spent: self.spent,
            counted: finished.chain(living).collect(),
        }
    }

    fn each(&mut self, change: fn(&mut Epochs)) {
        self.finished.values_mut().for_each(change);
        self.hands
            .iter_mut()
            .flatten()
            .for_each(|life| change(&mut life.counted));
    }

    pub(crate) fn reset(&mut self) {
        self.closed.insert(self.epoch, self.shown());
        self.each(Epochs::reset);
        self.undo = Some(self.withdraws.unwrap_or(self.epoch));
        self.withdraws = None;
        self.epoch += 1;
    }

    fn undo(&mut self) {
        if let Some(epoch) = self.undo.take() {
            self.each(Epochs::undo);
            self.withdraws = Some(epoch);
            self.epoch += 1;
        }
    }

    /// Switches the mode, which closes the epoch and discards the epoch that an undo could restore.
    fn switch(&mut self, mode: Mode, histograms: bool) {
        if (mode, histograms) != (self.mode, self.histograms) {
            self.reset();
            self.undo = None;
            (self.mode, self.histograms, self.spent) = (mode, histograms, 0);
        }
    }

    /// Handles a viewer's request and then a reset, in the same order as the publisher.
    pub(crate) fn ask(&mut self, asked: Asked) {
        match asked {
            Asked::Reset => self.reset(),
            Asked::Undo => self.undo(),
            Asked::Mode(mode) => self.switch(mode, self.histograms),
        }
        self.reset();
    }
}

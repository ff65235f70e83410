//! What a program must count, by what the documentation says: a plain map from paths to calls and ticks. It knows nothing
//! of nodes, baselines, captures or gaps: time passes, and whoever stands somewhere gets it.

use std::collections::{BTreeMap, BTreeSet};

use tickscope_format::latency::bucket_of;
use tickscope_format::snapshot::Mode;

use super::program::{Act, Asked, BURST, COUNTERS, End, FUTURES, HANDLED, HANDS, PATTERNS, POLLED, SCOPES};
use super::stage::{BURST_TICKS, HANDLED_TICKS, POLLED_TICKS, POLLS, name_of};

/// Names from the top of a thread on, with `/` in between; the empty one is the time outside of any scope.
pub(crate) type Path = String;

/// What one place counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) calls: u64,
    pub(crate) ticks: u64,
    /// What was added, of a counter.
    pub(crate) sum: u64,
    /// Ended calls by the bucket of their duration.
    pub(crate) ended: BTreeMap<u16, u64>,
}

/// What a thread, or all finished ones of a name, count in a reset epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted(pub(crate) BTreeMap<Path, Cell>);

/// This epoch and, for an undo, the one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epochs {
    pub(crate) now: Counted,
    before: Counted,
}

/// An open call.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) path: Path,
    /// When it began, pauses left out; none where it began without a clock.
    pub(crate) began: Option<u64>,
}

/// A living thread.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) number: u64,
    /// It has met something that counts.
    pub(crate) registered: bool,
    excluded: bool,
    pauses: u32,
    paused_at: u64,
    pub(crate) open: Vec<Frame>,
    /// Places it has been at.
    known: BTreeSet<Path>,
    pub(crate) counted: Epochs,
    /// Guards, by what they ended if dropped; none for those of calls that do not count.
    guards: Vec<Option<Path>>,
    /// Pauses, and whether there was a clock to stop.
    held_pauses: Vec<bool>,
}

/// An epoch that was closed.
#[derive(Clone, Debug)]
pub(crate) struct Closed {
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    pub(crate) withdraws: Option<u64>,
    /// Ticks since the switch to this mode.
    pub(crate) spent: u64,
    /// By thread.
    pub(crate) counted: BTreeMap<Who, Counted>,
}

/// Whose rows these are: all finished threads of a name, or the living one of a hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Finished(String),
    Hand(usize),
}

/// All that must hold now.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// Deepest place and most places of a thread.
    limits: (usize, usize),
    pub(crate) tick: u64,
    pub(crate) mode: Mode,
    pub(crate) histograms: bool,
    rules: Vec<(usize, bool)>,
    pub(crate) hands: [Option<Life>; HANDS],
    lives: u64,
    pub(crate) finished: BTreeMap<String, Epochs>,
    /// Calls in rows, of all epochs.
    pub(crate) calls: u64,
    pub(crate) dropped: u64,
    pub(crate) unbalanced: u64,
    pub(crate) epoch: u64,
    undo: Option<u64>,
    pub(crate) withdraws: Option<u64>,
    /// Ticks spent since the last switch of modes.
    pub(crate) spent: u64,
    pub(crate) closed: BTreeMap<u64, Closed>,
    /// Polls that each future has had.
    polls: [u64; FUTURES as usize],
    given: Vec<(u64, Option<Path>)>,
}

fn below(path: &str, name: &str) -> Path {
    if path.is_empty() {
        name.into()
    } else {
        format!("{path}/{name}")
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
            for (bucket, count) in &cell.ended {
                *mine.ended.entry(*bucket).or_default() += count;
            }
        }
    }
}

impl Epochs {
    fn add(&mut self, other: &Self) {
        self.now.add(&other.now);
        self.before.add(&other.before);
    }

    fn reset(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    fn undo(&mut self) {
        let before = std::mem::take(&mut self.before);
        self.now.add(&before);
    }
}

impl Life {
    fn new(number: u64) -> Self {
        Self {
            number,
            registered: false,
            excluded: false,
            pauses: 0,
            paused_at: 0,
            open: Vec::new(),
            known: BTreeSet::new(),
            counted: Epochs::default(),
            guards: Vec::new(),
            held_pauses: Vec::new(),
        }
    }

    pub(crate) fn at(&self) -> Path {
        self.open
            .last()
            .map(|frame| frame.path.clone())
            .unwrap_or_default()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.pauses > 0
    }

    /// It counts; begins to if it can.
    fn counts(&mut self) -> bool {
        self.registered |= !self.excluded;
        !self.excluded
    }

    /// The place below the innermost call, if there is room for it.
    fn place(&mut self, name: &str, (depth, nodes): (usize, usize)) -> Option<Path> {
        let path = below(&self.at(), name);
        if !self.known.contains(&path) && (self.known.len() >= nodes || self.open.len() >= depth) {
            return None;
        }
        self.known.insert(path.clone());
        Some(path)
    }
}

impl Model {
    /// A program begins, in exact mode with histograms, without rules, in this reset epoch.
    pub(crate) fn new(limits: (usize, usize), tick: u64, epoch: u64) -> Self {
        Self {
            limits,
            tick,
            mode: Mode::Exact,
            histograms: true,
            rules: Vec::new(),
            hands: [const { None }; HANDS],
            lives: 0,
            finished: BTreeMap::new(),
            calls: 0,
            dropped: 0,
            unbalanced: 0,
            epoch,
            undo: None,
            withdraws: None,
            spent: 0,
            closed: BTreeMap::new(),
            polls: [0; FUTURES as usize],
            given: Vec::new(),
        }
    }

    fn is_timed(&self) -> bool {
        matches!(self.mode, Mode::Exact | Mode::Adaptive)
    }

    /// Whether a site counts: the last rule that matches decides.
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

    /// The life of a hand; a new one where there is none, and whether it is.
    pub(crate) fn begin(&mut self, hand: usize) -> Option<u64> {
        if self.hands[hand].is_some() {
            return None;
        }
        self.lives += 1;
        self.hands[hand] = Some(Life::new(self.lives));
        Some(self.lives)
    }

    /// Time passes: it goes to wherever each thread stands.
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

    /// Opens a scope that counts as so many calls; the guard's place.
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
        let Some(path) = life.place(name, limits) else {
            self.dropped += 1;
            return None;
        };
        life.counted.now.at(&path).calls += calls;
        life.open.push(Frame {
            path: path.clone(),
            began,
        });
        self.calls += calls;
        Some(path)
    }

    /// A guard is dropped: its call ends, and all that are open in it.
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
            // What was open has not lasted so long.
            for began in life.open.iter_mut().filter_map(|frame| frame.began.as_mut()) {
                *began += now - life.paused_at.max(*began);
            }
        }
    }

    /// A thread does something that is no end of it. Time within goes by here as well.
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
                    // Elsewhere it finds no call of its own, whatever is open there.
                    self.close(hand, guard.map(|path| if mine { path } else { "?".into() }));
                }
            }
            Act::Nest { scopes, spend, .. } => {
                let mut guards = Vec::new();
                for &scope in scopes {
                    guards.push(self.open(hand, SCOPES[scope], 1));
                    self.spend(*spend);
                }
                while let Some(guard) = guards.pop() {
                    self.close(hand, guard);
                }
            }
            Act::Count(counter, amount) => self.count(hand, COUNTERS[*counter], *amount),
            Act::Signal => self.one(hand, HANDLED, 1, HANDLED_TICKS),
            Act::Poll(which) => {
                let first = self.polls[*which] == 0;
                self.one(hand, POLLED, first.into(), POLLED_TICKS);
                self.polls[*which] = (self.polls[*which] + 1) % POLLS;
            }
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
                life.registered = true;
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

    fn count(&mut self, hand: usize, name: &str, amount: u64) {
        let limits = self.limits;
        if !self.is_on(name) || !self.life(hand).counts() {
            return;
        }
        let life = self.life(hand);
        match life.place(name, limits) {
            Some(path) => {
                let cell = life.counted.now.at(&path);
                cell.calls += 1;
                cell.sum += amount;
                self.calls += 1;
            }
            None => self.dropped += 1,
        }
    }

    /// The clock has opened a scope of its own in the middle of an event.
    pub(crate) fn interrupted(&mut self, times: u64) {
        if self.is_on("interrupting") {
            self.dropped += times;
        }
    }

    /// A thread ends, and is one of the finished ones of its name.
    pub(crate) fn end(&mut self, hand: usize, end: End) {
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
        }
    }

    /// What everybody counts in this epoch.
    pub(crate) fn counted(&self) -> BTreeMap<Who, Counted> {
        let finished = self.finished.iter();
        let finished = finished.map(|(name, epochs)| (Who::Finished(name.clone()), epochs.now.clone()));
        let living = self.hands.iter().enumerate().filter_map(|(hand, life)| {
            let life = life.as_ref().filter(|life| life.registered)?;
            Some((Who::Hand(hand), life.counted.now.clone()))
        });
        finished.chain(living).collect()
    }

    fn each(&mut self, change: fn(&mut Epochs)) {
        self.finished.values_mut().for_each(change);
        self.hands
            .iter_mut()
            .flatten()
            .for_each(|life| change(&mut life.counted));
    }

    pub(crate) fn reset(&mut self) {
        let closed = Closed {
            mode: self.mode,
            histograms: self.histograms,
            withdraws: self.withdraws,
            spent: self.spent,
            counted: self.counted(),
        };
        self.closed.insert(self.epoch, closed);
        self.each(Epochs::reset);
        self.undo = Some(self.epoch);
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

    /// A switch closes the epoch, and that is for good.
    fn switch(&mut self, mode: Mode, histograms: bool) {
        if (mode, histograms) != (self.mode, self.histograms) {
            self.reset();
            self.undo = None;
            (self.mode, self.histograms, self.spent) = (mode, histograms, 0);
        }
    }

    /// The publisher does what a viewer asks for, and then a reset.
    pub(crate) fn ask(&mut self, asked: Asked) {
        match asked {
            Asked::Reset => self.reset(),
            Asked::Undo => self.undo(),
            Asked::Mode(mode) => self.switch(mode, self.histograms),
        }
        self.reset();
    }
}

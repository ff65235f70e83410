//! Random programs, compared with a reference model. All counts of each path in each epoch must be exact: calls, ticks,
//! sums, latencies, values, levels, allocations, live blocks and calls of futures. The numbers of dropped and
//! unbalanced events must be exact as well. Whatever resets and undos happen meanwhile, the epochs must add up to the
//! lifetime totals.
//!
//! A program that fails is shortened and printed. In the environment, `PROGRAMS=100000` plays more programs, and
//! `SEED=n` plays only program `n`.

mod compare;
mod model;
mod program;
mod stage;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tickscope::{Builder, Clock, Mode, Session, Snapshot};
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::slots::Op;
use tickscope_format::snapshot::CaptureKind;

use crate::support::{self, Isolated, ring_of, started, test_name, wait_until};
use compare::{Difference, same};
use model::Model;
use program::{Act, Asked, HANDS, Program, Step};
use stage::Hand;

/// Default number of programs of each kind.
const PROGRAMS: u64 = 60;

/// Maximum number of programs in one session.
const IN_A_SESSION: u64 = 20;

/// Maximum number of programs in one process. Every program leaves paths behind in the trees of finished threads, so
/// each one takes longer than the one before it: the 1 800th three times as long as the first.
const IN_A_PROCESS: u64 = 250;

/// CPU time in ns after which a session is replaced early, because its publisher delays viewers' requests once they
/// have cost 250 ms.
const SESSION_CPU_NS: u64 = 125_000_000;

/// The session in which programs are played, and its ring.
struct Theatre {
    ring: RingFile,
    slot: Slot,
    limits: (usize, usize),
    resets: u64,
    session: Option<Session>,
    /// The process's CPU time in ns when the session began.
    began_cpu_ns: u64,
}

/// A program that is being played.
struct Play<'a> {
    theatre: &'a mut Theatre,
    model: Model,
    /// The state of the process before the program began.
    before: Snapshot,
    hands: [Option<Hand>; HANDS],
    /// The hand of each thread, by thread id. Threads that have ended are included.
    tids: BTreeMap<u32, usize>,
}

impl Theatre {
    fn open(limits: (usize, usize)) -> Self {
        std::panic::set_hook(Box::new(|info| {
            if !stage::is_on_purpose(info) {
                support::complain(&info.to_string());
            }
        }));
        let (ring, slot, session) = Self::begin(limits);
        std::thread::spawn(stage::prepare).join().unwrap();
        Self {
            ring,
            slot,
            limits,
            resets: 0,
            session: Some(session),
            began_cpu_ns: process_cpu_ns(),
        }
    }

    fn begin(limits: (usize, usize)) -> (RingFile, Slot, Session) {
        let builder = Builder::new("programs")
            .clock(Clock::Custom(stage::clock, 1e9))
            .max_depth(limits.0 as u32)
            .max_nodes(limits.1 as u32);
        let session = started(builder.interval(std::time::Duration::from_millis(10)));
        let ring = ring_of(&session);
        let slot = ring.take_slot().unwrap().unwrap();
        (ring, slot, session)
    }

    /// Begins a new session, because a publisher delays viewers' requests once they have used up its budget.
    fn begin_again(&mut self) {
        drop(self.session.take());
        let session;
        (self.ring, self.slot, session) = Self::begin(self.limits);
        self.session = Some(session);
        self.began_cpu_ns = process_cpu_ns();
    }

    /// Removes everything that earlier programs have left behind, and plays a program.
    fn play(&mut self, program: &Program) -> Result<(), Difference> {
        stage::clear();
        if process_cpu_ns() - self.began_cpu_ns > SESSION_CPU_NS {
            self.begin_again();
        }
        // Switching the mode discards the epoch that an undo could bring back.
        tickscope::set_mode(Mode::Off);
        tickscope::set_mode(Mode::Exact);
        tickscope::set_histogram(true);
        tickscope::enable_sites("*").unwrap();
        let before = tickscope::snapshot();
        let mut play = Play {
            model: Model::new(
                self.limits,
                stage::tick(),
                before.capture.reset_epoch,
                compare::standing(&before),
            ),
            before,
            hands: [const { None }; HANDS],
            tids: BTreeMap::new(),
            theatre: self,
        };
        let result = catch_unwind(AssertUnwindSafe(|| play.steps(program)))
            .unwrap_or_else(|_| Err("what must hold of every snapshot does not, or a thread died".into()));
        for hand in play.hands.into_iter().flatten() {
            hand.end(program::End::Leaking);
        }
        result
    }
}

impl Play<'_> {
    fn steps(&mut self, program: &Program) -> Result<(), Difference> {
        for (number, step) in program.0.iter().enumerate() {
            self.step(step)
                .map_err(|difference| format!("after step {number}, {step:?}: {difference}"))?;
        }
        self.end()
    }

    fn step(&mut self, step: &Step) -> Result<(), Difference> {
        match step {
            Step::Spend(ticks) => {
                stage::spend(*ticks);
                self.model.spend(*ticks);
            }
            Step::Look => self.look().map(drop)?,
            Step::Ask(asked) => self.ask(*asked)?,
            Step::Do(hand, act) => {
                if let Some(life) = self.model.begin(*hand) {
                    let new = Hand::begin(*hand, life);
                    self.tids.insert(new.tid, *hand);
                    self.model.begun(*hand, new.early);
                    self.hands[*hand] = Some(new);
                }
                self.act(*hand, act);
            }
        }
        same!(stage::tick(), self.model.tick, "the clock");
        Ok(())
    }

    fn act(&mut self, hand: usize, act: &Act) {
        let interruptions = stage::interruptions();
        if let Act::End(end) = act {
            if let Some((life, hand)) = self.model.hands[hand].as_ref().zip(self.hands[hand].take()) {
                stage::forget_given(life.number);
                hand.end(*end);
            }
            self.model.end(hand, *end);
        } else {
            if let Some(hand) = &self.hands[hand] {
                hand.act(act.clone());
            }
            self.model.act(hand, act);
        }
        self.model.interrupted(stage::interruptions() - interruptions);
    }

    fn look(&self) -> Result<Snapshot, Difference> {
        let snapshot = tickscope::snapshot();
        support::check_with_polls(&snapshot);
        compare::now(&snapshot, &self.model, &self.before, &self.tids).map(|()| snapshot)
    }

    /// Sends a viewer's request and, right after it, the program's own request for a reset. The publisher handles them in
    /// this order.
    fn ask(&mut self, asked: Asked) -> Result<(), Difference> {
        let op = match asked {
            Asked::Reset => Op::Reset,
            Asked::Undo => Op::UndoReset,
            Asked::Mode(mode) => Op::Mode(mode),
        };
        let sent = self.theatre.slot.send(op).unwrap();
        tickscope::request_reset();
        self.model.ask(asked);
        support::wait_for("an answer", || self.theatre.slot.reply(&sent).unwrap());
        wait_until("the reset", || {
            tickscope::snapshot().capture.reset_epoch >= self.model.epoch
        });
        Ok(())
    }

    /// Takes and compares a snapshot, ends all threads, and then compares the closed epochs and their sum.
    fn end(&mut self) -> Result<(), Difference> {
        self.look()?;
        for hand in 0..HANDS {
            if self.hands[hand].is_some() {
                self.act(hand, &Act::End(program::End::Panic));
            }
        }
        let last = self.look()?;
        let closings = self.closings();
        for (epoch, closed) in &self.model.closed {
            compare::closing(&closings[epoch], closed, &self.tids)?;
        }
        self.theatre.resets += closings.len() as u64;
        compare::sum(&last, &closings, &self.before)
    }

    /// Reads from the ring the snapshots that closed this program's epochs, and returns them by epoch.
    fn closings(&self) -> BTreeMap<u64, Snapshot> {
        let mut closings = BTreeMap::new();
        wait_until("all closing records", || {
            closings = self.closings_so_far();
            self.model.closed.keys().all(|epoch| closings.contains_key(epoch))
        });
        closings
    }

    fn closings_so_far(&self) -> BTreeMap<u64, Snapshot> {
        let mut closings = BTreeMap::new();
        let mut at = self.theatre.ring.newest().ok();
        while let Some(record) = at {
            let snapshot = tickscope_format::codec::decode(&record.payload).unwrap();
            if snapshot.capture.reset_epoch < self.before.capture.reset_epoch {
                break;
            }
            if snapshot.capture.kind == CaptureKind::Closing {
                closings.insert(snapshot.capture.reset_epoch, snapshot);
            }
            at = self.theatre.ring.before(&record).unwrap();
        }
        closings
    }
}

fn process_cpu_ns() -> u64 {
    support::cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays programs. If one fails, shortens and prints it.
fn play(name: &'static str, limits: (usize, usize)) {
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PROGRAMS").map_or(PROGRAMS, |programs| programs / 2),
    };
    let mut resets = 0;
    for first in seeds.clone().step_by(IN_A_PROCESS as usize) {
        let child = Isolated::new(name).env("FIRST", first.to_string());
        let done = child.succeeds(|| {
            let first = number("FIRST").unwrap();
            play_some(first..seeds.end.min(first + IN_A_PROCESS), limits);
        });
        let told = std::fs::read_to_string(done.place().join("resets")).unwrap();
        resets += told.parse::<u64>().unwrap();
    }
    println!(
        "G10: {} programs, {resets} resets, 0 differences",
        seeds.end - seeds.start
    );
}

/// Plays programs in this process.
fn play_some(seeds: Range<u64>, limits: (usize, usize)) {
    let mut theatre = Theatre::open(limits);
    for seed in seeds {
        let program = Program::random(seed);
        if seed % IN_A_SESSION == IN_A_SESSION - 1 {
            theatre.begin_again();
        }
        if let Err(difference) = theatre.play(&program) {
            let theatre = std::cell::RefCell::new(theatre);
            let short = program.shrunk(|program| theatre.borrow_mut().play(program).is_err());
            let again = theatre.borrow_mut().play(&short);
            panic!("seed {seed}: {difference}\nshrunk:\n{short}{again:?}");
        }
    }
    support::tell("resets", theatre.resets.to_string());
}

fn random_programs_count_what_the_model_counts() {
    play(test_name!(), (512, 65_536));
}

fn random_programs_at_the_limits_count_what_the_model_counts() {
    play(test_name!(), (4, 12));
}

tickscope_testkit::tests![
    random_programs_count_what_the_model_counts,
    random_programs_at_the_limits_count_what_the_model_counts,
];

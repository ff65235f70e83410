//! Random programs: the steps of their threads. Every step is valid at any time, so that a program without some of its steps is a
//! program.

use std::fmt;

use tickscope_format::snapshot::Mode;

use crate::support::Random;

/// Names of scopes, by number. The last scope is called thousands of times at once.
pub(crate) const SCOPES: [&str; 6] = ["red", "green", "blue", "gold", "grey", "burst"];

/// Number of the scopes that any step may open.
pub(crate) const PLAIN: u64 = 5;

/// Names of counters, by their number.
pub(crate) const COUNTERS: [&str; 2] = ["lines", "bytes"];

/// Names of values and of gauges, by their number.
pub(crate) const VALUES: [&str; 2] = ["rows", "sizes"];
pub(crate) const GAUGES: [&str; 2] = ["queue", "green level"];

/// The profiled future, and the scope in the signal handler.
pub(crate) const POLLED: &str = "polled";
pub(crate) const HANDLED: &str = "handled";

/// Patterns of rules.
pub(crate) const PATTERNS: [&str; 8] = ["red", "green", "bytes", "polled", "rows", "queue", "gr*", "*"];

/// Number of threads at once, and of the names that they share.
pub(crate) const HANDS: usize = 4;
pub(crate) const NAMES: usize = 2;

/// Number of futures that any thread may poll.
pub(crate) const FUTURES: u64 = 3;

/// Number of blocks of memory that any thread may allocate, resize and free.
pub(crate) const BLOCKS: u64 = 5;

/// Size in bytes from which a block is certainly sampled: one point lies on 512 KiB on average.
pub(crate) const SAMPLED: usize = 40 << 20;

/// Number of calls of one burst.
pub(crate) const BURST: u64 = 1500;

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Time passes, for all threads.
    Spend(u64),
    /// Takes and checks a snapshot.
    Look,
    /// A thread acts; a thread that is not there begins with this act.
    Do(usize, Act),
    /// A viewer asks the publisher, and right after it the program asks for a reset.
    Ask(Asked),
}

/// Request of a viewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    Reset,
    Undo,
    Mode(Mode),
}

/// Act of a thread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    Open(usize),
    /// Drops the guard at this distance from the newest.
    Close(usize),
    Leak(usize),
    /// Gives a guard away; some thread drops it.
    Give(usize),
    DropGiven,
    /// Scopes inside each other, each with time in it. They end as usual or by a panic that is caught.
    Nest {
        scopes: Vec<usize>,
        spend: u64,
        panics: bool,
    },
    Count(usize, u64),
    /// A scope during whose opening the clock itself opens another scope.
    OpenInterrupted(usize),
    /// A signal handler with a scope of its own.
    Signal,
    Poll(usize),
    /// Drops a future, wherever it was polled.
    DropFuture(usize),
    Value(usize, u64),
    Gauge(usize, i64),
    /// Puts a new block of this size in the place of another block.
    Allocate(usize, usize),
    /// Grows a block to at least this size.
    Grow(usize, usize),
    Free(usize),
    Burst,
    Pause,
    Resume,
    LeakPause,
    Exclude,
    Include,
    Reset,
    SetMode(Mode),
    SetHistogram(bool),
    Off(usize),
    On(usize),
    End(End),
}

/// How a thread ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    /// By a panic that no code catches, from the innermost scope out.
    Panic,
    /// Its guards lie in a vector, which drops the outermost first.
    WrongOrder,
    /// With all its guards leaked.
    Leaking,
}

/// A program.
#[derive(Clone)]
pub(crate) struct Program(pub(crate) Vec<Step>);

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Do(hand, act) => writeln!(f, "{number:4}  thread {hand}: {act:?}")?,
                Step::Spend(_) | Step::Look | Step::Ask(_) => writeln!(f, "{number:4}  {step:?}")?,
            }
        }
        Ok(())
    }
}

impl Program {
    /// Returns the program of a seed.
    pub(crate) fn random(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // Neighbouring seeds give similar first numbers.
        (0..8).for_each(|_| _ = random.below(2));
        let steps = 10 + random.below(70);
        // Most programs stay in one or two modes for long, so that much happens in them.
        let switches = random.below(4);
        Self((0..steps).map(|_| step(&mut random, switches)).collect())
    }

    /// Returns the smallest failing program that is found by leaving steps out.
    pub(crate) fn shrunk(mut self, fails: impl Fn(&Self) -> bool) -> Self {
        let mut width = self.0.len().div_ceil(2);
        while width > 0 {
            let mut at = 0;
            while at < self.0.len() {
                let mut shorter = self.clone();
                shorter.0.drain(at..(at + width).min(self.0.len()));
                if fails(&shorter) {
                    self = shorter;
                } else {
                    at += width;
                }
            }
            width /= 2;
        }
        self
    }
}

fn step(random: &mut Random, switches: u64) -> Step {
    match random.below(100) {
        0..=24 => Step::Spend(match random.below(4) {
            0 => random.below(3),
            1 => random.below(100_000),
            _ => 1 + random.below(200),
        }),
        25..=27 => Step::Look,
        28..=29 => Step::Ask(match random.below(4) {
            0 => Asked::Reset,
            1 if switches > 0 => Asked::Mode(mode(random)),
            _ => Asked::Undo,
        }),
        _ => Step::Do(random.below(HANDS as u64) as usize, act(random, switches)),
    }
}

fn mode(random: &mut Random) -> Mode {
    [Mode::Exact, Mode::Exact, Mode::Adaptive, Mode::Sampled, Mode::Off][random.below(5) as usize]
}

/// Returns a size of a block in bytes: a small block may be sampled, a large block always is.
fn bytes(random: &mut Random) -> usize {
    match random.below(3) {
        0 => SAMPLED + random.below(SAMPLED as u64) as usize,
        _ => 1 + random.below(5_000) as usize,
    }
}

fn act(random: &mut Random, switches: u64) -> Act {
    let scope = random.below(PLAIN) as usize;
    let pattern = random.below(PATTERNS.len() as u64) as usize;
    let block = random.below(BLOCKS) as usize;
    match random.below(130) {
        100..=105 => Act::Allocate(block, bytes(random)),
        106..=108 => Act::Grow(block, bytes(random)),
        109..=112 => Act::Free(block),
        113..=116 => Act::DropFuture(random.below(FUTURES) as usize),
        117..=119 => Act::Poll(random.below(FUTURES) as usize),
        120..=124 => {
            let digits = random.below(40);
            Act::Value(
                random.below(VALUES.len() as u64) as usize,
                random.below(1 << digits),
            )
        }
        125..=129 => {
            let level = random.below(2_000) as i64 - 1_000;
            Act::Gauge(random.below(GAUGES.len() as u64) as usize, level)
        }
        0..=24 => Act::Open(scope),
        25..=41 => Act::Close(0),
        42..=43 => Act::Close(random.below(4) as usize),
        44..=45 => Act::Leak(random.below(3) as usize),
        46 => Act::Give(random.below(3) as usize),
        47 => Act::DropGiven,
        48..=55 => Act::Nest {
            scopes: (0..=random.below(6))
                .map(|_| random.below(PLAIN) as usize)
                .collect(),
            spend: random.below(50),
            panics: random.below(2) == 0,
        },
        56..=62 => Act::Count(random.below(COUNTERS.len() as u64) as usize, random.below(1000)),
        63..=64 => Act::OpenInterrupted(scope),
        65 => Act::Signal,
        66..=69 => Act::Poll(random.below(FUTURES) as usize),
        70 if random.below(4) == 0 => Act::Burst,
        71..=73 => Act::Pause,
        74..=76 => Act::Resume,
        77 if random.below(4) == 0 => Act::LeakPause,
        78 => Act::Exclude,
        79..=80 => Act::Include,
        81..=83 => Act::Reset,
        84..=86 if random.below(4) < switches => Act::SetMode(mode(random)),
        87 if random.below(4) < switches => Act::SetHistogram(random.below(2) == 0),
        88 => Act::Off(pattern),
        89..=90 => Act::On(pattern),
        91..=93 => Act::End([End::Panic, End::WrongOrder, End::Leaking][random.below(3) as usize]),
        _ => Act::Open(scope),
    }
}

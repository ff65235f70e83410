//! Random programs. Each is a list of steps for its threads. Every step is valid at any time, so a program stays valid
//! when steps are removed.

use std::fmt;

use tickscope_format::snapshot::Mode;

use crate::support::Random;

/// Names of the scopes. Steps refer to a scope by its index. [`Act::Burst`] calls the last one `BURST` times in a row.
pub(crate) const SCOPES: [&str; 6] = ["red", "green", "blue", "gold", "grey", "burst"];

/// Number of scopes that any step may open. The last scope is not among them.
pub(crate) const PLAIN: u64 = 5;

/// Names of the counters. Steps refer to a counter by its index.
pub(crate) const COUNTERS: [&str; 2] = ["lines", "bytes"];

/// Names of the values and gauges. Steps refer to them by their indices.
pub(crate) const VALUES: [&str; 2] = ["rows", "sizes"];
pub(crate) const GAUGES: [&str; 2] = ["queue", "green level"];

/// Names of the profiled future and of the scope in the signal handler.
pub(crate) const POLLED: &str = "polled";
pub(crate) const HANDLED: &str = "handled";

/// Patterns of the sites that [`Act::Off`] and [`Act::On`] switch off and on.
pub(crate) const PATTERNS: [&str; 8] = ["red", "green", "bytes", "polled", "rows", "queue", "gr*", "*"];

/// Number of hands, and number of thread names that the hands share. Each hand has at most one thread at a time.
pub(crate) const HANDS: usize = 4;
pub(crate) const NAMES: usize = 2;

/// Number of futures that any thread may poll.
pub(crate) const FUTURES: u64 = 3;

/// Number of memory blocks that any thread may allocate, resize and free.
pub(crate) const BLOCKS: u64 = 5;

/// Blocks of at least this many bytes are practically certain to be sampled: on average, one sample is taken for every 512 KiB.
pub(crate) const SAMPLED: usize = 40 << 20;

/// Number of calls of one burst.
pub(crate) const BURST: u64 = 1500;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Advances the clock, which all threads share, by this many ticks.
    Spend(u64),
    /// Takes and checks a snapshot.
    Look,
    /// Makes a hand carry out an act. If the hand has no running thread, a new thread starts with this act.
    Do(usize, Act),
    /// Sends a viewer's request. Right after that, the program itself requests a reset.
    Ask(Asked),
}

/// Request of a viewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    Reset,
    Undo,
    Mode(Mode),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    Open(usize),
    /// Drops one of the thread's guards, counted back from the newest, which is 0.
    Close(usize),
    Leak(usize),
    /// Hands a guard over to whichever thread does the next `DropGiven`.
    Give(usize),
    DropGiven,
    /// Opens nested scopes and spends time in each. They are closed normally, or by a panic that is caught.
    Nest {
        scopes: Vec<usize>,
        spend: u64,
        panics: bool,
    },
    Count(usize, u64),
    /// Opens a scope. While that reads the clock, the clock function opens another scope.
    OpenInterrupted(usize),
    /// Runs a signal handler that opens a scope.
    Signal,
    Poll(usize),
    /// Drops a future, no matter which threads polled it.
    DropFuture(usize),
    Value(usize, u64),
    Gauge(usize, i64),
    /// Replaces a block with a new block of this size.
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
    /// It panics, and nothing catches the panic. The innermost guard is dropped first.
    Panic,
    /// It returns, and drops its outermost guard first.
    WrongOrder,
    /// It leaks all its guards and pauses, and returns.
    Leaking,
}

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
    pub(crate) fn random(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // Skip the first numbers, which are similar if two seeds are close together.
        (0..8).for_each(|_| _ = random.below(2));
        let steps = 10 + random.below(70);
        // Keeps switches of the mode and of histograms rare, so that much happens between them.
        let switches = random.below(4);
        Self((0..steps).map(|_| step(&mut random, switches)).collect())
    }

    /// Removes steps as long as the program still fails, and returns the smallest failing program that was found.
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

/// Returns a random block size in bytes. The block is either small, and may or may not be sampled, or so large that it
/// is practically certain to be sampled.
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

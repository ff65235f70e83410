//! Tests the standard errors: runs a program whose true shares of time are known many times, each time with a different seed.
//!
//! Its functions spin on the clock for a random number of ticks, and add up the ticks that have actually passed. This
//! sum is the true time under any load. For the true working time, time without a CPU is left out: if far more ticks
//! have passed than were drawn, only the drawn ticks count.

use std::iter::repeat_n;
use std::time::{Duration, Instant};

use tickscope::Mode;
use tickscope_bench::shown::Shown;
use tickscope_bench::workloads::work;
use tickscope_bench::{Scoped, probe};

/// Number of runs of a mode.
const RUNS: u64 = 100;

/// Time that adaptive mode gets to learn before the first run.
const LEARNING: Duration = Duration::from_millis(1500);

/// How far the shown share may be from the true one, in units of the shown standard error.
const WITHIN: f64 = 2.0;

/// Functions that [`handle`] calls, each with its mean duration in ticks and its number of calls out of 100. Their
/// shares of the time range from 5 to 40 %.
const CHILDREN: [Child; 6] = [
    Child::new("scan", scan, 6_000, 40),
    Child::new("parse", parse, 10_000, 12),
    Child::new("check", check, 4_000, 18),
    Child::new("sort", sort, 3_000, 15),
    Child::new("store", store, 8_000, 6),
    Child::new("send", send, 3_600, 9),
];

/// Mean duration of `handle` itself in ticks, and the number of children that it calls.
const HANDLE: u64 = 4_000;
const CALLS: usize = 3;

/// Index of `handle` in [`Ticks`].
const OF_HANDLE: usize = CHILDREN.len();

/// If this many more ticks have passed than were drawn, the thread is assumed to have been without a CPU for a while.
const HAD_NO_CPU: u64 = 20_000;

/// Ticks of each child, followed by the ticks of `handle` itself.
type Ticks = [u64; CHILDREN.len() + 1];

/// True ticks of a run: in total, and while working.
#[derive(Debug, Default)]
struct Truth {
    time: Ticks,
    working: Ticks,
}

impl Truth {
    /// Adds one call of the function whose index in [`Ticks`] is `place`.
    fn add(&mut self, place: usize, (passed, drawn): (u64, u64)) {
        self.time[place] += passed;
        self.working[place] += if passed - drawn < HAD_NO_CPU {
            passed
        } else {
            drawn
        };
    }
}

#[derive(Debug)]
struct Child {
    name: &'static str,
    run: fn(u64) -> (u64, u64),
    mean: u64,
    of_100: u64,
}

impl Child {
    const fn new(name: &'static str, run: fn(u64) -> (u64, u64), mean: u64, of_100: u64) -> Self {
        Self {
            name,
            run,
            mean,
            of_100,
        }
    }
}

/// Reads the clock until this many ticks have passed. Returns the number of ticks that actually passed, and the number
/// requested.
#[inline(always)]
fn spin(ticks: u64) -> (u64, u64) {
    let begin = tickscope::__private::tsc();
    loop {
        let passed = tickscope::__private::tsc().wrapping_sub(begin);
        if passed >= ticks {
            return (passed, ticks);
        }
    }
}

macro_rules! spinning {
    ($($function:ident $name:literal)*) => {
        $(#[inline(never)]
        fn $function(ticks: u64) -> (u64, u64) {
            probe!(Scoped, $name);
            spin(ticks)
        })*
    };
}

spinning! { scan "scan" parse "parse" check "check" sort "sort" store "store" send "send" }

/// A call of `handle`: its own ticks, and its children with their ticks.
#[derive(Debug)]
struct Call {
    own: u64,
    children: [(usize, u64); CALLS],
}

#[inline(never)]
fn handle(call: &Call, truth: &mut Truth) {
    probe!(Scoped, "handle");
    truth.add(OF_HANDLE, spin(call.own / 2));
    for &(child, ticks) in &call.children {
        truth.add(child, (CHILDREN[child].run)(ticks));
    }
    truth.add(OF_HANDLE, spin(call.own - call.own / 2));
}

/// Generates random calls from a seed. Their durations are exponentially distributed.
fn calls(seed: u64, count: usize) -> Vec<Call> {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = || {
        state = work(1, state);
        state >> 11
    };
    let call = |_| {
        let mut ticks = |mean: u64| {
            let uniform = (draw() as f64 + 0.5) / (1u64 << 53) as f64;
            (-uniform.ln() * mean as f64) as u64
        };
        let own = ticks(HANDLE);
        let lengths = [(); CALLS].map(|()| ticks(1 << 20));
        let children = lengths.map(|length| {
            let child = child(draw() % 100);
            // The length was drawn with a mean of 2^20 and is scaled to the child's mean.
            let ticks = (u128::from(length) * u128::from(CHILDREN[child].mean)) >> 20;
            (child, ticks as u64)
        });
        Call { own, children }
    };
    (0..count).map(call).collect()
}

/// Maps a random number below 100 to a child, according to each child's number of calls out of 100.
fn child(number: u64) -> usize {
    let each = (0..).zip(&CHILDREN);
    let mut all = each.flat_map(|(index, child)| repeat_n(index, child.of_100 as usize));
    all.nth(number as usize).unwrap_or(CHILDREN.len() - 1)
}

/// Number of calls that are drawn for a run. The run cycles through them.
const DRAWN: usize = 4_000;

/// Runs the program with calls drawn from a seed for this time, and returns the true ticks.
fn run(seed: u64, time: Duration) -> Truth {
    let calls = calls(seed, DRAWN);
    let mut truth = Truth::default();
    let begin = Instant::now();
    // The reset comes after the calls have been drawn, so that drawing them does not count as part of this run.
    tickscope::reset();
    for call in calls.iter().cycle() {
        if begin.elapsed() >= time {
            break;
        }
        handle(call, &mut truth);
    }
    truth
}

/// Results of all runs in a mode, for either total time or working time.
#[derive(Debug, Default)]
struct Outcomes {
    /// Number of shown shares that are close enough to the true ones (see [`WITHIN`]).
    within: u64,
    /// Number of runs in which all shown shares are close enough.
    runs_within: u64,
    /// Largest difference between a shown share and the true share.
    largest: f64,
}

impl Outcomes {
    /// Compares the shares shown after a run with the true ones.
    fn add(&mut self, shown: &Shown, truth: &Ticks) {
        let all: u64 = truth.iter().sum();
        let mut within = 0;
        for (name, &ticks) in names().zip(truth) {
            let (share, error) = shown.share(name);
            let difference = (share - ticks as f64 / all as f64).abs();
            within += u64::from(difference <= WITHIN * error);
            self.largest = self.largest.max(difference);
        }
        self.within += within;
        self.runs_within += u64::from(within == truth.len() as u64);
    }

    fn print(&self, mode: &str, measure: &str) {
        println!(
            r#"{{"kind":"errors","mode":"{mode}","measure":"{measure}","runs":{RUNS},"shares":{},"within":{},"runs_within":{},"largest_error":{:.4}}}"#,
            RUNS * names().count() as u64,
            self.within,
            self.runs_within,
            self.largest,
        );
    }
}

/// Runs the program in adaptive and in sampled mode, and prints the errors of each mode as JSON: one object for total
/// time, and another one for working time if the mode distinguishes working from waiting.
pub(crate) fn print(time: Duration) {
    for mode in [Mode::Adaptive, Mode::Sampled] {
        tickscope::set_mode(mode);
        run(0, LEARNING.min(time * 4));
        let [mut by_time, mut by_working] = [Outcomes::default(), Outcomes::default()];
        let mut has_waits = true;
        let mut name = "";
        for seed in 1..=RUNS {
            let truth = run(seed, time);
            let snapshot = tickscope::reset();
            by_time.add(&Shown::of(&snapshot), &truth.time);
            by_working.add(&Shown::of_work(&snapshot), &truth.working);
            has_waits &= snapshot.waits;
            name = snapshot.capture.mode.as_str();
        }
        by_time.print(name, "time");
        if has_waits {
            by_working.print(name, "working");
        }
    }
}

/// Returns the names of the functions, in the order of [`Ticks`].
fn names() -> impl Iterator<Item = &'static str> {
    CHILDREN.iter().map(|child| child.name).chain(["handle"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_5_to_40_percent() {
        assert_eq!(CHILDREN.iter().map(|child| child.of_100).sum::<u64>(), 100);
        let mut truth = Ticks::default();
        for call in calls(7, 100_000) {
            truth[OF_HANDLE] += call.own;
            for (child, ticks) in call.children {
                truth[child] += ticks;
            }
        }
        let all: u64 = truth.iter().sum();
        for (name, ticks) in names().zip(truth) {
            let share = ticks as f64 / all as f64;
            assert!((0.045..=0.4).contains(&share), "{name}: {share}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_calls() {
        let drawn = |seed| format!("{:?}", calls(seed, 10));
        assert_eq!(drawn(3), drawn(3));
        assert_ne!(drawn(3), drawn(4));
    }
}

//! What all threads of a run share: whether it is over, its directory, and what it has reached so far.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::process::Place;

/// The longest time that a sleeper needs to notice the end.
const NAP: Duration = Duration::from_millis(20);

/// The number of errors that are printed; all are counted.
const PRINTED: u64 = 20;

/// A run.
#[derive(Debug)]
pub(crate) struct Soak {
    pub(crate) place: Place,
    pub(crate) over: Over,
    pub(crate) tally: Tally,
}

/// What it has reached so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) errors: Count,
    /// Programs that were killed after they had published; wrong without an intact newest snapshot.
    pub(crate) kills: Figure,
    /// Rings that were truncated or removed while the program published; wrong are programs and viewers that died of it.
    pub(crate) cuts: Figure,
    /// Complete snapshots that were read; wrong if they contradict themselves or an earlier one.
    pub(crate) reads: Figure,
    /// Requests that were answered; wrong are programs that carried one out twice or not at all.
    pub(crate) requests: Figure,
    /// Records that were added up; wrong if the epochs do not add up to the total.
    pub(crate) records: Figure,
    /// Records with live bytes; wrong if these are further from the truth than they say.
    pub(crate) live: Figure,
    /// Records that were overwritten between two looks.
    pub(crate) missed: Count,
    /// The most bytes that a viewer has kept of the past.
    pub(crate) kept: Count,
    /// How often something was done, by what it is.
    pub(crate) done: Mutex<BTreeMap<&'static str, u64>>,
}

/// How often something was tried, and how often it was wrong.
#[derive(Debug, Default)]
pub(crate) struct Figure {
    pub(crate) all: Count,
    pub(crate) wrong: Count,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

/// Whether something is over: the run, by its time or by Ctrl-C; or a part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(pub(crate) Arc<AtomicBool>);

impl Tally {
    /// Counts something that was done.
    pub(crate) fn did(&self, what: &'static str, times: u64) {
        if let Ok(mut done) = self.done.lock() {
            *done.entry(what).or_default() += times;
        }
    }

    /// Counts an error, and prints it at once.
    #[allow(clippy::print_stderr, reason = "a program that speaks to its user")]
    pub(crate) fn error(&self, what: impl Display) {
        self.errors.add(1);
        if self.errors.get() <= PRINTED {
            eprintln!("error: {what:#}");
        }
    }

    /// Counts an error of a figure, if there is one. Returns what is right.
    pub(crate) fn check<T>(&self, figure: &Figure, checked: anyhow::Result<T>) -> Option<T> {
        if let Err(why) = &checked {
            figure.wrong.add(1);
            self.error(why);
        }
        checked.ok()
    }
}

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Makes it at least so large.
    pub(crate) fn raise(&self, to: u64) {
        self.0.fetch_max(to, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Over {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Relaxed);
    }

    /// Sleeps for so many milliseconds, or until it is over. Returns whether it is.
    pub(crate) fn sleep(&self, ms: u64) -> bool {
        let end = Instant::now() + Duration::from_millis(ms);
        while !self.is_set() && Instant::now() < end {
            thread::sleep(NAP.min(end.saturating_duration_since(Instant::now())));
        }
        self.is_set()
    }
}

/// Returns true once in `times` times on average.
pub(crate) fn one_in(random: &mut Rng, times: u32) -> bool {
    random.u32(..times) == 0
}

/// Returns one of these; there must be at least one.
pub(crate) fn one_of<T: Copy>(random: &mut Rng, things: &[T]) -> T {
    things[random.usize(..things.len())]
}

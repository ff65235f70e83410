//! Series of short operations, alternately without a session and with a session that a viewer watches.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use tickscope_bench::kernel;
use tickscope_bench::statistics::{Middle, quantile, sorted};
use tickscope_bench::workloads::work;
use tickscope_bench::{Plain, Probe, Scoped, probe};
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::slots::Op;

use crate::viewer;

/// Number of records per second that the viewer requests.
pub(crate) const HZ: u64 = 10;

/// Number of values that are measured for a series. These are the median, p99.9, p99.99, the maximum, and p99.9 of the
/// uninterrupted operations, all in nanoseconds; the interruptions in the time that 100,000 operations take without a session;
/// the thread's page faults, voluntary and involuntary context switches per second; and the records per second.
pub(crate) const FIGURES: usize = 10;

/// Indices of the values that are compared: p99.9, p99.99, p99.9 of the uninterrupted operations, and the interruptions.
const COMPARED: [usize; 4] = [1, 2, 4, 5];

/// An operation counts as interrupted if it takes this much longer than the median without a session, in nanoseconds.
const INTERRUPTED: f64 = 1000.0;

/// Number of operations in a series, which takes about 0.3 s.
const OPERATIONS: usize = 250_000;

/// Number of pages that an operation touches, and number of words in a page.
const PAGES: usize = 64;
const PAGE_WORDS: usize = 512;

/// Pause before each series, in which a session creates its ring and removes the rings of programs that have ended.
const SETTLED: Duration = Duration::from_millis(150);

struct Series {
    /// Durations of all operations in nanoseconds, sorted.
    times: Vec<f64>,
    /// Page faults, voluntary and involuntary context switches per second.
    kernel: [f64; 3],
    records: f64,
}

/// A session and its viewer.
struct Watched {
    session: tickscope::Session,
    ring: RingFile,
    /// The viewer's slot. While it is held, the program publishes for this viewer.
    _slot: Slot,
}

/// Memory that an operation touches, as functions in real programs do: one word in each of several pages. On some virtual
/// machines the host's timer drops page tables. If operations touched no memory, only scopes would be slowed down by that.
struct Memory([[u64; PAGE_WORDS]; PAGES]);

/// Does about 1 us of work.
#[inline(never)]
fn operation<P: Probe>(seed: u64, memory: &mut Memory) -> u64 {
    probe!(P, "operation");
    for (at, page) in memory.0.iter_mut().enumerate() {
        // Spreads the words over different sets of the CPU's cache.
        let word = &mut page[at * 8 % PAGE_WORDS];
        *word = black_box(*word).wrapping_add(seed);
    }
    work(590, seed)
}

fn series<P: Probe>() -> Series {
    let mut memory = Box::new(Memory([[1; PAGE_WORDS]; PAGES]));
    // The first operations run with cold caches and are not measured.
    (0..1000).for_each(|seed| _ = black_box(operation::<P>(seed, &mut memory)));
    let mut times = vec![1u64; OPERATIONS];
    let (before, begin) = (kernel::thread(), Instant::now());
    for (seed, time) in (0u64..).zip(&mut times) {
        let begin = Instant::now();
        black_box(operation::<P>(seed, &mut memory));
        *time = begin.elapsed().as_nanos() as u64;
    }
    let (after, seconds) = (kernel::thread(), begin.elapsed().as_secs_f64());
    Series {
        times: sorted(times.into_iter().map(|time| time as f64)),
        kernel: [0, 1, 2].map(|at| (after[at] - before[at]) / seconds),
        records: f64::NAN,
    }
}

/// Measures a series without a session. The pause before it is as long as with a session, so that the effects of the
/// pause on the core and the host cancel out.
fn rested() -> Series {
    thread::sleep(SETTLED);
    series::<Plain>()
}

/// Medians of all rounds.
#[derive(Debug)]
pub(crate) struct Told {
    /// Measured values without and with a session.
    pub(crate) both: [[f64; FIGURES]; 2],
    /// What a session adds to each of the compared values.
    pub(crate) added: [Middle; COMPARED.len()],
}

/// Runs this many paired rounds, each of which measures without and with a session.
pub(crate) fn run(rounds: usize) -> Result<Told, String> {
    let mut all: [Vec<[f64; FIGURES]>; 2] = Default::default();
    for _ in 0..rounds {
        let first = rested();
        let watched = Watched::start()?;
        let on = [watched.series()?, watched.series()?];
        drop(watched.session);
        let off = [first, rested()];
        let usual = (off[0].median() + off[1].median()) / 2.0;
        for (all, two) in all.iter_mut().zip([off, on]) {
            let [one, other] = two.map(|series| series.figures(usual));
            all.push(std::array::from_fn(|at| (one[at] + other[at]) / 2.0));
        }
    }
    let median = |all: &[[f64; FIGURES]], at: usize| Middle::of(all.iter().map(|one| one[at])).middle;
    let [off, on] = &all;
    let medians = |all: &Vec<[f64; FIGURES]>| std::array::from_fn(|at| median(all, at));
    Ok(Told {
        both: all.each_ref().map(medians),
        added: COMPARED.map(|at| Middle::of(off.iter().zip(on).map(|(off, on)| on[at] - off[at]))),
    })
}

impl Series {
    fn median(&self) -> f64 {
        quantile(&self.times, 0.5)
    }

    /// Returns the measured values. `usual` is the median without a session.
    fn figures(&self, usual: f64) -> [f64; FIGURES] {
        let all = self.times.len();
        let quiet = self.times.partition_point(|time| *time <= usual + INTERRUPTED);
        let [p999, p9999, longest] = [0.999, 0.9999, 1.0].map(|share| quantile(&self.times, share));
        // Longer operations are interrupted more often just because they take longer, so interruptions are counted per
        // unit of time.
        let time = all as f64 * self.median() / usual;
        let interrupted = 100_000.0 * (all - quiet) as f64 / time;
        let [faults, waits, preempted] = self.kernel;
        let quiet = quantile(&self.times[..quiet], 0.999);
        [
            self.median(),
            p999,
            p9999,
            longest,
            quiet,
            interrupted,
            faults,
            waits,
            preempted,
            self.records,
        ]
    }
}

impl Watched {
    fn start() -> Result<Self, String> {
        let session = tickscope::Builder::new("harm")
            .mode(tickscope::Mode::Exact)
            .start();
        let (ring, mut slot) = viewer::attach(&session)?;
        let wish = Op::Interval(1_000_000_000 / HZ);
        slot.send(wish).map_err(|error| error.to_string())?;
        Ok(Self {
            session,
            ring,
            _slot: slot,
        })
    }

    fn series(&self) -> Result<Series, String> {
        let number = || {
            let newest = self.ring.newest().map_err(|error| error.to_string())?;
            Ok::<_, String>(newest.sequence as f64)
        };
        thread::sleep(SETTLED);
        let (before, begin) = (number()?, Instant::now());
        let series = series::<Scoped>();
        let seconds = begin.elapsed().as_secs_f64();
        Ok(Series {
            records: (number()? - before) / seconds,
            ..series
        })
    }
}

//! Series of short operations, without a session and with one that a viewer watches, in turns.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use tickscope_examples::statistics::{interval, median, sorted};
use tickscope_examples::timing::waited_for_core;
use tickscope_examples::workloads::{deep, work};
use tickscope_examples::{Plain, Probe, Scoped, probe};
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::slots::Op;

use crate::kernel;

/// Numbers that [`run`] writes.
pub(crate) const NUMBERS: usize = 28;

/// Operations of a series: some 0.3 s.
const OPERATIONS: usize = 250_000;

/// So many operations pass between two visits to the other nodes, which are not timed.
const BETWEEN: u64 = 50;

/// Functions on each level of those, and levels.
const FUNCTIONS: u64 = 17;
const LEVELS: u32 = 4;

/// Until a session has its ring and has cleaned up behind others.
const SETTLED: Duration = Duration::from_millis(150);

/// How long a ring is waited for.
const LONGEST: Duration = Duration::from_secs(10);

/// Operations above this, in nanoseconds, may have lost their core meanwhile.
const SLOW: u64 = 3000;

/// What was measured of one series.
struct Series {
    /// Median, p99.9, p99.99 and longest, in nanoseconds.
    times: [f64; 4],
    /// p99.9 and p99.99 of those that kept their core all the while.
    kept: [f64; 2],
    /// Page faults, voluntary and involuntary switches in a second.
    kernel: [f64; 3],
    records: f64,
}

/// A session and its viewer.
struct Watched {
    session: tickscope::Session,
    ring: RingFile,
    /// Held: the program publishes for it.
    _slot: Slot,
}

/// Some 1 us of work.
#[inline(never)]
fn operation<P: Probe>(seed: u64) -> u64 {
    probe!(P, "operation");
    work(650, seed)
}

/// A place among as many nodes as there are to be.
fn visit<P: Probe>(nodes: u64, seed: u64) {
    // The last level has nearly all of them.
    if nodes > FUNCTIONS {
        deep::<P>(seed % (nodes * 16 / 17), LEVELS);
    }
}

fn series<P: Probe>(nodes: u64) -> Series {
    let mut random = 1;
    // The first time is not what is measured.
    (0..nodes).for_each(|path| visit::<P>(nodes, path));
    (0..1000).for_each(|seed| _ = black_box(operation::<P>(seed)));
    let (mut times, mut kept) = (vec![1; OPERATIONS], vec![1; OPERATIONS]);
    kept.clear();
    let mut waited = waited_for_core();
    let (before, begin) = (kernel::thread(), Instant::now());
    for (seed, time) in (0u64..).zip(&mut times) {
        if seed.is_multiple_of(BETWEEN) {
            random = work(1, random);
            visit::<P>(nodes, random >> 20);
        }
        let begin = Instant::now();
        black_box(operation::<P>(seed));
        *time = begin.elapsed().as_nanos() as u64;
        if *time <= SLOW {
            kept.push(*time);
        } else {
            let before = std::mem::replace(&mut waited, waited_for_core());
            if waited <= before {
                kept.push(*time);
            }
        }
    }
    let (after, seconds) = (kernel::thread(), begin.elapsed().as_secs_f64());
    times.sort_unstable();
    kept.sort_unstable();
    let at = |times: &[u64], share: f64| times[(times.len() as f64 * share) as usize] as f64;
    let most = times[times.len() - 1] as f64;
    Series {
        times: [at(&times, 0.5), at(&times, 0.999), at(&times, 0.9999), most],
        kept: [at(&kept, 0.999), at(&kept, 0.9999)],
        kernel: [0, 1, 2].map(|at| (after[at] - before[at]) / seconds),
        records: f64::NAN,
    }
}

/// The child's part: nodes, records a second that are asked for, paired rounds.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let numbers: Vec<u64> = words.iter().flat_map(|word| word.parse()).collect();
    let [nodes, hz, rounds] = numbers[..] else {
        return Err("wanted: nodes, records a second, rounds".to_owned());
    };
    let mut pairs = Vec::new();
    let mut made = 0;
    for _ in 0..rounds {
        let first = series::<Plain>(nodes);
        let watched = Watched::start(hz)?;
        let both = [watched.series(nodes)?, watched.series(nodes)?];
        made = made.max(tickscope::snapshot().nodes.len());
        drop(watched.session);
        pairs.push(([first, series::<Plain>(nodes)], both));
    }
    let off = |of: fn(&Series) -> f64| middle(pairs.iter().map(|(off, _)| mean(off, of)));
    let on = |of: fn(&Series) -> f64| middle(pairs.iter().map(|(_, on)| mean(on, of)));
    let times: [fn(&Series) -> f64; 4] = [
        |one| one.times[0],
        |one| one.times[1],
        |one| one.times[2],
        |one| one.times[3],
    ];
    let kept: [fn(&Series) -> f64; 2] = [|one| one.kept[0], |one| one.kept[1]];
    let kernel: [fn(&Series) -> f64; 3] = [|one| one.kernel[0], |one| one.kernel[1], |one| one.kernel[2]];
    let added = |of: fn(&Series) -> f64| {
        let added = sorted(pairs.iter().map(|(off, on)| mean(on, of) - mean(off, of)));
        let (low, high) = interval(&added);
        [median(&added), low, high]
    };
    let mut told: Vec<f64> = Vec::new();
    told.extend(times.map(off));
    told.extend(times.map(on));
    let compared = [times[1], times[2], kept[0], kept[1]];
    told.extend(compared.map(added).as_flattened());
    told.extend(kernel.map(off));
    told.extend(kernel.map(on));
    told.extend([on(|one| one.records), made as f64]);
    let told: Vec<String> = told.iter().map(f64::to_string).collect();
    println!("{}", told.join(" "));
    Ok(())
}

/// Of two series.
fn mean(two: &[Series; 2], of: fn(&Series) -> f64) -> f64 {
    (of(&two[0]) + of(&two[1])) / 2.0
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    median(&sorted(values))
}

// === impl Watched ===

impl Watched {
    fn start(hz: u64) -> Result<Self, String> {
        let session = tickscope::start("harm");
        let begin = Instant::now();
        let path = loop {
            match session.path() {
                Some(path) => break path,
                None if begin.elapsed() > LONGEST => {
                    return Err(format!("no ring: {}", session.warnings().join("; ")));
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let ring = RingFile::open(&path).map_err(|error| error.to_string())?;
        let slot = ring.take_slot().map_err(|error| error.to_string())?;
        let mut slot = slot.ok_or("no slot for a viewer")?;
        let wish = Op::Interval(1_000_000_000 / hz);
        slot.send(wish).map_err(|error| error.to_string())?;
        thread::sleep(SETTLED);
        Ok(Self {
            session,
            ring,
            _slot: slot,
        })
    }

    fn series(&self, nodes: u64) -> Result<Series, String> {
        let number = || {
            let newest = self.ring.newest().map_err(|error| error.to_string())?;
            Ok::<_, String>(newest.sequence as f64)
        };
        let (before, begin) = (number()?, Instant::now());
        let series = series::<Scoped>(nodes);
        let seconds = begin.elapsed().as_secs_f64();
        Ok(Series {
            records: (number()? - before) / seconds,
            ..series
        })
    }
}

//! Measures how long a session takes to start, to write its first record, and to end.

use std::thread;
use std::time::{Duration, Instant};

use tickscope_format::file::open::RingFile;

use crate::child;
use tickscope_bench::statistics::{median, sorted};

/// The number of processes that are started, one after another.
const LIVES: usize = 21;

/// The longest wait for a first record.
const LONGEST: Duration = Duration::from_secs(2);

/// How long a session runs before it ends.
const SETTLED: Duration = Duration::from_millis(100);

/// Prints the medians and maxima over all processes.
pub(crate) fn print() -> Result<(), String> {
    let mut lives = Vec::new();
    for _ in 0..LIVES {
        lives.push(child::numbers::<3>(&[child::LIFE])?);
    }
    println!("\n{LIVES} processes, one after another (ms)    median     worst");
    for (step, what) in [
        "start() comes back",
        "first record, from before start()",
        "the session is dropped, last record",
    ]
    .iter()
    .enumerate()
    {
        let times = sorted(lives.iter().map(|life| life[step]));
        let worst = times.last().copied().unwrap_or(f64::NAN);
        println!("{what:<36} {:>9.3} {worst:>9.3}", median(&times));
    }
    Ok(())
}

/// Runs a child: one session, whose three times it prints in milliseconds.
pub(crate) fn run() -> Result<(), String> {
    let ms = |begin: Instant| 1e3 * begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let session = tickscope::start("life");
    let start = ms(begin);
    {
        tickscope::scope!("life");
    }
    // The ring gets its name when it holds a record; the publisher reports the name a little later.
    while !session.path().is_some_and(|path| has_record(&path)) {
        if begin.elapsed() > LONGEST {
            return Err(format!("no record: {}", session.warnings().join("; ")));
        }
        thread::sleep(Duration::from_micros(50));
    }
    let record = ms(begin);
    // A session that has just begun may still be removing the rings of ended programs.
    thread::sleep(SETTLED);
    let end = Instant::now();
    drop(session);
    println!("{start} {record} {}", ms(end));
    Ok(())
}

fn has_record(path: &std::path::Path) -> bool {
    RingFile::open(path).is_ok_and(|ring| ring.newest().is_ok())
}

//! Measures what sampling of lines costs: the CPU time of a picture of `sphereflake`, with all that handles the samples in the process,
//! while they are taken and while they are not, in turns.
//!
//! `lines_cost [ROUNDS]`, 101 rounds unless said otherwise. A round takes a second.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tickscope_bench::Scoped;
use tickscope_bench::pairs;
use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::workloads::{SPHEREFLAKE_SIZE, sphereflake};
use tickscope_format::file::open::{RingFile, Slot};
use tickscope_format::slots::Op;

/// Samples a second, as a user asks for them.
const HZ: u32 = 1_000;

/// Pictures in a turn.
const PICTURES: u64 = 20;

/// Between two looks for an answer.
const PAUSE: Duration = Duration::from_millis(1);

fn main() -> Result<(), String> {
    let word = std::env::args().nth(1);
    let rounds = pairs::rounds(word.as_deref())?;
    let session = tickscope::Builder::new("lines_cost")
        .try_start()
        .map_err(|error| error.to_string())?;
    let path = session.path().ok_or("there is no ring file")?;
    let ring = RingFile::open(&path).map_err(|error| error.to_string())?;
    let slot = ring.take_slot().map_err(|error| error.to_string())?;
    let mut slot = slot.ok_or("the ring file has no place for a viewer")?;
    turn(&mut slot, 0)?;
    let mut ratios = Vec::new();
    let mut sampled_ns = 0.0;
    for _ in 0..rounds {
        let mut took = [0, HZ, HZ, 0].into_iter().map(|hz| turn(&mut slot, hz));
        let mut next = || took.next().unwrap_or(Err(String::new()));
        let [off, on, on_again, off_again] = [next()?, next()?, next()?, next()?];
        sampled_ns += on + on_again;
        ratios.push((on + on_again) / (off + off_again) - 1.0);
    }
    let samples: u64 = tickscope::snapshot()
        .lines
        .samples
        .iter()
        .map(|sample| sample.samples)
        .sum();
    let ratios = sorted(ratios.into_iter().map(|ratio| ratio * 100.0));
    let (low, high) = interval(&ratios);
    println!(
        "lines take {:.2} % [{low:.2} {high:.2}] more CPU time; {} samples a second were asked for, {:.0} came",
        median(&ratios),
        HZ,
        samples as f64 / sampled_ns * 1e9,
    );
    Ok(())
}

/// Returns the nanoseconds of CPU time of a turn in which so many samples a second are taken.
fn turn(slot: &mut Slot, hz: u32) -> Result<f64, String> {
    let sent = slot.send(Op::Lines(hz)).map_err(|error| error.to_string())?;
    while slot.reply(&sent).map_err(|error| error.to_string())?.is_none() {
        thread::sleep(PAUSE);
    }
    let begin = cpu_ns();
    sphereflake::<Scoped>(PICTURES * SPHEREFLAKE_SIZE);
    Ok(cpu_ns() - begin)
}

/// The CPU time of all threads.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

//! Measures the cost of sampling lines: the CPU time for rendering pictures of `sphereflake`, including all that the
//! process does to handle the samples. Turns with and without sampling alternate; a turn takes a second.

use std::error::Error;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tickscope_bench::Scoped;
use tickscope_bench::statistics::{Middle, abba};
use tickscope_bench::workloads::{SPHEREFLAKE_SIZE, sphereflake};
use tickscope_format::FormatError;
use tickscope_format::file::open::Slot;
use tickscope_format::slots::Op;

use crate::viewer;

/// Number of samples to request per second.
const HZ: u32 = 1_000;

/// Number of pictures in a turn.
const PICTURES: u64 = 20;

/// Pause between two checks for a reply.
const PAUSE: Duration = Duration::from_millis(1);

pub(crate) fn print(rounds: u64) -> Result<(), Box<dyn Error>> {
    let session = tickscope::Builder::new("lines").try_start()?;
    let (_ring, mut slot) = viewer::attach(&session)?;
    turn(&mut slot, 0)?;
    let (mut added, mut sampled_ns) = (Vec::new(), 0.0);
    for _ in 0..rounds {
        let (off, on) = abba(|sampled| turn(&mut slot, if sampled { HZ } else { 0 }))?;
        sampled_ns += 2.0 * on;
        added.push(100.0 * (on / off - 1.0));
    }
    let lines = tickscope::snapshot().lines;
    let samples: u64 = lines.samples.iter().map(|sample| sample.samples).sum();
    println!(
        "lines take {:.2} % more CPU time; {HZ} samples a second were asked for, {:.0} came",
        Middle::of(added),
        samples as f64 / sampled_ns * 1e9,
    );
    Ok(())
}

/// Returns the CPU time of a turn with this many samples per second, in nanoseconds.
fn turn(slot: &mut Slot, hz: u32) -> Result<f64, FormatError> {
    let sent = slot.send(Op::Lines(hz))?;
    while slot.reply(&sent)?.is_none() {
        thread::sleep(PAUSE);
    }
    let begin = cpu_ns();
    sphereflake::<Scoped>(PICTURES * SPHEREFLAKE_SIZE);
    Ok(cpu_ns() - begin)
}

/// Returns the CPU time of all threads of the process, in nanoseconds.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

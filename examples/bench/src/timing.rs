//! Times code on a machine that runs other work as well.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Returns the nanoseconds that `run` takes, without the time in which this thread was ready and no core was free.
pub fn timed(run: impl FnOnce()) -> f64 {
    let waited_before = waited_for_core();
    let begin = Instant::now();
    run();
    let elapsed = begin.elapsed().as_nanos() as f64;
    let waited = waited_for_core() - waited_before;
    // `waited` includes waits while the kernel was queried, so it may exceed the run's time.
    if waited < elapsed {
        elapsed - waited
    } else {
        elapsed
    }
}

/// Runs a unit repeatedly for this time. Returns the time that the units took.
pub fn run_for(time: Duration, mut unit: impl FnMut()) -> Duration {
    let begin = Instant::now();
    while begin.elapsed() < time {
        unit();
    }
    begin.elapsed()
}

/// Returns the CPU time of the calling thread.
pub fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the nanoseconds of CPU time that `run` takes.
pub fn timed_on_cpu(run: impl FnOnce()) -> f64 {
    let begin = cpu();
    run();
    (cpu() - begin).as_nanos() as f64
}

/// Returns the nanoseconds so far in which this thread was ready and had no core, as the kernel counts them; 0 if the
/// kernel does not count them.
fn waited_for_core() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    waited.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

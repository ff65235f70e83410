//! Times code on a machine that is also doing other work.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Returns the nanoseconds that `run` takes, except for the time in which this thread was ready to run but had no core.
pub fn timed(run: impl FnOnce()) -> f64 {
    let waited_before = waited_for_core();
    let begin = Instant::now();
    run();
    let elapsed = begin.elapsed().as_nanos() as f64;
    let waited = waited_for_core() - waited_before;
    // `waited` includes waits during the queries themselves, so it may exceed the time of the run.
    if waited < elapsed {
        elapsed - waited
    } else {
        elapsed
    }
}

/// Runs `unit` repeatedly until this time has passed. Returns how long that took.
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

/// Returns for how many nanoseconds in total this thread has been ready but without a core, according to the kernel; 0
/// if the kernel does not count this.
fn waited_for_core() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    waited.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

//! How long something takes on a machine that has other work as well.

use std::time::Instant;

/// Nanoseconds that `run` takes, less those that this thread stood ready and no core was free: others build and
/// test on the same machine.
pub fn timed(run: impl FnOnce()) -> f64 {
    let waited_before = waited_for_core();
    let begin = Instant::now();
    run();
    let elapsed = begin.elapsed().as_nanos() as f64;
    let waited = waited_for_core() - waited_before;
    // More than there was: it waited beside the run, while the kernel was asked.
    if waited < elapsed {
        elapsed - waited
    } else {
        elapsed
    }
}

/// Nanoseconds that this thread has stood ready and had no core so far, as the kernel counts them; 0 where it does not
/// say.
fn waited_for_core() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    waited.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

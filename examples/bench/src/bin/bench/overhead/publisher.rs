//! Measures the CPU time of the publisher while other threads are busy.

use std::thread;
use std::time::Duration;

use tickscope_bench::kernel::publisher_cpu;
use tickscope_bench::timing::run_for;

use super::measure::{Task, start};
use crate::cases::Case;
use crate::modes::Mode;
use crate::viewer;
use crate::workers::Workers;

/// Time for the publisher to settle on an interval.
const SETTLED: Duration = Duration::from_secs(2);

/// How long the publisher's CPU time is measured, without and with a viewer. Each period spans several publishing intervals.
const MEASURED: [Duration; 2] = [Duration::from_secs(15), Duration::from_secs(4)];

/// The case: two threads, each with 5219 nodes.
const CASE: &str = "cold5000";
const THREADS: usize = 2;

/// Prints how much of a core the publisher uses in each mode in which it has work to do, without and with a viewer.
pub(crate) fn print(session: &tickscope::Session) -> Result<(), String> {
    let case = Case::named(CASE)?;
    println!("publisher, {THREADS} threads of {CASE} (% of a core)");
    let modes = [
        Mode::Exact,
        Mode::ExactWithoutHistogram,
        Mode::Adaptive,
        Mode::Sampled,
    ];
    for mode in modes {
        let workers = start(THREADS);
        mode.enter();
        let unwatched = share(&workers, case, mode, MEASURED[0]);
        let viewer = viewer::attach(session);
        let watched = viewer.as_ref().map(|_| share(&workers, case, mode, MEASURED[1]));
        let watched = watched.map_or("?".to_owned(), |share| format!("{share:.2}"));
        println!("{:<36} {unwatched:>9.2}  with a viewer {watched}", mode.name());
    }
    Ok(())
}

fn share(workers: &Workers<Task>, case: &'static Case, mode: Mode, measured: Duration) -> f64 {
    let work = || _ = workers.run((case, mode));
    run_for(SETTLED, work);
    let before = publisher_cpu();
    let elapsed = run_for(measured, work);
    // The kernel updates the publisher's CPU time when its thread goes to sleep, so wait for that.
    thread::sleep(Duration::from_millis(5));
    100.0 * (publisher_cpu() - before) / elapsed.as_nanos() as f64
}

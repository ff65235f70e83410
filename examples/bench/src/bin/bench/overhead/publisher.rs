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

/// Time until the publisher has found its interval.
const SETTLED: Duration = Duration::from_secs(2);

/// Times for which the publisher's CPU time is measured, without a viewer and with one. Each is several intervals.
const MEASURED: [Duration; 2] = [Duration::from_secs(15), Duration::from_secs(4)];

/// The case: two threads with 5219 nodes each.
const CASE: &str = "cold5000";
const THREADS: usize = 2;

/// Prints the publisher's share of a core in each mode in which it has work, without a viewer and with one.
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
    // The kernel accounts a running thread's time when the thread sleeps.
    thread::sleep(Duration::from_millis(5));
    100.0 * (publisher_cpu() - before) / elapsed.as_nanos() as f64
}

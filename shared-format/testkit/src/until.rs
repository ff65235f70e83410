//! Waiting for conditions. Times depend on the load of the machine, so no test sets a limit. A wait that is longer than any
//! machine needs fails, so that the run ends and names the condition.

use std::time::{Duration, Instant};

/// Time after which a wait prints its condition and goes on.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time after which a wait fails.
pub const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// Waits until a condition returns a value. After a minute it prints `what`, after twenty minutes it panics.
pub fn until<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    until_shown(|| what.into(), condition)
}

/// Waits as [`until`] does, with a text that is made only when it is printed.
#[allow(clippy::print_stderr, reason = "tells the user why a test takes long")]
pub fn until_shown<T>(what: impl Fn() -> String, mut condition: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    let mut is_told = false;
    loop {
        let look = Instant::now();
        if let Some(found) = condition() {
            return found;
        }
        let took = look.elapsed();
        if begin.elapsed() > PATIENCE && !std::mem::replace(&mut is_told, true) {
            eprintln!("still waiting until {}", what());
        }
        assert!(begin.elapsed() < WATCHDOG, "in vain until {}", what());
        // The sleep lasts as long as the check took, so that a costly check, such as one that runs a program, uses at most
        // half of a CPU.
        std::thread::sleep(took.clamp(Duration::from_millis(2), Duration::from_millis(100)));
    }
}

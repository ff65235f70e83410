//! Waiting for conditions. How long something takes depends on the load of the machine, so tests set no time limits of
//! their own. The only limit, [`WATCHDOG`], is longer than any machine should need; a wait that exceeds it fails, so
//! that the run ends and names the condition.

use std::time::{Duration, Instant};

/// Time after which a wait prints the condition that it is waiting for, and then continues.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time after which a wait fails.
pub const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// Waits until `condition` returns a value. After a minute, prints `what`; after twenty minutes, panics.
pub fn until<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    until_shown(|| what.into(), condition)
}

/// Like [`until`], but builds the description only if it is printed.
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
        // Sleep as long as the check took, so that an expensive check, such as one that runs a program, uses no more
        // than about half of a CPU.
        std::thread::sleep(took.clamp(Duration::from_millis(2), Duration::from_millis(100)));
    }
}

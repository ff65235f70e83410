//! Waiting for conditions. How busy the machine is decides how long anything takes, so no test sets a limit. What waits
//! longer than any machine needs fails, so that the run ends and names it.

use std::time::{Duration, Instant};

/// After so long a wait says what it waits for, and goes on.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so long it fails.
pub const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// Waits until a condition gives something. After a minute it prints what it waits for, after twenty it panics.
pub fn until<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    until_shown(|| what.into(), condition)
}

/// [`until`], with a text that is made when it is printed.
#[allow(clippy::print_stderr, reason = "for who looks at a test that takes long")]
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
        // A look that starts a program takes a CPU half of the time at most.
        std::thread::sleep(took.clamp(Duration::from_millis(2), Duration::from_millis(100)));
    }
}

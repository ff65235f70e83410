//! Counts the instructions of a program with callgrind. The count is the same in every run, under any load.

use std::cell::Cell;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tickscope::{Clock, Mode};

thread_local! {
    static TICKS: Cell<u64> = const { Cell::new(1) };
}

/// A clock that advances by one on each read. Each thread has its own, which other threads do not affect.
fn ticks() -> u64 {
    TICKS.replace(TICKS.get() + 1)
}

/// Sets the mode of this process, which runs under callgrind. Adaptive mode also gets a clock by which all calls are
/// short, although callgrind slows them down. That way, the same calls are timed in every run.
pub fn enter(mode: Mode, histogram: bool) {
    if mode == Mode::Adaptive {
        let builder = tickscope::Builder::new("callgrind").clock(Clock::Custom(ticks, 1e9));
        // The process keeps using this clock after the session has ended. The publisher finishes all its work before
        // the counted code runs.
        drop(builder.try_start());
        thread::sleep(Duration::from_millis(200));
    }
    tickscope::set_mode(mode);
    tickscope::set_histogram(histogram);
}

/// Returns whether valgrind is installed.
pub fn is_here() -> bool {
    let version = Command::new("valgrind").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Runs this program with these arguments and environment variables. Returns the number of instructions from beginning to end.
///
/// # Errors
/// What the program printed to stderr if it failed, or an error from callgrind.
pub fn instructions(arguments: &[&str], environment: &[(&str, &str)]) -> Result<u64, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let out = directory.path().join("out");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(arguments)
        .envs(environment.iter().copied())
        // An empty directory, so that the program finds no files of ended programs to remove.
        .env("TICKSCOPE_DIR", directory.path())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = fs::read_to_string(&out).unwrap_or_default();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let number = total.and_then(|total| total.split_whitespace().next()?.parse().ok());
    number.ok_or("callgrind gives no total".to_owned())
}

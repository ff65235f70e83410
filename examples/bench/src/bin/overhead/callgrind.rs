//! Instructions that a program executes, as callgrind counts them: the same every time, whatever the machine does.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use tickscope::{Clock, Mode};

thread_local! {
    static TICKS: Cell<u64> = const { Cell::new(1) };
}

/// A clock that goes on by one with each look at it, for each thread by itself: whatever others do meanwhile.
fn ticks() -> u64 {
    TICKS.replace(TICKS.get() + 1)
}

/// Has this process, which callgrind watches, measure so. In adaptive mode with a clock to which all calls are short,
/// as they are not where callgrind slows them: the same ones are timed every time.
pub(crate) fn enter(mode: Mode, histogram: bool) {
    if mode == Mode::Adaptive {
        let builder = tickscope::Builder::new("callgrind").clock(Clock::Custom(ticks, 1e9));
        // The clock stays when the publisher goes, and all that the publisher does is over before anything is counted.
        drop(builder.try_start());
        thread::sleep(Duration::from_millis(200));
    }
    tickscope::set_mode(mode);
    tickscope::set_histogram(histogram);
}

/// Whether there is a valgrind.
pub(crate) fn is_here() -> bool {
    Command::new("valgrind")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Instructions of this very program from beginning to end, given these arguments and this environment.
///
/// # Errors
/// What the program says when it fails, or what callgrind does not.
pub(crate) fn instructions(arguments: &[&str], environment: &[(&str, &str)]) -> Result<u64, String> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("tickscope-callgrind-{}-{run}", std::process::id()));
    fs::create_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let counted = counted(&directory, arguments, environment);
    // Whoever empties the place for such directories may have been faster.
    _ = fs::remove_dir_all(&directory);
    counted
}

fn counted(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<u64, String> {
    let out = directory.join("out");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(arguments)
        .envs(environment.iter().copied())
        // An empty place: what others left behind is no work for it.
        .env("TICKSCOPE_DIR", directory)
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

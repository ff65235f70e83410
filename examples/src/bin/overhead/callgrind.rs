//! Instructions that a program executes, as callgrind counts them: the same every time, whatever the machine does.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Instructions of this very program from beginning to end, given these arguments and this environment; none where
/// there is no valgrind.
///
/// # Errors
/// What the program says when it fails, or what callgrind does not.
pub(crate) fn instructions(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Option<u64>, String> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let out = std::env::temp_dir().join(format!("tickscope-callgrind-{}-{run}", std::process::id()));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return Ok(None) };
    let text = fs::read_to_string(&out).unwrap_or_default();
    // It stands in the directory for such files: whoever empties that may have been faster.
    _ = fs::remove_file(&out);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let number = total.and_then(|total| total.split_whitespace().next()?.parse().ok());
    number.map(Some).ok_or("callgrind gives no total".to_owned())
}

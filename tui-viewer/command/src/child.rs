//! Waits for a program that a command has started. Passes signals to the program, and returns its exit code.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::console::FAILED;

/// Interval between checks for the end of the program.
pub const PAUSE: Duration = Duration::from_millis(10);

/// A program to start.
#[derive(Debug)]
pub struct Program {
    /// Command that starts the program.
    pub command: Command,
    /// Name of the program, for messages.
    pub name: OsString,
    /// Possible reasons why the program published no records.
    pub unheard: &'static str,
}

impl Program {
    /// Returns the program that the user has named, with its arguments.
    pub fn named(words: &[OsString]) -> Self {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        Self {
            command,
            name: words[0].clone(),
            unheard: "does it depend on tickscope with the feature `enable`, and does it mark a function with \
                      #[tickscope::profile]?",
        }
    }

    /// Returns the message for a program that published no records, with possible reasons.
    pub fn silence(&self) -> String {
        format!(
            "{} opened no scope, or was killed at once\n  {}",
            self.name.display(),
            self.unheard
        )
    }
}

/// Waits until a program has ended. Passes SIGTERM on to it whenever `terminated` is set.
///
/// # Errors
/// The system reports an error.
pub fn wait(child: &mut Child, terminated: &AtomicBool) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        pass_on(terminated, child);
        thread::sleep(PAUSE);
    }
}

/// Catches Ctrl-C, so that this process can wait for the program, which gets Ctrl-C as well. Returns a flag that is set
/// on SIGTERM: only this process gets that signal, so it has to pass it on.
///
/// # Errors
/// A signal cannot be caught.
pub fn watch_interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    let terminated = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&terminated))?;
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))?;
    Ok(terminated)
}

/// Sends SIGTERM to a child if this process has received SIGTERM since the last call.
pub fn pass_on(terminated: &AtomicBool, child: &Child) {
    if terminated.swap(false, Ordering::Relaxed)
        && let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32)
    {
        // Fails if the program has just ended.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

/// Returns a program's exit code as a shell reports it: 128 plus the signal's number if the program was ended by a signal.
pub fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128 + signal as u8,
        (None, None) => FAILED,
    }
}

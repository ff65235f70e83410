//! Waits for a program that a command has started. Passes signals on to the program, and its exit code on to the caller.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::console::FAILED;

/// Time between two checks whether the program has ended.
pub const PAUSE: Duration = Duration::from_millis(10);

/// A program to start.
#[derive(Debug)]
pub struct Program {
    /// Command that starts the program.
    pub command: Command,
    /// Name of the program in messages.
    pub name: OsString,
    /// Possible reasons why the program published nothing.
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

    /// Returns the message that the program published nothing, with possible reasons.
    pub fn silence(&self) -> String {
        format!(
            "{} opened no scope, or was killed at once\n  {}",
            self.name.display(),
            self.unheard
        )
    }
}

/// Waits for the end of a program. Meanwhile passes SIGTERM on to it when `terminated` is set.
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

/// Catches Ctrl-C, which the program gets as well, so that this process can wait for the program's end. Returns a flag
/// that SIGTERM sets, because only this process gets SIGTERM.
///
/// # Errors
/// A signal cannot be caught.
pub fn watch_interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    let terminated = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&terminated))?;
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))?;
    Ok(terminated)
}

/// Sends SIGTERM to a child if this process has got SIGTERM since the last call.
pub fn pass_on(terminated: &AtomicBool, child: &Child) {
    if terminated.swap(false, Ordering::Relaxed)
        && let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32)
    {
        // Fails if the program has ended at this moment.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

/// Returns the exit code of a program as a shell reports it: 128 plus the signal's number if a signal has ended the program.
pub fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128 + signal as u8,
        (None, None) => FAILED,
    }
}

//! A program that a command has started: waits for its end, and passes signals and its exit code on.

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

/// Program that should be started.
#[derive(Debug)]
pub struct Program {
    /// Command that starts it.
    pub command: Command,
    /// Name in messages.
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

/// Waits for the end of a program, and passes on a termination meanwhile.
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

/// Catches Ctrl-C, which reaches the program as well, so that this process ends after it. Returns a flag that SIGTERM sets,
/// because SIGTERM reaches this process alone.
///
/// # Errors
/// A signal cannot be caught.
pub fn watch_interrupts() -> anyhow::Result<Arc<AtomicBool>> {
    let terminated = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&terminated))?;
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))?;
    Ok(terminated)
}

/// Ends a child by SIGTERM, if this process was asked to end since this function's last call.
pub fn pass_on(terminated: &AtomicBool, child: &Child) {
    if terminated.swap(false, Ordering::Relaxed)
        && let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32)
    {
        // The program may have ended at this moment.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

/// Returns the exit code of a command, as a shell gives it.
pub fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128 + signal as u8,
        (None, None) => FAILED,
    }
}

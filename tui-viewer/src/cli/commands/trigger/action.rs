//! The user's command that runs when a condition becomes true.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tickscope_analysis::trigger::Condition;
use tickscope_command::console::{printable, say};
use tickscope_programs::events::Target;

use crate::cli::trigger::Fired;

/// Time between two checks that the command has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Command for `sh -c`, of which at most one runs at a time.
///
/// The command line contains no text from the watched program. Such text is passed in environment variables.
#[derive(Debug)]
pub(super) struct Action {
    command: Option<String>,
    running: Option<Child>,
}

impl Action {
    pub(super) fn new(command: Option<String>) -> Self {
        Self {
            command,
            running: None,
        }
    }

    /// Starts the command, unless the previous one is still running.
    pub(super) fn start(&mut self, condition: &Condition, fired: &Fired, target: &Target, file: &Path) {
        let Some(command) = &self.command else { return };
        if let Some(running) = &self.running {
            say(&format!(
                "--exec: the previous command still runs (pid {}), so it is not started again",
                running.id()
            ));
            return;
        }
        let (comparison, finding) = (&fired.comparison, &fired.finding);
        let value = finding
            .value
            .map_or_else(|_| String::new(), |value| value.to_string());
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(command)
            .stdin(Stdio::null())
            .env("TICKSCOPE_FILE", file)
            .env("TICKSCOPE_CONDITION", printable(&condition.to_string()))
            .env("TICKSCOPE_SUMMARY", printable(&fired.words))
            .env("TICKSCOPE_VALUE", value)
            .env("TICKSCOPE_THRESHOLD", comparison.threshold.to_string())
            .env("TICKSCOPE_UNIT", comparison.unit.name())
            .env("TICKSCOPE_FUNCTION", printable(&finding.function))
            .env("TICKSCOPE_PROGRAM", printable(&target.name))
            .env("TICKSCOPE_PID", target.pid.to_string());
        match shell.spawn() {
            Ok(child) => self.running = Some(child),
            Err(error) => say(&format!("--exec: sh cannot be started: {error}")),
        }
    }

    /// Returns a message if the command has failed since the last check.
    pub(super) fn failure(&mut self) -> Option<String> {
        let failure = match self.running.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) if status.success() => None,
            Ok(Some(status)) => Some(format!("--exec: the command ended with {status}")),
            Err(error) => Some(format!("--exec: the command is lost: {error}")),
        };
        self.running = None;
        failure
    }

    /// Waits until the command ends or `stops` returns true.
    pub(super) fn wait(&mut self, stops: impl Fn() -> bool) {
        loop {
            if let Some(failure) = self.failure() {
                say(&failure);
            }
            let Some(running) = &self.running else { return };
            if stops() {
                say(&format!("--exec: the command runs on (pid {})", running.id()));
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}

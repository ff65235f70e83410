//! A program with the collector, in its own process.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tickscope_format::file::list;
use tickscope_format::file::open::RingFile;

use crate::account::Account;
use crate::child;
use crate::over::Over;

/// How long a program may take to publish or to end. It is long, because other builds and tests may run on the same
/// machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    name: String,
    rings: PathBuf,
}

impl Program {
    /// Starts the program. With `by_itself` it resets itself and switches modes.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn start(
        name: &str,
        rings: &Path,
        by_itself: bool,
        settings: &[(&str, &str)],
    ) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let child = Command::new(program)
            .args([child::FLAG, child::LOAD, name, &by_itself.to_string()])
            .envs(settings.iter().copied())
            .env("TICKSCOPE_DIR", rings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the soak itself; the program ends when its input does.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("{name} does not start: {error}"))?;
        Ok(Self {
            child,
            name: name.to_owned(),
            rings: rings.to_owned(),
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the ring; returns `None` if the run is over before.
    ///
    /// # Errors
    /// The program has ended without a ring, or takes too long.
    pub(crate) fn ring(&mut self, over: &Over) -> Result<Option<RingFile>, String> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let pid = self.pid();
            let found = list::list(std::slice::from_ref(&self.rings)).into_iter();
            let ring = found
                .flat_map(|listed| listed.ring)
                .find(|(ring, _)| ring.header().pid == pid);
            if let Some((ring, _)) = ring {
                return Ok(Some(ring));
            }
            if let Some(status) = self.has_ended() {
                let said = self.said();
                return Err(format!("{} ended before it published: {status}{said}", self.name));
            }
            if over.sleep(Duration::from_millis(5)) {
                return Ok(None);
            }
        }
        Err(format!(
            "{} has published nothing in {} s",
            self.name,
            PATIENCE.as_secs()
        ))
    }

    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends SIGKILL, and returns when the program is gone.
    pub(crate) fn kill(&mut self) {
        // A program that has ended cannot be killed.
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Ends the program, and returns its own account.
    ///
    /// # Errors
    /// How it ended instead.
    pub(crate) fn end(mut self) -> Result<Account, String> {
        drop(self.child.stdin.take());
        let begin = Instant::now();
        let status = loop {
            match self.has_ended() {
                Some(status) => break status,
                None if begin.elapsed() > PATIENCE => {
                    return Err(format!("{} does not end in {} s", self.name, PATIENCE.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        if !status.success() {
            let said = self.said();
            return Err(format!("{} ended with {status}{said}", self.name));
        }
        let mut text = String::new();
        if let Some(mut output) = self.child.stdout.take() {
            _ = output.read_to_string(&mut text);
        }
        text.parse().map_err(|why| format!("{} {why}", self.name))
    }

    /// Returns what it wrote to standard error, once it has ended.
    fn said(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            _ = errors.read_to_string(&mut text);
        }
        text.lines()
            .next()
            .map_or(String::new(), |line| format!(": {line}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

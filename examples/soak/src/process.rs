//! The processes of a run, each in a separate terminal, and the directory that they share.

use std::fs::{self, DirEntry};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use tempfile::TempDir;
use tickscope_format::file::list;
use tickscope_format::file::open::RingFile;

/// How long to wait for a process to publish or to end. The time is generous, because other builds and tests may be
/// running on the same machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time between two checks of a process, and between the keys that are sent to end it. A key directly after Esc would
/// be taken for part of an escape sequence.
const LOOK: Duration = Duration::from_millis(50);

/// Age after which files are no longer read and may be removed.
const STALE: Duration = Duration::from_secs(10);

/// Number of bytes of a process's output that are kept.
const KEPT: usize = 16 << 10;

/// `CTRL_D` ends a program that reads its standard input to the end, and `CTRL_C` ends a viewer.
pub(crate) const CTRL_D: &str = "\x04";
pub(crate) const CTRL_C: &str = "\x03";

/// The path of the viewer, and the directory for this run, which holds the rings and all files that viewers and
/// commands write. The directory is removed after the run.
#[derive(Debug)]
pub(crate) struct Place {
    _directory: TempDir,
    rings: PathBuf,
    written: PathBuf,
    viewer: PathBuf,
}

impl Place {
    /// # Errors
    /// The system's error, or an error if there is no viewer.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let viewer = std::env::current_exe()?.with_file_name("tickscope");
        ensure!(viewer.is_file(), "no {viewer:?}: cargo build -p tickscope-cli");
        let name = format!("tickscope-soak-{}", std::process::id());
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(&name).rand_bytes(0);
        // Keeps the directory in memory if possible, because the rings are written 50 times a second and are not needed
        // on disk.
        let in_memory = builder.tempdir_in("/dev/shm");
        let directory = in_memory.or_else(|_| builder.tempdir())?;
        let [rings, written] = ["rings", "written"].map(|name| directory.path().join(name));
        fs::create_dir(&rings)?;
        fs::create_dir(&written)?;
        Ok(Self {
            _directory: directory,
            rings,
            written,
            viewer,
        })
    }

    /// Removes old reports and recordings. Returns the number of removed files.
    pub(crate) fn tidy(&self) -> u64 {
        let age = |file: &DirEntry| file.metadata().ok()?.modified().ok()?.elapsed().ok();
        let files = fs::read_dir(&self.written).into_iter().flatten().flatten();
        let old = files.filter(|file| age(file).is_some_and(|age| age > STALE));
        old.filter(|file| fs::remove_file(file.path()).is_ok()).count() as u64
    }

    /// Starts the program that produces the load.
    pub(crate) fn load(&self, name: &str) -> anyhow::Result<Process> {
        self.start(&std::env::current_exe()?, &format!("load {name}"))
    }

    /// Starts `tickscope` with these arguments: a command, or a viewer.
    pub(crate) fn tickscope(&self, line: &str) -> anyhow::Result<Process> {
        self.start(&self.viewer, line)
    }

    fn start(&self, program: &Path, line: &str) -> anyhow::Result<Process> {
        let command = Command::new(program)
            .args(line.split(' '))
            .current_dir(&self.written)
            .env("TICKSCOPE_DIR", &self.rings)
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("EDITOR", "true");
        let (master, slave) = open()?;
        master.resize(Size::new(24, 80))?;
        let master = Arc::new(master);
        let screen = Arc::clone(&master);
        let output = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&output);
        let reader = thread::spawn(move || {
            let mut buffer = [0; KEPT];
            // Reading fails once the process has ended.
            while let Ok(length @ 1..) = (&*screen).read(&mut buffer) {
                let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                shown.extend_from_slice(&buffer[..length]);
                let old = shown.len().saturating_sub(KEPT);
                shown.drain(..old);
            }
        });
        Ok(Process {
            line: line.to_owned(),
            child: command.spawn(slave)?,
            master,
            output,
            reader: Some(reader),
        })
    }

    /// Waits until a program has a ring.
    ///
    /// # Errors
    /// An error if the program ends without a ring, or takes too long.
    pub(crate) fn ring_of(&self, program: &mut Process) -> anyhow::Result<RingFile> {
        let begin = Instant::now();
        loop {
            let found = list::list(std::slice::from_ref(&self.rings)).into_iter();
            let mut rings = found.flat_map(|listed| listed.ring).map(|(ring, _)| ring);
            if let Some(ring) = rings.find(|ring| ring.header().pid == program.pid()) {
                return Ok(ring);
            }
            program.lives()?;
            ensure!(begin.elapsed() < PATIENCE, program.wrong("publishes nothing"));
            thread::sleep(LOOK);
        }
    }
}

/// A process in a terminal, which is killed when this value is dropped.
pub(crate) struct Process {
    line: String,
    child: Child,
    master: Arc<Pty>,
    output: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types keys. They are lost if the process has ended.
    pub(crate) fn send(&mut self, keys: &str) {
        _ = (&*self.master).write_all(keys.as_bytes());
    }

    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        _ = self.master.resize(Size::new(rows, cols));
    }

    fn status(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten()?;
        // Wait until all its output has been read.
        _ = self.reader.take().map(JoinHandle::join);
        Some(status)
    }

    /// # Errors
    /// An error if the process has ended by itself.
    pub(crate) fn lives(&mut self) -> anyhow::Result<()> {
        match self.status() {
            Some(status) => Err(self.wrong(&format!("ended by itself: {status}"))),
            None => Ok(()),
        }
    }

    /// Sends keys again and again until the process ends, and returns the last line of its output.
    ///
    /// # Errors
    /// An error if the process fails, or takes too long.
    pub(crate) fn end(mut self, keys: &str) -> anyhow::Result<String> {
        let begin = Instant::now();
        let status = loop {
            match self.status() {
                Some(status) => break status,
                None => ensure!(begin.elapsed() < PATIENCE, self.wrong("does not end")),
            }
            self.send(keys);
            thread::sleep(LOOK);
        };
        // Until a viewer reads keys, Ctrl-C kills it with a signal.
        let is_right = status.success() || keys == CTRL_C && status.signal().is_some();
        ensure!(is_right, self.wrong(&format!("ended: {status}")));
        Ok(self.said())
    }

    /// Returns the most recent part of the process's output.
    pub(crate) fn output(&self) -> String {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&output).into_owned()
    }

    fn said(&self) -> String {
        self.output().trim().lines().last().unwrap_or_default().to_owned()
    }

    fn wrong(&self, what: &str) -> anyhow::Error {
        let said = self.said();
        // The screen of a viewer is one long line, so only its end is shown.
        let from = said.char_indices().nth_back(199).map_or(0, |(at, _)| at);
        anyhow!("\"{}\" {what}: {:?}", self.line, &said[from..])
    }
}

impl Drop for Process {
    /// Sends SIGKILL, and waits until the process is gone.
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

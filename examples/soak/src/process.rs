//! The processes of a run and the directory that they share: programs, commands, and viewers in pseudo terminals.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, anyhow, ensure};
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tickscope_format::file::list;
use tickscope_format::file::open::RingFile;

use crate::soak::Over;

/// How long a process may take to publish, to end or to leave. It is long, because other builds and tests may run on the same
/// machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The milliseconds between two looks at a process.
const LOOK_MS: u64 = 5;

/// Files older than this have no reader any more.
const STALE: Duration = Duration::from_secs(10);

/// The directory of a run, which is removed after it, with the rings and what viewers and commands write; and the viewer.
#[derive(Debug)]
pub(crate) struct Place {
    _directory: TempDir,
    rings: PathBuf,
    written: PathBuf,
    viewer: PathBuf,
}

impl Place {
    /// # Errors
    /// The system's error, or no viewer.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let name = format!("tickscope-soak-{}", std::process::id());
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(&name).rand_bytes(0);
        // In memory, if there is such a directory: rings that are written 50 times a second need no disk.
        let in_memory = builder.tempdir_in("/dev/shm");
        let directory = in_memory.or_else(|_| builder.tempdir())?;
        let [rings, written] = ["rings", "written"].map(|name| directory.path().join(name));
        fs::create_dir(&rings)?;
        fs::create_dir(&written)?;
        Ok(Self {
            _directory: directory,
            rings,
            written,
            viewer: viewer()?,
        })
    }

    /// Removes old reports and recordings, and returns how many.
    pub(crate) fn tidy(&self) -> u64 {
        let limit = SystemTime::now() - STALE;
        let is_old = |file: &Path| fs::metadata(file)?.modified().map(|changed| changed < limit);
        let files = fs::read_dir(&self.written).into_iter().flatten().flatten();
        let old = files
            .map(|file| file.path())
            .filter(|file| is_old(file).is_ok_and(|old| old));
        old.filter(|file| fs::remove_file(file).is_ok()).count() as u64
    }

    /// Starts a command of the viewer's.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn command(&self, line: &str) -> anyhow::Result<Process> {
        let mut command = Command::new(&self.viewer);
        self.start(line, command.args(line.split(' ')).stdout(Stdio::null()))
    }

    /// Starts the program with the load, which ends when its input does. With `by_itself` it resets itself and switches modes.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn load(&self, name: &str, by_itself: bool, interval_ms: u64) -> anyhow::Result<Process> {
        let mut command = Command::new("/proc/self/exe");
        command.args(["load", name, &by_itself.to_string()]);
        command.env("TICKSCOPE_INTERVAL_MS", interval_ms.to_string());
        if !by_itself {
            // Many are left behind.
            command.env("TICKSCOPE_RING_BYTES", "1M");
        }
        self.start(name, command.stdout(Stdio::piped()))
    }

    fn start(&self, name: &str, command: &mut Command) -> anyhow::Result<Process> {
        let command = command
            .env("TICKSCOPE_DIR", &self.rings)
            .current_dir(&self.written);
        let command = command.stdin(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for the soak itself.
        let child = command.process_group(0).spawn();
        Ok(Process {
            child: child.with_context(|| format!("{name} does not start"))?,
            name: name.to_owned(),
            rings: self.rings.clone(),
        })
    }

    /// Starts a viewer of the program with this process id, in a terminal of its own.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn viewer_of(&self, pid: u32) -> anyhow::Result<Terminal> {
        let mut command = CommandBuilder::new(&self.viewer);
        command.args(["--pid", &pid.to_string()]);
        command.env("TICKSCOPE_DIR", &self.rings);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.env("EDITOR", "true");
        command.cwd(&self.written);
        Terminal::start(command)
    }
}

/// Returns the path of the viewer, which is beside this program or made by cargo.
fn viewer() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let directory = own.parent().context("a program is in a directory")?;
    let viewer = directory.join("tickscope");
    // `cargo run` has built this program; a viewer beside it may be older.
    let cargo = std::env::var_os("CARGO");
    if !viewer.is_file() || cargo.is_some() {
        let mut build = Command::new(cargo.unwrap_or("cargo".into()));
        build.args(["build", "--package", "tickscope-cli", "--target-dir"]);
        build.arg(directory.with_file_name(""));
        build.args(directory.ends_with("release").then_some("--release"));
        let built = build.current_dir(env!("CARGO_MANIFEST_DIR")).status()?;
        ensure!(built.success() && viewer.is_file(), "no viewer: {build:?}");
    }
    Ok(viewer)
}

/// A program or a command. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    name: String,
    rings: PathBuf,
}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its ring; returns `None` if the run is over before.
    ///
    /// # Errors
    /// It has ended without a ring, or takes too long.
    pub(crate) fn ring(&mut self, over: &Over) -> anyhow::Result<Option<RingFile>> {
        let (begin, pid) = (Instant::now(), self.pid());
        while !over.sleep(LOOK_MS) {
            let found = list::list(std::slice::from_ref(&self.rings)).into_iter();
            let mut rings = found.flat_map(|listed| listed.ring).map(|(ring, _)| ring);
            if let Some(ring) = rings.find(|ring| ring.header().pid == pid) {
                return Ok(Some(ring));
            }
            if self.has_ended().is_some() || begin.elapsed() > PATIENCE {
                return Err(self.failed("has published nothing"));
            }
        }
        Ok(None)
    }

    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends SIGKILL, and returns when it is gone.
    pub(crate) fn kill(&mut self) {
        // What has ended cannot be killed.
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Waits for its end, and returns what it has printed, or nothing if the run is over before.
    ///
    /// # Errors
    /// It did not succeed, or takes too long.
    pub(crate) fn end(mut self, over: &Over) -> anyhow::Result<String> {
        drop(self.child.stdin.take());
        let begin = Instant::now();
        while !over.is_set() && self.has_ended().is_none() {
            if begin.elapsed() > PATIENCE {
                return Err(self.failed("does not end"));
            }
            over.sleep(LOOK_MS);
        }
        match self.has_ended() {
            Some(status) if !status.success() => Err(self.failed(&format!("ended with {status}"))),
            Some(_) => Ok(read(self.child.stdout.take())),
            None => Ok(String::new()),
        }
    }

    /// Kills it, and returns what is wrong with it, and the first line of its complaints.
    fn failed(&mut self, what: &str) -> anyhow::Error {
        self.kill();
        let said = read(self.child.stderr.take());
        let line = said.lines().next().unwrap_or_default();
        anyhow!("{} {what}: {line}", self.name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read(pipe: Option<impl Read>) -> String {
    let mut text = String::new();
    // What cannot be read is missed by those who want it.
    _ = pipe.map(|mut pipe| pipe.read_to_string(&mut text));
    text
}

/// A viewer in a pseudo terminal: it gets keys, and its output is read and dropped. It is killed when this is dropped.
pub(crate) struct Terminal {
    child: Box<dyn portable_pty::Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    /// Its last output, to find out why it ended.
    last: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn start(command: CommandBuilder) -> anyhow::Result<Self> {
        let pair = native_pty_system().openpty(PtySize::default())?;
        let mut screen = pair.master.try_clone_reader()?;
        let last = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&last);
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            // When the viewer ends, reading gives an error.
            while let Ok(length @ 1..) = screen.read(&mut buffer) {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = buffer[..length].to_vec();
            }
        });
        Ok(Self {
            child: pair.slave.spawn_command(command)?,
            keyboard: pair.master.take_writer()?,
            master: pair.master,
            last,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap_or(0)
    }

    /// Types keys. They are lost if the viewer is gone.
    pub(crate) fn send(&mut self, keys: &str) {
        _ = self.keyboard.write_all(keys.as_bytes());
    }

    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols,
            ..PtySize::default()
        };
        _ = self.master.resize(size);
    }

    pub(crate) fn has_ended(&mut self) -> Option<portable_pty::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns whether it shows the program with this ring: then it has the file open twice.
    pub(crate) fn is_attached(&self, ring: &Path) -> bool {
        let files = fs::read_dir(format!("/proc/{}/fd", self.pid()));
        let files = files.into_iter().flatten().flatten();
        let targets = files.flat_map(|file| fs::read_link(file.path()));
        targets.filter(|target| target == ring).count() >= 2
    }

    /// Returns its last line of output.
    pub(crate) fn said(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&last);
        let line = text.trim().lines().last().unwrap_or_default();
        line.escape_debug().to_string()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The library would send SIGHUP. What has ended cannot be killed, and its number may be another's.
        let lives = self.has_ended().is_none();
        if let Some(pid) = Pid::from_raw(self.pid().cast_signed()).filter(|_| lives) {
            _ = kill_process(pid, Signal::KILL);
            _ = self.child.wait();
        }
    }
}

//! The viewer in a pseudo terminal, with the time of every frame.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};

/// Bytes at the end of every frame.
const END_OF_FRAME: &[u8] = b"\x1b[?2026l";

/// Time without a frame after which the viewer is considered hung.
const DEADLINE: Duration = Duration::from_secs(20);

/// Clock ticks per second in `/proc`. Every Linux has 100.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running viewer.
pub(crate) struct Viewer {
    child: Child,
    master: Arc<Pty>,
    reads: Receiver<(Instant, Vec<u8>)>,
    /// The last bytes that were read, because the bytes that end a frame may be split between two reads.
    tail: Vec<u8>,
    /// The end time of each frame.
    pub(crate) frames: Vec<Instant>,
    /// Number of bytes written to the terminal so far.
    pub(crate) bytes: usize,
}

impl Viewer {
    /// Starts the viewer for a target, in a terminal of 120x30.
    pub(crate) fn start(viewer: &Path, target: &str, dir: &Path) -> Result<Self> {
        let (master, slave) = open()?;
        master.resize(Size::new(30, 120))?;
        let command = Command::new(viewer)
            .arg(target)
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("TICKSCOPE_DIR", dir)
            .current_dir(dir);
        let master = Arc::new(master);
        let reader = Arc::clone(&master);
        let (send, reads) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while let Ok(read @ 1..) = (&*reader).read(&mut buffer) {
                if send.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child: command.spawn(slave)?,
            master,
            reads,
            tail: Vec::new(),
            frames: Vec::new(),
            bytes: 0,
        })
    }

    pub(crate) fn send(&mut self, keys: &str) -> Result<()> {
        Ok((&*self.master).write_all(keys.as_bytes())?)
    }

    /// Waits for the next frame to end, and returns the time at which it did.
    pub(crate) fn frame(&mut self) -> Result<Instant> {
        let frames = self.frames.len();
        let end = Instant::now() + DEADLINE;
        while self.frames.len() == frames {
            if !self.take(end) {
                bail!("no frame in {DEADLINE:?}");
            }
        }
        self.frames.last().copied().context("there is one")
    }

    /// Lets the viewer run for this long.
    pub(crate) fn quiet(&mut self, long: Duration) {
        let end = Instant::now() + long;
        while self.take(end) {}
    }

    /// Takes the next bytes from the terminal. Returns false if none arrive before `end`.
    fn take(&mut self, end: Instant) -> bool {
        let left = end.saturating_duration_since(Instant::now());
        match self.reads.recv_timeout(left) {
            Ok((time, bytes)) => {
                self.bytes += bytes.len();
                self.tail.extend_from_slice(&bytes);
                let ends = self
                    .tail
                    .windows(END_OF_FRAME.len())
                    .filter(|&part| part == END_OF_FRAME);
                self.frames.extend(ends.map(|_| time));
                let keep = self.tail.len().saturating_sub(END_OF_FRAME.len() - 1);
                self.tail.drain(..keep);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(left);
                false
            }
        }
    }

    /// Returns the viewer's CPU time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let pid = self.child.id();
        // The scheduler counts in nanoseconds, which is finer than the clock ticks in `stat`.
        if let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/schedstat"))
            && let Some(ns) = text.split(' ').next().and_then(|ns| ns.parse().ok())
        {
            return Ok(Duration::from_nanos(ns));
        }
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (_, rest) = stat.rsplit_once(") ").context("a line of stat")?;
        let ticks: f64 = rest
            .split(' ')
            .skip(11)
            .take(2)
            .filter_map(|n| n.parse::<f64>().ok())
            .sum();
        Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
    }

    /// Returns the resident memory of the viewer in KiB.
    pub(crate) fn resident_kib(&self) -> Result<u64> {
        let pid = self.child.id();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|n| n.parse().ok()).context("a line VmRSS")
    }

    pub(crate) fn quit(mut self) -> Result<()> {
        self.send("q")?;
        self.child.wait()?;
        Ok(())
    }
}

//! Settings in code.

use std::path::PathBuf;
use std::time::Duration;

use crate::enabled::publish::session::{self, Session};
use crate::enabled::runtime::settings::Settings;
use crate::types::{Clock, Destination, Mode, StartError, Threads};

/// How a session is to be; each setting has a default, and the environment wins (see the crate's table).
#[derive(Clone, Debug)]
#[must_use = "nothing starts before `start`"]
pub struct Builder {
    name: String,
    settings: Settings,
}

impl Builder {
    /// A session under this name: 1 to 64 of `A-Z a-z 0-9 . _ -`, not digits alone; anything else is mended
    /// and said so in [`Session::warnings`].
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            settings: Settings::default(),
        }
    }

    /// Time between two records while no viewer watches: 10 ms to 1 h, by default 1 s.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.settings.interval = interval;
        self
    }

    /// Size of the ring in bytes, rounded up to a power of two: 64 KiB to 4 GiB, by default 16 MiB. A record
    /// takes half of it at most. Behind it the file grows, in a program that runs for more than ten seconds, by up to
    /// as much again: a record each ten seconds, an hour of a thousand nodes in 16 MiB, a quarter of an hour of ten
    /// thousand.
    pub fn ring_bytes(mut self, bytes: u64) -> Self {
        self.settings.ring_bytes = bytes;
        self
    }

    /// The directory for the ring file, by default `/dev/shm/tickscope-UID`, else `tickscope-UID` in the
    /// directory for temporary files.
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.settings.dir = Some(dir.into());
        self
    }

    /// How scopes are measured from this start on, by default as they are: exact at first. See
    /// [`set_mode`](crate::set_mode).
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = Some(mode);
        self
    }

    /// Whether latency histograms are collected from this start on, by default as they are: on at first. They take
    /// some 1 KiB a node.
    pub fn histogram(mut self, on: bool) -> Self {
        self.settings.histogram = Some(on);
        self
    }

    /// Where ticks come from, by default the time stamp counter. Config at the first scope or start.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Which threads count, by default all. Config at the first scope or start.
    pub fn threads(mut self, threads: Threads) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Scopes inside each other that are told apart: 1 to 4096, by default 512. Config at the first scope or
    /// start.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.settings.max_depth = depth;
        self
    }

    /// Nodes a thread may have: 1 to 1048575, by default 65536. Config at the first scope or start.
    pub fn max_nodes(mut self, nodes: u32) -> Self {
        self.settings.max_nodes = nodes;
        self
    }

    /// Nodes that all threads together may have, by default 1048576. Config at the first scope or start.
    pub fn max_process_nodes(mut self, nodes: u32) -> Self {
        self.settings.max_process_nodes = nodes;
        self
    }

    /// A longer gap between two events of a thread is not charged but counted as a clock error. By default
    /// there is no limit. Config at the first scope or start.
    pub fn max_gap(mut self, limit: Duration) -> Self {
        self.settings.max_gap = Some(limit);
        self
    }

    /// Writes a report when the program ends by returning from `main`, by a panic out of it, or by
    /// [`std::process::exit`] on any thread, with scopes open or not; a file's name says the form.
    ///
    /// There is none where the process ends without running its exit handlers: `abort` (so also a panic with
    /// `panic = "abort"`), `_exit`, a signal, and a child that was forked. Then the ring is left, up to its newest
    /// record, and `tickscope report NAME` reads it. A relative path begins where the program stands now.
    pub fn report_at_exit(mut self, destination: Destination) -> Self {
        self.settings.report_at_exit = Some(destination);
        self
    }

    /// Writes a line for each thread and each group that it was inside of to standard error, each so often: 10 ms to
    /// 1 h. The publisher's thread does it; scopes cost the same. `tickscope log` prints the same lines of a program that
    /// runs, and those of functions.
    pub fn log_every(mut self, every: Duration) -> Self {
        self.settings.log_every = Some(every);
        self
    }

    /// Whether viewers may reset and ask for records, by default yes.
    pub fn allow_remote_control(mut self, allowed: bool) -> Self {
        self.settings.allow_remote_control = allowed;
        self
    }

    /// Starts the session, or joins the one that runs. Returns at once (but where the session before is still
    /// writing its last record: then after that, at most a second). Never fails and never stops the program:
    /// trouble gives a session that counts and does not publish, and says why in [`Session::warnings`].
    pub fn start(self) -> Session {
        session::start(&self.name, self.settings)
    }

    /// Starts like [`Self::start`] and waits, at most a second, until viewers can attach.
    ///
    /// # Errors
    /// Why they cannot; the session has ended.
    pub fn try_start(self) -> Result<Session, StartError> {
        self.start().settled()
    }
}

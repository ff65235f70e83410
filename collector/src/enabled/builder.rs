//! The builder: settings of a session in the program's code.

use std::path::PathBuf;
use std::time::Duration;

use crate::enabled::publish::session::{self, Session};
use crate::enabled::runtime::settings::Settings;
use crate::types::{Clock, Destination, Mode, Over, StartError, Threads};

/// Configures a session. Every setting has a default; the matching `TICKSCOPE_*` environment variable overrides it.
///
/// A session may be started several times in a process. Later starts join the session that runs and share its settings.
///
/// # Publishing
/// ```
/// use std::time::Duration;
///
/// let _tickscope = tickscope::Builder::new("order-book")
///     .interval(Duration::from_millis(200))
///     .ring_bytes(64 << 20)
///     .dir(std::env::temp_dir())
///     .allow_remote_control(false)
///     .start();
/// ```
///
/// # Measuring
/// ```
/// use tickscope::{Clock, Mode};
///
/// let _tickscope = tickscope::Builder::new("order-book")
///     .mode(Mode::Exact)
///     .histogram(false)
///     .clock(Clock::Monotonic)
///     .start();
/// ```
///
/// # Threads and limits
/// ```
/// use std::time::Duration;
/// use tickscope::Threads;
///
/// let _tickscope = tickscope::Builder::new("order-book")
///     .threads(Threads::OptIn)
///     .max_depth(1024)
///     .max_nodes(100_000)
///     .max_process_nodes(1_000_000)
///     .max_gap(Duration::from_secs(60))
///     .start();
/// tickscope::thread::include();
/// ```
///
/// # Reports and the log
/// ```no_run
/// use std::time::Duration;
/// use tickscope::Destination;
///
/// let _tickscope = tickscope::Builder::new("order-book")
///     .report_at_exit(Destination::File("order-book.%p.html".into()))
///     .log_every(Duration::from_secs(1))
///     .start();
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing starts before `start`"]
pub struct Builder {
    name: String,
    settings: Settings,
}

impl Builder {
    /// Configures a session with this name: 1 to 64 of the characters `A-Z a-z 0-9 . _ -`, and not only digits. Any
    /// other name is corrected, with a warning in [`Session::warnings`].
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            settings: Settings::default(),
        }
    }

    /// Sets the time between two records while no viewer watches: 10 ms to 1 h, 1 s by default. A value out of range is
    /// clamped, with a warning. An interval of 1 s or more grows to up to 10 s when records would otherwise cost more
    /// than 0.1 % of a core. A viewer gets up to ten records a second. Variable: `TICKSCOPE_INTERVAL_MS`.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.settings.interval = interval;
        self
    }

    /// Sets the size of the ring in bytes: 64 KiB to 4 GiB, rounded up to a power of two, 16 MiB by default. One record
    /// takes at most half of the ring; larger records are cut down to their most expensive rows. Variable:
    /// `TICKSCOPE_RING_BYTES`.
    ///
    /// After ten seconds the file also keeps a history, one record every ten seconds, and may grow to twice this size.
    /// 16 MiB hold about an hour of 1 000 nodes, or a quarter of an hour of 10 000.
    pub fn ring_bytes(mut self, bytes: u64) -> Self {
        self.settings.ring_bytes = bytes;
        self
    }

    /// Sets the directory of the ring file. The default is `/dev/shm/tickscope-UID`, or `tickscope-UID` in the
    /// directory for temporary files. The directory must belong to this user. Variable: `TICKSCOPE_DIR`.
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.settings.dir = Some(dir.into());
        self
    }

    /// Sets how scopes are measured from this start on. The mode is [`Mode::Adaptive`] at first, and a start without
    /// this setting keeps the current mode. [`set_mode`](crate::set_mode) changes it later. Variable: `TICKSCOPE_MODE`.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = Some(mode.into());
        self
    }

    /// Sets whether latency histograms are collected from this start on. They are on at first, and a start without this
    /// setting leaves them as they are. Histograms take about 1 KiB per node. [`set_histogram`](crate::set_histogram)
    /// changes it later. Variable: `TICKSCOPE_HISTOGRAM`.
    pub fn histogram(mut self, on: bool) -> Self {
        self.settings.histogram = Some(on);
        self
    }

    /// Sets the clock; the time stamp counter by default. It is fixed at the first scope or start of the process.
    /// Variable: `TICKSCOPE_CLOCK`.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Sets which threads count; all by default. It is fixed at the first scope or start of the process. Variable:
    /// `TICKSCOPE_THREADS`.
    pub fn threads(mut self, threads: Threads) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Sets how many nested scopes are distinguished: 1 to 4096, 512 by default. Deeper calls are dropped and counted
    /// as dropped. The setting is fixed at the first scope or start of the process. Variable: `TICKSCOPE_MAX_DEPTH`.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.settings.max_depth = depth;
        self
    }

    /// Sets how many nodes a thread may have: 1 to 1048575, 65536 by default. A node takes 64 bytes. Calls that need
    /// more nodes share a row "(over the limit)" below each caller, with all that they call, and are counted as
    /// dropped. The setting is fixed at the first scope or start of the process. Variable: `TICKSCOPE_MAX_NODES`.
    pub fn max_nodes(mut self, nodes: u32) -> Self {
        self.settings.max_nodes = nodes;
        self
    }

    /// Sets how many nodes all threads together may have: 1 to 100000000, 1048576 by default. Calls that need more
    /// nodes share a row "(over the limit)" below each caller, with all that they call, and are counted as dropped. The
    /// setting is fixed at the first scope or start of the process. Variable: `TICKSCOPE_MAX_PROCESS_NODES`.
    pub fn max_process_nodes(mut self, nodes: u32) -> Self {
        self.settings.max_process_nodes = nodes;
        self
    }

    /// Sets the longest gap between two events of a thread that is charged, at most 24 h. A longer gap is counted as a
    /// clock error instead. Zero is no limit, which is the default. The setting is fixed at the first scope or start of
    /// the process. Variable: `TICKSCOPE_MAX_GAP_MS`.
    pub fn max_gap(mut self, limit: Duration) -> Self {
        self.settings.max_gap = Some(limit);
        self
    }

    /// Writes a report when the program ends: when `main` returns, when a panic leaves it, or when any thread calls
    /// [`std::process::exit`], with or without open scopes. The ending of a file's name chooses the form. A relative
    /// path starts at the present working directory. Variable: `TICKSCOPE_REPORT`.
    ///
    /// No report is written if the process ends without running its exit handlers: by `abort` (and so by a panic with
    /// `panic = "abort"`), by `_exit`, by a signal, or in a forked child. The ring file then stays, up to its newest
    /// record, and `tickscope report NAME` reads it.
    pub fn report_at_exit(mut self, destination: Destination) -> Self {
        self.settings.report_at_exit = Some(destination);
        self
    }

    /// Writes a log to standard error: at this interval, 10 ms to 1 h, one line for each thread and each of its groups. Zero is
    /// no log, which is the default. Needs the feature `report`; without it there is no log, and [`Session::warnings`] says so.
    /// Variable: `TICKSCOPE_LOG_EVERY_MS`.
    ///
    /// The publisher's thread writes the log, so scopes cost the same. `tickscope log` prints the same lines, and lines of
    /// functions, for a running program.
    pub fn log_every(mut self, every: Duration) -> Self {
        self.settings.log_every = Some(every);
        self
    }

    /// Sets whether viewers may reset counters, change the mode and request records; they may by default. Variable:
    /// `TICKSCOPE_ALLOW_REMOTE_CONTROL`.
    pub fn allow_remote_control(mut self, allowed: bool) -> Self {
        self.settings.allow_remote_control = allowed;
        self
    }

    /// Sets whether waiting time and ready time of a thread are distinguished from its working time; on by default. The
    /// distinction takes some nanoseconds for each gap of more than 10 us between two events. Threads that were off
    /// their CPU also make system calls: `clock_gettime`, and a read of `/proc/thread-self/schedstat`. The setting is
    /// fixed at the first scope or start of the process. Variable: `TICKSCOPE_WAITS`.
    pub fn waits(mut self, wanted: bool) -> Self {
        self.settings.waits = wanted;
        self
    }

    /// Sets whether the program counter is sampled from the start on; off by default. Viewers then show the time of
    /// each line, also in functions that are not measured. Each thread gets a timer on its own CPU time that is set to
    /// a thousand signals a second; the kernel sends at most one for each tick of its clock. The signal is `SIGPROF`,
    /// or a real-time signal if the program uses `SIGPROF`. Variable: `TICKSCOPE_LINES`.
    pub fn lines(mut self, wanted: bool) -> Self {
        self.settings.lines = wanted;
        self
    }

    /// Watches the functions that a pattern matches from the start on, as [`watch`](crate::watch()) does. Variable:
    /// `TICKSCOPE_WATCH`, which replaces the functions set here. Its value is a list of functions separated by commas.
    /// Each may end in `:tail`, `:p99`, `:p99.9` or a duration such as `:5ms`.
    pub fn watch(mut self, function: impl Into<String>, over: Over) -> Self {
        self.settings.watch.push((function.into(), over.into()));
        self
    }

    /// Sets how long the end of the last session, and the end of the program, waits for the last record if there is no
    /// progress. It is 2 s by default, at most 10 minutes; zero does not wait. While the record is captured, encoded or
    /// written, the wait continues, for at most 30 s in all. If the publisher's thread gets no CPU, the thread that
    /// ends the session does the work itself. Variable: `TICKSCOPE_END_MS`.
    pub fn end_within(mut self, limit: Duration) -> Self {
        self.settings.end_within = limit;
        self
    }

    /// Sets whether SIGTERM and SIGINT write the last record before they end the program; they do not by default. Only a signal that
    /// has its default action at this start gets a handler, and a handler that the program installs later takes its place. A
    /// second signal ends the program at once. Variable: `TICKSCOPE_END_ON_SIGNALS`.
    pub fn end_on_signals(mut self, wanted: bool) -> Self {
        self.settings.end_on_signals = wanted;
        self
    }

    /// Starts the session, or joins the running one.
    ///
    /// When this function returns, the ring file exists with its first record, and the settings apply. The start takes
    /// less than a millisecond, and longer only if the previous session is still writing its last record. The function
    /// never fails and never stops the program: if there is a problem, the session counts without publishing, and
    /// [`Session::warnings`] has the reason.
    pub fn start(self) -> Session {
        session::start(&self.name, self.settings)
    }

    /// Starts like [`Self::start`], and fails if viewers cannot attach.
    ///
    /// # Errors
    /// The reason why viewers cannot attach. The session has then ended.
    pub fn try_start(self) -> Result<Session, StartError> {
        self.start().if_publishing()
    }
}

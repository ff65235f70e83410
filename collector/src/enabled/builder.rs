//! The builder that configures a session in the program's code.

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

    /// Sets the time between two records while no viewer is attached: 10 ms to 1 h, 1 s by default. A value out of
    /// range is clamped, with a warning. If records would cost more than 0.1 % of a core, an interval of 1 s or more is
    /// lengthened, to at most 10 s. A viewer gets up to ten records a second. Variable: `TICKSCOPE_INTERVAL_MS`.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.settings.interval = interval;
        self
    }

    /// Sets the size of the ring in bytes: 64 KiB to 4 GiB, rounded up to a power of two, 16 MiB by default. One record
    /// takes at most half of the ring; larger records are cut down to their most expensive rows. Variable:
    /// `TICKSCOPE_RING_BYTES`.
    ///
    /// After ten seconds, the file also keeps a history of one record every ten seconds, and may grow to twice this
    /// size. 16 MiB hold about an hour of history for a program with 1 000 nodes, or a quarter of an hour with 10 000.
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

    /// Sets how scopes are measured once the session starts. Without this setting, starting a session keeps the current
    /// mode, which is initially [`Mode::Adaptive`]. [`set_mode`](crate::set_mode) changes the mode later. Variable:
    /// `TICKSCOPE_MODE`.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = Some(mode.into());
        self
    }

    /// Sets whether latency histograms are collected once the session starts. Without this setting, starting a session
    /// leaves them as they are; initially, they are on. Histograms take about 1 KiB per node.
    /// [`set_histogram`](crate::set_histogram) turns them on or off later. Variable: `TICKSCOPE_HISTOGRAM`.
    pub fn histogram(mut self, on: bool) -> Self {
        self.settings.histogram = Some(on);
        self
    }

    /// Sets the clock; the time stamp counter by default. The clock is fixed when the process opens its first scope or
    /// starts its first session. Variable: `TICKSCOPE_CLOCK`.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Sets which threads are measured; all by default. The choice is fixed when the process opens its first scope or
    /// starts its first session. Variable: `TICKSCOPE_THREADS`.
    pub fn threads(mut self, threads: Threads) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Sets how deeply scopes may be nested: 1 to 4096, 512 by default. Calls nested more deeply are not measured, only
    /// counted as dropped. The setting is fixed when the process opens its first scope or starts its first session.
    /// Variable: `TICKSCOPE_MAX_DEPTH`.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.settings.max_depth = depth;
        self
    }

    /// Sets how many nodes a thread may have: 1 to 1048575, 65536 by default. A node takes 64 bytes. Once there are
    /// that many, calls that need a new node are counted as dropped. Together with everything that they call, they
    /// share one row "(over the limit)" below their caller. The setting is fixed when the process opens its first scope
    /// or starts its first session. Variable: `TICKSCOPE_MAX_NODES`.
    pub fn max_nodes(mut self, nodes: u32) -> Self {
        self.settings.max_nodes = nodes;
        self
    }

    /// Sets how many nodes all threads together may have: 1 to 100000000, 1048576 by default. Once there are that many,
    /// calls that need a new node are counted as dropped. Together with everything that they call, they share one row
    /// "(over the limit)" below their caller. The setting is fixed when the process opens its first scope or starts its
    /// first session. Variable: `TICKSCOPE_MAX_PROCESS_NODES`.
    pub fn max_process_nodes(mut self, nodes: u32) -> Self {
        self.settings.max_process_nodes = nodes;
        self
    }

    /// Limits how much time may pass between two events of a thread, up to 24 h. A longer gap is counted as a clock
    /// error, and its time is not charged. Zero, the default, means no limit. The setting is fixed when the process
    /// opens its first scope or starts its first session. Variable: `TICKSCOPE_MAX_GAP_MS`.
    pub fn max_gap(mut self, limit: Duration) -> Self {
        self.settings.max_gap = Some(limit);
        self
    }

    /// Writes a report when the program ends: when `main` returns or panics, or when any thread calls
    /// [`std::process::exit`], with or without open scopes. If the report goes to a file, the file's extension chooses
    /// the format. A relative path is relative to the working directory at the start of the session. Variable:
    /// `TICKSCOPE_REPORT`.
    ///
    /// No report is written if the process ends without running its exit handlers: by `abort` (and so by a panic with
    /// `panic = "abort"`), by `_exit`, by a signal, or in a forked child. The ring file then remains, with everything
    /// up to its newest record, and `tickscope report NAME` reads it.
    pub fn report_at_exit(mut self, destination: Destination) -> Self {
        self.settings.report_at_exit = Some(destination);
        self
    }

    /// Writes a log to standard error. At the end of each interval of 10 ms to 1 h, it gets a line for each thread and each
    /// group that the thread was in. Zero, the default, means no log. Needs the feature `report`; without it there is no log,
    /// and [`Session::warnings`] says so. Variable: `TICKSCOPE_LOG_EVERY_MS`.
    ///
    /// The publisher's thread writes the log, so scopes do not become slower. `tickscope log` prints the same lines for a
    /// running program, and also lines for functions.
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

    /// Sets whether the time that a thread spends waiting, or ready but without a CPU, is shown separately from the
    /// time that it spends working; on by default. This costs a few nanoseconds for each gap of more than 10 us between
    /// two events. A thread that was off its CPU also makes system calls: `clock_gettime`, and a read of
    /// `/proc/thread-self/schedstat`. The setting is fixed when the process opens its first scope or starts its first
    /// session. Variable: `TICKSCOPE_WAITS`.
    pub fn waits(mut self, wanted: bool) -> Self {
        self.settings.waits = wanted;
        self
    }

    /// Sets whether the program counter is sampled as soon as the session starts; on by default in programs
    /// that were built by `cargo tickscope`, off in others. Viewers then show the time spent in each line, even in functions that are
    /// not measured. Each thread gets a timer that runs on the thread's CPU time and requests a thousand signals a
    /// second; the kernel sends at most one per kernel tick. The signal is `SIGPROF`, or a real-time signal if the
    /// program uses `SIGPROF`. Variable: `TICKSCOPE_LINES`.
    pub fn lines(mut self, wanted: bool) -> Self {
        self.settings.lines = Some(wanted);
        self
    }

    /// Watches the functions that match a pattern, as [`watch`](crate::watch()) does, as soon as the session starts.
    /// Variable: `TICKSCOPE_WATCH`, which replaces the functions set here. Its value is a comma-separated list of
    /// functions. Each may end in `:tail`, `:p99`, `:p99.9` or a duration such as `:5ms`.
    pub fn watch(mut self, function: impl Into<String>, over: Over) -> Self {
        self.settings.watch.push((function.into(), over.into()));
        self
    }

    /// Sets how long the end of the last session, or of the program, waits for the last record if no progress is made.
    /// The default is 2 s, the maximum 10 minutes; zero means not to wait at all. While the record is being captured,
    /// encoded or written, the wait continues, but for no more than 30 s in total. If the publisher's thread gets no
    /// CPU time, the thread that ends the session writes the record itself. Variable: `TICKSCOPE_END_MS`.
    pub fn end_within(mut self, limit: Duration) -> Self {
        self.settings.end_within = limit;
        self
    }

    /// Sets whether SIGTERM and SIGINT write the last record before they end the program; by default they do not. A handler is
    /// installed only for a signal that has its default action when the session starts, and a handler that the program installs
    /// later takes precedence. A second signal ends the program at once. Variable: `TICKSCOPE_END_ON_SIGNALS`.
    pub fn end_on_signals(mut self, wanted: bool) -> Self {
        self.settings.end_on_signals = wanted;
        self
    }

    /// Starts the session, or joins the running one.
    ///
    /// When this function returns, the ring file exists with its first record, and the settings are in effect. This
    /// takes less than a millisecond, unless the previous session is still writing its last record. The function never
    /// fails and never stops the program: if there is a problem, scopes are counted but nothing is published, and
    /// [`Session::warnings`] says why.
    pub fn start(self) -> Session {
        session::start(&self.name, self.settings)
    }

    /// Starts like [`Self::start`], but fails if viewers cannot attach.
    ///
    /// # Errors
    /// Returns the reason why viewers cannot attach. The session has then already ended.
    pub fn try_start(self) -> Result<Session, StartError> {
        self.start().if_publishing()
    }
}

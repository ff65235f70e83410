//! Settings: one table of environment variables with the values that each allows, and the defaults.
//!
//! The environment overrides the [`Builder`](crate::Builder). Reading it here does not allocate, because the first
//! scope of a program may be inside its allocator. Warnings about bad values are made later.

use std::ffi::CStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use tickscope_format::snapshot::Mode;

use crate::enabled::platform::os;
use crate::enabled::record::node;
use crate::enabled::record::tree::NO_LIMIT;
use crate::types::{Clock, Destination, Threads};

/// What `TICKSCOPE` starts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoStart {
    /// Publish from the first scope on.
    Live,
    /// Publish from the first scope on, and write the log.
    Log,
    /// Print a report at exit.
    Report,
    /// Measure nothing.
    Off,
}

/// The time between two records without a viewer: often enough to attach quickly, too rare to cost anything.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two lines of a group in the log.
const LOG_EVERY: Duration = Duration::from_secs(1);
/// 16 MiB hold about 500 records of 1 000 nodes. The history behind them, one record every ten seconds, may take as
/// much again and holds about an hour.
const RING_BYTES: u64 = 16 << 20;
/// Deep enough for all but runaway recursion, and shallow enough to read.
const MAX_DEPTH: u32 = 512;
/// At most 4 MiB of nodes a thread.
const MAX_NODES: u32 = 65_536;
/// At most 64 MiB of nodes in the process.
const MAX_PROCESS_NODES: u32 = 1 << 20;

/// How long a program waits, at its first scope, for a standard error that accepts nothing.
const PATIENCE_MS: i32 = 1_000;

/// All settings.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) interval: Duration,
    pub(crate) ring_bytes: u64,
    pub(crate) dir: Option<PathBuf>,
    /// How scopes are measured; `None` leaves the mode as it is.
    pub(crate) mode: Option<Mode>,
    /// Whether latencies are collected; `None` leaves that as it is.
    pub(crate) histogram: Option<bool>,
    pub(crate) clock: Clock,
    pub(crate) threads: Threads,
    pub(crate) max_depth: u32,
    pub(crate) max_nodes: u32,
    pub(crate) max_process_nodes: u32,
    /// The largest gap between two events that is charged; `None` for no limit.
    pub(crate) max_gap: Option<Duration>,
    pub(crate) report_at_exit: Option<Destination>,
    /// The interval of the log; `None` for no log.
    pub(crate) log_every: Option<Duration>,
    pub(crate) allow_remote_control: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interval: INTERVAL,
            ring_bytes: RING_BYTES,
            dir: None,
            mode: None,
            histogram: None,
            clock: Clock::Tsc,
            threads: Threads::All,
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_process_nodes: MAX_PROCESS_NODES,
            max_gap: None,
            report_at_exit: None,
            log_every: None,
            allow_remote_control: true,
        }
    }
}

/// An environment variable: its name, the allowed values, and how a value is applied. `apply` returns false if the
/// value is not allowed.
struct Variable {
    name: &'static CStr,
    allowed: &'static str,
    apply: fn(&mut Settings, &[u8]) -> bool,
}

/// The variables that a scope may need. `TICKSCOPE_DIR` and `TICKSCOPE_REPORT` hold paths, which allocate, and are read
/// later.
const VARIABLES: [Variable; 13] = [
    Variable {
        name: c"TICKSCOPE",
        allowed: "live, log, report, off",
        apply: |settings, value| {
            set(auto_start(value), |auto_start| {
                if auto_start == Some(AutoStart::Log) {
                    settings.log_every.get_or_insert(LOG_EVERY);
                }
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_LOG_EVERY_MS",
        allowed: "0 (no log) or 10 to 3600000 milliseconds",
        apply: |settings, value| {
            let every = number(value, 0..=3_600_000).filter(|ms| !(1..10).contains(ms));
            set(every, |ms| {
                settings.log_every = (ms > 0).then(|| Duration::from_millis(ms));
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_INTERVAL_MS",
        allowed: "10 to 3600000 milliseconds",
        apply: |settings, value| {
            set(number(value, 10..=3_600_000), |ms| {
                settings.interval = Duration::from_millis(ms)
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_RING_BYTES",
        allowed: "65536 to 4294967296 bytes (suffix K, M or G)",
        apply: |settings, value| set(bytes(value), |bytes| settings.ring_bytes = bytes),
    },
    Variable {
        name: c"TICKSCOPE_MODE",
        allowed: "exact, adaptive, sampled, off",
        apply: |settings, value| {
            let words = Mode::ALL.map(|mode| (mode.as_str(), mode));
            set(one_of(value, &words), |mode| settings.mode = Some(mode))
        },
    },
    Variable {
        name: c"TICKSCOPE_HISTOGRAM",
        allowed: "on, off",
        apply: |settings, value| {
            let histogram = one_of(value, &[("on", true), ("off", false)]);
            set(histogram, |histogram| settings.histogram = Some(histogram))
        },
    },
    Variable {
        name: c"TICKSCOPE_CLOCK",
        allowed: "tsc, tsc-ordered, monotonic",
        apply: |settings, value| set(Clock::named(value), |clock| settings.clock = clock),
    },
    Variable {
        name: c"TICKSCOPE_THREADS",
        allowed: "all, opt-in",
        apply: |settings, value| {
            let threads = one_of(value, &[("all", Threads::All), ("opt-in", Threads::OptIn)]);
            set(threads, |threads| settings.threads = threads)
        },
    },
    Variable {
        name: c"TICKSCOPE_MAX_DEPTH",
        allowed: "1 to 4096 nested scopes",
        apply: |settings, value| {
            set(number(value, 1..=u64::from(node::DEPTH_MAX)), |depth| {
                settings.max_depth = depth as u32
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_MAX_NODES",
        allowed: "1 to 1048575 nodes a thread",
        apply: |settings, value| {
            set(number(value, 1..=u64::from(node::NODES_MAX - 1)), |nodes| {
                settings.max_nodes = nodes as u32
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_MAX_PROCESS_NODES",
        allowed: "1 to 100000000 nodes in all threads",
        apply: |settings, value| {
            set(number(value, 1..=100_000_000), |nodes| {
                settings.max_process_nodes = nodes as u32
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_MAX_GAP_MS",
        allowed: "0 (no limit) to 86400000 milliseconds",
        apply: |settings, value| {
            set(number(value, 0..=86_400_000), |ms| {
                settings.max_gap = (ms > 0).then(|| Duration::from_millis(ms));
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_ALLOW_REMOTE_CONTROL",
        allowed: "on, off",
        apply: |settings, value| {
            let control = one_of(value, &[("on", true), ("off", false)]);
            set(control, |control| settings.allow_remote_control = control)
        },
    },
];

fn set<T>(value: Option<T>, apply: impl FnOnce(T)) -> bool {
    value.map(apply).is_some()
}

fn one_of<T: Copy>(value: &[u8], words: &[(&str, T)]) -> Option<T> {
    words
        .iter()
        .find(|(word, _)| word.as_bytes() == value)
        .map(|(_, meaning)| *meaning)
}

fn auto_start(value: &[u8]) -> Option<Option<AutoStart>> {
    let words = [
        ("live", AutoStart::Live),
        ("log", AutoStart::Log),
        ("report", AutoStart::Report),
        ("off", AutoStart::Off),
    ];
    match one_of(value, &words) {
        None if !value.is_empty() => None,
        auto_start => Some(auto_start),
    }
}

fn number(value: &[u8], allowed: std::ops::RangeInclusive<u64>) -> Option<u64> {
    let number = std::str::from_utf8(value).ok()?.parse().ok()?;
    allowed.contains(&number).then_some(number)
}

fn bytes(value: &[u8]) -> Option<u64> {
    let (digits, unit) = match value.split_last()? {
        (b'k' | b'K', digits) => (digits, 1 << 10),
        (b'm' | b'M', digits) => (digits, 1 << 20),
        (b'g' | b'G', digits) => (digits, 1 << 30),
        _ => (value, 1),
    };
    let bytes = number(digits, 1..=4 << 30)?.checked_mul(unit)?;
    (64 << 10..=4 << 30).contains(&bytes).then_some(bytes)
}

impl AutoStart {
    /// Returns whether a ring is wanted from the first scope on.
    pub(crate) fn publishes(self) -> bool {
        matches!(self, Self::Live | Self::Log)
    }
}

impl Settings {
    /// Returns what `TICKSCOPE` asks for. `TICKSCOPE_REPORT` alone asks for a report.
    pub(crate) fn auto_start() -> Option<AutoStart> {
        let said = os::variable(c"TICKSCOPE").and_then(auto_start).flatten();
        let place = || os::variable(c"TICKSCOPE_REPORT").filter(|place| !place.is_empty());
        said.or_else(|| place().map(|_| AutoStart::Report))
    }

    /// Prints a line on standard error if `TICKSCOPE` is not understood. Nothing starts in that case, so there is no
    /// other place for the warning. Does not allocate.
    pub(crate) fn warn_of_bad_auto_start() {
        let [known, ..] = &VARIABLES;
        let Some(found) = os::variable(known.name).filter(|value| auto_start(value).is_none()) else {
            return;
        };
        // A longer value is cut.
        let mut line = [0; 256];
        let mut rest = &mut line[..];
        let found = found.get(..64).unwrap_or(found).escape_ascii();
        let told = writeln!(
            rest,
            "tickscope: TICKSCOPE={found} is not understood, so it starts nothing; allowed: {}",
            known.allowed
        );
        let left = rest.len();
        if told.is_ok() {
            let _ = os::write_all(libc::STDERR_FILENO, &line[..line.len() - left], PATIENCE_MS);
        }
    }

    /// Returns the token that `tickscope run` passed, or 0.
    pub(crate) fn run_token() -> u64 {
        let token = os::variable(c"TICKSCOPE_RUN").and_then(|token| std::str::from_utf8(token).ok());
        token
            .and_then(|token| u64::from_str_radix(token, 16).ok())
            .unwrap_or(0)
    }

    /// Applies the environment, except paths, without allocating.
    pub(crate) fn with_environment(mut self) -> Self {
        for variable in &VARIABLES {
            if let Some(value) = os::variable(variable.name) {
                (variable.apply)(&mut self, value);
            }
        }
        self
    }

    /// Applies the environment, and adds a warning for each bad value. It reads the environment under std's lock,
    /// because it may run on the publisher's thread while the program changes the environment.
    pub(crate) fn with_environment_and_warnings(mut self, warnings: &mut Vec<String>) -> Self {
        // A program with more rights than its caller does not let the caller choose where files go.
        let variable = |name: &str| std::env::var_os(name).filter(|_| !os::has_more_rights());
        for known in &VARIABLES {
            let name = known.name.to_string_lossy();
            if let Some(value) = variable(&name)
                && !(known.apply)(&mut self, value.as_bytes())
            {
                let found = value.to_string_lossy();
                let allowed = known.allowed;
                warnings.push(format!(
                    "{name}={found} is not understood; allowed: {allowed}; the default is used"
                ));
            }
        }
        if let Some(dir) = variable("TICKSCOPE_DIR").filter(|value| !value.is_empty()) {
            self.dir = Some(dir.into());
        }
        if let Some(report) = variable("TICKSCOPE_REPORT").filter(|value| !value.is_empty()) {
            self.report_at_exit = Some(match report.as_bytes() {
                b"stderr" => Destination::Stderr,
                b"stdout" => Destination::Stdout,
                _ => Destination::File(report.into()),
            });
        }
        // The program may change its working directory before the publisher uses the path.
        self.dir = self.dir.map(|dir| std::path::absolute(&dir).unwrap_or(dir));
        if let Some(Destination::File(path)) = &mut self.report_at_exit
            && let Ok(absolute) = std::path::absolute(&*path)
        {
            *path = absolute;
        }
        self.mend(warnings);
        self
    }

    /// Clamps what the program itself set.
    fn mend(&mut self, warnings: &mut Vec<String>) {
        let mut clamp = |what: &str, value: u64, low: u64, high: u64| {
            let mended = value.clamp(low, high);
            if mended != value {
                warnings.push(format!(
                    "{what} {value} is out of range; allowed: {low} to {high}; used: {mended}"
                ));
            }
            mended
        };
        let ms = clamp("interval (ms)", self.interval.as_millis() as u64, 10, 3_600_000);
        self.interval = Duration::from_millis(ms);
        if let Some(every) = &mut self.log_every {
            let ms = clamp("log_every (ms)", every.as_millis() as u64, 10, 3_600_000);
            *every = Duration::from_millis(ms);
        }
        self.ring_bytes = clamp("ring_bytes", self.ring_bytes, 64 << 10, 4 << 30).next_power_of_two();
        self.max_depth = clamp("max_depth", self.max_depth.into(), 1, node::DEPTH_MAX.into()) as u32;
        let most = u64::from(node::NODES_MAX - 1);
        self.max_nodes = clamp("max_nodes", self.max_nodes.into(), 1, most) as u32;
    }

    /// Returns the largest gap that is charged, in ticks.
    pub(crate) fn max_gap_ticks(&self, ticks_per_second: f64) -> u64 {
        match self.max_gap {
            Some(limit) => ((limit.as_secs_f64() * ticks_per_second) as u64).clamp(1, NO_LIMIT),
            None => NO_LIMIT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_units_and_stay_in_range() {
        assert_eq!(bytes(b"65536"), Some(65_536));
        assert_eq!(bytes(b"64K"), Some(65_536));
        assert_eq!(bytes(b"16M"), Some(16 << 20));
        assert_eq!(bytes(b"4G"), Some(4 << 30));
        for bad in [&b"5G"[..], b"1K", b"", b"M", b"-1", b"16MB", b"1e6"] {
            assert_eq!(bytes(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn what_the_program_sets_is_mended_and_said() {
        let mut settings = Settings {
            interval: Duration::ZERO,
            ring_bytes: 3 << 20,
            max_depth: 9999,
            ..Settings::default()
        };
        let mut warnings = Vec::new();
        settings.mend(&mut warnings);
        assert_eq!(settings.interval, Duration::from_millis(10));
        assert_eq!(settings.ring_bytes, 4 << 20);
        assert_eq!(settings.max_depth, 4096);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[1].contains("max_depth 9999") && warnings[1].contains("1 to 4096"),
            "{warnings:?}"
        );
    }
}

//! Settings: their defaults, and one table of environment variables with the values that each allows. The variables for
//! functions are in `function_choice`.
//!
//! The environment overrides the [`Builder`](crate::Builder). `with_environment` does not allocate, because the first
//! scope of a program may be inside its allocator. Warnings about bad values are made later.

use std::ffi::CStr;
use std::fmt;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use tickscope_format::snapshot::{Mode, Over};

use crate::enabled::platform::{descriptors, os};
use crate::enabled::record::node;
use crate::enabled::record::tree::NO_LIMIT;
use crate::types::{Clock, Destination, Threads};

/// Values of `TICKSCOPE`, by which the environment starts a session or report.
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

/// Default of the time between two records without a viewer: often enough to attach quickly, too rare to cost anything.
const INTERVAL: Duration = Duration::from_secs(1);
/// Default of the time between two lines of a group in the log.
const LOG_EVERY: Duration = Duration::from_secs(1);
/// Default size of the ring. 16 MiB hold about 500 records of 1 000 nodes. The history, one record every ten seconds,
/// may take another 16 MiB and holds about an hour.
const RING_BYTES: u64 = 16 << 20;
/// Default of the maximum depth: enough for all but runaway recursion, and still readable.
const MAX_DEPTH: u32 = 512;
/// Default of the maximum number of nodes of a thread, which take 4 MiB.
const MAX_NODES: u32 = 65_536;
/// Default of the maximum number of nodes of the process, which take 64 MiB.
const MAX_PROCESS_NODES: u32 = 1 << 20;

/// Default of the time for which the end of a program waits for its last record without progress.
const END_WITHIN: Duration = Duration::from_secs(2);

const END_MS: Range = Range::new(1, 600_000, "milliseconds").or_zero("no waiting");
const INTERVAL_MS: Range = Range::new(10, 3_600_000, "milliseconds");
const LOG_EVERY_MS: Range = Range::new(10, 3_600_000, "milliseconds").or_zero("no log");
const MAX_GAP_MS: Range = Range::new(1, 86_400_000, "milliseconds").or_zero("no limit");
const RING_BYTES_RANGE: Range = Range::new(64 << 10, 4 << 30, "bytes (suffix K, M or G)");
const DEPTHS: Range = Range::new(1, node::DEPTH_MAX as u64, "nested scopes");
const NODES: Range = Range::new(1, node::NODES_MAX as u64 - 1, "nodes a thread");
const PROCESS_NODES: Range = Range::new(1, 100_000_000, "nodes in all threads");

/// Maximum time in ms that a program waits before `main` if standard error accepts nothing.
const PATIENCE_MS: i32 = 1_000;

/// All settings.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) interval: Duration,
    pub(crate) ring_bytes: u64,
    pub(crate) dir: Option<PathBuf>,
    /// How scopes are measured; `None` leaves the mode unchanged.
    pub(crate) mode: Option<Mode>,
    /// Whether latencies are collected; `None` leaves the setting unchanged.
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
    /// Whether time off the CPU is distinguished from work.
    pub(crate) waits: bool,
    /// Whether the program counter is sampled from the start on.
    pub(crate) lines: bool,
    /// The watched functions, and the threshold of each for slow calls.
    pub(crate) watch: Vec<(String, Over)>,
    /// Time for which the end waits for the last record without progress.
    pub(crate) end_within: Duration,
    /// Whether the last record is written when a signal ends the program.
    pub(crate) end_on_signals: bool,
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
            waits: true,
            lines: false,
            watch: Vec::new(),
            end_within: END_WITHIN,
            end_on_signals: false,
        }
    }
}

/// The numbers that a setting allows, for its variable and for its setter.
#[derive(Clone, Copy)]
struct Range {
    least: u64,
    most: u64,
    /// Meaning of 0, if it is allowed as well.
    zero: Option<&'static str>,
    unit: &'static str,
}

impl Range {
    const fn new(least: u64, most: u64, unit: &'static str) -> Self {
        Self {
            least,
            most,
            zero: None,
            unit,
        }
    }

    /// Allows 0 as well.
    const fn or_zero(self, meaning: &'static str) -> Self {
        Self {
            zero: Some(meaning),
            ..self
        }
    }

    fn allows(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number) || number == 0 && self.zero.is_some()
    }

    /// Reads the value of a variable.
    fn number(self, value: &[u8]) -> Option<u64> {
        number(value).filter(|&number| self.allows(number))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            least, most, unit, ..
        } = self;
        match self.zero {
            Some(meaning) if *least == 1 => write!(f, "0 ({meaning}) to {most} {unit}"),
            Some(meaning) => write!(f, "0 ({meaning}) or {least} to {most} {unit}"),
            None => write!(f, "{least} to {most} {unit}"),
        }
    }
}

/// The values that a variable allows.
enum Allowed {
    Words(&'static str),
    Numbers(Range),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Numbers(range) => range.fmt(f),
        }
    }
}

/// An environment variable: its name, the allowed values, and how a value is applied. `apply` returns false if the
/// value is not allowed.
struct Variable {
    name: &'static CStr,
    allowed: Allowed,
    apply: fn(&mut Settings, &[u8]) -> bool,
}

/// The variables that a scope may need. `TICKSCOPE_DIR`, `TICKSCOPE_REPORT` and `TICKSCOPE_WATCH` are read later,
/// because their values need allocations.
const VARIABLES: [Variable; 17] = [
    Variable {
        name: c"TICKSCOPE",
        allowed: Allowed::Words("live, log, report, off"),
        apply: |settings, value| {
            set(auto_start(value), |auto_start| {
                if auto_start == Some(AutoStart::Log) {
                    let every = settings.log_every.filter(|every| !every.is_zero());
                    settings.log_every = every.or(Some(LOG_EVERY));
                }
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_LOG_EVERY_MS",
        allowed: Allowed::Numbers(LOG_EVERY_MS),
        apply: |settings, value| {
            set(LOG_EVERY_MS.number(value), |ms| {
                settings.log_every = (ms > 0).then(|| Duration::from_millis(ms));
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_INTERVAL_MS",
        allowed: Allowed::Numbers(INTERVAL_MS),
        apply: |settings, value| {
            set(INTERVAL_MS.number(value), |ms| {
                settings.interval = Duration::from_millis(ms)
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_RING_BYTES",
        allowed: Allowed::Numbers(RING_BYTES_RANGE),
        apply: |settings, value| set(bytes(value), |bytes| settings.ring_bytes = bytes),
    },
    Variable {
        name: c"TICKSCOPE_MODE",
        allowed: Allowed::Words("exact, adaptive, sampled, off"),
        apply: |settings, value| {
            let words = Mode::ALL.map(|mode| (mode.as_str(), mode));
            set(one_of(value, &words), |mode| settings.mode = Some(mode))
        },
    },
    Variable {
        name: c"TICKSCOPE_HISTOGRAM",
        allowed: Allowed::Words("on, off"),
        apply: |settings, value| {
            let histogram = one_of(value, &[("on", true), ("off", false)]);
            set(histogram, |histogram| settings.histogram = Some(histogram))
        },
    },
    Variable {
        name: c"TICKSCOPE_CLOCK",
        allowed: Allowed::Words("tsc, tsc-ordered, monotonic"),
        apply: |settings, value| set(Clock::named(value), |clock| settings.clock = clock),
    },
    Variable {
        name: c"TICKSCOPE_THREADS",
        allowed: Allowed::Words("all, opt-in"),
        apply: |settings, value| {
            let threads = one_of(value, &[("all", Threads::All), ("opt-in", Threads::OptIn)]);
            set(threads, |threads| settings.threads = threads)
        },
    },
    Variable {
        name: c"TICKSCOPE_MAX_DEPTH",
        allowed: Allowed::Numbers(DEPTHS),
        apply: |settings, value| set(DEPTHS.number(value), |depth| settings.max_depth = depth as u32),
    },
    Variable {
        name: c"TICKSCOPE_MAX_NODES",
        allowed: Allowed::Numbers(NODES),
        apply: |settings, value| set(NODES.number(value), |nodes| settings.max_nodes = nodes as u32),
    },
    Variable {
        name: c"TICKSCOPE_MAX_PROCESS_NODES",
        allowed: Allowed::Numbers(PROCESS_NODES),
        apply: |settings, value| {
            set(PROCESS_NODES.number(value), |nodes| {
                settings.max_process_nodes = nodes as u32
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_MAX_GAP_MS",
        allowed: Allowed::Numbers(MAX_GAP_MS),
        apply: |settings, value| {
            set(MAX_GAP_MS.number(value), |ms| {
                settings.max_gap = (ms > 0).then(|| Duration::from_millis(ms));
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_ALLOW_REMOTE_CONTROL",
        allowed: Allowed::Words("on, off"),
        apply: |settings, value| {
            let control = one_of(value, &[("on", true), ("off", false)]);
            set(control, |control| settings.allow_remote_control = control)
        },
    },
    Variable {
        name: c"TICKSCOPE_WAITS",
        allowed: Allowed::Words("on, off"),
        apply: |settings, value| {
            let waits = one_of(value, &[("on", true), ("off", false)]);
            set(waits, |waits| settings.waits = waits)
        },
    },
    Variable {
        name: c"TICKSCOPE_LINES",
        allowed: Allowed::Words(SWITCH),
        apply: |settings, value| set(switch(value), |on| settings.lines = on),
    },
    Variable {
        name: c"TICKSCOPE_END_MS",
        allowed: Allowed::Numbers(END_MS),
        apply: |settings, value| {
            set(END_MS.number(value), |ms| {
                settings.end_within = Duration::from_millis(ms)
            })
        },
    },
    Variable {
        name: c"TICKSCOPE_END_ON_SIGNALS",
        allowed: Allowed::Words(SWITCH),
        apply: |settings, value| set(switch(value), |on| settings.end_on_signals = on),
    },
];

/// The values that [`switch`] accepts.
const SWITCH: &str = "1, on, 0, off";

fn switch(value: &[u8]) -> Option<bool> {
    one_of(value, &[("1", true), ("on", true), ("0", false), ("off", false)])
}

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

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn bytes(value: &[u8]) -> Option<u64> {
    let (digits, unit) = match value.split_last()? {
        (b'k' | b'K', digits) => (digits, 1 << 10),
        (b'm' | b'M', digits) => (digits, 1 << 20),
        (b'g' | b'G', digits) => (digits, 1 << 30),
        _ => (value, 1),
    };
    let bytes = number(digits)?.checked_mul(unit)?;
    RING_BYTES_RANGE.allows(bytes).then_some(bytes)
}

impl Settings {
    /// Returns the value of `TICKSCOPE`. `TICKSCOPE_REPORT` alone requests a report.
    pub(crate) fn auto_start() -> Option<AutoStart> {
        let said = os::variable(c"TICKSCOPE").and_then(auto_start).flatten();
        let place = || os::variable(c"TICKSCOPE_REPORT").filter(|place| !place.is_empty());
        said.or_else(|| place().map(|_| AutoStart::Report))
    }

    /// Returns whether the environment sets watched functions, which need a publisher.
    pub(crate) fn wants_publisher() -> bool {
        os::variable(c"TICKSCOPE_WATCH").is_some_and(|functions| !functions.is_empty())
    }

    /// Prints a line on standard error if `TICKSCOPE` is not understood. Nothing starts in that case, so there is no
    /// other place for the warning. Does not allocate.
    pub(crate) fn warn_of_bad_auto_start() {
        let [known, ..] = &VARIABLES;
        let Some(found) = os::variable(known.name).filter(|value| auto_start(value).is_none()) else {
            return;
        };
        // A value of more than 64 bytes is cut.
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
            let _ = descriptors::write_all(libc::STDERR_FILENO, &line[..line.len() - left], PATIENCE_MS);
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

    /// Applies the environment, and adds a warning for each bad value. Reads the environment under std's lock, because
    /// the publisher's thread may call this while the program changes the environment.
    pub(crate) fn with_environment_and_warnings(mut self, warnings: &mut Vec<String>) -> Self {
        os::find_environment();
        // A program with more rights than its caller does not let the caller choose where files go.
        let variable = |name: &str| std::env::var_os(name).filter(|_| !os::has_more_rights());
        for known in &VARIABLES {
            let name = known.name.to_string_lossy();
            if let Some(value) = variable(&name)
                && !(known.apply)(&mut self, value.as_bytes())
            {
                let found = value.to_string_lossy();
                let allowed = &known.allowed;
                warnings.push(format!(
                    "{name}={found} is not understood; allowed: {allowed}; the variable is ignored"
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
        if let Some(watch) = variable("TICKSCOPE_WATCH").filter(|value| !value.is_empty()) {
            let watch = watch.to_string_lossy();
            self.watch = watch.split(',').map(watched).collect();
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

    /// Clamps the values that the program set in code.
    fn mend(&mut self, warnings: &mut Vec<String>) {
        let mut clamp = |what: &str, value: u64, Range { least, most, .. }: Range| {
            let mended = value.clamp(least, most);
            if mended != value {
                warnings.push(format!(
                    "{what} {value} is out of range; allowed: {least} to {most}; used: {mended}"
                ));
            }
            mended
        };
        let ms = clamp("interval (ms)", millis(self.interval), INTERVAL_MS);
        self.interval = Duration::from_millis(ms);
        self.log_every = self.log_every.filter(|every| !every.is_zero()).map(|every| {
            let ms = clamp("log_every (ms)", millis(every), LOG_EVERY_MS);
            Duration::from_millis(ms)
        });
        self.max_gap = self.max_gap.filter(|gap| !gap.is_zero()).map(|gap| {
            // A setter may set a gap of less than a millisecond, which is not out of range.
            clamp("max_gap (ms)", millis(gap).max(1), MAX_GAP_MS);
            gap.min(Duration::from_millis(MAX_GAP_MS.most))
        });
        let ms = clamp(
            "end_within (ms)",
            millis(self.end_within),
            Range { least: 0, ..END_MS },
        );
        self.end_within = Duration::from_millis(ms);
        self.ring_bytes = clamp("ring_bytes", self.ring_bytes, RING_BYTES_RANGE).next_power_of_two();
        self.max_depth = clamp("max_depth", self.max_depth.into(), DEPTHS) as u32;
        self.max_nodes = clamp("max_nodes", self.max_nodes.into(), NODES) as u32;
        let nodes = clamp("max_process_nodes", self.max_process_nodes.into(), PROCESS_NODES);
        self.max_process_nodes = nodes as u32;
    }

    /// Returns the largest gap that is charged, in ticks.
    pub(crate) fn max_gap_ticks(&self, ticks_per_second: f64) -> u64 {
        match self.max_gap {
            Some(limit) => ((limit.as_secs_f64() * ticks_per_second) as u64).clamp(1, NO_LIMIT),
            None => NO_LIMIT,
        }
    }
}

/// Reads a function and the threshold of its slow calls, from `handle:p99`, `book::insert:5ms` or `handle` alone. The text behind
/// the last colon may also be a part of the function's path.
fn watched(text: &str) -> (String, Over) {
    let split = text
        .rsplit_once(':')
        .filter(|(function, _)| !function.ends_with(':'));
    match split.and_then(|(function, over)| Some((function, over.parse().ok()?))) {
        Some((function, over)) => (function.trim().into(), over),
        None => (text.trim().into(), Over::default()),
    }
}

/// Returns the whole milliseconds of a duration.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_to_watch_may_have_a_threshold() {
        for (text, function, over) in [
            ("handle", "handle", Over::Tail),
            ("handle:p99.9", "handle", Over::P999),
            ("book::insert", "book::insert", Over::Tail),
            (" book::insert:5ms", "book::insert", Over::Ns(5_000_000)),
            ("book::p99", "book::p99", Over::Tail),
        ] {
            assert_eq!(watched(text), (function.into(), over));
        }
    }

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

    /// Returns a program's settings after `mend`, and the warnings.
    fn mended(set: impl FnOnce(&mut Settings)) -> (Settings, Vec<String>) {
        let (mut settings, mut warnings) = (Settings::default(), Vec::new());
        set(&mut settings);
        settings.mend(&mut warnings);
        (settings, warnings)
    }

    #[test]
    fn the_nodes_of_the_process_stay_in_range() {
        for (set, used) in [(0, 1), (7, 7), (u32::MAX, 100_000_000)] {
            let (settings, warnings) = mended(|settings| settings.max_process_nodes = set);
            assert_eq!(settings.max_process_nodes, used);
            let said =
                format!("max_process_nodes {set} is out of range; allowed: 1 to 100000000; used: {used}");
            let expected = if set == used { vec![] } else { vec![said] };
            assert_eq!(warnings, expected);
        }
    }

    #[test]
    fn a_gap_of_zero_is_no_limit_and_a_day_is_the_longest() {
        let (settings, warnings) = mended(|settings| settings.max_gap = Some(Duration::ZERO));
        assert_eq!((settings.max_gap, warnings), (None, vec![]));
        assert_eq!(settings.max_gap_ticks(1e9), NO_LIMIT);
        let day = Duration::from_secs(86_400);
        for gap in [Duration::from_nanos(1), Duration::from_micros(1_500), day] {
            let (settings, warnings) = mended(|settings| settings.max_gap = Some(gap));
            assert_eq!((settings.max_gap, warnings), (Some(gap), vec![]));
        }
        let (settings, warnings) = mended(|settings| settings.max_gap = Some(2 * day));
        assert_eq!(settings.max_gap, Some(day));
        let said = "max_gap (ms) 172800000 is out of range; allowed: 1 to 86400000; used: 86400000";
        assert_eq!(warnings, [said]);
    }

    #[test]
    fn a_log_every_zero_is_no_log() {
        let (settings, warnings) = mended(|settings| settings.log_every = Some(Duration::ZERO));
        assert_eq!((settings.log_every, warnings), (None, vec![]));
        let (settings, warnings) = mended(|settings| settings.log_every = Some(Duration::from_nanos(1)));
        assert_eq!(settings.log_every, Some(Duration::from_millis(10)));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let log = VARIABLES
            .iter()
            .find(|variable| variable.name == c"TICKSCOPE")
            .unwrap();
        let mut settings = Settings {
            log_every: Some(Duration::ZERO),
            ..Settings::default()
        };
        assert!((log.apply)(&mut settings, b"log"));
        assert_eq!(
            settings.log_every,
            Some(LOG_EVERY),
            "the variable overrides the setter"
        );
    }
}

//! The table of environment variables, with the values that each of them allows. The variables for functions are in
//! `function_choice`.
//!
//! The environment overrides the [`Builder`](crate::Builder). `with_environment` does not allocate, because the first
//! scope of a program may be inside its allocator. Warnings about invalid values are given later.

use std::ffi::CStr;
use std::fmt;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use tickscope_format::snapshot::{Mode, Over};

use self::Allowed::{Bytes, Numbers, Switch, Words};
use crate::enabled::platform::{descriptors, os};
use crate::enabled::runtime::settings::{
    AutoStart, DEPTHS, END_MS, INTERVAL_MS, LOG_EVERY, LOG_EVERY_MS, MAX_GAP_MS, NODES, PROCESS_NODES,
    RING_BYTES_RANGE, Range, Settings,
};
use crate::types::{Clock, Destination, Threads};

/// How long a program may be delayed before `main`, in ms, if standard error does not accept any output.
const PATIENCE_MS: i32 = 1_000;

/// The values that a variable allows, and how a value is applied.
enum Allowed {
    /// One of the listed words. The function applies a word, and returns false for any word that is not listed.
    Words(&'static str, fn(&mut Settings, &[u8]) -> bool),
    /// Words for on and off.
    Switch(&'static str, fn(&mut Settings, bool)),
    Numbers(Range, fn(&mut Settings, u64)),
    /// The size of the ring.
    Bytes(fn(&mut Settings, u64)),
}

impl Allowed {
    /// Applies a value. Returns false if the value is not allowed.
    fn apply(&self, settings: &mut Settings, value: &[u8]) -> bool {
        match self {
            Words(_, apply) => apply(settings, value),
            Switch(words, apply) => {
                let is_word = words.split(", ").any(|word| word.as_bytes() == value);
                is_word
                    .then(|| apply(settings, matches!(value, b"1" | b"on")))
                    .is_some()
            }
            Numbers(range, apply) => {
                let number = number(value).filter(|&number| range.allows(number));
                number.map(|number| apply(settings, number)).is_some()
            }
            Bytes(apply) => bytes(value).map(|bytes| apply(settings, bytes)).is_some(),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Words(words, _) | Switch(words, _) => f.write_str(words),
            Numbers(range, _) => range.fmt(f),
            Bytes(_) => RING_BYTES_RANGE.fmt(f),
        }
    }
}

/// The variables that a scope may need. `TICKSCOPE_DIR`, `TICKSCOPE_REPORT` and `TICKSCOPE_WATCH` are read later,
/// because their values need allocations.
const VARIABLES: [(&CStr, Allowed); 17] = [
    (c"TICKSCOPE", Words("live, log, report, off", set_auto_start)),
    (
        c"TICKSCOPE_LOG_EVERY_MS",
        Numbers(LOG_EVERY_MS, |settings, ms| settings.log_every = unless_zero(ms)),
    ),
    (
        c"TICKSCOPE_INTERVAL_MS",
        Numbers(INTERVAL_MS, |settings, ms| {
            settings.interval = Duration::from_millis(ms)
        }),
    ),
    (
        c"TICKSCOPE_RING_BYTES",
        Bytes(|settings, bytes| settings.ring_bytes = bytes),
    ),
    (
        c"TICKSCOPE_MODE",
        Words("exact, adaptive, sampled, off", |settings, value| {
            let words = Mode::ALL.map(|mode| (mode.as_str(), mode));
            set(one_of(value, &words), |mode| settings.mode = Some(mode))
        }),
    ),
    (
        c"TICKSCOPE_HISTOGRAM",
        Switch("on, off", |settings, on| settings.histogram = Some(on)),
    ),
    (
        c"TICKSCOPE_CLOCK",
        Words("tsc, tsc-ordered, monotonic", |settings, value| {
            let clocks = [Clock::Tsc, Clock::TscOrdered, Clock::Monotonic];
            let words = clocks.map(|clock| (clock.source().as_str(), clock));
            set(one_of(value, &words), |clock| settings.clock = clock)
        }),
    ),
    (
        c"TICKSCOPE_THREADS",
        Words("all, opt-in", |settings, value| {
            let threads = one_of(value, &[("all", Threads::All), ("opt-in", Threads::OptIn)]);
            set(threads, |threads| settings.threads = threads)
        }),
    ),
    (
        c"TICKSCOPE_MAX_DEPTH",
        Numbers(DEPTHS, |settings, depth| settings.max_depth = depth as u32),
    ),
    (
        c"TICKSCOPE_MAX_NODES",
        Numbers(NODES, |settings, nodes| settings.max_nodes = nodes as u32),
    ),
    (
        c"TICKSCOPE_MAX_PROCESS_NODES",
        Numbers(PROCESS_NODES, |settings, nodes| {
            settings.max_process_nodes = nodes as u32
        }),
    ),
    (
        c"TICKSCOPE_MAX_GAP_MS",
        Numbers(MAX_GAP_MS, |settings, ms| settings.max_gap = unless_zero(ms)),
    ),
    (
        c"TICKSCOPE_ALLOW_REMOTE_CONTROL",
        Switch("on, off", |settings, on| settings.allow_remote_control = on),
    ),
    (
        c"TICKSCOPE_WAITS",
        Switch("on, off", |settings, on| settings.waits = on),
    ),
    (
        c"TICKSCOPE_LINES",
        Switch("1, on, 0, off", |settings, on| settings.lines = Some(on)),
    ),
    (
        c"TICKSCOPE_END_MS",
        Numbers(END_MS, |settings, ms| {
            settings.end_within = Duration::from_millis(ms)
        }),
    ),
    (
        c"TICKSCOPE_END_ON_SIGNALS",
        Switch("1, on, 0, off", |settings, on| settings.end_on_signals = on),
    ),
];

fn unless_zero(ms: u64) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(ms))
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

/// Turns on the log if `TICKSCOPE` is `log`. [`Settings::auto_start`] handles the other values.
fn set_auto_start(settings: &mut Settings, value: &[u8]) -> bool {
    set(auto_start(value), |auto_start| {
        if auto_start == Some(AutoStart::Log) {
            let every = settings.log_every.filter(|every| !every.is_zero());
            settings.log_every = every.or(Some(LOG_EVERY));
        }
    })
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
    /// Returns what `TICKSCOPE` requests. `TICKSCOPE_REPORT` on its own requests a report.
    pub(crate) fn auto_start() -> Option<AutoStart> {
        let said = os::variable(c"TICKSCOPE").and_then(auto_start).flatten();
        let place = || os::variable(c"TICKSCOPE_REPORT").filter(|place| !place.is_empty());
        said.or_else(|| place().map(|_| AutoStart::Report))
    }

    /// Prints a warning to standard error if the value of `TICKSCOPE` is invalid. Nothing is started in that case, so
    /// the warning cannot be shown anywhere else. Does not allocate.
    pub(crate) fn warn_of_bad_auto_start() {
        let [(name, allowed), ..] = &VARIABLES;
        let Some(found) = os::variable(name).filter(|value| auto_start(value).is_none()) else {
            return;
        };
        // A value of more than 64 bytes is truncated.
        let mut line = [0; 256];
        let mut rest = &mut line[..];
        let found = found.get(..64).unwrap_or(found).escape_ascii();
        let told = writeln!(
            rest,
            "tickscope: TICKSCOPE={found} is not understood, so it starts nothing; allowed: {allowed}"
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

    /// Applies the environment variables in `VARIABLES`, without allocating.
    pub(crate) fn with_environment(mut self) -> Self {
        for (name, allowed) in &VARIABLES {
            if let Some(value) = os::variable(name) {
                allowed.apply(&mut self, value);
            }
        }
        self
    }

    /// Applies the environment variables, and adds a warning for each invalid value. Reads the environment under std's
    /// lock, because the publisher's thread may call this while the program changes the environment.
    pub(crate) fn with_environment_and_warnings(mut self, warnings: &mut Vec<String>) -> Self {
        os::find_environment();
        // A program that has more rights than its caller, such as a setuid program, must not let the caller choose
        // where files are written.
        let variable = |name: &str| std::env::var_os(name).filter(|_| !os::has_more_rights());
        for (name, allowed) in &VARIABLES {
            let name = name.to_string_lossy();
            if let Some(value) = variable(&name)
                && !allowed.apply(&mut self, value.as_bytes())
            {
                let found = value.to_string_lossy();
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
}

/// Parses a function to watch and the threshold for its slow calls, from `handle:p99`, `book::insert:5ms` or just
/// `handle`. Text after the last colon that is not a threshold is part of the function's path.
fn watched(text: &str) -> (String, Over) {
    let split = text
        .rsplit_once(':')
        .filter(|(function, _)| !function.ends_with(':'));
    match split.and_then(|(function, over)| Some((function, over.parse().ok()?))) {
        Some((function, over)) => (function.trim().into(), over),
        None => (text.trim().into(), Over::default()),
    }
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
    fn the_variable_asks_for_a_log_where_the_program_has_switched_it_off() {
        let mut settings = Settings {
            log_every: Some(Duration::ZERO),
            ..Settings::default()
        };
        assert!(set_auto_start(&mut settings, b"log"));
        assert_eq!(settings.log_every, Some(LOG_EVERY));
    }
}

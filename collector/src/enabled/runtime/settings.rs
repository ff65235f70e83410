//! The settings, with their defaults and the ranges of their numeric values. The environment variables are in
//! `environment`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tickscope_format::snapshot::{Mode, Over};

use crate::enabled::record::node;
use crate::enabled::record::tree::NO_LIMIT;
use crate::types::{Clock, Destination, Threads};

/// The values of `TICKSCOPE`, with which the environment starts a session or a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoStart {
    /// Publish from the first scope onwards.
    Live,
    /// Publish from the first scope onwards, and write the log.
    Log,
    /// Print a report at exit.
    Report,
    /// Measure nothing.
    Off,
}

/// Default time between two lines of the same group in the log.
pub(crate) const LOG_EVERY: Duration = Duration::from_secs(1);

pub(crate) const END_MS: Range = Range::new(1, 600_000, "milliseconds").or_zero("no waiting");
pub(crate) const INTERVAL_MS: Range = Range::new(10, 3_600_000, "milliseconds");
pub(crate) const LOG_EVERY_MS: Range = Range::new(10, 3_600_000, "milliseconds").or_zero("no log");
pub(crate) const MAX_GAP_MS: Range = Range::new(1, 86_400_000, "milliseconds").or_zero("no limit");
pub(crate) const RING_BYTES_RANGE: Range = Range::new(64 << 10, 4 << 30, "bytes (suffix K, M or G)");
pub(crate) const DEPTHS: Range = Range::new(1, node::DEPTH_MAX as u64, "nested scopes");
pub(crate) const NODES: Range = Range::new(1, node::NODES_MAX as u64 - 1, "nodes a thread");
pub(crate) const PROCESS_NODES: Range = Range::new(1, 100_000_000, "nodes in all threads");

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
    /// The longest gap between two events that is charged; `None` for no limit.
    pub(crate) max_gap: Option<Duration>,
    pub(crate) report_at_exit: Option<Destination>,
    /// The time between two lines of the same group in the log; `None` for no log.
    pub(crate) log_every: Option<Duration>,
    pub(crate) allow_remote_control: bool,
    /// Whether time off the CPU is measured separately from work.
    pub(crate) waits: bool,
    /// Whether the program counter is sampled right from the start. If nothing is set, it is sampled if the program has
    /// functions that may be counted, because the time of functions without counts would be missing otherwise.
    pub(crate) lines: Option<bool>,
    /// The watched functions, each with its threshold for slow calls.
    pub(crate) watch: Vec<(String, Over)>,
    /// How long the end of a session or of the program waits for the last record if there is no progress.
    pub(crate) end_within: Duration,
    /// Whether the last record is written when a signal ends the program.
    pub(crate) end_on_signals: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // With this interval viewers attach quickly, and records cost next to nothing.
            interval: Duration::from_secs(1),
            // Enough for about 500 records of 1 000 nodes. In addition, the history, which gets a record every ten
            // seconds, may take 16 MiB, which is enough for about an hour.
            ring_bytes: 16 << 20,
            dir: None,
            mode: None,
            histogram: None,
            clock: Clock::Tsc,
            threads: Threads::All,
            // Deep enough for anything except runaway recursion, and still readable.
            max_depth: 512,
            // This many nodes take 4 MiB in a thread, and 64 MiB in the process.
            max_nodes: 65_536,
            max_process_nodes: 1 << 20,
            max_gap: None,
            report_at_exit: None,
            log_every: None,
            allow_remote_control: true,
            waits: true,
            lines: None,
            watch: Vec::new(),
            end_within: Duration::from_secs(2),
            end_on_signals: false,
        }
    }
}

/// The numbers that a setting allows, in its environment variable and in code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    least: u64,
    most: u64,
    /// What 0 means, if it is allowed in addition to the range.
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

    pub(crate) fn allows(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number) || number == 0 && self.zero.is_some()
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

impl Settings {
    /// Clamps the values that the program set in code, and adds a warning for each clamped value.
    pub(crate) fn mend(&mut self, warnings: &mut Vec<String>) {
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
            // Code may set a gap of less than a millisecond. This is not out of range.
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

/// Returns the whole milliseconds of a duration.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_sets_is_mended_and_said() {
        let (settings, warnings) = mended(|settings| {
            (settings.interval, settings.ring_bytes) = (Duration::ZERO, 3 << 20);
            settings.max_depth = 9999;
        });
        assert_eq!(settings.interval, Duration::from_millis(10));
        assert_eq!(settings.ring_bytes, 4 << 20);
        assert_eq!(settings.max_depth, 4096);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[1].contains("max_depth 9999"), "{warnings:?}");
        assert!(warnings[1].contains("1 to 4096"), "{warnings:?}");
    }

    /// Returns the settings of a program after `mend`, and the warnings.
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
    }
}

//! `tickscope log`: prints a line for each interval, each thread, and each group or function.

use std::cmp::Reverse;
use std::thread;
use std::time::{Duration, Instant};

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::groups;
use tickscope_analysis::hotspots::hot;
use tickscope_analysis::intervals::{Choice, Interval, Intervals};
use tickscope_command::console;
use tickscope_command::console::{Misuse, printable, put, say};
use tickscope_command::similar::similar;
use tickscope_format::file::open::{Liveness, RingFile, Slot};
use tickscope_format::slots::Op;
use tickscope_format::{FormatError, Snapshot};
use tickscope_programs::local_time::utc_offset_s;
use tickscope_programs::ring_reads::NewRecords;
use tickscope_programs::target::wanted::is_live;
use tickscope_report::log::{LogOptions, header, json_lines, lines};

use crate::cli::args::LogArgs;
use crate::cli::commands::live_snapshot;

/// Longest time between two checks for new records, and therefore the longest delay before a line is printed.
const LOOK: Duration = Duration::from_millis(50);

/// Shortest and longest publishing interval to request from the program. A shorter or longer `--every` is clamped for
/// the request.
const WISHES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Number of functions that the error message names if the program has no groups.
const NAMED: usize = 4;

/// Prints lines until the program ends, the duration has passed, or the reader closes the pipe.
///
/// # Errors
/// There is no such running program, there is nothing to follow in it, or it cannot be read.
pub fn run(args: &LogArgs) -> anyhow::Result<u8> {
    let ring = live_snapshot::find_running(&args.target, args.wait, "a log needs a running program")?;
    let mut followed = Followed::begin(ring, args.every)?;
    let choice = Choice {
        groups: args.group.clone(),
        functions: args.function.clone(),
    };
    let mut log = Log {
        intervals: Intervals::new(args.every, choice.clone()),
        json: args.json,
        options: LogOptions {
            utc_offset_s: utc_offset_s(),
            ascii: console::is_ascii(),
        },
    };
    for first in followed.events()? {
        check(&choice, &first)?;
        log.intervals.take(&first);
    }
    if !args.json && !put(&header(&log.options))? {
        return Ok(console::DONE);
    }
    let end = args.duration.map(|duration| Instant::now() + duration);
    loop {
        let liveness = followed.ring.liveness()?;
        let over = end.is_some_and(|end| Instant::now() >= end);
        if over && is_live(&liveness) && !followed.silent {
            followed.ask(Op::PublishNow);
        }
        let events = match followed.events() {
            // The program overwrote the record during every attempt to read it. The next check follows soon.
            Err(FormatError::Lapped { .. }) => Vec::new(),
            events => events?,
        };
        for snapshot in events {
            if let Some(interval) = log.intervals.take(&snapshot)
                && !log.write(&interval)?
            {
                return Ok(console::DONE);
            }
        }
        if over || !is_live(&liveness) {
            // An incomplete last interval is printed if it lasted more than a twentieth of a full one.
            let rest = log.intervals.finish();
            if let Some(interval) = rest.filter(|rest| u128::from(rest.ns) * 20 > args.every.as_nanos()) {
                log.write(&interval)?;
            }
            if !over {
                say(&followed.farewell(&liveness));
            }
            return Ok(console::DONE);
        }
        followed.complain_of_silence();
        let look = (args.every / 10).min(LOOK);
        let left = end.map_or(look, |end| end.saturating_duration_since(Instant::now()));
        thread::sleep(look.min(left));
    }
}

/// Checks that there is a group or function to follow. If a chosen name has not occurred in the program yet, this is
/// only reported, because it may still occur later.
fn check(choice: &Choice, snapshot: &Snapshot) -> anyhow::Result<()> {
    if snapshot.sites.is_empty() {
        return Ok(());
    }
    if !choice.is_all_groups() {
        let missing = missing(choice, snapshot);
        if !missing.is_empty() {
            say(&format!("{}; lines begin when it is met", missing.join("; ")));
        }
        return Ok(());
    }
    if choice.is_met(snapshot) {
        return Ok(());
    }
    let tree = CallTree::build(snapshot, |_| true);
    let mut rows = hot(&tree);
    rows.sort_by_key(|row| (Reverse(row.self_ns), row.function));
    let names: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|row| tree.functions.get(row.function).full_name())
        .collect();
    let why = format!(
        "{} has no groups: give --function PATTERN (most time: {}), or put scopes into one: scope!(group = \"io\", \
         \"read\")",
        snapshot.process.name,
        names.join(", ")
    );
    Err(Misuse(why).into())
}

/// Returns a message for each chosen name that has not occurred in the program yet. It suggests existing groups or
/// similar functions.
fn missing(choice: &Choice, snapshot: &Snapshot) -> Vec<String> {
    let (groups, _) = groups::names(snapshot);
    let there = match groups.len() {
        0 => "no groups were met so far".to_string(),
        _ => format!("there are {}", groups.join(", ")),
    };
    let of_groups = choice
        .groups
        .iter()
        .filter(|name| !groups.contains(&name.as_str()));
    let of_functions = choice.functions.iter();
    let unmatched = of_functions.filter(|pattern| !snapshot.sites.iter().any(|site| pattern.matches(site)));
    let of_groups = of_groups.map(|name| format!("no scope of the group {name} was met yet ({there})"));
    of_groups
        .chain(unmatched.map(|pattern| {
            let name = pattern.as_str();
            format!(
                "no function that matches {name} was met yet{}",
                similar(name, snapshot)
            )
        }))
        .collect()
}

/// Collects the intervals and prints them.
#[derive(Debug)]
struct Log {
    intervals: Intervals,
    json: bool,
    options: LogOptions,
}

impl Log {
    fn write(&self, interval: &Interval) -> anyhow::Result<bool> {
        put(&match self.json {
            true => json_lines(interval),
            false => lines(interval, &self.options),
        })
    }
}

/// The program being followed, and how far its records have been read.
#[derive(Debug)]
struct Followed {
    ring: RingFile,
    /// Slot with the request for the log's publishing interval, which the program follows while the slot is held.
    slot: Option<Slot>,
    records: NewRecords,
    /// Time when the newest record was read.
    read_at: Instant,
    /// Publishing interval, according to the newest record.
    interval: Duration,
    /// Whether the user has already been told that no records arrive.
    silent: bool,
}

impl Followed {
    /// Asks the program to publish at the interval of the log.
    fn begin(ring: RingFile, every: Duration) -> anyhow::Result<Self> {
        let slot = ring.take_slot()?;
        let mut followed = Self {
            ring,
            slot,
            records: NewRecords::default(),
            read_at: Instant::now(),
            interval: Duration::ZERO,
            silent: false,
        };
        let wish = every.clamp(WISHES.0, WISHES.1);
        let granted = followed.ask(Op::Interval(wish.as_nanos() as u64));
        if followed.slot.is_none() {
            say(
                "the program takes no requests from this viewer: intervals are as long as between its records, or longer",
            );
        } else if !granted {
            say("the program does not answer (is it stopped?); lines begin when it answers");
        }
        Ok(followed)
    }

    /// Sends a request. Returns false if no reply arrives.
    fn ask(&mut self, op: Op) -> bool {
        let slot = self.slot.as_mut();
        slot.is_some_and(|slot| matches!(live_snapshot::answer(&self.ring, slot, op), Ok(Some(_))))
    }

    /// Returns the new records: the last record of each reset epoch that has ended, and then the newest record.
    fn events(&mut self) -> Result<Vec<Snapshot>, FormatError> {
        let events = self.records.read(&self.ring, false)?;
        if let Some(newest) = events.last() {
            self.read_at = Instant::now();
            self.interval = Duration::from_nanos(newest.capture.interval_ns);
            self.silent = false;
        }
        Ok(events)
    }

    /// Prints a message if no records have arrived for a while. It is printed only once until records arrive again.
    fn complain_of_silence(&mut self) {
        let longest = self.interval.max(WISHES.1).saturating_mul(3);
        if !self.silent && self.read_at.elapsed() > longest {
            self.silent = true;
            say(&format!(
                "no record has come from {} for {:.0} s: it may be stopped, or too busy to publish",
                self.who(),
                self.read_at.elapsed().as_secs_f64()
            ));
        }
    }

    fn who(&self) -> String {
        let header = self.ring.header();
        format!("{} ({})", printable(&header.name), header.pid)
    }

    /// Returns the message about the end of the program.
    fn farewell(&self, liveness: &Liveness) -> String {
        let how = match liveness {
            Liveness::Crashed { .. } => "has ended without a last record",
            Liveness::Exited { .. } | Liveness::Running | Liveness::Stale { .. } => "has ended",
        };
        format!("{} {how}", self.who())
    }
}

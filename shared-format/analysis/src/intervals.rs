//! The time that each thread spent inside groups or functions, interval by interval, computed from the snapshots of a running
//! program.
//!
//! Calls that are still open are included: a call that stays open for three intervals fills all three. Resets and undos do not
//! distort the numbers, as long as the caller also passes in the closing snapshots, which are the last ones before each reset
//! (see [`Series`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{CaptureKind, Snapshot, Thread};

use crate::functions::Functions;
use crate::groups;
use crate::inclusive_time::{InclusiveTime, SetId, inclusive_times};
use crate::merge::sum;
use crate::series::{RecordEpoch, Series, counts};

/// Selects the groups and functions whose time is reported.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Names of the selected groups.
    pub groups: Vec<String>,
    /// Patterns of the selected functions. A function is selected if a pattern matches one of its sites.
    pub functions: Vec<Pattern>,
}

/// A group or a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The group with this name.
    Group(String),
    /// The function with this full name.
    Function(String),
}

/// One line of a report: the time of one thread inside one group or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Thread id; 0 for ended threads. But an ended thread keeps its id if it was the only thread of its name to end between two
    /// snapshots.
    pub tid: u32,
    /// Name of the thread. Ended threads that have the same name and no id share a line.
    pub thread: String,
    /// The group or function in which the thread spent the time.
    pub subject: Subject,
    /// Calls begun in the interval, including recursive calls.
    pub calls: u64,
    /// Nanoseconds inside the outermost calls of the group or function.
    pub inside_ns: u64,
    /// Whether `inside_ns` is an estimate.
    pub estimated: bool,
}

/// A completed interval with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// End of the interval by the wall clock, in nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// Length of the interval by the program's clock, in nanoseconds.
    pub ns: u64,
    /// Lines with calls or time. Live threads come first; then lines are sorted by thread, and by group or function.
    pub lines: Vec<Line>,
    /// Whether a selected group or function has been seen in any interval so far.
    pub any_met: bool,
}

/// Turns the snapshots of a program into intervals, one snapshot at a time.
#[derive(Debug)]
pub struct Intervals {
    every_ns: u64,
    choice: Choice,
    /// The newest snapshot. Its counts are already in `sums`.
    last: Option<Arc<Snapshot>>,
    series: Series<Arc<Snapshot>>,
    /// Tick of the program's clock at which the current interval began.
    began_tick: u64,
    /// Whether the first interval begins at the program's last reset, rather than at the first snapshot.
    from_start: bool,
    sums: BTreeMap<(Who, Subject), InclusiveTime>,
    any_met: bool,
}

/// Maximum number of links in `series`. If there are more, the oldest links are joined.
const LINKS_MOST: usize = 4;

/// Key of a thread: whether it has ended, its id, and its name.
type Who = (bool, u32, String);

impl Choice {
    /// Returns whether all groups are selected, which is the default.
    pub fn is_all_groups(&self) -> bool {
        self.groups.is_empty() && self.functions.is_empty()
    }

    /// Returns all groups, and for each site the index of its group if the group is selected.
    fn groups(&self, snapshot: &Snapshot) -> (Vec<Subject>, Vec<Option<SetId>>) {
        let (names, mut of_site) = groups::names(snapshot);
        let chosen = |name: &str| self.is_all_groups() || self.groups.iter().any(|group| group == name);
        for group in &mut of_site {
            *group = group.filter(|&group| chosen(names[group as usize]));
        }
        let subjects = names.into_iter().map(|name| Subject::Group(name.to_owned()));
        (subjects.collect(), of_site)
    }

    /// Returns all functions, and for each site the index of its function if the function is selected.
    fn functions(&self, snapshot: &Snapshot) -> (Vec<Subject>, Vec<Option<SetId>>) {
        if self.functions.is_empty() {
            return Default::default();
        }
        let functions = Functions::of(snapshot);
        let mut chosen = vec![false; functions.list.len()];
        for (site, id) in snapshot.sites.iter().zip(&functions.of_site) {
            let chosen = &mut chosen[id.index()];
            *chosen = *chosen || self.functions.iter().any(|pattern| pattern.matches(site));
        }
        let all = functions.of_site.iter();
        let of_site = all.map(|id| chosen[id.index()].then_some(id.0));
        let of_site = of_site.collect();
        let subjects = functions.list.iter().map(|f| Subject::Function(f.full_name()));
        (subjects.collect(), of_site)
    }

    /// Returns whether any site of the snapshot belongs to a selected group or function.
    pub fn is_met(&self, snapshot: &Snapshot) -> bool {
        let mut both = [self.groups(snapshot), self.functions(snapshot)].into_iter();
        both.any(|(_, of_site)| of_site.iter().any(Option::is_some))
    }
}

impl Intervals {
    /// Divides the time of a program into intervals of about `every`. Each interval ends with a snapshot, so it may be a little
    /// longer or shorter.
    pub fn new(every: Duration, choice: Choice) -> Self {
        Self {
            every_ns: every.as_nanos() as u64,
            choice,
            last: None,
            series: Series::default(),
            began_tick: 0,
            from_start: false,
            sums: BTreeMap::new(),
            any_met: false,
        }
    }

    /// Like [`new`](Self::new), but the first interval begins at the program's last reset, or at its start if it was never
    /// reset.
    pub fn from_start(every: Duration, choice: Choice) -> Self {
        Self {
            from_start: true,
            ..Self::new(every, choice)
        }
    }

    /// Returns whether a snapshot has been passed to [`take`](Self::take) yet.
    pub fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Adds the program's next snapshot, and returns the interval that it completes, if any. The first snapshot begins the first
    /// interval. The caller may skip snapshots, except closing ones.
    pub fn take(&mut self, snapshot: &Snapshot) -> Option<Interval> {
        let snapshot = Arc::new(needed(snapshot));
        let ticks = |ns: u64| (ns as f64 * snapshot.clock.ticks_per_second / 1e9) as u64;
        let since_reset = ticks(snapshot.capture.since_reset_ns);
        let reset_tick = snapshot.capture.tick.saturating_sub(since_reset);
        let window = self.window(&snapshot);
        let mut done = None;
        match &self.last {
            None if self.from_start => {
                self.began_tick = reset_tick;
                self.count(&snapshot);
            }
            None => self.began_tick = snapshot.capture.tick,
            Some(last) => {
                if snapshot.clock.epoch != last.clock.epoch {
                    // Ticks from different clock epochs cannot be compared, so the interval ends with the last snapshot of the
                    // old epoch.
                    done = self.finish();
                    self.began_tick = reset_tick;
                }
                if let Some(window) = window {
                    self.count(&window);
                }
            }
        }
        let passed_ns = self.passed_ns(&snapshot);
        // An interval ends with the snapshot nearest to its planned end, even if that snapshot is a little early.
        let slack_ns = snapshot.capture.interval_ns.min(self.every_ns) / 2;
        // A closing snapshot ends no interval, because the first snapshot of the next reset epoch follows it and adds no counts.
        let closes = snapshot.capture.kind == CaptureKind::Closing;
        self.last = Some(snapshot);
        let may_end = passed_ns > 0 && !closes;
        if may_end && passed_ns.saturating_add(slack_ns) >= self.every_ns {
            done = done.or_else(|| self.finish());
        }
        done
    }

    /// Returns the interval up to the last snapshot, and begins the next one. Returns `None` if no time has passed since the
    /// interval began.
    pub fn finish(&mut self) -> Option<Interval> {
        let last = self.last.as_ref()?;
        let ns = self.passed_ns(last);
        if ns == 0 {
            return None;
        }
        let sums = std::mem::take(&mut self.sums);
        let sums = sums
            .into_iter()
            .filter(|(_, sum)| sum.calls > 0 || sum.total_ticks > 0);
        let lines = sums.map(|(((_, tid, thread), subject), sum)| Line {
            tid,
            thread,
            subject,
            calls: sum.calls,
            inside_ns: last.nanos(sum.total_ticks),
            estimated: sum.estimated,
        });
        let lines = lines.collect();
        self.began_tick = last.capture.tick;
        Some(Interval {
            unix_ns: last.capture.unix_ns,
            ns,
            lines,
            any_met: self.any_met,
        })
    }

    fn passed_ns(&self, snapshot: &Snapshot) -> u64 {
        snapshot.nanos(snapshot.capture.tick.saturating_sub(self.began_tick))
    }

    /// Adds a snapshot to the series. Returns the counts since the previous snapshot, or `None` if they are unknown.
    fn window(&mut self, now: &Arc<Snapshot>) -> Option<Snapshot> {
        let then = self.series.clone();
        self.series.take(RecordEpoch::from(&now.capture), Arc::clone(now));
        let terms = self.series.since(&then).map(|counts| &**counts);
        let window = (!terms.more).then(|| counts(&terms.plus, &terms.minus));
        self.series
            .join_oldest(LINKS_MOST, |one, other| Arc::new(sum(&[one, other])));
        window
    }

    /// Returns the id of a thread. For an ended thread, this is 0, unless no other thread of its name has ended since the last
    /// snapshot; then it is the id that the thread used to have.
    fn tid_of(&self, thread: &Thread, window: &Snapshot) -> u32 {
        let Some(last) = self.last.as_ref().filter(|_| thread.tid == 0) else {
            return thread.tid;
        };
        let known = |threads: &[Thread], tid: u32| {
            let mut all = threads.iter();
            let one = all.find(|other| other.tid == tid && other.name == thread.name);
            one.map_or(0, |one| one.count)
        };
        let ended = thread.count.saturating_sub(known(&last.threads, 0));
        let all = last.threads.iter();
        let live = all.filter(|other| other.tid != 0 && other.name == thread.name);
        let mut gone = live.filter(|other| known(&window.threads, other.tid) == 0);
        match (ended, gone.next(), gone.next()) {
            (1, Some(one), None) => one.tid,
            _ => 0,
        }
    }

    fn count(&mut self, window: &Snapshot) {
        for (subjects, of_site) in [self.choice.groups(window), self.choice.functions(window)] {
            self.any_met |= of_site.iter().any(Option::is_some);
            if !of_site.iter().any(Option::is_some) {
                continue;
            }
            for (thread, sums) in window.threads.iter().zip(inclusive_times(window, &of_site)) {
                let tid = self.tid_of(thread, window);
                for (set, sum) in sums {
                    let who = (tid == 0, tid, thread.name.clone());
                    let subject = subjects[set as usize].clone();
                    self.sums.entry((who, subject)).or_default().add(&sum);
                }
            }
        }
    }
}

/// Copies only the parts of a snapshot that intervals need, which are a small fraction of its size.
fn needed(snapshot: &Snapshot) -> Snapshot {
    Snapshot {
        process: snapshot.process.clone(),
        clock: snapshot.clock.clone(),
        capture: snapshot.capture.clone(),
        threads: snapshot.threads.clone(),
        sites: snapshot.sites.clone(),
        nodes: snapshot.nodes.clone(),
        estimates: snapshot.estimates.clone(),
        ..Snapshot::default()
    }
}

#[cfg(test)]
mod tests;

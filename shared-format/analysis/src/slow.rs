//! Differences between slow and typical calls of a watched function, by path and by cause.
//!
//! All times are in nanoseconds per call of the watched function, so the time of a path can be compared between typical and slow
//! calls.

use std::cmp::Reverse;

use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{
    CauseKind, CauseSum, Exemplar, PathSums, Snapshot, Then, Trace, Watch, WatchState,
};

/// How the slow calls of a watched function differ from its typical calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slow {
    /// Number of calls that were not slow.
    pub typical_calls: u64,
    /// Number of slow calls.
    pub slow_calls: u64,
    /// Minimum duration of a slow call, in nanoseconds; `None` if not known yet.
    pub threshold_ns: Option<u64>,
    /// Mean duration of a typical call, in nanoseconds; `None` if there are no typical calls.
    pub typical_ns: Option<f64>,
    /// Mean duration of a slow call, in nanoseconds; `None` if there are no slow calls.
    pub slow_ns: Option<f64>,
    /// The paths, sorted by the difference between slow and typical calls, largest first. If there are only slow or only typical
    /// calls, the paths are sorted by time, longest first.
    pub rows: Vec<SlowRow>,
    /// Causes of slow calls, the most frequent cause first.
    pub causes: Vec<Cause>,
    /// Why the result is missing or differs from what the user requested; `None` if there is no such reason.
    pub doubt: Option<Doubt>,
}

/// A path that begins at the watched function. Its values exclude the paths below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowRow {
    /// Means over all typical calls; `None` if there are no typical calls.
    pub path: u32,
    /// Means over all slow calls; `None` if there are no slow calls.
    pub typical: Option<Means>,
    /// Means over all slow calls; `None` without slow calls.
    pub slow: Option<Means>,
}

/// Mean values for a path, per call of the watched function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    /// Nanoseconds in the path, excluding the paths below it.
    pub ns: f64,
    /// Number of calls of the path.
    pub calls: f64,
    /// Part of `ns` in which the thread waited.
    pub waiting_ns: f64,
    /// Part of `ns` in which the thread could run but had no CPU.
    pub ready_ns: f64,
    /// Number of allocations.
    pub allocations: f64,
    /// Bytes allocated.
    pub allocated_bytes: f64,
}

/// The main reason why some of the slow calls took longer than typical calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cause {
    /// Index of the path in [`Watch::paths`]. A lack of CPU is always attributed to the path of the watched function itself.
    pub path: u32,
    /// What happened in the path: more calls, waiting, a lack of CPU, or more self time.
    pub kind: CauseKind,
    /// Number of slow calls with this cause.
    pub slow_calls: u64,
    /// Mean number of nanoseconds that the cause added to each of these calls, compared with a typical call.
    pub difference_ns: f64,
    /// Mean number of calls of the path per typical call.
    pub typical_path_calls: Option<f64>,
    /// Mean number of calls of the path per slow call with this cause.
    pub slow_path_calls: f64,
    /// [`Exemplar::number`] of the longest call that was kept for this cause; `None` if none was kept.
    pub exemplar: Option<u64>,
}

/// Reason why slow calls are unknown, or why the result differs from what the user requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The pattern of the watch matches no function that has been called.
    NoFunction,
    /// Too few calls have ended to tell which ones are slow. Contains the number of calls that have ended.
    Learning(u64),
    /// Slow calls are known, but they are hardly slower than the others.
    NoTail,
    /// Too many calls were slow, so the threshold is higher than requested.
    Raised,
    /// The threshold was requested as a share of the calls. That requires histograms, which are off.
    NoHistograms,
    /// The mode does not measure the duration of individual calls.
    NoTime,
    /// No call that began while the function was watched has ended yet.
    NoCalls,
    /// No call was slow.
    NothingSlow,
    /// Every call was slow, so typical calls are unknown.
    NothingTypical,
    /// The snapshot has a state that this version does not know.
    Unknown,
}

impl Slow {
    /// Compares the slow calls of a watched function with its typical calls. `watch` must belong to `snapshot`.
    pub fn of(watch: &Watch, snapshot: &Snapshot) -> Self {
        let (typical_calls, slow_calls) = watch.calls();
        let ns_of_tick = 1e9 / snapshot.clock.ticks_per_second;
        let mut rows: Vec<SlowRow> = (0..)
            .zip(&watch.paths)
            .map(|(index, path)| SlowRow {
                path: index,
                typical: Means::of(&path.typical, typical_calls, ns_of_tick),
                slow: Means::of(&path.slow, slow_calls, ns_of_tick),
            })
            .filter(|row| [row.typical, row.slow].iter().flatten().any(Means::is_any))
            .collect();
        let rank = |row: &SlowRow| {
            let either = || row.slow.or(row.typical).map_or(0.0, |means| means.ns);
            row.difference_ns().unwrap_or_else(either)
        };
        rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        let sum = |side: fn(&SlowRow) -> Option<Means>, calls: u64| {
            let means = rows.iter().filter_map(side);
            (calls > 0).then(|| means.map(|means| means.ns).sum())
        };
        Self {
            typical_calls,
            slow_calls,
            threshold_ns: (watch.threshold_ticks > 0).then(|| snapshot.nanos(watch.threshold_ticks)),
            typical_ns: sum(|row| row.typical, typical_calls),
            slow_ns: sum(|row| row.slow, slow_calls),
            causes: causes(watch, typical_calls, ns_of_tick),
            doubt: doubt(watch.state, typical_calls, slow_calls),
            rows,
        }
    }

    /// Returns the number of calls that were judged slow or typical.
    pub fn calls(&self) -> u64 {
        self.typical_calls.saturating_add(self.slow_calls)
    }

    /// Returns how much longer a slow call is than a typical one on average, in nanoseconds. Returns `None` if there are no slow
    /// calls or no typical calls.
    pub fn difference_ns(&self) -> Option<f64> {
        Some(self.slow_ns? - self.typical_ns?)
    }

    /// Returns the share of [`Slow::difference_ns`] that a path explains. It can be negative or greater than 1.
    pub fn share_of(&self, row: &SlowRow) -> Option<f64> {
        let all = self.difference_ns().filter(|all| *all > 0.0)?;
        Some(row.difference_ns()? / all)
    }
}

impl SlowRow {
    /// Returns how much more time a slow call spends in this path than a typical call, in nanoseconds.
    pub fn difference_ns(&self) -> Option<f64> {
        self.difference(|means| means.ns)
    }

    /// Returns the value of `column` in a slow call minus its value in a typical call.
    pub fn difference(&self, column: impl Fn(&Means) -> f64) -> Option<f64> {
        Some(column(&self.slow?) - column(&self.typical?))
    }
}

impl Means {
    fn of(sums: &PathSums, calls: u64, ns_of_tick: f64) -> Option<Self> {
        let mean = |value: u64| value as f64 / calls as f64;
        (calls > 0).then(|| Self {
            ns: mean(sums.ticks) * ns_of_tick,
            calls: mean(sums.calls),
            waiting_ns: mean(sums.waiting) * ns_of_tick,
            ready_ns: mean(sums.ready) * ns_of_tick,
            allocations: mean(sums.allocations),
            allocated_bytes: mean(sums.allocated_bytes),
        })
    }

    fn is_any(&self) -> bool {
        *self != Self::default()
    }
}

/// Returns the causes of slow calls, most frequent first. A lack of CPU counts as a single cause, even if it occurred in several
/// paths.
fn causes(watch: &Watch, typical_calls: u64, ns_of_tick: f64) -> Vec<Cause> {
    let mut sums: Vec<CauseSum> = Vec::new();
    for cause in watch.causes.iter().filter(|cause| cause.calls > 0) {
        let of = CauseSum {
            path: path_of_cause(watch, cause.path, cause.kind),
            ..*cause
        };
        match sums
            .iter_mut()
            .find(|sum| (sum.path, sum.kind) == (of.path, of.kind))
        {
            Some(sum) => {
                sum.calls = sum.calls.saturating_add(of.calls);
                sum.excess_ticks = sum.excess_ticks.saturating_add(of.excess_ticks);
                sum.path_calls = sum.path_calls.saturating_add(of.path_calls);
            }
            None => sums.push(of),
        }
    }
    sums.sort_by_key(|sum| Reverse((sum.calls, sum.excess_ticks)));
    let shows =
        |exemplar: &&Exemplar, sum: &CauseSum| cause_of(watch, exemplar) == Some((sum.path, sum.kind));
    sums.iter()
        .map(|sum| {
            let exemplars = watch.exemplars.iter().filter(|exemplar| shows(exemplar, sum));
            let typical = watch.paths.get(sum.path as usize).map(|path| path.typical.calls);
            Cause {
                path: sum.path,
                kind: sum.kind,
                slow_calls: sum.calls,
                difference_ns: sum.excess_ticks as f64 * ns_of_tick / sum.calls as f64,
                typical_path_calls: typical
                    .filter(|_| typical_calls > 0)
                    .map(|calls| calls as f64 / typical_calls as f64),
                slow_path_calls: sum.path_calls as f64 / sum.calls as f64,
                exemplar: exemplars
                    .max_by_key(|exemplar| exemplar.ticks)
                    .map(|exemplar| exemplar.number),
            }
        })
        .collect()
}

/// Returns the path to which a cause is attributed. For a lack of CPU, that is always the path of the watched function itself.
fn path_of_cause(watch: &Watch, path: u32, kind: CauseKind) -> u32 {
    match kind {
        CauseKind::Ready => root_of(watch, path),
        CauseKind::SelfTime | CauseKind::Calls | CauseKind::Waiting | _ => path,
    }
}

fn cause_of(watch: &Watch, exemplar: &Exemplar) -> Option<(u32, CauseKind)> {
    let (path, kind) = exemplar.cause?;
    Some((path_of_cause(watch, path, kind), kind))
}

/// Returns the slow calls that were kept as exemplars: first the longest call of each cause, then all other calls. Both groups
/// are sorted by duration, longest first.
pub fn exemplars(watch: &Watch) -> Vec<&Exemplar> {
    let mut exemplars: Vec<&Exemplar> = watch.exemplars.iter().collect();
    exemplars.sort_by_key(|exemplar| Reverse((exemplar.ticks, exemplar.number)));
    let mut seen = Vec::new();
    let (mut ordered, others): (Vec<_>, Vec<_>) =
        exemplars.into_iter().enumerate().partition(|(index, one)| {
            let cause = cause_of(watch, one);
            let is_first = cause.is_some() && !seen.contains(&cause);
            seen.push(cause);
            // The longest call of all comes first, even if its cause is unknown.
            is_first || *index == 0
        });
    ordered.extend(others);
    ordered.into_iter().map(|(_, one)| one).collect()
}

fn doubt(state: WatchState, typical_calls: u64, slow_calls: u64) -> Option<Doubt> {
    match state {
        WatchState::NoFunction => Some(Doubt::NoFunction),
        WatchState::Learning(calls) => Some(Doubt::Learning(calls)),
        WatchState::NoHistograms => Some(Doubt::NoHistograms),
        WatchState::NoTime => Some(Doubt::NoTime),
        WatchState::Watching | WatchState::NoTail | WatchState::Raised => match (typical_calls, slow_calls) {
            (0, 0) => Some(Doubt::NoCalls),
            (_, 0) => Some(Doubt::NothingSlow),
            (0, _) => Some(Doubt::NothingTypical),
            _ if state == WatchState::NoTail => Some(Doubt::NoTail),
            _ if state == WatchState::Raised => Some(Doubt::Raised),
            _ => None,
        },
        _ => Some(Doubt::Unknown),
    }
}

/// Returns the outermost path above `path` (or `path` itself), which belongs to the watched function.
pub fn root_of(watch: &Watch, path: u32) -> u32 {
    lineage(watch, path).first().copied().unwrap_or(path)
}

/// Returns a path and the paths above it, outermost first.
pub fn lineage(watch: &Watch, path: u32) -> Vec<u32> {
    let parent = |&path: &u32| {
        let parent = watch.paths.get(path as usize)?.parent;
        // A parent has a lower index than its children, so the loop ends.
        (parent != NO_PARENT && parent < path).then_some(parent)
    };
    let mut lineage: Vec<u32> = std::iter::successors(Some(path), parent).collect();
    lineage.reverse();
    lineage
}

/// Adds up the calls and times of the path `of`, excluding its callees, in the trace of one call. If `of` is `None`,
/// adds up the calls and times of all paths.
pub fn sums_in(trace: &Trace, of: Option<u32>) -> PathSums {
    let mut sum = PathSums::default();
    let mut off_cpu = trace.off_cpu.iter().peekable();
    let mut begins = true;
    for (step, (path, ticks, then)) in (0..).zip(trace.steps()) {
        let off = off_cpu.next_if(|off| off.0 == step);
        if of.is_none_or(|of| of == path) {
            sum.calls += u64::from(begins);
            sum.ticks = sum.ticks.saturating_add(ticks);
            if let Some(&(_, waiting, ready)) = off {
                sum.waiting = sum.waiting.saturating_add(waiting);
                sum.ready = sum.ready.saturating_add(ready);
            }
        }
        begins = then == Then::Enter;
    }
    sum
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    fn ms(ns: f64) -> f64 {
        (ns / 1e4).round() / 1e2
    }

    fn frames() -> Slow {
        let snapshot = fixture::slow_frames();
        Slow::of(&snapshot.watches[0], &snapshot)
    }

    #[test]
    fn of_the_calls_that_are_kept_the_longest_of_each_cause_comes_first() {
        let mut watch = fixture::slow_frames().watches.remove(0);
        let one = watch.exemplars[0].clone();
        let (waits, calls) = ((3, CauseKind::Waiting), (2, CauseKind::Calls));
        let kept = [
            (1, 90, Some(waits)),
            (2, 80, Some(waits)),
            (3, 70, None),
            (4, 60, Some(calls)),
            (5, 50, Some((2, CauseKind::Ready))),
            (6, 40, Some((3, CauseKind::Ready))),
        ];
        watch.exemplars = kept
            .map(|(number, ticks, cause)| Exemplar {
                number,
                ticks,
                cause,
                ..one.clone()
            })
            .to_vec();
        let numbers = |watch: &Watch| -> Vec<u64> { exemplars(watch).iter().map(|one| one.number).collect() };
        assert_eq!(numbers(&watch), [1, 4, 5, 2, 3, 6]);
        watch.exemplars[0].cause = None;
        assert_eq!(numbers(&watch), [1, 2, 4, 5, 3, 6]);
    }

    #[test]
    fn differences_are_per_call_of_the_function_and_the_largest_comes_first() {
        let slow = frames();
        assert_eq!([slow.typical_calls, slow.slow_calls], [5_970, 30]);
        assert_eq!(slow.threshold_ns, Some(1_900_000));
        // A typical call takes 20 + 400 + 6 x 5 + 60 µs. Of 30 slow calls, 20 do 594 more lookups, 8 block for 8 ms, and 2 spend
        // 5 ms waiting for a CPU.
        assert_eq!(slow.typical_ns.map(|ns| ns.round()), Some(510_000.0));
        let more = (20.0 * 594.0 * 0.005 + 8.0 * 8.0 + 2.0 * 5.0) / 30.0;
        assert_eq!(slow.difference_ns().map(ms), Some(ms(more * 1e6)));
        let of_row = |row: &SlowRow| (row.path, ms(row.difference_ns().unwrap()));
        let rows: Vec<_> = slow.rows.iter().map(of_row).collect();
        assert_eq!(rows, [(3, 2.13), (2, 1.98), (0, 0.33), (1, 0.0)]);
        let shares: f64 = slow.rows.iter().map(|row| slow.share_of(row).unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        let [flush, lookup, frame] = [slow.rows[0], slow.rows[1], slow.rows[2]];
        assert_eq!(flush.difference(|means| means.waiting_ns).map(ms), Some(2.13));
        assert_eq!(frame.difference(|means| means.ready_ns).map(ms), Some(0.33));
        assert_eq!(lookup.typical.map(|means| means.calls), Some(6.0));
        assert_eq!(lookup.slow.map(|means| means.calls), Some(402.0));
        assert_eq!(slow.doubt, None);
    }

    #[test]
    fn causes_are_of_calls_that_had_them_and_not_of_the_average() {
        let slow = frames();
        let told = |of: &Cause| (of.path, of.kind, of.slow_calls, ms(of.difference_ns));
        let causes: Vec<_> = slow.causes.iter().map(told).collect();
        assert_eq!(
            causes,
            [
                (2, CauseKind::Calls, 20, 2.97),
                (3, CauseKind::Waiting, 8, 8.0),
                (0, CauseKind::Ready, 2, 5.0),
            ]
        );
        let lookup = slow.causes[0];
        let got = (lookup.typical_path_calls, lookup.slow_path_calls);
        assert_eq!(got, (Some(6.0), 600.0));
        let got = slow.causes.iter().map(|cause| cause.exemplar).collect::<Vec<_>>();
        assert_eq!(got, [Some(3), Some(7), None]);
    }

    #[test]
    fn having_no_cpu_is_one_cause_wherever_it_was() {
        let mut snapshot = fixture::slow_frames();
        let watch = &mut snapshot.watches[0];
        let ready = |path| CauseSum {
            path,
            kind: CauseKind::Ready,
            calls: 20,
            excess_ticks: 2_500_000,
            path_calls: 20,
        };
        watch.causes.extend([ready(1), ready(3)]);
        let slow = Slow::of(&snapshot.watches[0], &snapshot);
        let first = slow.causes[0];
        let got = (first.kind, first.path, first.slow_calls);
        assert_eq!(got, (CauseKind::Ready, 0, 42));
    }

    #[test]
    fn what_is_not_known_has_no_numbers() {
        let mut snapshot = fixture::slow_frames();
        let doubt = |snapshot: &Snapshot| Slow::of(&snapshot.watches[0], snapshot).doubt;
        for (state, wanted) in [
            (WatchState::NoFunction, Doubt::NoFunction),
            (WatchState::Learning(57), Doubt::Learning(57)),
            (WatchState::NoTail, Doubt::NoTail),
            (WatchState::Raised, Doubt::Raised),
            (WatchState::NoHistograms, Doubt::NoHistograms),
            (WatchState::NoTime, Doubt::NoTime),
        ] {
            snapshot.watches[0].state = state;
            assert_eq!(doubt(&snapshot), Some(wanted));
        }
        snapshot.watches[0].state = WatchState::Watching;
        for path in &mut snapshot.watches[0].paths {
            path.slow = PathSums::default();
        }
        snapshot.watches[0].causes.clear();
        let slow = Slow::of(&snapshot.watches[0], &snapshot);
        assert_eq!((slow.doubt, slow.slow_ns), (Some(Doubt::NothingSlow), None));
        assert!(slow.rows.iter().all(|row| row.difference_ns().is_none()));
        assert_eq!(
            slow.rows[0].path, 1,
            "the longest part of a typical call comes first"
        );
        snapshot.watches[0].paths.clear();
        assert_eq!(doubt(&snapshot), Some(Doubt::NoCalls));
    }

    #[test]
    fn a_kept_call_says_how_often_and_how_long_it_was_where() {
        let snapshot = fixture::slow_frames();
        let watch = &snapshot.watches[0];
        let [waiting, lookups] = [0, 1].map(|at| watch.exemplars[at].trace.as_ref().unwrap());
        assert_eq!(sums_in(lookups, Some(2)).calls, 600);
        assert_eq!(sums_in(lookups, Some(0)).calls, 1);
        assert_eq!(snapshot.nanos(sums_in(waiting, Some(3)).waiting), 8_001_000);
        for (exemplar, trace) in watch.exemplars.iter().zip([waiting, lookups]) {
            assert_eq!(sums_in(trace, None).ticks, exemplar.ticks);
        }
        assert_eq!(lineage(watch, 3), [0, 3]);
    }
}

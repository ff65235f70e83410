//! Measures: the quantities that a view can show, sort by and draw. A measure is time, or another quantity that is attributed to
//! calls.
//!
//! A snapshot *by* a measure has the values of that measure in place of its self ticks. All tables derived from it (trees,
//! hotspots, callers, comparisons) then show the measure, and the total of a row is still its own value plus the totals of its
//! children. Only the code that formats a value has to know its [`Dimension`].

use std::borrow::Cow;

use tickscope_format::snapshot::{Quantity, Snapshot, Values};

use crate::sampled_work::{Samples, work_errors};
use crate::uncertainty;

/// The quantity that a view shows, sorts by and draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Wall time, waits included.
    #[default]
    Time,
    /// Time on a CPU. This excludes [`Waiting`](Self::Waiting) and the time in which the thread was ready to run but had no CPU.
    Working,
    /// Time off the CPU in which the thread was not ready to run.
    Waiting,
    /// Time that other threads spent waiting for locks held by these calls.
    Others,
    /// Number of allocations.
    Allocations,
    /// Bytes requested in allocations.
    Bytes,
    /// Bytes allocated and not yet freed, estimated from samples.
    Live,
    /// Number of calls, excluding updates of counters.
    Calls,
}

/// Unit of a measure's values, which determines how they are formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Nanoseconds.
    Time,
    /// A number without a unit.
    Count,
    /// Bytes.
    Bytes,
}

/// Where the values of a measure come from.
#[derive(Clone, Copy)]
enum Source {
    Clock,
    /// Wall time minus time off the CPU.
    Working,
    Calls,
    Quantity(Quantity),
}

const NO_WAITS: &str = "time off the CPU is not known here: it needs mode exact or adaptive, and TICKSCOPE_WAITS must \
                        not be off";

const NO_OTHERS: &str = "no thread waited for a lock of tickscope::sync here, or the program uses other locks (see the \
                         book's chapter on waits)";

const NO_LIVE: &str = "live bytes are not known here: a program samples them if tickscope::Alloc is its global allocator, one \
                       block for each 512 KiB allocated (see the book's chapter on allocations)";

const NO_ALLOCATIONS: &str = "no allocations are counted here: a program counts them if tickscope::Alloc is its global \
                              allocator (see the book's chapter on allocations)";

/// The quantities whose sum is the time off the CPU.
const OFF_CPU: [Quantity; 2] = [Quantity::Waiting, Quantity::Ready];

impl Measure {
    /// All measures, in the order in which a key in the viewer cycles through them.
    pub const ALL: [Self; 8] = [
        Self::Time,
        Self::Working,
        Self::Waiting,
        Self::Others,
        Self::Allocations,
        Self::Bytes,
        Self::Live,
        Self::Calls,
    ];

    fn source(self) -> Source {
        match self {
            Self::Time => Source::Clock,
            Self::Working => Source::Working,
            Self::Waiting => Source::Quantity(Quantity::Waiting),
            Self::Others => Source::Quantity(Quantity::MadeOthersWait),
            Self::Allocations => Source::Quantity(Quantity::Allocations),
            Self::Bytes => Source::Quantity(Quantity::AllocatedBytes),
            Self::Live => Source::Quantity(Quantity::LiveBytes),
            Self::Calls => Source::Calls,
        }
    }

    /// Returns the name by which the `--by` option selects the measure, such as `allocations`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Others => "others",
            Self::Allocations => "allocations",
            Self::Bytes => "bytes",
            Self::Live => "live",
            Self::Calls => "calls",
        }
    }

    /// Returns the words that follow a sum in a sentence, as in "1.2MB *allocated*". Time needs no words after its unit.
    pub fn summed(self) -> &'static str {
        match self {
            Self::Time => "",
            Self::Others => "made others wait",
            Self::Bytes => "allocated",
            Self::Working | Self::Waiting | Self::Allocations | Self::Live | Self::Calls => self.name(),
        }
    }

    /// Returns the unit of the measure's values.
    pub fn dimension(self) -> Dimension {
        match self {
            Self::Time | Self::Working | Self::Waiting | Self::Others => Dimension::Time,
            Self::Allocations | Self::Calls => Dimension::Count,
            Self::Bytes | Self::Live => Dimension::Bytes,
        }
    }

    /// Returns the measure with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// Returns the quantity that the measure shows, or `None` if its values do not come from a single quantity.
    pub fn quantity(self) -> Option<Quantity> {
        match self.source() {
            Source::Quantity(quantity) => Some(quantity),
            Source::Clock | Source::Working | Source::Calls => None,
        }
    }

    /// Returns the measure by which lists of functions are sorted by default. It is time on a CPU, so that functions which only
    /// join or park threads do not come first. If waits are unknown in any of the snapshots, it is wall time instead.
    pub fn of_lists(snapshots: &[&Snapshot]) -> Self {
        match snapshots
            .iter()
            .all(|snapshot| Self::Working.check(snapshot).is_ok())
        {
            true => Self::Working,
            false => Self::Time,
        }
    }

    /// Checks that a snapshot has values for this measure.
    ///
    /// # Errors
    /// Returns the reason why the measure is missing and what to do about it, as a sentence without a final full stop.
    pub fn check(self, snapshot: &Snapshot) -> Result<(), &'static str> {
        let is_there = match self.source() {
            Source::Clock | Source::Calls => true,
            Source::Working => snapshot.waits,
            // A program that never waited has no column of waits, but its waits are known to be 0.
            Source::Quantity(quantity) if quantity.is_off_cpu() => snapshot.waits,
            Source::Quantity(quantity) => snapshot.measures.of(quantity).is_some(),
        };
        match self {
            _ if is_there => Ok(()),
            Self::Working | Self::Waiting => Err(NO_WAITS),
            Self::Others => Err(NO_OTHERS),
            Self::Live => Err(NO_LIVE),
            Self::Allocations | Self::Bytes => Err(NO_ALLOCATIONS),
            Self::Time | Self::Calls => Ok(()),
        }
    }

    /// Returns the measures for which a snapshot has values.
    pub fn measured(snapshot: &Snapshot) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(|measure| measure.check(snapshot).is_ok())
    }

    /// Returns the value of each row itself, excluding the rows below it. Times are in nanoseconds.
    pub fn self_values(self, snapshot: &Snapshot) -> Vec<u64> {
        self.of(snapshot).self_nanos()
    }

    /// Returns the value of each row itself, in ticks or as a count.
    fn self_ticks(self, snapshot: &Snapshot) -> Vec<u64> {
        match self.source() {
            Source::Clock => snapshot.nodes.self_ticks.clone(),
            Source::Working => {
                let off = snapshot.measures.off_cpu_by_row(snapshot.nodes.len());
                let each = snapshot.nodes.self_ticks.iter().zip(off);
                each.map(|(ticks, off)| ticks.saturating_sub(off)).collect()
            }
            Source::Calls => {
                let mut calls = snapshot.nodes.calls.clone();
                for count in &snapshot.counts {
                    calls[count.node.index()] = 0;
                }
                calls
            }
            Source::Quantity(quantity) => snapshot.measures.dense(quantity, snapshot.nodes.len()),
        }
    }

    /// Returns a thread's value outside any scope, in ticks or as a count.
    fn outside(self, snapshot: &Snapshot, thread: u32) -> u64 {
        let all = snapshot.threads[thread as usize].outside_ticks;
        match self.source() {
            Source::Clock => all,
            Source::Working => {
                let off = OFF_CPU.map(|off| snapshot.measures.of_outside(off, thread));
                off.into_iter().fold(all, u64::saturating_sub)
            }
            Source::Calls => 0,
            Source::Quantity(quantity) => snapshot.measures.of_outside(quantity, thread),
        }
    }

    /// Returns the snapshot *by* this measure, as described in the [module documentation](self). For [`Measure::Time`], this is
    /// the snapshot itself.
    ///
    /// Counts are exact in every mode and are not inflated by measuring, so among the measures other than times, only live bytes
    /// are an estimate. Latencies and ages of calls remain times.
    pub fn of(self, snapshot: &Snapshot) -> Cow<'_, Snapshot> {
        if self == Self::Time {
            return Cow::Borrowed(snapshot);
        }
        let mut by = snapshot.clone();
        by.nodes.self_ticks = self.self_ticks(snapshot);
        for (thread, index) in by.threads.iter_mut().zip(0..) {
            thread.outside_ticks = self.outside(snapshot, index);
        }
        by.values = match self.dimension() {
            Dimension::Time => Values::PartOfTime,
            Dimension::Count | Dimension::Bytes => Values::Counts,
        };
        if self == Self::Working {
            let errors = work_errors(snapshot, &Samples::of(snapshot));
            for estimate in &mut by.estimates {
                estimate.self_error = errors[&estimate.node];
            }
        } else {
            // Sampled time is CPU time, so it is no part of any other measure.
            let mut sampled = by.measures.take(Quantity::Sampled);
            sampled.rows.iter_mut().for_each(|(_, ticks)| *ticks = 0);
            by.measures.set(Quantity::Sampled, sampled);
        }
        if self == Self::Live {
            by.estimates = uncertainty::of_live_bytes(snapshot);
        } else if by.values == Values::Counts {
            by.estimates = Vec::new();
        }
        Cow::Owned(by)
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::NodeId;
    use tickscope_format::snapshot::{Count, Mode};
    use tickscope_testkit::fixture;

    use super::*;
    use crate::call_tree::CallTree;
    use crate::hotspots::hot;

    #[test]
    fn names_differ_and_time_is_the_snapshot_as_it_is() {
        for measure in Measure::ALL {
            let same = Measure::ALL.iter().filter(|other| other.name() == measure.name());
            assert_eq!(same.count(), 1);
        }
        let snapshot = fixture::allocating();
        assert!(matches!(Measure::Time.of(&snapshot), Cow::Borrowed(_)));
    }

    #[test]
    fn a_tree_by_allocations_adds_up_as_one_by_time_does() {
        let snapshot = fixture::allocating();
        let by = Measure::Allocations.of(&snapshot);
        let tree = CallTree::build(&by, |_| true);
        assert_eq!(tree.measured_ns(), 3 + 40 + 7);
        assert_eq!(tree.outside_ticks, 11);
        let own: u64 = hot(&tree).iter().map(|row| row.self_ns).sum();
        assert_eq!(own, 50);
        assert_eq!(Measure::Bytes.of(&snapshot).nodes.self_ticks[2], 4_000);
        assert_eq!(by.nodes.calls, snapshot.nodes.calls);
    }

    #[test]
    fn working_waiting_and_ready_are_all_time() {
        let snapshot = fixture::waiting();
        let [all, working, waiting] = [Measure::Time, Measure::Working, Measure::Waiting].map(|measure| {
            let by = measure.of(&snapshot);
            let tree = CallTree::build(&by, |_| true);
            (by.nodes.self_ticks.clone(), tree.outside_ticks)
        });
        for row in 0..snapshot.nodes.len() {
            let ready = if row == 2 { 250_000 } else { 0 };
            assert_eq!(working.0[row] + waiting.0[row] + ready, all.0[row], "{row}");
        }
        let got = (waiting.0[1], waiting.1, all.1 - working.1);
        assert_eq!(got, (1_500_000, 300, 300));
        let by = Measure::Waiting.of(&snapshot);
        // A call that waited only briefly is not marked as doubtful, because the cost of measuring matters only for wall time.
        assert!(!by.is_doubtful(1, 1_000));
        let mut with_samples = snapshot.clone();
        with_samples.measures.push_row(Quantity::Sampled, 1, 500_000);
        let mean = |snapshot: &Snapshot, by: Measure| {
            let row = CallTree::build(&by.of(snapshot), |_| true).rows[1].figures;
            (row.avg_ns(), row.sampled.is_all(0))
        };
        let (waiting, _) = mean(&snapshot, Measure::Waiting);
        assert_eq!(
            mean(&with_samples, Measure::Waiting),
            (waiting, true),
            "samples are no waits"
        );
        let (working, _) = mean(&snapshot, Measure::Working);
        assert!(mean(&with_samples, Measure::Working).0 < working);
        let tree = CallTree::build(&snapshot, |_| true);
        let waiting = |&row: &u32| tree.rows[row as usize].total_off.waiting_ns;
        let top: u64 = tree.top().iter().map(waiting).sum();
        assert_eq!(top, snapshot.nanos(1_500_000) + snapshot.nanos(400_000));
        assert_eq!(Measure::Waiting.self_values(&snapshot)[1], 600_000);
    }

    #[test]
    fn calls_are_those_of_scopes() {
        let mut snapshot = fixture::allocating();
        snapshot.counts.push(Count {
            node: NodeId(2),
            sum: 9,
        });
        let by = Measure::Calls.of(&snapshot);
        assert_eq!(by.nodes.self_ticks[2], 0);
        assert_eq!(by.measured_ticks(), snapshot.scope_calls());
    }

    #[test]
    fn counts_are_exact_in_every_mode() {
        let mut snapshot = fixture::allocating();
        snapshot.estimates.push(fixture::estimate(2, 1, 5, 5));
        for mode in Mode::ALL {
            snapshot.capture.mode = mode;
            let by = Measure::Bytes.of(&snapshot);
            let tree = CallTree::build(&by, |_| true);
            assert!((0..tree.rows.len() as u32).all(|row| tree.uncertainty(row).is_none()));
            assert!(!by.is_doubtful(1, 1_000_000));
            assert_eq!(by.cost_share(), (0.0, 0.0));
        }
    }

    #[test]
    fn live_bytes_are_estimates_in_every_mode_and_their_variances_add_up() {
        let mut snapshot = fixture::two_threads();
        snapshot.nodes.parent[1..3].copy_from_slice(&[0, 1]);
        for (row, bytes, variance) in [(1, 50, 9), (2, 70, 16)] {
            snapshot.measures.push_row(Quantity::LiveBytes, row, bytes);
            snapshot.measures.push_row(Quantity::LiveVariance, row, variance);
        }
        for mode in Mode::ALL {
            snapshot.capture.mode = mode;
            let by = Measure::Live.of(&snapshot);
            let errors: Vec<_> = uncertainty::uncertainties(&by)
                .iter()
                .map(|of| (of.self_estimated, of.self_error, of.total_error))
                .collect();
            let due = [(false, 0.0, 5.0), (true, 3.0, 5.0), (true, 4.0, 4.0)];
            assert_eq!(errors[..3], due);
            assert!(
                errors[3..].iter().all(|&error| error == (false, 0.0, 0.0)),
                "{mode:?}"
            );
        }
    }

    #[test]
    fn what_was_not_counted_is_missed() {
        let without = fixture::two_threads();
        assert!(
            Measure::Bytes
                .check(&without)
                .unwrap_err()
                .contains("tickscope::Alloc")
        );
        let got = Measure::measured(&without).collect::<Vec<_>>();
        assert_eq!(got, [Measure::Time, Measure::Calls]);
        assert!(Measure::Waiting.check(&without).is_err() && Measure::Working.check(&without).is_err());
        assert_eq!(Measure::measured(&fixture::allocating()).count(), 4);
        assert_eq!(Measure::measured(&fixture::waiting()).count(), 4);
    }
}

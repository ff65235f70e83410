//! What each program has done since the last round, as one snapshot per program. Resets do not interrupt this.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use tickscope_analysis::merge::sum;
use tickscope_analysis::merge_runs::MergedRuns;
use tickscope_analysis::sampled_rows::add_sampled_rows;
use tickscope_analysis::series::{RecordEpoch, Series, counts};
use tickscope_format::file::list::{self, Listed};
use tickscope_format::file::open::RingFile;
use tickscope_format::{FormatError, Snapshot, os};
use tickscope_programs::ring_reads::{NewRecords, RunKey};
use tickscope_programs::target::wanted::is_live;
use tickscope_symbols::symbolizer::Names;

use crate::account::label;

/// Maximum number of runs that are followed. Further runs are left out.
const RUNS_MOST: usize = 1000;

/// Maximum number of links in the series of a run. The oldest links are joined; the newest must stay separate, because
/// an undo replaces them.
const LINKS_MOST: usize = 4;

/// What the processes of a program did between two rounds.
#[derive(Debug)]
pub(crate) struct Window {
    /// The program's name.
    pub(crate) program: String,
    /// Start and end: nanoseconds since the Unix epoch.
    pub(crate) unix_ns: (u64, u64),
    /// Counts of that time.
    pub(crate) snapshot: Snapshot,
}

/// The programs of a host, followed from round to round.
#[derive(Debug)]
pub(crate) struct Windows {
    places: Vec<PathBuf>,
    /// The program that is followed; `None` for all programs.
    only: Option<String>,
    runs: HashMap<RunKey, Followed>,
    looked: bool,
}

#[derive(Debug, Default)]
struct Followed {
    records: NewRecords,
    series: Series<Rc<Snapshot>>,
    names: Option<Names>,
}

impl Windows {
    /// Returns an instance that follows all programs with rings in these directories, or only the program named `only`.
    pub(crate) fn new(places: Vec<PathBuf>, only: Option<String>) -> Self {
        Self {
            places,
            only,
            runs: HashMap::new(),
            looked: false,
        }
    }

    /// Returns the work of each program since the last call. The first call only sets the starting point.
    pub(crate) fn look(&mut self) -> Vec<Window> {
        let mut seen = HashSet::new();
        let mut parts: BTreeMap<String, Vec<Snapshot>> = BTreeMap::new();
        let is_new = self.looked;
        for Listed { ring, .. } in list::list(&self.places) {
            let Ok((ring, liveness)) = ring else { continue };
            let key = RunKey::of(&ring);
            let is_wanted = self.only.as_ref().is_none_or(|only| *only == key.name);
            // A run that had ended before the first round is not followed. A followed run that has ended is still read.
            let may_begin = (is_live(&liveness) || is_new) && self.runs.len() < RUNS_MOST;
            if !is_wanted || !may_begin && !self.runs.contains_key(&key) {
                continue;
            }
            seen.insert(key.clone());
            let name = label(&key.name);
            let run = self.runs.entry(key).or_default();
            if let Ok(Some(window)) = run.window(&ring, is_new) {
                parts.entry(name).or_default().push(window);
            }
        }
        self.runs
            .retain(|key, _| seen.contains(key) || os::start_time(key.pid) == Some(key.start_time));
        self.looked = true;
        parts
            .into_iter()
            .filter_map(|(program, parts)| merged(program, parts))
            .collect()
    }
}

impl Followed {
    /// Returns the work since the last record that was read, or since the start if the run is new and `is_new` is set.
    /// Returns `None` if an undo restored counts that no known record contains.
    fn window(&mut self, ring: &RingFile, is_new: bool) -> Result<Option<Snapshot>, FormatError> {
        let records = self.records.read(ring, true)?;
        if records.is_empty() {
            return Ok(None);
        }
        let then = self.series.clone();
        for record in records {
            self.series
                .take(RecordEpoch::from(&record.capture), Rc::new(record));
        }
        let terms = self.series.since(&then).map(|counts| &**counts);
        let is_known = !terms.more && (is_new || then.newest().is_some());
        let window = is_known.then(|| {
            let mut window = counts(&terms.plus, &terms.minus);
            let names = self.names.get_or_insert_with(|| Names::of(window.process.pid));
            let known = names.with(&window.lines);
            add_sampled_rows(&mut window, known);
            window
        });
        self.series
            .join_oldest(LINKS_MOST, |one, other| Rc::new(sum(&[one, other])));
        Ok(window)
    }
}

/// Merges the snapshots of a program's processes. Returns `None` if none of the processes did any work.
fn merged(program: String, parts: Vec<Snapshot>) -> Option<Window> {
    let (mut begin, mut end) = (u64::MAX, 0);
    let mut all = MergedRuns::default();
    for part in parts {
        if part.calls() == 0 && part.measured_ticks() == 0 {
            continue;
        }
        let capture = &part.capture;
        begin = begin.min(capture.unix_ns.saturating_sub(capture.since_reset_ns));
        end = end.max(capture.unix_ns);
        all.add(part);
    }
    let (mut snapshot, _) = all.finish()?;
    snapshot.window = true;
    snapshot.capture.since_reset_ns = end.saturating_sub(begin);
    Some(Window {
        program,
        unix_ns: (begin, end),
        snapshot,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tickscope_format::snapshot::{CaptureKind, LineSample, NO_MODULE, SampledIn};
    use tickscope_testkit::fixture::programs;
    use tickscope_testkit::test_program::TestProgram;

    use super::*;

    fn start(dir: &Path, number: u64) -> TestProgram {
        let mut program = TestProgram::named(dir, "app", number, number);
        program.main_calls = 0;
        program
    }

    #[test]
    fn windows_have_what_was_done_between_looks() {
        let dir = tempfile::tempdir().unwrap();
        let mut windows = Windows::new(vec![dir.path().to_path_buf()], None);
        let mut look = || -> Vec<u64> {
            windows
                .look()
                .iter()
                .map(|window| window.snapshot.calls())
                .collect()
        };
        let mut first = start(dir.path(), 1);
        first.shows(100, CaptureKind::Periodic);
        assert_eq!(look(), [0; 0], "it begins here");
        assert_eq!(look(), [0; 0], "nothing new");
        first.shows(103, CaptureKind::Periodic);
        assert_eq!(look(), [3]);
        // Two resets come between two rounds, then one is undone.
        first.reset(110);
        first.reset(4);
        first.shows(2, CaptureKind::Periodic);
        assert_eq!(look(), [13]);
        first.withdraws = Some(1);
        first.epoch += 1;
        first.shows(9, CaptureKind::Periodic);
        assert_eq!(look(), [3]);
        // The work of a new process counts from its start, even across a reset, and is added to the work of the first
        // process.
        let mut second = start(dir.path(), 2);
        second.shows(1, CaptureKind::Periodic);
        second.reset(20);
        second.shows(1, CaptureKind::Periodic);
        first.shows(10, CaptureKind::Periodic);
        assert_eq!(look(), [22]);
        second.shows(8, CaptureKind::Final);
        drop(second);
        assert_eq!(look(), [7], "its end");
        assert_eq!(look(), [0; 0]);
    }

    #[test]
    fn windows_have_rows_of_what_was_sampled() {
        let dir = tempfile::tempdir().unwrap();
        let mut windows = Windows::new(vec![dir.path().to_path_buf()], None);
        let mut program = start(dir.path(), 1);
        for number in 1..=2 {
            let mut s = programs::run(&[(0, "main", 1, 5), (1, "work", number, 1000 * number)]);
            s.lines.set([LineSample {
                inside: SampledIn::Row(1),
                module: NO_MODULE,
                address: 9,
                samples: 10 * number,
                cpu_ns: 1000 * number,
            }]);
            s.capture.unix_ns = number * 1_000_000_000;
            program.publish(&mut s);
            let found = windows.look();
            let time = |window: &Window| {
                let s = &window.snapshot;
                let site = s.sites.iter().position(|site| site.name == "(no file)")?;
                let row = s.nodes.site.iter().position(|&of| of as usize == site)?;
                Some(s.nodes.self_ticks[row])
            };
            let times: Vec<Option<u64>> = found.iter().map(time).collect();
            assert_eq!(times, [Some(1000)][..found.len()]);
            assert_eq!(found.len() as u64, number - 1, "it begins here");
        }
    }

    #[test]
    fn a_program_that_was_not_asked_for_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let place = || vec![dir.path().to_path_buf()];
        let (mut all, mut other) = (
            Windows::new(place(), Some("app".into())),
            Windows::new(place(), Some("b".into())),
        );
        all.look();
        other.look();
        start(dir.path(), 1).shows(5, CaptureKind::Final);
        let windows = all.look();
        assert_eq!(windows[0].program.as_str(), "app");
        assert_eq!(windows[0].unix_ns, (500_000_000, 1_000_000_000));
        assert!(other.look().is_empty());
    }
}

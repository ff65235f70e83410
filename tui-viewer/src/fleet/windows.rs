//! What each program has done since the last look, over resets, as a snapshot for each program.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use tickscope_analysis::history_window::{self, RecordEpoch};
use tickscope_analysis::merge_runs::MergedRuns;
use tickscope_format::codec::Decoder;
use tickscope_format::file::list::{self, Listed};
use tickscope_format::file::open::RingFile;
use tickscope_format::{FormatError, Snapshot, os};

use crate::fleet::account::label;
use crate::source::ring_reads::{RunKey, ends_between};
use crate::source::symbols::Names;
use crate::source::target::wanted::is_live;

/// So many runs are followed. Others are left out.
const RUNS_MOST: usize = 1000;

/// What the processes of a program did between two looks.
#[derive(Debug)]
pub struct Window {
    /// The program's name.
    pub program: String,
    /// When it begins and ends: nanoseconds since the Unix epoch.
    pub unix_ns: (u64, u64),
    /// What was done.
    pub snapshot: Snapshot,
}

/// The programs of a host, followed from look to look.
#[derive(Debug)]
pub struct Windows {
    places: Vec<PathBuf>,
    /// Only this program.
    only: Option<String>,
    runs: HashMap<RunKey, Followed>,
    looked: bool,
}

#[derive(Debug, Default)]
struct Followed {
    decoder: Decoder,
    /// The ring, position and number of the newest record that was read.
    read: Option<(u64, u64, u64)>,
    /// The end of the epoch before, which an undo may bring back, and the newest record.
    kept: Vec<Snapshot>,
    names: Option<Names>,
}

impl Windows {
    /// Follows the programs of these directories, or one of them.
    pub fn new(places: Vec<PathBuf>, only: Option<String>) -> Self {
        Self {
            places,
            only,
            runs: HashMap::new(),
            looked: false,
        }
    }

    /// Returns what was done since the last look, by program. The first look only shows where to begin.
    pub fn look(&mut self) -> Vec<Window> {
        let mut seen = HashSet::new();
        let mut parts: BTreeMap<String, Vec<Snapshot>> = BTreeMap::new();
        let mut listed: Vec<RingFile> = Vec::new();
        for Listed { ring, .. } in list::list(&self.places) {
            let Ok((ring, liveness)) = ring else { continue };
            let key = RunKey::of(&ring);
            let is_wanted = self.only.as_ref().is_none_or(|only| *only == key.name);
            // What had ended before is not followed, and its end is read once.
            let is_known = self.runs.contains_key(&key);
            if is_wanted
                && (is_known || is_live(&liveness) || self.looked)
                && (is_known || self.runs.len() < RUNS_MOST)
            {
                listed.push(ring);
            }
        }
        for ring in &listed {
            let key = RunKey::of(ring);
            seen.insert(key.clone());
            let name = label(&key.name);
            let is_new = self.looked;
            let run = self.runs.entry(key).or_default();
            if let Ok(Some(window)) = run.window(ring, is_new) {
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
    /// What was done since the record that was read last; of a run that `is_new`, since its begin.
    fn window(&mut self, ring: &RingFile, is_new: bool) -> Result<Option<Snapshot>, FormatError> {
        let (nonce, latest) = (ring.header().nonce, ring.latest()?);
        if self.read.is_some_and(|read| (read.0, read.1) == (nonce, latest)) {
            return Ok(None);
        }
        let record = ring.newest()?;
        let newest = self.decoder.decode(&record.payload)?;
        let known = self
            .kept
            .last()
            .map_or((0, 0), |kept| (kept.capture.seq, kept.capture.reset_epoch));
        if newest.capture.seq <= known.0 {
            return Ok(None);
        }
        let after = self.read.filter(|read| read.0 == nonce).map_or(0, |read| read.2);
        self.read = Some((nonce, record.position, record.sequence));
        let mut from = self.kept.len().checked_sub(1);
        let mut moments = std::mem::take(&mut self.kept);
        if known.1 != newest.capture.reset_epoch {
            for end in ends_between(ring, after, &record).iter().rev() {
                if let Ok(end) = self.decoder.decode(&end.payload)
                    && (known.0 + 1..newest.capture.seq).contains(&end.capture.seq)
                {
                    moments.push(end);
                }
            }
        }
        moments.push(newest);
        if from.is_none() && is_new {
            moments.insert(0, nothing_of(&moments[0]));
            from = Some(0);
        }
        let window = from.map(|from| {
            let mut window = window(&moments, from);
            let names = self.names.get_or_insert_with(|| Names::of(window.process.pid));
            names.add_rows(&mut window);
            window
        });
        let newest = moments.pop();
        let epoch = newest.as_ref().map(|newest| newest.capture.reset_epoch);
        let end = moments
            .into_iter()
            .rev()
            .find(|moment| Some(moment.capture.reset_epoch) != epoch);
        self.kept = end.into_iter().chain(newest).collect();
        Ok(window)
    }
}

/// What was done between one moment and the last.
fn window(moments: &[Snapshot], from: usize) -> Snapshot {
    let epochs: Vec<RecordEpoch> = moments
        .iter()
        .map(|moment| RecordEpoch {
            reset_epoch: moment.capture.reset_epoch,
            withdraws: moment.capture.withdraws,
            kind: moment.capture.kind,
        })
        .collect();
    let terms = history_window::terms(&epochs, from, moments.len() - 1);
    let of = |at: &[usize]| at.iter().map(|&at| &moments[at]).collect::<Vec<_>>();
    history_window::across(&of(&terms.plus), &of(&terms.minus))
}

/// The run before its first call.
fn nothing_of(run: &Snapshot) -> Snapshot {
    let mut nothing = Snapshot {
        process: run.process.clone(),
        clock: run.clock.clone(),
        ..Snapshot::default()
    };
    nothing.capture.mode = run.capture.mode;
    nothing.capture.reset_epoch = run.capture.reset_epoch;
    nothing
}

/// The processes of a program as one; none where nothing was done.
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

    use super::*;
    use crate::source::test_program::TestProgram;

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
        // Two resets between two looks, then one is taken back.
        first.reset(110);
        first.reset(4);
        first.shows(2, CaptureKind::Periodic);
        assert_eq!(look(), [13]);
        first.withdraws = Some(1);
        first.epoch += 1;
        first.shows(9, CaptureKind::Periodic);
        assert_eq!(look(), [3]);
        // A process that has come since counts from its begin, also beyond its reset and together with the first.
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
        assert_eq!(
            (windows[0].program.as_str(), windows[0].unix_ns),
            ("app", (500_000_000, 1_000_000_000))
        );
        assert!(other.look().is_empty());
    }
}

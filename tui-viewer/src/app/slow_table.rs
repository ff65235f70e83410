//! The watched functions of a snapshot, as the view Slow shows them.

use std::hash::{DefaultHasher, Hash, Hasher};

use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::slow::{Slow, SlowRow, lineage};
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_programs::clock_time::UtcOffset;
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_report::slow::{Answer, SlowOptions, Typed};

use crate::outcome::watched::watch_of;

/// The watched functions.
#[derive(Debug, Default)]
pub(crate) struct SlowTable {
    /// Watched functions in the order of the snapshot.
    pub(crate) watches: Vec<WatchTable>,
    /// Paths of all watched functions.
    pub(crate) rows: Vec<PathRow>,
}

/// A watched function.
#[derive(Debug)]
pub(crate) struct WatchTable {
    /// Pattern that names the function.
    pub(crate) function: String,
    /// Number of slow calls, and their additional time, in words.
    pub(crate) facts: Option<String>,
    /// Cause of the slow calls' time.
    pub(crate) why: Option<String>,
    /// Reason why there is no answer, or a limit of the answer.
    pub(crate) doubt: Option<String>,
    /// Numbers of typical and slow calls.
    pub(crate) slow: Slow,
    /// Calls of the function that are kept whole, the longest first.
    pub(crate) calls: Vec<CallLine>,
}

/// A path of a watched function.
#[derive(Debug)]
pub(crate) struct PathRow {
    /// Index of the watched function in [`SlowTable::watches`].
    pub(crate) watch: usize,
    /// Numbers of the path.
    pub(crate) means: SlowRow,
    /// Key of the path, the same in all snapshots.
    pub(crate) key: u64,
    /// Function at the end of the path.
    pub(crate) function: Option<FunctionId>,
    /// Names on the path.
    pub(crate) name: String,
}

/// A slow call that is kept whole.
#[derive(Debug)]
pub(crate) struct CallLine {
    /// Number of the call in the program.
    pub(crate) number: u64,
    /// Index of the call among the calls of the snapshot.
    pub(crate) index: usize,
    /// Time at which the call began.
    pub(crate) began: String,
    /// Duration of the call in ns.
    pub(crate) ns: u64,
    /// Name of the call's thread.
    pub(crate) thread: String,
    /// Cause of most of the call's time.
    pub(crate) cause: String,
    /// Notes of the program in the call.
    pub(crate) notes: String,
}

impl SlowTable {
    /// Derives the table; `of_site` has the function of each site.
    pub(crate) fn of(
        snapshot: &Snapshot,
        of_site: &[FunctionId],
        traces: &KeptTraces,
        offset: UtcOffset,
        ascii: bool,
    ) -> Self {
        let mut table = Self::default();
        let options = SlowOptions {
            ascii,
            utc_offset_s: offset,
            typed: Typed::Viewer,
        };
        for (at, watch) in snapshot.watches.iter().enumerate() {
            let answer = Answer::of(snapshot, watch, options);
            let function_of = |path: u32| {
                let site = watch.paths.get(path as usize)?.site;
                of_site.get(site.index()).copied()
            };
            for row in &answer.slow.rows {
                let mut hasher = DefaultHasher::new();
                watch.function.hash(&mut hasher);
                for path in lineage(watch, row.path) {
                    function_of(path).map(FunctionId::index).hash(&mut hasher);
                }
                table.rows.push(PathRow {
                    watch: at,
                    means: *row,
                    key: hasher.finish(),
                    function: function_of(row.path),
                    name: answer.path_name(row.path),
                });
            }
            let index = |number: u64| {
                let mut exemplars = watch.exemplars.iter();
                exemplars.position(|exemplar| exemplar.number == number)
            };
            let calls = answer.exemplars().into_iter().map(|exemplar| {
                let trace = traces.of(watch, exemplar);
                CallLine {
                    number: exemplar.number,
                    index: index(exemplar.number).unwrap_or(0),
                    began: answer.began(exemplar),
                    ns: snapshot.nanos(exemplar.ticks),
                    thread: exemplar.thread.clone(),
                    cause: answer.exemplar_cause(exemplar, trace),
                    notes: trace.map_or_else(String::new, |trace| answer.notes(trace)),
                }
            });
            table.watches.push(WatchTable {
                function: watch.function.clone(),
                facts: answer.facts(),
                why: answer.why(),
                doubt: answer.doubt(),
                calls: calls.collect(),
                slow: answer.slow,
            });
        }
        table
    }

    /// Returns the index of the watched function with this pattern, else of the first function.
    pub(crate) fn place_of(&self, function: Option<&str>) -> Option<usize> {
        let named = |watch: &WatchTable| Some(watch.function.as_str()) == function;
        let found = self.watches.iter().position(named);
        found.or((!self.watches.is_empty()).then_some(0))
    }
}

/// Returns the pattern of the watch that a function matches.
pub(crate) fn watched_as(snapshot: &Snapshot, function: &Pattern) -> Option<String> {
    watch_of(snapshot, function).map(|watch| watch.function.clone())
}

//! State of the Slow view: the watched functions of a snapshot, and the user's choice of a function, a call, and a part of
//! the call.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::slow::{Slow, SlowRow, lineage};
use tickscope_analysis::waterfall::Waterfall;
use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_programs::clock_time::UtcOffset;
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_report::slow::{Answer, SlowOptions, Typed};

use crate::app::keyhash::number_of;
use crate::outcome::watched::watch_of;

/// The user's choices in the view.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlowView {
    /// Pattern of the watched function; if no watch has this pattern, the first function is shown.
    pub(crate) function: Option<String>,
    /// Number that identifies the call whose waterfall is shown. If this call is gone, the longest call is shown.
    pub(crate) call: Option<u64>,
    /// Part of the call that is shown, in ticks; `None` for the whole call.
    pub(crate) zoom: Option<Range<u64>>,
    /// When nearby snapshots were last searched for events that the snapshot on screen leaves out: the unix time in ns of
    /// the snapshot on screen, and the revision of the history.
    pub(crate) searched: Option<(u64, u64)>,
    /// The last waterfall and its key. It is cached because it is needed several times whenever the screen is drawn.
    pub(crate) made: RefCell<Option<(CallKey, Rc<Waterfall>)>>,
}

/// Key of a cached waterfall: the number of the watch, the number of the call, and how many steps of the call are known.
pub(crate) type CallKey = (u64, u64, usize);

/// Fraction (numerator, denominator) of the visible time that stays visible when the user zooms in by one step.
const CLOSER: (u64, u64) = (1, 2);

/// Panning by one step moves by the visible time divided by this number.
const STEP: u64 = 4;

/// Minimum number of visible ticks, at which zooming in stops.
const LEAST: u64 = 16;

impl SlowView {
    /// Returns the part of a call of `ticks` ticks that is on screen.
    pub(crate) fn shown(&self, ticks: u64) -> Range<u64> {
        let whole = 0..ticks.max(1);
        match &self.zoom {
            Some(zoom) if zoom.end <= whole.end && zoom.start < zoom.end => zoom.clone(),
            Some(_) | None => whole,
        }
    }

    /// Zooms in or out around a moment. Without a moment, zooms around the middle of the visible part.
    pub(crate) fn zoom(&mut self, ticks: u64, around: Option<u64>, closer: bool) {
        let shown = self.shown(ticks);
        let length = shown.end - shown.start;
        let (more, less) = CLOSER;
        let next = match closer {
            true => (length / less * more).max(LEAST.min(ticks.max(1))),
            false => length.saturating_mul(less) / more,
        };
        if next >= ticks {
            self.zoom = None;
            return;
        }
        let around = around.unwrap_or(shown.start + length / 2);
        // The moment at the pointer keeps its position on the screen.
        let part =
            u128::from(around.saturating_sub(shown.start)) * u128::from(next) / u128::from(length.max(1));
        let start = around.saturating_sub(part as u64).min(ticks - next);
        self.zoom = Some(start..start + next);
    }

    /// Pans to an earlier or a later part.
    pub(crate) fn pan(&mut self, ticks: u64, later: bool) {
        let shown = self.shown(ticks);
        let length = shown.end - shown.start;
        let step = (length / STEP).max(1);
        let start = match later {
            true => shown.start.saturating_add(step).min(ticks.saturating_sub(length)),
            false => shown.start.saturating_sub(step),
        };
        if length < ticks {
            self.zoom = Some(start..start + length);
        }
    }
}

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
    /// Pattern by which the function is watched.
    pub(crate) function: String,
    /// Sentence that says how many calls were slow and how much longer they took; `None` if no call was slow.
    pub(crate) facts: Option<String>,
    /// Sentence that names the causes of slow calls; `None` if no cause is known.
    pub(crate) why: Option<String>,
    /// Sentence that says why slow calls cannot be explained, or what the explanation lacks; `None` if nothing is in doubt.
    pub(crate) doubt: Option<String>,
    /// Figures of typical and slow calls.
    pub(crate) slow: Slow,
    /// Calls of the function that are kept with their events, the longest first.
    pub(crate) calls: Vec<CallLine>,
}

/// A path of a watched function.
#[derive(Debug)]
pub(crate) struct PathRow {
    /// Index of the watched function in [`SlowTable::watches`].
    pub(crate) watch: usize,
    /// Figures of the path.
    pub(crate) means: SlowRow,
    /// Key that identifies the path across snapshots.
    pub(crate) key: u64,
    /// Function at the end of the path.
    pub(crate) function: Option<FunctionId>,
    /// Names of the functions on the path, joined into one string.
    pub(crate) name: String,
}

/// A slow call that is kept with its events.
#[derive(Debug)]
pub(crate) struct CallLine {
    /// Number that identifies the call within the program.
    pub(crate) number: u64,
    /// Index of the call in the `exemplars` of its watch.
    pub(crate) index: usize,
    /// Time of day at which the call began.
    pub(crate) began: String,
    /// Duration of the call in ns.
    pub(crate) ns: u64,
    /// Name of the call's thread.
    pub(crate) thread: String,
    /// What made the call slow.
    pub(crate) cause: String,
    /// Notes that the program attached to the call, such as `frame=4711`.
    pub(crate) notes: String,
}

impl SlowTable {
    /// Builds the table. `of_site` maps each site to its function.
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
            let site_of = |path: u32| watch.paths.get(path as usize).map(|path| path.site.index());
            let function_of = |path: u32| of_site.get(site_of(path)?).copied();
            for row in &answer.slow.rows {
                // The key is made from names, because later snapshots may number sites and functions differently.
                let names = lineage(watch, row.path).into_iter().map(|path| {
                    let site = snapshot.sites.get(site_of(path)?)?;
                    Some((&site.module, &site.name))
                });
                let names: Vec<_> = names.collect();
                table.rows.push(PathRow {
                    watch: at,
                    means: *row,
                    key: number_of((&watch.function, names)),
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

    /// Returns the index of the watched function with this pattern or, if there is none, of the first function.
    pub(crate) fn place_of(&self, function: Option<&str>) -> Option<usize> {
        let named = |watch: &WatchTable| Some(watch.function.as_str()) == function;
        let found = self.watches.iter().position(named);
        found.or((!self.watches.is_empty()).then_some(0))
    }
}

/// Returns the pattern of the watch that covers a function.
pub(crate) fn watched_as(snapshot: &Snapshot, function: &Pattern) -> Option<String> {
    watch_of(snapshot, function).map(|watch| watch.function.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_stays_around_a_moment_and_ends_at_the_whole() {
        let mut view = SlowView::default();
        assert_eq!(view.shown(1_000), 0..1_000);
        view.zoom(1_000, Some(900), true);
        assert_eq!(view.shown(1_000), 450..950);
        view.pan(1_000, true);
        assert_eq!(view.shown(1_000), 500..1_000);
        view.pan(1_000, false);
        assert_eq!(view.shown(1_000), 375..875);
        for _ in 0..20 {
            view.zoom(1_000, None, true);
        }
        let shown = view.shown(1_000);
        assert_eq!(shown.end - shown.start, LEAST);
        for _ in 0..20 {
            view.zoom(1_000, None, false);
        }
        assert_eq!(view.shown(1_000), 0..1_000);
        view.pan(1_000, true);
        assert_eq!(view.shown(1_000), 0..1_000, "there is nothing beside the whole");
        assert_eq!(
            SlowView {
                zoom: Some(5..50),
                ..view
            }
            .shown(20),
            0..20,
            "of another call"
        );
    }
}

//! What is known about the slow calls of a watched function, with names, and with numbers formatted as text.

use tickscope_analysis::functions::Functions;
use tickscope_analysis::slow::{self, Means, Slow, SlowRow};
use tickscope_analysis::waits_in;
use tickscope_format::ids::{NO_PARENT, NodeId};
use tickscope_format::snapshot::{Exemplar, Snapshot, Watch};

use crate::clock;
use crate::escape::visible;
use crate::label::labels;
use crate::number;

/// How the answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlowOptions {
    /// Whether the answer contains only ASCII characters.
    pub ascii: bool,
    /// Offset of local time from UTC, in seconds. If `None`, times are in UTC and end in a Z.
    pub utc_offset_s: Option<i32>,
    /// Where the reader types the suggested commands. In a shell, they begin with `tickscope `.
    pub typed: Typed,
}

/// Where the reader types commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Typed {
    /// In a shell.
    #[default]
    Shell,
    /// In the viewer's command line.
    Viewer,
}

/// What is known about the slow calls of a watched function, with names.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The snapshot that contains the watch.
    pub snapshot: &'a Snapshot,
    /// The watched function.
    pub watch: &'a Watch,
    /// The comparison of slow and typical calls.
    pub slow: Slow,
    pub(super) functions: Functions,
    /// Label of each function, by id.
    labels: Vec<String>,
    pub(super) options: SlowOptions,
}

impl<'a> Answer<'a> {
    /// Explains the slow calls of a watched function. `watch` must belong to `snapshot`.
    pub fn of(snapshot: &'a Snapshot, watch: &'a Watch, options: SlowOptions) -> Self {
        let functions = Functions::of(snapshot);
        Self {
            snapshot,
            watch,
            slow: Slow::of(watch, snapshot),
            labels: labels(&functions, options.ascii),
            functions,
            options,
        }
    }

    /// Returns the watched function as the user named it.
    pub fn function(&self) -> String {
        visible(&self.watch.function, self.options.ascii).into_owned()
    }

    /// Returns the label of the last function on a path.
    pub fn name(&self, path: u32) -> &str {
        let path = self.watch.paths.get(path as usize);
        path.map_or("", |path| {
            &self.labels[self.functions.of_site[path.site.index()].index()]
        })
    }

    /// Returns the labels of the functions on a path, beginning below the watched function. For the watched function itself,
    /// returns its own label.
    pub fn path_name(&self, path: u32) -> String {
        let lineage = slow::lineage(self.watch, path);
        let roots = self.watch.paths.iter().filter(|path| path.parent == NO_PARENT);
        // If the pattern matches several functions, the path must also show in which of them it begins.
        let shown = match roots.count() {
            1 if lineage.len() > 1 => &lineage[1..],
            _ => &lineage[..],
        };
        let names: Vec<&str> = shown.iter().map(|&path| self.name(path)).collect();
        let names = names.join(if self.options.ascii { " > " } else { " › " });
        match lineage.len() {
            1 => names + " (itself)",
            _ => names,
        }
    }

    /// Returns a name for a path in a sentence: the label of its last function, or the whole path if another cause has the same
    /// label.
    pub(super) fn cause_name(&self, path: u32) -> String {
        let name = self.name(path);
        let is_other = |other: u32| other != path && self.name(other) == name;
        match self.slow.causes.iter().any(|cause| is_other(cause.path)) {
            true => self.path_name(path),
            false => name.to_owned(),
        }
    }

    /// Returns the system call in which threads waited on a path, if one call accounts for more than half of the samples of these
    /// waits. Otherwise returns `None`.
    pub(super) fn waits_in(&self, path: u32) -> Option<String> {
        let lineage = slow::lineage(self.watch, path);
        let nodes = &self.snapshot.nodes;
        let ends_with_path = |node: NodeId| {
            let mut at = Some(node.0);
            lineage.iter().rev().all(|&path| {
                let row = at.take().filter(|&row| row != NO_PARENT);
                at = row.map(|row| nodes.parent[row as usize]);
                row.is_some_and(|row| nodes.site[row as usize] == self.watch.paths[path as usize].site.0)
            })
        };
        let calls = waits_in::in_nodes(self.snapshot, ends_with_path).into_iter();
        calls.take(1).find(|call| call.share > 0.5).map(|call| call.call)
    }

    /// Returns the slow calls that were kept with their trace. The longest call of each cause comes first, followed by all other
    /// calls. Both parts are sorted by duration, longest first, so the very first call is the longest of all.
    pub fn exemplars(&self) -> Vec<&'a Exemplar> {
        slow::exemplars(self.watch)
    }

    /// Returns when a call began, such as `14:02:11.250`, with a Z if the time is in UTC.
    pub fn began(&self, exemplar: &Exemplar) -> String {
        clock::time_of_day(exemplar.began_unix_ns, self.options.utc_offset_s)
    }

    /// Returns the cells of a table row: difference between a slow and a typical call, share of the whole difference, time in a
    /// typical call, time in a slow call, calls.
    pub(crate) fn cells(&self, row: &SlowRow) -> [String; 5] {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let mean = |side: Option<Means>| or_dash(side.map(|means| self.duration(means.ns)));
        [
            or_dash(row.difference_ns().map(|ns| self.difference(ns))),
            or_dash(self.slow.share_of(row).map(number::percent)),
            mean(row.typical),
            mean(row.slow),
            both_calls(row, self.options.ascii),
        ]
    }

    /// Returns by how much waiting and ready time differ between a slow and a typical call, each with a comma before it.
    /// Differences that are less than the row's whole difference divided by `least` are left out.
    pub(crate) fn off_cpu(&self, row: &SlowRow, least: f64) -> String {
        let whole = row.difference_ns().unwrap_or(0.0).abs();
        let parts = [
            ("waiting", row.difference(|means| means.waiting_ns)),
            ("without a CPU", row.difference(|means| means.ready_ns)),
        ];
        let shown = parts.into_iter().filter_map(|(word, ns)| {
            let ns = ns.filter(|ns| ns.abs() >= 1.0 && ns.abs() >= whole / least)?;
            Some(format!(", {} {word}", self.difference(ns)))
        });
        shown.collect()
    }

    /// Returns the texts that describe a kept slow call: when it began, duration, thread, cause, notes.
    pub(crate) fn exemplar_texts(&self, exemplar: &Exemplar) -> [String; 5] {
        let trace = exemplar.trace.as_ref();
        [
            self.began(exemplar),
            self.duration(self.snapshot.nanos(exemplar.ticks) as f64),
            self.visible(&exemplar.thread),
            self.exemplar_cause(exemplar, trace),
            trace.map_or_else(String::new, |trace| self.notes(trace)),
        ]
    }

    /// Formats a duration that is given in nanoseconds, in the character set of the answer.
    pub fn duration(&self, ns: f64) -> String {
        duration(ns, self.options.ascii)
    }

    /// Formats a difference that is given in nanoseconds, with its sign and in the character set of the answer.
    pub fn difference(&self, ns: f64) -> String {
        difference(ns, self.options.ascii)
    }

    pub(super) fn visible(&self, text: &str) -> String {
        visible(text, self.options.ascii).into_owned()
    }
}

/// Formats a duration that is given in nanoseconds, in at most 6 cells.
pub fn duration(ns: f64, ascii: bool) -> String {
    number::in_charset(number::duration(ns.max(0.0).round() as u64), ascii)
}

/// Formats a difference that is given in nanoseconds, with its sign, in at most 7 cells.
pub fn difference(ns: f64, ascii: bool) -> String {
    let sign = match ns.round() {
        ns if ns < 0.0 => "-",
        ns if ns > 0.0 => "+",
        _ => "",
    };
    format!("{sign}{}", duration(ns.abs(), ascii))
}

/// Formats a mean number of calls in at most 5 cells: `6`, `0.25`, `12.3`, `1.34k`.
pub fn calls(calls: f64) -> String {
    let rounded = calls.round();
    match (calls - rounded).abs() < 0.005 {
        true => number::count(rounded as u64),
        false => number::quotient((calls * 1e3).round() as u64, 1_000),
    }
}

/// Formats how often a path is called in a typical call and in a slow call of the watched function, such as `6 → 600`.
pub fn both_calls(row: &SlowRow, ascii: bool) -> String {
    let side = |means: Option<Means>| means.map_or_else(|| "-".to_owned(), |means| calls(means.calls));
    let arrow = if ascii { "->" } else { "→" };
    format!("{} {arrow} {}", side(row.typical), side(row.slow))
}

//! The snapshot on the screen, and the tables derived from it for the chosen threads.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use tickscope_analysis::call_tree::{CallTree, Figures, PathId};
use tickscope_analysis::functions::{FunctionId, Functions};
use tickscope_analysis::hotspots::{HotRow, hot};
use tickscope_analysis::tasks::Tasks;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::latency::Histogram;
use tickscope_programs::clock_time::UtcOffset;
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_programs::known_functions::KnownFunctions;
use tickscope_report::tasks::name;

use crate::app::filter::{Seen, function_of};
use crate::app::function::Around;
use crate::app::keyhash::KeyMap;
use crate::app::names::Names;
use crate::app::past::cpu_history::CpuHistory;
use crate::app::row::{PercentOf, Row, RowId, What};
use crate::app::site_rows::{Kept, SiteRow, SiteTable};
use crate::app::slow::SlowTable;
use crate::app::tails::{Tail, tails};
use crate::app::threads::{self, ThreadChoice, ThreadRow};
use crate::keys::view::View;

/// For each view, maps each row to the index of the same row in the data to compare with. The list for a view is made
/// on first use.
type Pairs = [OnceCell<Vec<Option<u32>>>; View::ALL.len()];

/// A snapshot and its tables.
#[derive(Debug, Default)]
pub(crate) struct Data {
    pub(crate) snapshot: Rc<Snapshot>,
    /// Call tree as the view shows it: the calls of the chosen threads, merged by path.
    pub(crate) tree: Rc<CallTree>,
    /// Names of the functions.
    pub(crate) names: Rc<Names>,
    /// Total measured time of the chosen threads.
    pub(crate) measured_ns: u64,
    /// Total time during which the chosen threads had no scope open.
    pub(crate) outside_ns: u64,
    /// The chosen thread. `None` if all threads are chosen, or if the chosen thread no longer exists.
    pub(crate) thread: Option<ThreadId>,
    /// The function shown in the view Function, with its callers and callees.
    pub(crate) around: Option<Around>,
    /// Call tree with all calls of the chosen threads, in focus or not.
    whole: Rc<CallTree>,
    /// Call tree with only the calls in focus, neither inverted nor folded.
    calls: Rc<CallTree>,
    /// Whether the tree is incomplete. Missing rows are added when their parents are opened.
    pub(crate) bottom_up: bool,
    /// Whether the tree is incomplete; missing rows are added when the rows above them are opened.
    pub(crate) in_part: bool,
    /// CPU history of the threads, up to the time of the snapshot.
    pub(crate) cpu_history: CpuHistory,
    ascii: bool,
    /// Whether groups are shown instead of their members.
    pub(crate) grouped: bool,
    /// Number of calls by which all figures are divided. `None` if figures are not divided; with 0, no figure can be shown.
    pub(crate) per_calls: Option<u64>,
    /// The data to compare with. The two snapshots have been aligned, so that both trees have the same rows.
    pub(crate) then: Option<Box<Data>>,
    pairs: Pairs,
    below: Vec<u32>,
    hot: OnceCell<Vec<HotRow>>,
    tails: OnceCell<Vec<Tail>>,
    threads: OnceCell<Vec<ThreadRow>>,
    sites: OnceCell<SiteTable>,
    /// The part of the previous site table that the next one can reuse.
    former_sites: Option<Kept>,
    /// All functions of the program, if they are known.
    pub(crate) known: Option<Rc<KnownFunctions>>,
    tasks: OnceCell<TaskTable>,
    slow: OnceCell<SlowTable>,
    /// Traces of slow calls from this and earlier snapshots.
    pub(crate) traces: Rc<KeptTraces>,
    pub(crate) utc_offset: UtcOffset,
}

/// The tasks, and the names of their rows.
#[derive(Debug)]
struct TaskTable {
    tasks: Tasks,
    names: Vec<String>,
}

/// Returns the functions of a snapshot. If `grouped`, groups replace their members.
fn functions(snapshot: &Snapshot, grouped: bool) -> Functions {
    Functions::build(snapshot, grouped)
}

impl Data {
    /// Derives the tables that every view needs. If `grouped`, groups replace their members.
    pub(crate) fn of(
        snapshot: Rc<Snapshot>,
        scope: &ThreadChoice,
        former: Option<&Self>,
        ascii: bool,
        grouped: bool,
    ) -> Self {
        let thread = scope.thread(&snapshot);
        // Successive snapshots usually have the same sites, so the functions of the previous snapshot are reused.
        let known =
            former.filter(|former| former.grouped == grouped && former.snapshot.sites == snapshot.sites);
        let functions = known.map_or_else(
            || Arc::new(functions(&snapshot, grouped)),
            |former| Arc::clone(&former.whole.functions),
        );
        let in_scope = |id| *scope == ThreadChoice::All || thread == Some(id);
        let tree = CallTree::build_of(&snapshot, functions, in_scope);
        let tree = Rc::new(tree);
        Self {
            names: Names::of(&tree.functions, former.map(|former| &former.names), ascii),
            measured_ns: tree.measured_ns(),
            outside_ns: snapshot.value(tree.outside_ticks),
            ascii,
            grouped,
            former_sites: former.and_then(Self::kept_sites),
            known: former.and_then(|former| former.known.clone()),
            thread,
            below: rows_below(&tree),
            whole: Rc::clone(&tree),
            calls: Rc::clone(&tree),
            tree,
            snapshot,
            ..Self::default()
        }
    }

    /// Returns all calls of the chosen threads, in focus or not.
    pub(crate) fn whole(&self) -> &Rc<CallTree> {
        &self.whole
    }

    /// Returns all calls of the chosen threads. If `grouped`, groups replace their members.
    pub(crate) fn whole_of(&self, scope: &ThreadChoice, grouped: bool) -> Rc<CallTree> {
        if grouped == self.grouped {
            return Rc::clone(&self.whole);
        }
        let functions = Arc::new(functions(&self.snapshot, grouped));
        let in_scope = |id| *scope == ThreadChoice::All || self.thread == Some(id);
        Rc::new(CallTree::build_of(&self.snapshot, functions, in_scope))
    }

    /// Whether the function with this key is hidden, either because it is a group while members are shown or because it
    /// is a member while groups are shown.
    pub(crate) fn is_hidden_by_groups(&self, key: u64) -> bool {
        let others = functions(&self.snapshot, !self.grouped);
        let has = |functions: &Functions| functions.list.iter().any(|function| function.key == key);
        has(&others) && !has(&self.whole.functions)
    }

    /// Whether all calls of the chosen threads are in focus.
    pub(crate) fn shows_all_calls(&self) -> bool {
        Rc::ptr_eq(&self.calls, &self.whole)
    }

    /// Returns the calls in focus, neither inverted nor folded.
    pub(crate) fn calls(&self) -> &CallTree {
        &self.calls
    }

    /// Switches to the trees that a view shows, and discards data that was derived from other trees.
    pub(crate) fn see(&mut self, seen: Seen) {
        if !Rc::ptr_eq(&self.calls, &seen.calls) {
            self.hot = OnceCell::new();
            self.tails = OnceCell::new();
        }
        self.pairs = Pairs::default();
        if !Rc::ptr_eq(&self.tree, &seen.tree) {
            self.measured_ns = seen.tree.measured_ns();
            self.outside_ns = self.snapshot.value(seen.tree.outside_ticks);
            self.below = rows_below(&seen.tree);
        }
        self.calls = seen.calls;
        self.tree = seen.tree;
        self.bottom_up = seen.bottom_up;
        self.in_part = seen.in_part;
    }

    /// Returns the hotspots of the calls in focus, derived on first use.
    pub(crate) fn hot(&self) -> &[HotRow] {
        self.hot.get_or_init(|| hot(&self.calls))
    }

    /// Returns the functions that have a tail, that is, some calls much slower than the median. They are in the order
    /// of the hotspots, and derived on first use.
    pub(crate) fn tails(&self) -> &[Tail] {
        self.tails.get_or_init(|| tails(&self.calls, self.hot()))
    }

    /// Returns the tail of a function; `None` if it is not among [`Self::tails`].
    pub(crate) fn tail(&self, what: What) -> Option<&Tail> {
        let tails = self.tails();
        let at = tails.binary_search_by_key(&what.row, |tail| tail.hot);
        tails.get(at.ok()?)
    }

    /// Returns all threads of the snapshot, chosen or not, by thread id; derived on first use.
    pub(crate) fn threads(&self) -> &[ThreadRow] {
        self.threads.get_or_init(|| {
            let function_of = |node| self.function_of_node(node);
            threads::rows_of(&self.snapshot, &self.cpu_history, function_of, self.ascii)
        })
    }

    /// Returns the table of sites, derived on first use.
    pub(crate) fn site_table(&self) -> &SiteTable {
        self.sites.get_or_init(|| {
            let (known, former) = (self.known.as_ref(), self.former_sites.as_ref());
            SiteTable::of(&self.snapshot, known, former, self.ascii)
        })
    }

    /// Returns the rows of the table of sites.
    pub(crate) fn sites(&self) -> &[SiteRow] {
        &self.site_table().rows
    }

    fn kept_sites(&self) -> Option<Kept> {
        let made = self.sites.get().map(|table| &table.kept);
        made.or(self.former_sites.as_ref()).cloned()
    }

    /// Returns the calls of futures on all threads, derived on first use.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.task_table().tasks
    }

    pub(crate) fn task_name(&self, row: u32) -> &str {
        &self.task_table().names[row as usize]
    }

    fn task_table(&self) -> &TaskTable {
        self.tasks.get_or_init(|| {
            let tasks = Tasks::of(&self.snapshot, &self.tree.functions);
            let names = tasks.rows.iter().map(|row| name(row, &self.names.short));
            TaskTable {
                names: names.collect(),
                tasks,
            }
        })
    }

    /// Replaces the traces of slow calls that have been collected so far.
    pub(crate) fn know_traces(&mut self, traces: Rc<KeptTraces>) {
        self.traces = traces;
        self.slow = OnceCell::new();
    }

    /// Returns the watched functions, derived on first use.
    pub(crate) fn slow(&self) -> &SlowTable {
        self.slow.get_or_init(|| {
            let of_site = &self.tree.functions.of_site;
            SlowTable::of(&self.snapshot, of_site, &self.traces, self.utc_offset, self.ascii)
        })
    }

    /// Returns the latency histogram of a row's finished calls.
    pub(crate) fn latency(&self, what: What) -> &Histogram {
        what.table().latency(self, what.row)
    }

    /// Returns the uncertainty of a row's times; `None` if they are exact.
    pub(crate) fn uncertainty(&self, what: What) -> Option<Uncertainty> {
        what.table().uncertainty(self, what.row)
    }

    /// Whether a row's calls are so short that their time is hardly more than the cost of measuring them.
    pub(crate) fn is_doubtful(&self, what: What) -> bool {
        let figures = self.figures(what);
        // Rows of a bottom-up tree show only self time, which may be short even if the calls are long.
        let is_part = self.bottom_up || what.table().is_part(self, what.row);
        let counted_ns = figures.sampled.counted_ns(figures.total_ns);
        !is_part && figures.tally.is_none() && self.snapshot.is_doubtful(counted_ns, figures.calls)
    }

    /// Returns the number of rows below a row of the tree, at any depth.
    pub(crate) fn below(&self, row: u32) -> u32 {
        self.below[row as usize]
    }

    /// Returns the id of a row, which is the same in all snapshots.
    pub(crate) fn id(&self, what: What) -> RowId {
        what.table().id(self, what.row)
    }

    /// Returns the figures of a row.
    pub(crate) fn figures(&self, what: What) -> Figures {
        what.table().figures(self, what.row)
    }

    /// Returns the function of a row.
    pub(crate) fn function(&self, what: What) -> Option<FunctionId> {
        what.table().function(self, what.row)
    }

    /// Returns the row that a function has in the hotspots.
    pub(crate) fn hotspot_of(&self, function: FunctionId) -> Option<What> {
        let at = self.hot().binary_search_by_key(&function, |row| row.function);
        Some(View::Hot.row(at.ok()? as u32))
    }

    /// Returns the function to which a node of the snapshot belongs.
    pub(crate) fn function_of_node(&self, node: NodeId) -> Option<FunctionId> {
        let site = *self.snapshot.nodes.site.get(node.index())?;
        self.tree.functions.of_site.get(site as usize).copied()
    }

    /// Returns the short name of a row.
    pub(crate) fn label(&self, what: What) -> &str {
        let own = what.table().label(self, what.row);
        own.unwrap_or_else(|| {
            self.function(what)
                .map_or("(outside)", |f| &self.names.short[f.index()])
        })
    }

    /// Returns the full name of a row.
    pub(crate) fn full_name(&self, what: What) -> &str {
        let function = self.function(what);
        let of_function = function.map(|function| &*self.names.full[function.index()]);
        let own = || what.table().full_name(self, what.row);
        of_function.or_else(own).unwrap_or_else(|| self.label(what))
    }

    /// Returns a row and all its ancestors, the topmost first.
    pub(crate) fn lineage(&self, what: What) -> Vec<What> {
        let mut line = vec![what];
        let mut at = what;
        while let Some(above) = self.above(at) {
            at = above;
            line.push(at);
        }
        line.reverse();
        line
    }

    /// Returns the parent of a row.
    fn above(&self, what: What) -> Option<What> {
        let above = what.table().above(self, what.row)?;
        Some(what.of.row(above))
    }

    /// Returns the children of a row, whether or not the row is open.
    pub(crate) fn children(&self, what: What) -> Vec<What> {
        let rows = what.table().children(self, what.row);
        what.of.rows(rows.iter().copied())
    }

    /// Whether a row is to be marked as recursive.
    pub(crate) fn is_recursive(&self, what: What) -> bool {
        what.table().is_recursive(self, what.row)
    }

    /// Returns the row of the function with this key or, if it has several, the one with the largest self time. In a
    /// bottom-up tree, only the top rows are considered.
    pub(crate) fn place_of(&self, key: u64) -> Option<u32> {
        self.heaviest_place(function_of(&self.tree, key)?)
    }

    /// Like [`Self::place_of`], but takes the id that the function has in this snapshot.
    pub(crate) fn heaviest_place(&self, function: FunctionId) -> Option<u32> {
        let rows = self.tree.rows.iter().zip(0u32..);
        let places = rows.filter(|(row, _)| row.function == function && !(self.bottom_up && row.depth > 0));
        let heaviest = places.max_by_key(|(row, _)| (row.self_ns, row.total_ns));
        heaviest.map(|(_, index)| index)
    }

    /// Whether any call in focus has this path.
    pub(crate) fn is_place(&self, path: PathId) -> bool {
        self.calls.rows.iter().any(|row| row.path == path)
    }

    /// Returns the line itself or, if its figures cover only part of a function, a line with the figures of the whole function.
    pub(crate) fn in_full(&self, row: &Row) -> Row {
        let what = row.what.table().in_full(self, row.what.row);
        Row {
            what: what.unwrap_or(row.what),
            ..*row
        }
    }

    /// Returns the time in ns that counts as 100 % for a row.
    pub(crate) fn whole_ns(&self, what: What, base: PercentOf) -> u64 {
        match base {
            PercentOf::Wall => self.measured_ns + self.outside_ns,
            PercentOf::Parent => what.table().parent_ns(self, what.row),
            PercentOf::Measured => self.measured_ns,
        }
    }
}

/// Returns for each row the number of rows below it, at any depth.
fn rows_below(tree: &CallTree) -> Vec<u32> {
    let mut below = vec![0u32; tree.rows.len()];
    for index in (0..tree.rows.len()).rev() {
        if let Some(parent) = tree.rows[index].parent {
            below[parent as usize] += below[index] + 1;
        }
    }
    below
}

impl Data {
    /// Returns the data to compare with, and the row in it that has the same id; `None` if there is no such row.
    pub(crate) fn counterpart(&self, what: What) -> Option<(&Self, What)> {
        let then = self.then.as_deref()?;
        if what.is_outside() {
            return Some((then, what));
        }
        let pairs = self.pairs[what.of as usize].get_or_init(|| pairs(self, then, what.of));
        Some((then, what.of.row((*pairs.get(what.row as usize)?)?)))
    }
}

/// For each row of a view's table, returns the index of the row with the same id in `then`.
fn pairs(now: &Data, then: &Data, of: View) -> Vec<Option<u32>> {
    let table = of.table();
    let rows = 0..table.count(now);
    let ids = |data| (0..table.count(data)).map(move |row| table.id(data, row));
    // Usually `now` and `then` have the same rows in the same order, except in tables that are sorted by time.
    if ids(now).eq(ids(then)) {
        return rows.map(Some).collect();
    }
    let places: KeyMap<RowId, u32> = ids(then).zip(0..).collect();
    ids(now).map(|id| places.get(&id).copied()).collect()
}

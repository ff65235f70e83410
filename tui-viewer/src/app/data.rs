//! The snapshot on the screen and everything derived from it for the threads in scope.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use tickscope_analysis::call_tree::{AsyncCalls, CallTree, Figures, PathId};
use tickscope_analysis::functions::{FunctionId, Functions};
use tickscope_analysis::hotspots::{HotRow, hot};
use tickscope_analysis::tasks::Tasks;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::latency::Histogram;
use tickscope_report::tasks::name;

use crate::app::cpu_history::CpuHistory;
use crate::app::figures::What;
use crate::app::filter::{Seen, function_of};
use crate::app::function::Around;
use crate::app::names::Names;
use crate::app::percent_of::PercentOf;
use crate::app::row::{Row, RowId};
use crate::app::site_rows::{Kept, SiteRow, SiteTable};
use crate::app::slow_table::SlowTable;
use crate::app::tails::{Tail, tails};
use crate::app::thread_choice::ThreadChoice;
use crate::app::thread_rows;
use crate::app::thread_rows::ThreadRow;
use crate::source::kept_traces::KeptTraces;
use crate::source::known_functions::KnownFunctions;
use crate::text::clock_time::UtcOffset;

/// A snapshot and its tables.
#[derive(Debug)]
pub(crate) struct Data {
    /// The snapshot itself.
    pub(crate) snapshot: Rc<Snapshot>,
    /// The threads in scope, merged by path, as the view shows them.
    pub(crate) tree: Rc<CallTree>,
    /// The names of its functions.
    pub(crate) names: Rc<Names>,
    /// All measured time in scope.
    pub(crate) measured_ns: u64,
    /// Time outside any scope, in scope.
    pub(crate) outside_ns: u64,
    /// The one thread in scope; none for all, and for one that is not there any more.
    pub(crate) thread: Option<ThreadId>,
    /// The function on the screen of callers and callees.
    pub(crate) around: Option<Around>,
    /// All calls in scope.
    whole: Rc<CallTree>,
    /// Those in focus, each in its place.
    calls: Rc<CallTree>,
    /// The tree is from the bottom up.
    pub(crate) bottom_up: bool,
    /// Opening rows asks for more of the tree.
    pub(super) in_part: bool,
    /// How busy its threads were up to this moment.
    pub(crate) cpu_history: CpuHistory,
    ascii: bool,
    /// Groups stand in place of their members.
    pub(super) grouped: bool,
    /// All numbers are divided by so many calls; without any nothing can be said.
    pub(crate) per_calls: Option<u64>,
    /// What it is compared with, with the same rows.
    pub(crate) then: Option<Box<Data>>,
    below: Vec<u32>,
    hot: OnceCell<Vec<HotRow>>,
    tails: OnceCell<Vec<Tail>>,
    threads: OnceCell<Vec<ThreadRow>>,
    sites: OnceCell<SiteTable>,
    /// What the table of sites before this one has left.
    former_sites: Option<Kept>,
    /// All functions of the program, where they are known.
    pub(super) known: Option<Rc<KnownFunctions>>,
    tasks: OnceCell<TaskTable>,
    slow: OnceCell<SlowTable>,
    /// What happened in slow calls that are kept whole, and how their times are shown.
    pub(super) traces: Rc<KeptTraces>,
    pub(super) utc_offset: UtcOffset,
}

/// The tasks, and the names of their rows.
#[derive(Debug)]
struct TaskTable {
    tasks: Tasks,
    names: Vec<String>,
}

/// The functions of a snapshot, with groups in place of their members or without.
fn functions(snapshot: &Snapshot, grouped: bool) -> Functions {
    match grouped {
        true => Functions::grouped(snapshot),
        false => Functions::of(snapshot),
    }
}

impl Data {
    /// Derives the tables that every view needs; `grouped` puts groups in place of their members.
    pub(crate) fn of(
        snapshot: Rc<Snapshot>,
        scope: &ThreadChoice,
        former: Option<&Self>,
        ascii: bool,
        grouped: bool,
    ) -> Self {
        let thread = scope.thread(&snapshot);
        // Ten times a second the same sites: their functions are made once.
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
            cpu_history: CpuHistory::default(),
            ascii,
            grouped,
            hot: OnceCell::new(),
            tails: OnceCell::new(),
            threads: OnceCell::new(),
            sites: OnceCell::new(),
            former_sites: former.and_then(Self::kept_sites),
            known: former.and_then(|former| former.known.clone()),
            tasks: OnceCell::new(),
            slow: OnceCell::new(),
            traces: Rc::default(),
            utc_offset: None,
            then: None,
            per_calls: None,
            thread,
            below: rows_below(&tree),
            around: None,
            whole: Rc::clone(&tree),
            calls: Rc::clone(&tree),
            bottom_up: false,
            in_part: false,
            tree,
            snapshot,
        }
    }

    /// All calls in scope, whatever is in focus.
    pub(crate) fn whole(&self) -> &Rc<CallTree> {
        &self.whole
    }

    /// The same with groups in place of their members, or without, whatever is shown.
    pub(super) fn whole_of(&self, scope: &ThreadChoice, grouped: bool) -> Rc<CallTree> {
        if grouped == self.grouped {
            return Rc::clone(&self.whole);
        }
        let functions = Arc::new(functions(&self.snapshot, grouped));
        let in_scope = |id| *scope == ThreadChoice::All || self.thread == Some(id);
        Rc::new(CallTree::build_of(&self.snapshot, functions, in_scope))
    }

    /// Whether a key is of a group where members are shown, or of a member where groups are.
    pub(super) fn is_hidden_by_groups(&self, key: u64) -> bool {
        let others = functions(&self.snapshot, !self.grouped);
        let has = |functions: &Functions| functions.list.iter().any(|function| function.key == key);
        has(&others) && !has(&self.whole.functions)
    }

    /// Nothing is in focus.
    pub(super) fn shows_all_calls(&self) -> bool {
        Rc::ptr_eq(&self.calls, &self.whole)
    }

    /// The calls in focus, each in its place.
    pub(crate) fn calls(&self) -> &CallTree {
        &self.calls
    }

    /// What a view shows of them.
    pub(super) fn see(&mut self, seen: Seen) {
        if !Rc::ptr_eq(&self.calls, &seen.calls) {
            self.hot = OnceCell::new();
            self.tails = OnceCell::new();
        }
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

    /// The hotspots of what is in focus, derived when first asked for.
    pub(crate) fn hot(&self) -> &[HotRow] {
        self.hot.get_or_init(|| hot(&self.calls))
    }

    /// The functions that have a tail, in the order of the hotspots; derived when first asked for.
    pub(crate) fn tails(&self) -> &[Tail] {
        self.tails.get_or_init(|| tails(&self.calls, self.hot()))
    }

    /// The tail of a function; none where it has none.
    pub(crate) fn tail(&self, what: What) -> Option<&Tail> {
        let What::Hot(row) = what else { return None };
        let at = self.tails().binary_search_by_key(&row, |tail| tail.hot).ok()?;
        self.tails().get(at)
    }

    /// All threads of the snapshot, in scope or not, by thread id; derived when first asked for.
    pub(crate) fn threads(&self) -> &[ThreadRow] {
        self.threads.get_or_init(|| {
            let function_of = |node| self.function_of_node(node);
            thread_rows::of(&self.snapshot, &self.cpu_history, function_of, self.ascii)
        })
    }

    /// The places in the source that are known, derived when first asked for.
    pub(crate) fn site_table(&self) -> &SiteTable {
        self.sites.get_or_init(|| {
            SiteTable::of(
                &self.snapshot,
                self.known.as_ref(),
                self.former_sites.as_ref(),
                self.ascii,
            )
        })
    }

    /// Their rows.
    pub(crate) fn sites(&self) -> &[SiteRow] {
        self.site_table().rows()
    }

    fn kept_sites(&self) -> Option<Kept> {
        let made = self.sites.get().map(SiteTable::kept);
        made.or(self.former_sites.as_ref()).cloned()
    }

    /// The calls of futures of all threads, derived when first asked for.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.task_table().tasks
    }

    fn task_table(&self) -> &TaskTable {
        self.tasks.get_or_init(|| {
            let tasks = Tasks::of(&self.snapshot, &self.tree.functions);
            TaskTable {
                names: tasks
                    .rows
                    .iter()
                    .map(|row| name(row, &self.names.short))
                    .collect(),
                tasks,
            }
        })
    }

    /// More is known of what happened in slow calls.
    pub(super) fn know_traces(&mut self, traces: Rc<KeptTraces>) {
        self.traces = traces;
        self.slow = OnceCell::new();
    }

    /// The watched functions, derived when first asked for.
    pub(crate) fn slow(&self) -> &SlowTable {
        self.slow.get_or_init(|| {
            SlowTable::of(
                &self.snapshot,
                &self.tree.functions.of_site,
                &self.traces,
                self.utc_offset,
                self.ascii,
            )
        })
    }

    /// How long the finished calls of a row took.
    pub(crate) fn latency(&self, what: What) -> &Histogram {
        static NONE: Histogram = Histogram {
            buckets: Vec::new(),
            max_ticks: 0,
        };
        match what {
            What::Tree(row) => self.tree.latency(row),
            What::Hot(row) => &self.hot()[row as usize].latency,
            What::Task(row) => self.tasks().wall(row),
            What::Call(_) | What::Thread(_) | What::Site(_) | What::Slow(_) | What::Outside => &NONE,
        }
    }

    /// How far the times of a row are estimates; none where they are exact.
    pub(crate) fn uncertainty(&self, what: What) -> Option<Uncertainty> {
        match what {
            What::Tree(row) => self.tree.uncertainty(row),
            What::Hot(row) => self.hot()[row as usize].uncertainty,
            What::Call(line) => self.around.as_ref().and_then(|around| around.uncertainty(line)),
            What::Thread(_) | What::Site(_) | What::Task(_) | What::Slow(_) | What::Outside => None,
        }
    }

    /// Whether calls are so short that their time is hardly more than what measuring them costs.
    pub(crate) fn is_doubtful(&self, what: What) -> bool {
        let figures = self.figures(what);
        // Bottom-up the time is that of the function alone, which may well be short.
        let is_part = self.bottom_up || matches!(what, What::Call(line) if self.is_own(line));
        let counted_ns = figures.sampled.counted_ns(figures.total_ns);
        !is_part && figures.tally.is_none() && self.snapshot.is_doubtful(counted_ns, figures.calls)
    }

    /// Whether a line of callers and callees is the function itself.
    pub(crate) fn is_own(&self, line: u32) -> bool {
        self.around.as_ref().is_some_and(|around| line == around.own())
    }

    /// Rows of the tree below a row of the tree.
    pub(crate) fn below(&self, row: u32) -> u32 {
        self.below[row as usize]
    }

    /// What a row is, whatever the snapshot.
    pub(crate) fn id(&self, what: What) -> RowId {
        match what {
            What::Tree(row) => RowId::Path(self.tree.rows[row as usize].path),
            What::Hot(row) => RowId::Function(self.tree.functions.get(self.hot()[row as usize].function).key),
            What::Call(line) => match &self.around {
                Some(around) => RowId::Call(around.id(&self.tree, line)),
                None => RowId::Outside,
            },
            What::Thread(row) => RowId::Thread(self.threads()[row as usize].key),
            What::Site(row) => RowId::Site(self.sites()[row as usize].key),
            What::Task(row) => RowId::Task(self.tasks().rows[row as usize].path),
            What::Slow(row) => RowId::Slow(self.slow().rows[row as usize].key),
            What::Outside => RowId::Outside,
        }
    }

    /// The figures of a row.
    pub(crate) fn figures(&self, what: What) -> Figures {
        match what {
            What::Tree(row) => self.tree.rows[row as usize].figures,
            What::Hot(row) => self.hot()[row as usize].figures,
            What::Call(line) => match &self.around {
                Some(around) => around.figures(line),
                None => Figures::default(),
            },
            What::Thread(row) => {
                let row = &self.threads()[row as usize];
                Figures {
                    total_ns: row.measured_ns,
                    self_ns: row.measured_ns,
                    calls: row.calls,
                    ..Figures::default()
                }
            }
            What::Site(row) => Figures {
                calls: self.sites()[row as usize].calls,
                ..Figures::default()
            },
            What::Task(row) => {
                let row = &self.tasks().rows[row as usize];
                Figures {
                    total_ns: row.busy_ns,
                    calls: row.started,
                    asynchronous: AsyncCalls {
                        ended: row.over(),
                        ticks: 0,
                        ns: row.wall_ns,
                        is_future: true,
                    },
                    ..Figures::default()
                }
            }
            What::Slow(_) => Figures::default(),
            What::Outside => Figures {
                total_ns: self.outside_ns,
                self_ns: self.outside_ns,
                ..Figures::default()
            },
        }
    }

    /// The function of a row.
    pub(crate) fn function(&self, what: What) -> Option<FunctionId> {
        match what {
            What::Tree(row) => Some(self.tree.rows[row as usize].function),
            What::Hot(row) => Some(self.hot()[row as usize].function),
            What::Call(line) => self.around.as_ref()?.function(line),
            What::Site(row) => {
                let site = self.sites()[row as usize].site?;
                Some(self.tree.functions.of_site[site.index()])
            }
            What::Task(row) => Some(self.tasks().rows[row as usize].function),
            What::Slow(row) => self.slow().rows[row as usize].function,
            What::Thread(_) | What::Outside => None,
        }
    }

    /// The function of a row of the snapshot.
    pub(crate) fn function_of_node(&self, node: NodeId) -> Option<FunctionId> {
        let site = *self.snapshot.nodes.site.get(node.index())?;
        self.tree.functions.of_site.get(site as usize).copied()
    }

    /// The short name of a row.
    pub(crate) fn label(&self, what: What) -> &str {
        let words = match what {
            What::Call(line) => self.around.as_ref().and_then(|around| around.label(line)),
            What::Thread(row) => Some(self.threads()[row as usize].name.as_str()),
            What::Task(row) => Some(self.task_table().names[row as usize].as_str()),
            What::Slow(row) => Some(self.slow().rows[row as usize].name.as_str()),
            What::Site(row) if self.site_table().is_grouped() => Some(self.site_table().name(row)),
            What::Tree(_) | What::Hot(_) | What::Site(_) | What::Outside => None,
        };
        words.unwrap_or_else(|| {
            self.function(what)
                .map_or("(outside)", |f| &self.names.short[f.index()])
        })
    }

    /// The full name of a row.
    pub(crate) fn full_name(&self, what: What) -> &str {
        match (what, self.function(what)) {
            (_, Some(function)) => &self.names.full[function.index()],
            (What::Site(row), None) => self.site_table().full_name(row),
            (_, None) => self.label(what),
        }
    }

    /// A row and all above it, the topmost first.
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

    /// The row that a row is below.
    fn above(&self, what: What) -> Option<What> {
        match what {
            What::Tree(row) => self.tree.rows[row as usize].parent.map(What::Tree),
            What::Site(row) => self.site_table().parent(row).map(What::Site),
            What::Hot(_)
            | What::Call(_)
            | What::Thread(_)
            | What::Task(_)
            | What::Slow(_)
            | What::Outside => None,
        }
    }

    /// The rows below a row, which are listed where it is open.
    pub(crate) fn children(&self, what: What) -> Vec<What> {
        let (rows, make): (&[u32], fn(u32) -> What) = match what {
            What::Tree(row) => (self.tree.children(row), What::Tree),
            What::Task(row) => (self.tasks().children(row), What::Task),
            What::Site(row) => (self.site_table().children(row), What::Site),
            What::Hot(_) | What::Call(_) | What::Thread(_) | What::Slow(_) | What::Outside => {
                return Vec::new();
            }
        };
        rows.iter().copied().map(make).collect()
    }

    /// The functions that have the time of one that is off: those above its calls that are on, as far as calls of it were seen;
    /// none where no function is on above.
    pub(crate) fn heirs(&self, what: What) -> Vec<Option<FunctionId>> {
        let Some(own) = self.function(what) else {
            return Vec::new();
        };
        let functions = &self.whole.functions;
        let mut is_on = vec![false; functions.list.len()];
        let mut off = vec![false; self.snapshot.sites.len()];
        for site in &self.snapshot.measuring.off_sites {
            off[site.index()] = true;
        }
        for (function, off) in functions.of_site.iter().zip(off) {
            is_on[function.index()] |= !off;
        }
        let rows = &self.whole.rows;
        let mut heirs: Vec<(Option<FunctionId>, u64)> = Vec::new();
        for row in rows.iter().filter(|row| row.function == own) {
            let mut above = row.parent;
            while let Some(at) = above.filter(|&at| !is_on[rows[at as usize].function.index()]) {
                above = rows[at as usize].parent;
            }
            let heir = above.map(|at| rows[at as usize].function);
            match heirs.iter_mut().find(|(known, _)| *known == heir) {
                Some((_, calls)) => *calls += row.calls,
                None => heirs.push((heir, row.calls)),
            }
        }
        heirs.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
        heirs.into_iter().map(|(heir, _)| heir).collect()
    }

    /// Whether recursion is in a row that stands for several calls of a function.
    pub(crate) fn is_recursive(&self, what: What) -> bool {
        match what {
            What::Tree(row) => self.tree.is_folded(row),
            What::Call(line) => self
                .around
                .as_ref()
                .is_some_and(|around| around.is_recursive(line)),
            What::Hot(_)
            | What::Thread(_)
            | What::Site(_)
            | What::Task(_)
            | What::Slow(_)
            | What::Outside => false,
        }
    }

    /// Whether a call in focus stands below another of the same function.
    pub(super) fn recursion_at(&self, row: u32) -> bool {
        let rows = &self.calls.rows;
        let mut above = rows[row as usize].parent;
        while let Some(at) = above.filter(|&at| rows[at as usize].function != rows[row as usize].function) {
            above = rows[at as usize].parent;
        }
        above.is_some()
    }

    /// The row of the tree where a function costs most itself; bottom-up where it stands at the top.
    pub(super) fn place_of(&self, key: u64) -> Option<u32> {
        self.heaviest_place(function_of(&self.tree, key)?)
    }

    /// The same of a function of this snapshot.
    pub(super) fn heaviest_place(&self, function: FunctionId) -> Option<u32> {
        let rows = self.tree.rows.iter().zip(0u32..);
        let places = rows.filter(|(row, _)| row.function == function && !(self.bottom_up && row.depth > 0));
        places
            .max_by_key(|(row, _)| (row.self_ns, row.total_ns))
            .map(|(_, index)| index)
    }

    /// Whether calls in focus stand in a place.
    pub(super) fn is_place(&self, path: PathId) -> bool {
        self.calls.rows.iter().any(|row| row.path == path)
    }

    /// The row with the figures of a line's whole function, where the line tells those of a part of it.
    pub(crate) fn in_full(&self, row: &Row) -> Row {
        let what = match row.what {
            What::Call(_) => self.function(row.what).and_then(|function| {
                let hot = self.hot();
                let at = hot.binary_search_by_key(&function, |row| row.function).ok()?;
                Some(What::Hot(at as u32))
            }),
            What::Tree(_)
            | What::Hot(_)
            | What::Thread(_)
            | What::Site(_)
            | What::Task(_)
            | What::Slow(_)
            | What::Outside => None,
        };
        Row {
            what: what.unwrap_or(row.what),
            ..*row
        }
    }

    /// The whole that a row is a share of.
    pub(crate) fn whole_ns(&self, what: What, base: PercentOf) -> u64 {
        match (base, what) {
            (PercentOf::Wall, _) => self.measured_ns + self.outside_ns,
            (PercentOf::Parent, What::Tree(row)) => match self.tree.rows[row as usize].parent {
                Some(parent) => self.tree.rows[parent as usize].total_ns,
                None => self.measured_ns,
            },
            (PercentOf::Parent, What::Call(_)) => match &self.around {
                Some(around) => around.neighbours.figures.total_ns,
                None => self.measured_ns,
            },
            (PercentOf::Parent | PercentOf::Measured, _) => self.measured_ns,
        }
    }
}

/// By row, the rows below it.
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
    /// The same row in what it is compared with; none where it is not there.
    pub(crate) fn counterpart(&self, what: What) -> Option<(&Self, What)> {
        let then = self.then.as_deref()?;
        let id = self.id(what);
        // Both sides have the same rows in the same order, but for what is sorted by its own time.
        let (rows, make): (usize, fn(u32) -> What) = match what {
            What::Tree(_) => (then.tree.rows.len(), What::Tree),
            What::Hot(_) => (then.hot().len(), What::Hot),
            What::Call(_) => (then.around.as_ref()?.callees().end as usize, What::Call),
            What::Thread(_) => (then.threads().len(), What::Thread),
            What::Site(_) => (then.sites().len(), What::Site),
            What::Task(_) => (then.tasks().rows.len(), What::Task),
            What::Slow(_) => (then.slow().rows.len(), What::Slow),
            What::Outside => return Some((then, what)),
        };
        let same = what.row().filter(|&row| (row as usize) < rows).map(make);
        let same = same.filter(|&same| then.id(same) == id);
        let there = same.or_else(|| (0..rows as u32).map(make).find(|&other| then.id(other) == id))?;
        Some((then, there))
    }
}

/// How much longer a call takes than then, as a part of what it took: 0.09 is 9 % more. None where it was not called
/// at both times.
pub(crate) fn change_of_avg(data: &Data, what: What) -> Option<f64> {
    let (then, there) = data.counterpart(what)?;
    let then = then.figures(there);
    let mean = |figures: Figures| {
        let (calls, ns) = figures.counted();
        (calls > 0 && ns > 0).then(|| ns as f64 / calls as f64)
    };
    Some(mean(data.figures(what))? / mean(then)? - 1.0)
}

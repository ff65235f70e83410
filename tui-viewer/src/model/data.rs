//! The snapshot on the screen and everything derived from it for the threads in scope.

use std::cell::OnceCell;
use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::latency::Histogram;
use tickscope_format::profile::functions::FunctionId;
use tickscope_format::profile::hot::{HotRow, hot};
use tickscope_format::profile::spread::Spread;
use tickscope_format::profile::tree::CallTree;

use crate::model::base::Base;
use crate::model::names::Names;
use crate::model::row::RowId;
use crate::model::scope::Scope;

/// Where a row's figures stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A row of the call tree.
    Tree(u32),
    /// A row of the hotspots.
    Hot(u32),
    /// The time outside any scope.
    Outside,
}

/// The figures of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Itself and all below.
    pub(crate) total_ns: u64,
    /// Itself.
    pub(crate) self_ns: u64,
    /// Calls begun.
    pub(crate) calls: u64,
    /// Threads that are in it now.
    pub(crate) open: u32,
    /// Clock errors.
    pub(crate) errors: u64,
}

/// A snapshot and its tables.
#[derive(Debug)]
pub(crate) struct Data {
    /// The snapshot itself.
    pub(crate) snapshot: Rc<Snapshot>,
    /// The threads in scope, merged by path.
    pub(crate) tree: CallTree,
    /// The names of its functions.
    pub(crate) names: Rc<Names>,
    /// All measured time in scope.
    pub(crate) measured_ns: u64,
    /// Time outside any scope, in scope.
    pub(crate) outside_ns: u64,
    /// The one thread in scope; none for all, and for one that is not there any more.
    pub(crate) thread: Option<ThreadId>,
    /// What it is compared with, with the same rows.
    pub(crate) then: Option<Box<Data>>,
    below: Vec<u32>,
    hot: OnceCell<Vec<HotRow>>,
}

// === impl Figures ===

impl Figures {
    /// Total time of a call; none without calls.
    pub(crate) fn avg_ns(self) -> Option<u64> {
        (self.calls > 0).then(|| self.total_ns / self.calls)
    }
}

// === impl Data ===

impl Data {
    /// Derives the tables that every view needs.
    pub(crate) fn of(snapshot: Rc<Snapshot>, scope: &Scope, former: Option<&Rc<Names>>, ascii: bool) -> Self {
        let thread = scope.thread(&snapshot);
        let tree = CallTree::build(&snapshot, |id| *scope == Scope::All || thread == Some(id));
        let mut below = vec![0u32; tree.rows.len()];
        for index in (0..tree.rows.len()).rev() {
            if let Some(parent) = tree.rows[index].parent {
                below[parent as usize] += below[index] + 1;
            }
        }
        Self {
            names: Names::of(&tree.functions, former, ascii),
            measured_ns: tree.measured_ns(),
            outside_ns: snapshot.nanos(tree.outside_ticks),
            hot: OnceCell::new(),
            then: None,
            thread,
            below,
            tree,
            snapshot,
        }
    }

    /// The hotspots, derived when first asked for.
    pub(crate) fn hot(&self) -> &[HotRow] {
        self.hot.get_or_init(|| hot(&self.tree))
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
            What::Outside => &NONE,
        }
    }

    /// How far the times of a row are estimates; none where they are exact.
    pub(crate) fn spread(&self, what: What) -> Option<Spread> {
        match what {
            What::Tree(row) => self.tree.spread(row),
            What::Hot(row) => self.hot()[row as usize].spread,
            What::Outside => None,
        }
    }

    /// Whether calls are so short that their time is hardly more than what measuring them costs.
    pub(crate) fn is_doubtful(&self, what: What) -> bool {
        let figures = self.figures(what);
        self.snapshot.is_doubtful(figures.total_ns, figures.calls)
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
            What::Outside => RowId::Outside,
        }
    }

    /// The figures of a row.
    pub(crate) fn figures(&self, what: What) -> Figures {
        match what {
            What::Tree(row) => {
                let row = &self.tree.rows[row as usize];
                Figures {
                    total_ns: row.total_ns,
                    self_ns: row.self_ns,
                    calls: row.calls,
                    open: row.open,
                    errors: row.errors,
                }
            }
            What::Hot(row) => {
                let row = &self.hot()[row as usize];
                Figures {
                    total_ns: row.total_ns,
                    self_ns: row.self_ns,
                    calls: row.calls,
                    open: row.open,
                    errors: row.errors,
                }
            }
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
            What::Outside => None,
        }
    }

    /// The short name of a row.
    pub(crate) fn label(&self, what: What) -> &str {
        self.function(what)
            .map_or("(outside)", |f| &self.names.short[f.index()])
    }

    /// The full name of a row.
    pub(crate) fn full_name(&self, what: What) -> &str {
        self.function(what)
            .map_or("(outside)", |f| &self.names.full[f.index()])
    }

    /// A row and all above it, the topmost first.
    pub(crate) fn lineage(&self, what: What) -> Vec<What> {
        let mut line = vec![what];
        let mut at = what;
        while let What::Tree(row) = at {
            let Some(parent) = self.tree.rows[row as usize].parent else {
                break;
            };
            at = What::Tree(parent);
            line.push(at);
        }
        line.reverse();
        line
    }

    /// The whole that a row is a share of.
    pub(crate) fn whole_ns(&self, what: What, base: Base) -> u64 {
        match (base, what) {
            (Base::Wall, _) => self.measured_ns + self.outside_ns,
            (Base::Parent, What::Tree(row)) => match self.tree.rows[row as usize].parent {
                Some(parent) => self.tree.rows[parent as usize].total_ns,
                None => self.measured_ns,
            },
            (Base::Parent, What::Hot(_) | What::Outside) | (Base::Measured, _) => self.measured_ns,
        }
    }
}

/// A part of a whole, 0 to 1; 0 of nothing.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        (part_ns as f64 / whole_ns as f64).min(1.0)
    }
}

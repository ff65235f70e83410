//! The function on the screen of callers and callees, its lines, and the way by which it was come to.

use tickscope_analysis::call_tree::{AsyncCalls, CallTree, Figures, SampledTime};
use tickscope_analysis::callers::{Link, Neighbours};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;

use crate::app::cursor::Cursor;
use crate::app::filter::function_of;
use crate::app::row::CallId;
use crate::app::view::Origin;
use crate::app::view::View;

/// The choice of a function.
#[derive(Debug, Default)]
pub(crate) struct FunctionView {
    /// Which one; none until the view is first shown.
    pub(crate) chosen: Option<Chosen>,
    /// Percents are of all measured time, not of the function's.
    pub(crate) of_all: bool,
    /// Where Escape leads, the last step last.
    pub(super) way: Vec<Step>,
}

/// A function, whatever the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Its key.
    pub(crate) key: u64,
    /// Its full name, for when it is not there.
    pub(crate) name: String,
}

/// Where one was before.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) view: View,
    pub(super) chosen: Option<Chosen>,
    pub(super) cursor: Cursor,
    /// Where Escape led from there.
    pub(super) came_from: Option<Origin>,
}

/// A function of the snapshot on screen with its callers and callees, as lines.
#[derive(Debug)]
pub(crate) struct Around {
    /// Who calls it and what it calls.
    pub(crate) neighbours: Neighbours,
}

/// A line of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FunctionRow<'a> {
    /// A heading.
    Heading(CallId),
    /// Who calls it.
    Caller(&'a Link),
    /// Itself.
    Own,
    /// What it calls.
    Callee(&'a Link),
}

impl Around {
    pub(super) fn of(tree: &CallTree, key: u64) -> Option<Self> {
        let neighbours = Neighbours::of(tree, function_of(tree, key)?)?;
        Some(Self { neighbours })
    }

    /// The line of the first heading.
    pub(crate) const CALLED_FROM: u32 = 0;

    /// The lines of callers.
    pub(crate) fn callers(&self) -> std::ops::Range<u32> {
        1..1 + self.neighbours.callers.len() as u32
    }

    /// The line of the second heading.
    pub(crate) fn time_goes_to(&self) -> u32 {
        self.callers().end
    }

    /// The line of the function itself.
    pub(crate) fn own(&self) -> u32 {
        self.callers().end + 1
    }

    /// The lines of callees.
    pub(crate) fn callees(&self) -> std::ops::Range<u32> {
        let first = self.own() + 1;
        first..first + self.neighbours.callees.len() as u32
    }

    /// What stands on a line.
    pub(crate) fn line(&self, line: u32) -> FunctionRow<'_> {
        let (callers, callees) = (self.callers(), self.callees());
        let caller = line.checked_sub(callers.start).map(|at| at as usize);
        let callee = line.checked_sub(callees.start).map(|at| at as usize);
        let caller = caller.and_then(|at| self.neighbours.callers.get(at));
        let callee = callee.and_then(|at| self.neighbours.callees.get(at));
        match (caller, callee) {
            (Some(link), _) => FunctionRow::Caller(link),
            (None, Some(link)) => FunctionRow::Callee(link),
            (None, None) if line == Self::CALLED_FROM => FunctionRow::Heading(CallId::CalledFrom),
            (None, None) if line == self.time_goes_to() => FunctionRow::Heading(CallId::TimeGoesTo),
            (None, None) => FunctionRow::Own,
        }
    }

    pub(super) fn id(&self, tree: &CallTree, line: u32) -> CallId {
        let key = |function: FunctionId| tree.functions.get(function).key;
        match self.line(line) {
            FunctionRow::Heading(heading) => heading,
            FunctionRow::Caller(link) => CallId::Caller(link.function.map(key)),
            FunctionRow::Own => CallId::Own,
            // A callee is always a function; a caller may be none.
            FunctionRow::Callee(link) => link.function.map_or(CallId::Own, |f| CallId::Callee(key(f))),
        }
    }

    /// The function that a line names.
    pub(crate) fn function(&self, line: u32) -> Option<FunctionId> {
        match self.line(line) {
            FunctionRow::Heading(_) => None,
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => link.function,
            FunctionRow::Own => Some(self.neighbours.function),
        }
    }

    /// The figures of a line.
    pub(crate) fn figures(&self, line: u32) -> Figures {
        let of = &self.neighbours;
        match self.line(line) {
            FunctionRow::Heading(_) => Figures::default(),
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => Figures {
                errors: 0,
                ..link.figures
            },
            // What stands in its line is its self time.
            FunctionRow::Own => Figures {
                asynchronous: AsyncCalls::default(),
                sampled: SampledTime::default(),
                ..of.figures.with_self_as_total()
            },
        }
    }

    pub(super) fn uncertainty(&self, line: u32) -> Option<Uncertainty> {
        match self.line(line) {
            FunctionRow::Heading(_) => None,
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => link.uncertainty,
            // What stands in its line is its self time.
            FunctionRow::Own => self.neighbours.uncertainty.map(|uncertainty| Uncertainty {
                total_error: uncertainty.self_error,
                total_estimated: uncertainty.self_estimated,
                ..uncertainty
            }),
        }
    }

    /// The words of a line that is no function.
    pub(crate) fn label(&self, line: u32) -> Option<&'static str> {
        match self.line(line) {
            FunctionRow::Heading(CallId::CalledFrom) => Some("called from"),
            FunctionRow::Heading(_) => Some("where its time goes"),
            FunctionRow::Caller(Link { function: None, .. }) => Some("(top of a thread)"),
            FunctionRow::Own => Some("(self)"),
            FunctionRow::Caller(_) | FunctionRow::Callee(_) => None,
        }
    }

    /// Whether the function of a line and the chosen one call each other.
    pub(super) fn is_recursive(&self, line: u32) -> bool {
        match self.line(line) {
            FunctionRow::Heading(_) => false,
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => link.in_cycle,
            FunctionRow::Own => self.neighbours.recursive,
        }
    }
}

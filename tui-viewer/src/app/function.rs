//! State of the view Function: the chosen function, its lines, and the steps that led to it.

use tickscope_analysis::call_tree::{AsyncCalls, CallTree, Figures, SampledTime};
use tickscope_analysis::callers::{Link, Neighbours};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;

use crate::app::cursor::Cursor;
use crate::app::filter::function_of;
use crate::app::row::CallId;
use crate::app::view::Origin;
use crate::keys::view::View;

/// The chosen function, and the steps that led to it.
#[derive(Debug, Default)]
pub(crate) struct FunctionView {
    /// Chosen function; `None` until the view is first shown.
    pub(crate) chosen: Option<Chosen>,
    /// Whether percentages are relative to all measured time, not to the function's time.
    pub(crate) of_all: bool,
    /// Steps that Escape undoes, the most recent last.
    pub(crate) way: Vec<Step>,
}

/// A function, identified by a key that is the same in all snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) key: u64,
    /// Full name of the function, shown while the function is missing from the snapshot.
    pub(crate) name: String,
}

/// View, chosen function and selection before a step.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) view: View,
    pub(crate) chosen: Option<Chosen>,
    pub(crate) cursor: Cursor,
    /// View to which Escape would have led before the step.
    pub(crate) came_from: Option<Origin>,
}

/// A function in the snapshot on screen, with its callers and callees arranged in lines.
#[derive(Debug)]
pub(crate) struct Around {
    /// Callers and callees of the function.
    pub(crate) neighbours: Neighbours,
}

/// A line in the list of a function's callers and callees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FunctionRow<'a> {
    Heading(CallId),
    Caller(&'a Link),
    /// The function itself.
    Own,
    Callee(&'a Link),
}

impl Around {
    pub(crate) fn of(tree: &CallTree, key: u64) -> Option<Self> {
        let neighbours = Neighbours::of(tree, function_of(tree, key)?)?;
        Some(Self { neighbours })
    }

    /// Line of the heading above the callers.
    pub(crate) const CALLED_FROM: u32 = 0;

    /// Returns the lines of callers.
    pub(crate) fn callers(&self) -> std::ops::Range<u32> {
        1..1 + self.neighbours.callers.len() as u32
    }

    /// Returns the line of the heading above the function itself and its callees.
    pub(crate) fn time_goes_to(&self) -> u32 {
        self.callers().end
    }

    /// Returns the line of the function itself.
    pub(crate) fn own(&self) -> u32 {
        self.callers().end + 1
    }

    /// Returns the lines of callees.
    pub(crate) fn callees(&self) -> std::ops::Range<u32> {
        let first = self.own() + 1;
        first..first + self.neighbours.callees.len() as u32
    }

    /// Returns the content of a line.
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

    pub(crate) fn id(&self, tree: &CallTree, line: u32) -> CallId {
        let key = |function: FunctionId| tree.functions.get(function).key;
        match self.line(line) {
            FunctionRow::Heading(heading) => heading,
            FunctionRow::Caller(link) => CallId::Caller(link.function.map(key)),
            FunctionRow::Own => CallId::Own,
            // A callee always has a function, unlike a caller, so the fallback `Own` is never used here.
            FunctionRow::Callee(link) => link.function.map_or(CallId::Own, |f| CallId::Callee(key(f))),
        }
    }

    /// Returns the function that a line names.
    pub(crate) fn function(&self, line: u32) -> Option<FunctionId> {
        match self.line(line) {
            FunctionRow::Heading(_) => None,
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => link.function,
            FunctionRow::Own => Some(self.neighbours.function),
        }
    }

    pub(crate) fn figures(&self, line: u32) -> Figures {
        let of = &self.neighbours;
        match self.line(line) {
            FunctionRow::Heading(_) => Figures::default(),
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => Figures {
                errors: 0,
                ..link.figures
            },
            // The time of this line is the function's self time.
            FunctionRow::Own => Figures {
                asynchronous: AsyncCalls::default(),
                sampled: SampledTime::default(),
                ..of.figures.with_self_as_total()
            },
        }
    }

    pub(crate) fn uncertainty(&self, line: u32) -> Option<Uncertainty> {
        match self.line(line) {
            FunctionRow::Heading(_) => None,
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => link.uncertainty,
            // The time of this line is the function's self time.
            FunctionRow::Own => self.neighbours.uncertainty.map(|uncertainty| Uncertainty {
                total_error: uncertainty.self_error,
                total_estimated: uncertainty.self_estimated,
                ..uncertainty
            }),
        }
    }

    /// Returns the text of a line that does not show a function's name.
    pub(crate) fn label(&self, line: u32) -> Option<&'static str> {
        match self.line(line) {
            FunctionRow::Heading(CallId::CalledFrom) => Some("called from"),
            FunctionRow::Heading(_) => Some("where its time goes"),
            FunctionRow::Caller(Link { function: None, .. }) => Some("(top of a thread)"),
            FunctionRow::Own => Some("(self)"),
            FunctionRow::Caller(_) | FunctionRow::Callee(_) => None,
        }
    }

    /// Whether the function on a line and the chosen function call each other, directly or through others. On the line
    /// of the function itself, whether it calls itself.
    pub(crate) fn is_recursive(&self, line: u32) -> bool {
        match self.line(line) {
            FunctionRow::Heading(_) => false,
            FunctionRow::Caller(link) | FunctionRow::Callee(link) => link.in_cycle,
            FunctionRow::Own => self.neighbours.recursive,
        }
    }
}

//! The function on the screen of callers and callees, its lines, and the way by which it was come to.

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::callers::{Link, Neighbours};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;

use crate::model::cursor::Cursor;
use crate::model::data::Figures;
use crate::model::lens::function_of;
use crate::model::row::{Row, RowId};
use crate::model::view::View;
use crate::model::{Model, Origin};

/// So many steps back are remembered.
const LONGEST_WAY: usize = 100;

/// The choice of a function.
#[derive(Debug, Default)]
pub(crate) struct FunctionView {
    /// Which one; none until the view is first shown.
    pub(crate) chosen: Option<Chosen>,
    /// Percents are of all measured time, not of the function's.
    pub(crate) of_all: bool,
    /// Where Escape leads, the last step last.
    way: Vec<Step>,
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
struct Step {
    view: View,
    chosen: Option<Chosen>,
    cursor: Cursor,
    /// Where Escape led from there.
    came_from: Option<Origin>,
}

/// A line of the view, whatever the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CallId {
    /// The heading of those that call it.
    CalledFrom,
    /// One of them, by its key; none where the calls stand at the top of a thread.
    Caller(Option<u64>),
    /// The heading of where its time goes.
    TimeGoesTo,
    /// The function itself.
    Own,
    /// One of those that it calls, by its key.
    Callee(u64),
}

/// A function of the snapshot on screen with its callers and callees, as lines.
#[derive(Debug)]
pub(crate) struct Around {
    /// Who calls it and what it calls.
    pub(crate) neighbours: Neighbours,
}

/// A line of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Line<'a> {
    /// A heading.
    Heading(CallId),
    /// Who calls it.
    Caller(&'a Link),
    /// Itself.
    Own,
    /// What it calls.
    Callee(&'a Link),
}

// === impl Around ===

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
    pub(crate) fn line(&self, line: u32) -> Line<'_> {
        let (callers, callees) = (self.callers(), self.callees());
        let caller = line.checked_sub(callers.start).map(|at| at as usize);
        let callee = line.checked_sub(callees.start).map(|at| at as usize);
        let caller = caller.and_then(|at| self.neighbours.callers.get(at));
        let callee = callee.and_then(|at| self.neighbours.callees.get(at));
        match (caller, callee) {
            (Some(link), _) => Line::Caller(link),
            (None, Some(link)) => Line::Callee(link),
            (None, None) if line == Self::CALLED_FROM => Line::Heading(CallId::CalledFrom),
            (None, None) if line == self.time_goes_to() => Line::Heading(CallId::TimeGoesTo),
            (None, None) => Line::Own,
        }
    }

    pub(super) fn id(&self, tree: &CallTree, line: u32) -> CallId {
        let key = |function: FunctionId| tree.functions.get(function).key;
        match self.line(line) {
            Line::Heading(heading) => heading,
            Line::Caller(link) => CallId::Caller(link.function.map(key)),
            Line::Own => CallId::Own,
            // Whoever is called is a function; only callers may be none.
            Line::Callee(link) => link.function.map_or(CallId::Own, |f| CallId::Callee(key(f))),
        }
    }

    /// The function that a line names.
    pub(super) fn function(&self, line: u32) -> Option<FunctionId> {
        match self.line(line) {
            Line::Heading(_) => None,
            Line::Caller(link) | Line::Callee(link) => link.function,
            Line::Own => Some(self.neighbours.function),
        }
    }

    pub(super) fn figures(&self, line: u32) -> Figures {
        let of = &self.neighbours;
        match self.line(line) {
            Line::Heading(_) => Figures::default(),
            Line::Caller(link) | Line::Callee(link) => Figures {
                total_ns: link.ns,
                calls: link.outermost_calls,
                sum: link.sum,
                open: link.open,
                ..Figures::default()
            },
            Line::Own => Figures {
                total_ns: of.self_ns,
                self_ns: of.self_ns,
                calls: of.outermost_calls + of.recursive_calls,
                sum: of.sum,
                open: of.open,
                errors: of.errors,
            },
        }
    }

    pub(super) fn uncertainty(&self, line: u32) -> Option<Uncertainty> {
        match self.line(line) {
            Line::Heading(_) => None,
            Line::Caller(link) | Line::Callee(link) => link.uncertainty,
            // What stands in its line is its self time.
            Line::Own => self.neighbours.uncertainty.map(|uncertainty| Uncertainty {
                total_error: uncertainty.self_error,
                total_estimated: uncertainty.self_estimated,
                ..uncertainty
            }),
        }
    }

    /// The words of a line that is no function.
    pub(super) fn label(&self, line: u32) -> Option<&'static str> {
        match self.line(line) {
            Line::Heading(CallId::CalledFrom) => Some("called from"),
            Line::Heading(_) => Some("where its time goes"),
            Line::Caller(Link { function: None, .. }) => Some("(top of a thread)"),
            Line::Own => Some("(self)"),
            Line::Caller(_) | Line::Callee(_) => None,
        }
    }

    /// Whether the function of a line and the chosen one call each other.
    pub(super) fn is_recursive(&self, line: u32) -> bool {
        match self.line(line) {
            Line::Heading(_) => false,
            Line::Caller(link) | Line::Callee(link) => link.in_cycle,
            Line::Own => self.neighbours.recursive,
        }
    }
}

// === impl Row ===

impl Row {
    /// A line between others that nobody selects.
    pub(crate) fn is_heading(&self) -> bool {
        matches!(self.id, RowId::Call(CallId::CalledFrom | CallId::TimeGoesTo))
    }
}

/// The line to select in place of one that may be a heading: the next one on the way, else the one before.
pub(super) fn past_headings(rows: &[Row], index: usize, down: bool) -> usize {
    let free = |&at: &usize| rows.get(at).is_some_and(|row| !row.is_heading());
    let below = || (index..rows.len()).find(free);
    let above = || (0..index.min(rows.len())).rev().find(free);
    let found = if down || free(&index) {
        below().or_else(above)
    } else {
        above().or_else(below)
    };
    found.unwrap_or(index)
}

// === impl Model ===

impl Model {
    /// The function of the selected row.
    pub(super) fn selected_function(&self) -> Option<Chosen> {
        let (data, row) = self.data.as_ref().zip(self.list().selected())?;
        let function = data.function(row.what)?;
        Some(Chosen {
            key: data.tree.functions.get(function).key,
            name: data.names.full[function.index()].clone(),
        })
    }

    /// The first look at the view: what was selected, else what costs most itself.
    pub(super) fn choose_function(&mut self) {
        if self.function.chosen.is_some() {
            return;
        }
        let hottest = || {
            let data = self.data.as_ref()?;
            let hottest = data.hot().iter().max_by_key(|row| row.self_ns)?;
            let function = hottest.function;
            Some(Chosen {
                key: data.tree.functions.get(function).key,
                name: data.names.full[function.index()].clone(),
            })
        };
        self.function.chosen = self.selected_function().or_else(hottest);
        self.list_of(View::Function).cursor = Cursor {
            want: vec![RowId::Call(CallId::Own)],
            ..Cursor::default()
        };
    }

    /// Shows a function with its callers and callees; Escape leads back here.
    pub(super) fn go_to_function(&mut self, chosen: Chosen) {
        let step = Step {
            view: self.view,
            chosen: self.function.chosen.replace(chosen),
            cursor: self.list().cursor.clone(),
            came_from: self.came_from.take(),
        };
        if self.view != View::Function {
            self.function.way.clear();
        }
        if self.function.way.len() == LONGEST_WAY {
            self.function.way.remove(0);
        }
        self.function.way.push(step);
        self.list_of(View::Function).cursor = Cursor {
            want: vec![RowId::Call(CallId::Own)],
            ..Cursor::default()
        };
        self.switch_to(View::Function);
        self.refresh();
        let (rows, page) = (self.list().rows.len(), self.page());
        let cursor = &mut self.list_mut().cursor;
        cursor.touched = true;
        if cursor.index + 1 >= page {
            cursor.centre(rows, page);
        }
    }

    /// Where Escape leads to, in a word.
    pub(crate) fn way_back(&self) -> Option<&'static str> {
        if self.came_from.is_some() || self.has_way_back() {
            return Some("back");
        }
        self.lens.focuses(self.view).then_some("everything")
    }

    /// Whether Escape leads to where one came from.
    pub(super) fn has_way_back(&self) -> bool {
        self.view == View::Function && !self.function.way.is_empty()
    }

    /// One step back on the way to this function; false where there is none.
    pub(super) fn go_back(&mut self) -> bool {
        if !self.has_way_back() {
            return false;
        }
        let Some(step) = self.function.way.pop() else {
            return false;
        };
        if step.view == View::Function {
            self.function.chosen = step.chosen;
            self.list_mut().cursor = step.cursor;
        }
        self.came_from = step.came_from;
        self.switch_to(step.view);
        true
    }

    /// Nobody goes back the way they came any more.
    pub(super) fn forget_way(&mut self) {
        self.function.way.clear();
    }
}

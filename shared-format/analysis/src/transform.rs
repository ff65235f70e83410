//! Transforms a call tree into other trees: focused on one function or subtree, with recursion folded, or bottom-up.
//!
//! In all of these trees, the total of a row is its self time plus the totals of its children. Focusing does not change the
//! numbers of the calls that it shows. Folding and bottom-up trees preserve the sum of all self times.

use std::collections::VecDeque;
use std::ops::Range;

use tickscope_format::ids::NO_PARENT;

use crate::call_tree::{CallTree, PathId, TreeRow};
use crate::functions::{FunctionId, fnv1a};
use crate::index_map::IndexMap;
use crate::uncertainty::Uncertainty;

/// Returns the tree below one function. Its outermost calls are merged into the top row, whoever called them.
///
/// Recursive calls of the function still have rows of their own further down. Ticks outside any scope are set to 0.
pub fn focus_function(tree: &CallTree, function: FunctionId) -> CallTree {
    focus(tree, |shape, row| {
        (row.function == function).then(|| shape.row(NO_PARENT, function))
    })
}

/// Returns the row with this path and all rows below it, each with its original path. If the path does not exist, the tree has no
/// rows.
pub fn focus_subtree(tree: &CallTree, path: PathId) -> CallTree {
    focus(tree, |shape, row| {
        (row.path == path).then(|| shape.push(path, NO_PARENT, row.function))
    })
}

/// Returns a tree of the rows that `top` selects and all rows below them. To select a row, `top` returns its row in the new tree,
/// which it adds if necessary.
fn focus(tree: &CallTree, top: impl Fn(&mut Shape<'_>, &TreeRow) -> Option<u32>) -> CallTree {
    let mut shape = Shape::of(tree);
    shape.tree.outside_ticks = 0;
    let mut to = vec![NO_PARENT; tree.rows.len()];
    for (index, row) in tree.rows.iter().enumerate() {
        let place = match row.parent.map_or(NO_PARENT, |parent| to[parent as usize]) {
            NO_PARENT => top(&mut shape, row),
            above => Some(shape.row(above, row.function)),
        };
        if let Some(place) = place {
            to[index] = place;
            shape.add(place, index as u32, true);
        }
    }
    shape.finish()
}

/// Folds recursion: merges each recursive call, together with the calls inside it, into the enclosing call of the same function.
/// Each row stays below the function that called it.
///
/// Recursive calls are included in the number of calls, but their time is not counted twice in totals. [`CallTree::is_folded`]
/// tells which rows contain recursive calls.
pub fn fold_recursion(tree: &CallTree) -> CallTree {
    let mut shape = Shape::of(tree);
    let mut folded = Vec::new();
    let mut to = vec![NO_PARENT; tree.rows.len()];
    let outermost = outermost(tree);
    for (index, source) in tree.rows.iter().enumerate() {
        let above = source.parent.map_or(NO_PARENT, |parent| to[parent as usize]);
        let row = shape
            .on_path(above, source.function)
            .unwrap_or_else(|| shape.row(above, source.function));
        let mut callers = std::iter::successors(source.parent, |&at| tree.rows[at as usize].parent);
        let is_recursion = !outermost[index] && callers.any(|at| to[at as usize] == row);
        folded.resize(shape.tree.rows.len(), false);
        folded[row as usize] |= is_recursion;
        to[index] = row;
        shape.add(row, index as u32, !is_recursion);
    }
    if folded.contains(&true) {
        shape.tree.folded = folded;
    }
    shape.finish()
}

/// A bottom-up tree, which may be incomplete.
#[derive(Clone, Debug)]
pub struct BottomUp {
    /// Tree with functions at the top and their callers below.
    pub tree: CallTree,
    /// Whether all rows have all of their callers. If not, only visible rows and some others do.
    pub whole: bool,
}

/// Turns the tree upside down: every function is at the top, with its callers below it, their callers below them, and so on.
///
/// The total of a row is the *self* time that its topmost function spent in calls along this path. Calls and latencies
/// also belong to the topmost function. The self time of a row is the part of its total from calls that have no further
/// caller, because the row's function was at the top of its thread.
///
/// In deep stacks it is slow to follow each row all the way to the top. So after about `steps` lookups of callers, only the
/// callers of visible rows are looked up. Visible rows are the top rows and the children of `open` rows.
pub fn bottom_up(tree: &CallTree, mut steps: usize, open: impl Fn(PathId) -> bool) -> BottomUp {
    let mut shape = Shape::of(tree);
    let outermost = outermost(tree);
    let seed = PathId(fnv1a(PathId::TOP.0, b"bottom-up"));
    let all = (0..tree.rows.len() as u32).map(|row| Member { row, at: Some(row) });
    let mut groups = Groups::of(tree, all.collect());
    let mut queue: VecDeque<(u32, bool, Range<usize>)> = VecDeque::new();
    for (function, members) in groups.split(0..tree.rows.len()) {
        let path = seed.below(tree.functions.get(function).key);
        queue.push_back((shape.push(path, NO_PARENT, function), true, members));
    }
    let mut whole = true;
    while let Some((index, shown, members)) = queue.pop_front() {
        let looks_further = shown || steps > 0;
        whole &= looks_further;
        steps = steps.saturating_sub(members.len());
        for member in &mut groups.members[members.clone()] {
            member.at = member.at.and_then(|at| tree.rows[at as usize].parent);
            let (row, at_top) = (member.row, member.at.is_none());
            shape.add_self(index, row, outermost[row as usize], at_top);
        }
        if looks_further {
            let path = shape.tree.rows[index as usize].path;
            let shown = shown && open(path);
            for (function, members) in groups.split(members) {
                let path = path.below(tree.functions.get(function).key);
                queue.push_back((shape.push(path, index, function), shown, members));
            }
        }
    }
    BottomUp {
        tree: shape.link(),
        whole,
    }
}

/// A row of the tree, and how far its callers have been followed.
#[derive(Clone, Copy)]
struct Member {
    row: u32,
    /// The ancestor of `row` that has been reached so far; `None` if there is no further caller.
    at: Option<u32>,
}

/// Members, ordered so that those with the same callers so far are next to each other.
struct Groups<'a> {
    tree: &'a CallTree,
    members: Vec<Member>,
    /// For each function, the number of the last group made for it. Groups are numbered consecutively across all splits.
    group_of: Vec<u32>,
    made: u32,
}

impl<'a> Groups<'a> {
    fn of(tree: &'a CallTree, members: Vec<Member>) -> Self {
        Self {
            tree,
            members,
            group_of: vec![0; tree.functions.list.len()],
            made: 1,
        }
    }

    /// Splits a group by the function that each member's ancestor `at` belongs to, so that the members of each new group are
    /// adjacent. Members without a further caller are not in any of the new groups.
    fn split(&mut self, range: Range<usize>) -> Vec<(FunctionId, Range<usize>)> {
        let before = self.made;
        let mut counts: Vec<(FunctionId, usize)> = Vec::new();
        let function_of =
            |tree: &CallTree, member: &Member| member.at.map(|at| tree.rows[at as usize].function);
        for member in &self.members[range.clone()] {
            let Some(function) = function_of(self.tree, member) else {
                continue;
            };
            let group = &mut self.group_of[function.index()];
            if *group < before {
                *group = self.made;
                self.made += 1;
                counts.push((function, 0));
            }
            counts[(*group - before) as usize].1 += 1;
        }
        let mut end = range.start;
        let mut groups: Vec<(FunctionId, Range<usize>)> = Vec::with_capacity(counts.len());
        for (function, count) in counts {
            groups.push((function, end..end));
            end += count;
        }
        if let [(_, only)] = &mut groups[..]
            && end == range.end
        {
            *only = range;
            return groups;
        }
        let members = self.members[range].to_vec();
        for member in members {
            if let Some(function) = function_of(self.tree, &member) {
                let group = &mut groups[(self.group_of[function.index()] - before) as usize].1;
                self.members[group.end] = member;
                group.end += 1;
            }
        }
        groups
    }
}

/// Returns for each row whether it is the outermost row of its function on its path.
pub fn outermost(tree: &CallTree) -> Vec<bool> {
    let mut outermost = vec![true; tree.rows.len()];
    tree.visit(|row, is_outermost| outermost[row as usize] = is_outermost);
    outermost
}

/// A tree that is being built from another tree.
struct Shape<'a> {
    source: &'a CallTree,
    tree: CallTree,
    known: IndexMap<(u32, FunctionId), u32>,
    /// Pairs of a new row and a source row that was merged into it.
    pairs: Vec<(u32, u32)>,
}

impl<'a> Shape<'a> {
    fn of(source: &'a CallTree) -> Self {
        Self {
            source,
            tree: CallTree::without_rows(source),
            known: IndexMap::default(),
            pairs: Vec::new(),
        }
    }

    /// Returns the row of `function` directly below the row `above`. Adds the row if it does not exist.
    fn row(&mut self, above: u32, function: FunctionId) -> u32 {
        if let Some(&row) = self.known.get(&(above, function)) {
            return row;
        }
        let path = match above {
            NO_PARENT => PathId::TOP,
            above => self.tree.rows[above as usize].path,
        };
        let key = self.tree.functions.get(function).key;
        let row = self.push(path.below(key), above, function);
        self.known.insert((above, function), row);
        row
    }

    fn push(&mut self, path: PathId, above: u32, function: FunctionId) -> u32 {
        let index = self.tree.rows.len() as u32;
        let parent = (above != NO_PARENT).then_some(above);
        let depth = parent.map_or(0, |parent| self.tree.rows[parent as usize].depth + 1);
        self.tree.rows.push(TreeRow::new(path, parent, function, depth));
        if !self.source.uncertainties.is_empty() {
            self.tree.uncertainties.push(Uncertainty::default());
        }
        index
    }

    /// Returns the row at `at` or the closest row above it that belongs to `function`, if any.
    fn on_path(&self, mut at: u32, function: FunctionId) -> Option<u32> {
        while at != NO_PARENT {
            let row = &self.tree.rows[at as usize];
            if row.function == function {
                return Some(at);
            }
            at = row.parent.unwrap_or(NO_PARENT);
        }
        None
    }

    /// Returns a mutable reference to the uncertainty of a new row, and the uncertainty of a source row. Returns `None` if the
    /// trees have no uncertainties.
    fn uncertainties(&mut self, to: u32, from: u32) -> Option<(&mut Uncertainty, Uncertainty)> {
        let sum = self.tree.uncertainties.get_mut(to as usize);
        sum.zip(self.source.merged_uncertainty(from))
    }

    /// Adds the numbers of a source row to a new row. `is_outer` tells whether its calls are outermost calls, as opposed to calls
    /// nested inside others of the new row.
    fn add(&mut self, to: u32, from: u32, is_outer: bool) {
        let source = &self.source.rows[from as usize];
        let row = &mut self.tree.rows[to as usize].figures;
        row.add_calls(source, is_outer);
        row.add_self(source);
        if is_outer {
            // A thread in a recursive call is also in the outermost call, and must not be counted twice.
            row.add_open(source);
        }
        if let Some((sum, uncertainty)) = self.uncertainties(to, from) {
            sum.add_self(&uncertainty);
            if is_outer {
                sum.add_total(&uncertainty);
            }
        }
        self.pairs.push((to, from));
    }

    /// Adds the self time of a source row to the total of a new row. If the call has no further caller (`at_top`), also adds it
    /// to the new row's self time.
    fn add_self(&mut self, to: u32, from: u32, is_outermost: bool, at_top: bool) {
        let source = &self.source.rows[from as usize];
        let row = &mut self.tree.rows[to as usize].figures;
        // The total of a bottom-up row is the self time of all its calls, also of nested ones.
        row.add_calls(source, true);
        row.add_total(&source.with_self_as_total());
        if is_outermost {
            row.add_open(source);
        }
        if at_top {
            row.add_self(source);
        }
        if let Some((sum, uncertainty)) = self.uncertainties(to, from) {
            if at_top {
                sum.add_self(&uncertainty);
            } else {
                sum.timed = sum.timed.saturating_add(uncertainty.timed);
            }
            sum.add_total(&Uncertainty {
                total_error: uncertainty.self_error,
                total_estimated: uncertainty.self_estimated,
                ..uncertainty
            });
        }
        self.pairs.push((to, from));
    }

    /// Computes the totals from the self times and returns the tree.
    fn finish(mut self) -> CallTree {
        self.tree.sum_totals();
        self.link()
    }

    /// Returns the tree, with totals as they already are in its rows.
    fn link(mut self) -> CallTree {
        let rows = self.tree.rows.len();
        self.tree.parts = self.source.parts.merge(rows, &self.pairs);
        self.tree.link_children();
        self.tree
    }
}

#[cfg(test)]
mod tests;

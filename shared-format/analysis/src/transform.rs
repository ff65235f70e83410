//! Other views of a call tree, each a tree again: one function, one subtree, recursion folded, bottom-up.
//!
//! In all of them the total of a row is its self time plus the totals of its children. Focus keeps the numbers of the
//! rows that it shows; folding and bottom-up keep the sum of all self times.

use std::collections::VecDeque;
use std::ops::Range;

use tickscope_format::ids::NO_PARENT;

use crate::call_tree::{CallTree, PathId, TreeRow};
use crate::functions::{FunctionId, fnv1a};
use crate::index_map::IndexMap;
use crate::uncertainty::Uncertainty;

/// Only one function, wherever it is called: its outermost calls become the top, merged over all their places.
///
/// Where the function calls itself, those calls stand below. Time outside any scope is none of it.
pub fn focus_function(tree: &CallTree, function: FunctionId) -> CallTree {
    let mut shape = Shape::of(tree);
    shape.tree.outside_ticks = 0;
    let mut to = vec![NO_PARENT; tree.rows.len()];
    for (index, row) in tree.rows.iter().enumerate() {
        let above = row.parent.map_or(NO_PARENT, |parent| to[parent as usize]);
        if above != NO_PARENT || row.function == function {
            to[index] = shape.row(above, row.function);
            shape.add(to[index], index as u32, Part::Call);
        }
    }
    shape.finish()
}

/// Only one row and what is below it, each with the path it had; no row at all where there is no such path.
pub fn focus_subtree(tree: &CallTree, path: PathId) -> CallTree {
    let mut shape = Shape::of(tree);
    shape.tree.outside_ticks = 0;
    let mut to = vec![NO_PARENT; tree.rows.len()];
    for (index, row) in tree.rows.iter().enumerate() {
        let above = row.parent.map_or(NO_PARENT, |parent| to[parent as usize]);
        if above != NO_PARENT {
            to[index] = shape.row(above, row.function);
        } else if row.path == path {
            to[index] = shape.push(path, NO_PARENT, row.function);
        } else {
            continue;
        }
        shape.add(to[index], index as u32, Part::Call);
    }
    shape.finish()
}

/// No function below itself: recursive calls join the call of the same function above them, and so does what they
/// called. A row still stands below the function that called it.
///
/// Calls are all calls, totals those of the outermost; [`CallTree::is_folded`] tells where that makes a difference.
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
        let part = if !outermost[index] && callers.any(|at| to[at as usize] == row) {
            Part::Recursion
        } else {
            Part::Call
        };
        folded.resize(shape.tree.rows.len(), false);
        folded[row as usize] |= part == Part::Recursion;
        to[index] = row;
        shape.add(row, index as u32, part);
    }
    if folded.contains(&true) {
        shape.tree.folded = folded;
    }
    shape.finish()
}

/// A tree from the bottom up, as far as it was made.
#[derive(Clone, Debug)]
pub struct BottomUp {
    /// Functions at the top, those that call them below.
    pub tree: CallTree,
    /// Every row has all of its callers. Else only those have that are in sight, and some more.
    pub whole: bool,
}

/// The tree turned round: every function stands at the top, below it those that called it, and so on.
///
/// The total of a row is the part of its topmost function's *self* time that was spent when called so, and its calls
/// and latencies are that function's. What a row has itself is the part without a further caller: the call stood at
/// the top of its thread.
///
/// A path from each row of the tree to the top is a lot where stacks are deep. So callers are looked up in at most so
/// many steps, and beyond them only below rows that are `open`, one level more than those show.
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
            shape.add_self(
                index,
                member.row,
                outermost[member.row as usize],
                member.at.is_none(),
            );
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

/// A row of the tree, and how far up it was followed.
#[derive(Clone, Copy)]
struct Member {
    row: u32,
    /// None past the top.
    at: Option<u32>,
}

/// Members side by side that took the same way.
struct Groups<'a> {
    tree: &'a CallTree,
    members: Vec<Member>,
    /// By function, which group it has at the moment, counted from all splits.
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

    /// Puts those of a group that stand at the same function side by side; those past the top are left over.
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

/// Whether no call of the same function stands above a row, by row.
pub fn outermost(tree: &CallTree) -> Vec<bool> {
    let mut outermost = vec![true; tree.rows.len()];
    tree.visit(|row, is_outermost| outermost[row as usize] = is_outermost);
    outermost
}

/// What a row of the source is in the row it joins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A call like the others.
    Call,
    /// A call inside of one that is there already.
    Recursion,
}

/// A tree in the making.
struct Shape<'a> {
    source: &'a CallTree,
    tree: CallTree,
    known: IndexMap<(u32, FunctionId), u32>,
    /// Rows, and rows of the source that are a part of them.
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

    /// The row of a function below another.
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

    /// The row of a function above the children of a row.
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

    /// A row of the source as a part of a row.
    fn add(&mut self, to: u32, from: u32, part: Part) {
        let source = &self.source.rows[from as usize];
        let row = &mut self.tree.rows[to as usize].figures;
        row.add_calls(source);
        row.add_self(source);
        if part == Part::Call {
            // A thread in a recursive call is in the outermost one as well.
            row.add_open(source);
        }
        if let Some((sum, uncertainty)) = self
            .tree
            .uncertainties
            .get_mut(to as usize)
            .zip(self.source.merged_uncertainty(from))
        {
            sum.add_self(&uncertainty);
            if part == Part::Call {
                sum.add_total(&uncertainty);
            }
        }
        self.pairs.push((to, from));
    }

    /// The self time of a row of the source as a part of a row's total, and by itself where it has no caller.
    fn add_self(&mut self, to: u32, from: u32, is_outermost: bool, at_top: bool) {
        let source = &self.source.rows[from as usize];
        let row = &mut self.tree.rows[to as usize].figures;
        row.add_calls(source);
        row.add_total(&source.with_self_as_total());
        if is_outermost {
            row.add_open(source);
        }
        if at_top {
            row.add_self(source);
        }
        if let Some((sum, uncertainty)) = self
            .tree
            .uncertainties
            .get_mut(to as usize)
            .zip(self.source.merged_uncertainty(from))
        {
            let of_self = Uncertainty {
                total_error: uncertainty.self_error,
                total_estimated: uncertainty.self_estimated,
                self_error: if at_top { uncertainty.self_error } else { 0.0 },
                self_estimated: at_top && uncertainty.self_estimated,
                ..uncertainty
            };
            sum.add_self(&of_self);
            sum.add_total(&of_self);
        }
        self.pairs.push((to, from));
    }

    /// The tree, totals summed up.
    fn finish(mut self) -> CallTree {
        self.tree.sum_totals();
        self.link()
    }

    /// The tree with the totals it has.
    fn link(mut self) -> CallTree {
        let rows = self.tree.rows.len();
        self.tree.parts = self.source.parts.merge(rows, &self.pairs);
        self.tree.link_children();
        self.tree
    }
}

#[cfg(test)]
mod tests;

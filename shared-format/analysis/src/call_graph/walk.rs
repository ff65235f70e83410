//! The walk over a tree that builds its call graph.

use std::collections::HashMap;

use super::entry::{Amount, Edge, Entry, Subject};
use crate::call_tree::CallTree;
use crate::callers::cycles;
use crate::functions::FunctionId;
use crate::uncertainty::Uncertainty;

/// All calls from one function to another.
#[derive(Clone, Copy)]
struct Link {
    caller: Option<FunctionId>,
    callee: FunctionId,
    calls: u64,
    /// Of the callee's outermost calls: where its time comes from.
    to_callee: Times,
    /// Of what the caller's time went to.
    of_caller: Times,
}

/// Self time and total.
#[derive(Clone, Copy, Default)]
struct Times {
    own: Amount,
    total: Amount,
}

/// What is known of a function or a cycle while the tree is walked.
#[derive(Clone, Copy, Default)]
struct Node {
    outermost_calls: u64,
    recursive_calls: u64,
    times: Times,
    /// One more than the place on the path of the nearest call of it; 0 if there is none.
    nearest: u32,
    uncertainty: Uncertainty,
}

/// A row on the path.
struct Step {
    row: u32,
    function: FunctionId,
    /// `nearest` of its function before, and of its cycle.
    before: (u32, u32),
    /// Self times at the entry: of its function, of its cycle, of the callee through which it was called again.
    began: (Amount, Amount, Amount),
    /// The link through which its function came to call itself.
    through: Option<usize>,
    /// The link of its caller.
    link: Option<usize>,
    /// The line of its cycle's caller, where this is an outermost call.
    cycle_line: Option<(usize, usize)>,
}

/// What the walk over all rows, each before those below it and left behind them, knows so far.
pub(super) struct Walk<'a> {
    tree: &'a CallTree,
    cycle_of: Vec<u32>,
    functions: Vec<Node>,
    cycles: Vec<Node>,
    links: Vec<Link>,
    link_of: HashMap<(Option<FunctionId>, FunctionId), usize>,
    /// By cycle, its callers.
    cycle_lines: Vec<Vec<Edge>>,
    /// By function: what it has in its cycle, and calls of it from there.
    members: Vec<(Times, u64)>,
    path: Vec<Step>,
}

/// The numbers of cycles by function, in the order of their first member; 0 for those that call at most themselves.
fn numbered(tree: &CallTree) -> (Vec<u32>, usize) {
    let leaders = cycles(tree);
    let mut members = vec![0u32; leaders.len()];
    leaders.iter().for_each(|leader| members[leader.index()] += 1);
    let mut numbers = vec![0u32; leaders.len()];
    let mut made = 0;
    let mut cycle_of = vec![0; leaders.len()];
    for (function, leader) in leaders.iter().enumerate() {
        if members[leader.index()] > 1 {
            let number = &mut numbers[leader.index()];
            if *number == 0 {
                made += 1;
                *number = made;
            }
            cycle_of[function] = *number;
        }
    }
    (cycle_of, made as usize)
}

impl<'a> Walk<'a> {
    pub(super) fn of(tree: &'a CallTree) -> Self {
        let functions = tree.functions.list.len();
        let (cycle_of, made) = numbered(tree);
        Self {
            tree,
            cycle_of,
            functions: vec![Node::default(); functions],
            // The first stands for none.
            cycles: vec![Node::default(); made + 1],
            links: Vec::new(),
            link_of: HashMap::new(),
            cycle_lines: vec![Vec::new(); made + 1],
            members: vec![Default::default(); functions],
            path: Vec::new(),
        }
    }

    fn link(&mut self, caller: Option<FunctionId>, callee: FunctionId) -> usize {
        let links = &mut self.links;
        *self.link_of.entry((caller, callee)).or_insert_with(|| {
            links.push(Link {
                caller,
                callee,
                calls: 0,
                to_callee: Times::default(),
                of_caller: Times::default(),
            });
            links.len() - 1
        })
    }

    pub(super) fn enter(&mut self, index: u32) {
        let row = &self.tree.rows[index as usize];
        let (function, own, total) = (
            row.function,
            Amount {
                ticks: row.self_ticks,
                ns: row.self_ns,
            },
            Amount {
                ticks: row.total_ticks,
                ns: row.total_ns,
            },
        );
        let caller = self.path.last().map(|step| step.function);
        let place = self.path.len() as u32;
        let mut step = Step {
            row: index,
            function,
            before: (self.functions[function.index()].nearest, 0),
            began: (
                self.functions[function.index()].times.own,
                Amount::default(),
                Amount::default(),
            ),
            through: None,
            link: None,
            cycle_line: None,
        };
        if caller != Some(function) {
            let link = self.link(caller, function);
            self.links[link].calls += row.calls;
            self.links[link].of_caller.total += total;
            step.link = Some(link);
        }
        match step.before.0 {
            0 => {}
            // A direct call of itself, without another function in between.
            nearest if nearest == place => {}
            nearest => {
                let callee = self.path[nearest as usize].function;
                let through = self.link(Some(function), callee);
                let taken = &mut self.links[through].of_caller.total;
                *taken = taken.without(total);
                step.began.2 = self.functions[callee.index()].times.own;
                step.through = Some(through);
            }
        }
        self.enter_cycle(&mut step, caller, own, total);
        let uncertainty = self.tree.merged_uncertainty(index).unwrap_or_default();
        let node = &mut self.functions[function.index()];
        node.enter(step.before.0 == 0, row.calls, own, total, &uncertainty);
        node.nearest = place + 1;
        self.path.push(step);
    }

    fn enter_cycle(&mut self, step: &mut Step, caller: Option<FunctionId>, own: Amount, total: Amount) {
        let cycle = self.cycle_of[step.function.index()];
        if let Some(caller) = caller.filter(|caller| self.cycle_of[caller.index()] != cycle) {
            // What a member calls outside of its cycle is the member's; of functions in no cycle this is not needed.
            self.members[caller.index()].0.total += total;
        }
        if cycle == 0 {
            return;
        }
        let place = self.path.len() as u32;
        let (calls, cycle) = (self.tree.rows[step.row as usize].calls, cycle as usize);
        step.before.1 = self.cycles[cycle].nearest;
        step.began.1 = self.cycles[cycle].times.own;
        let (of_member, recursive_calls) = &mut self.members[step.function.index()];
        of_member.own += own;
        of_member.total += own;
        if step.before.1 == 0 {
            let lines = &mut self.cycle_lines[cycle];
            let at = lines.iter().position(|line| line.function == caller);
            let at = at.unwrap_or_else(|| {
                lines.push(Edge::new(caller));
                lines.len() - 1
            });
            lines[at].calls += calls;
            lines[at].total += total;
            step.cycle_line = Some((cycle, at));
        } else {
            *recursive_calls += calls;
            if step.before.1 != place {
                let member = self.path[step.before.1 as usize - 1].function;
                let taken = &mut self.members[member.index()].0.total;
                *taken = taken.without(total);
            }
        }
        let uncertainty = self.tree.merged_uncertainty(step.row).unwrap_or_default();
        let node = &mut self.cycles[cycle];
        node.enter(step.before.1 == 0, calls, own, total, &uncertainty);
        node.nearest = place + 1;
    }

    pub(super) fn leave(&mut self) {
        let Some(step) = self.path.pop() else { return };
        let node = &mut self.functions[step.function.index()];
        node.nearest = step.before.0;
        let own = node.times.own.without(step.began.0);
        let total = Amount {
            ticks: self.tree.rows[step.row as usize].total_ticks,
            ns: self.tree.rows[step.row as usize].total_ns,
        };
        if let Some(link) = step.link {
            let link = &mut self.links[link];
            link.of_caller.own += own;
            if step.before.0 == 0 {
                link.to_callee.own += own;
                link.to_callee.total += total;
            }
        }
        if let Some(through) = step.through {
            let callee = self.functions[self.links[through].callee.index()].times.own;
            let taken = &mut self.links[through].of_caller.own;
            *taken = taken.without(callee.without(step.began.2));
        }
        let cycle = self.cycle_of[step.function.index()] as usize;
        if cycle > 0 {
            self.cycles[cycle].nearest = step.before.1;
        }
        if let Some((cycle, line)) = step.cycle_line {
            let own = self.cycles[cycle].times.own.without(step.began.1);
            self.cycle_lines[cycle][line].own += own;
        }
    }

    /// Returns the entries, and the number of each function's cycle.
    pub(super) fn finish(self) -> (Vec<Entry>, Vec<u32>) {
        let all_calls = |node: &Node| node.outermost_calls.saturating_add(node.recursive_calls);
        let mut entries: Vec<Entry> = (0..self.functions.len() as u32)
            .map(|id| self.functions[id as usize].entry(Subject::Function(FunctionId(id))))
            .collect();
        for link in &self.links {
            let of_calls = all_calls(&self.functions[link.callee.index()]);
            let line = |function: Option<FunctionId>, times: Times| Edge {
                calls: link.calls,
                of_calls,
                own: times.own,
                total: times.total,
                ..Edge::new(function)
            };
            let to_callee = line(link.caller, link.to_callee);
            entries[link.callee.index()].callers.push(to_callee);
            if let Some(caller) = link.caller {
                let of_caller = line(Some(link.callee), link.of_caller);
                entries[caller.index()].callees.push(of_caller);
            }
        }
        for (number, node) in self.cycles.iter().enumerate().skip(1) {
            let mut entry = node.entry(Subject::Cycle(number as u32));
            let callers = self.cycle_lines[number].iter();
            entry.callers = callers
                .map(|line| Edge {
                    of_calls: node.outermost_calls,
                    ..*line
                })
                .collect();
            let members = (0..).map(FunctionId).zip(&self.members);
            entry.callees = members
                .filter(|(member, _)| self.cycle_of[member.index()] == number as u32)
                .map(|(member, (times, calls))| Edge {
                    calls: *calls,
                    of_calls: all_calls(&self.functions[member.index()]),
                    own: times.own,
                    total: times.total,
                    ..Edge::new(Some(member))
                })
                .collect();
            entries.push(entry);
        }
        // A function with a row has a caller, even if only the top of a thread.
        entries.retain(|entry| !entry.callers.is_empty());
        (entries, self.cycle_of)
    }
}

impl Node {
    fn enter(&mut self, outermost: bool, calls: u64, own: Amount, total: Amount, uncertainty: &Uncertainty) {
        self.times.own += own;
        self.uncertainty.add_self(uncertainty);
        if outermost {
            self.outermost_calls += calls;
            self.times.total += total;
            self.uncertainty.add_total(uncertainty);
        } else {
            self.recursive_calls += calls;
        }
    }

    fn entry(&self, subject: Subject) -> Entry {
        Entry {
            subject,
            outermost_calls: self.outermost_calls,
            recursive_calls: self.recursive_calls,
            own: self.times.own,
            total: self.times.total,
            uncertainty: self.uncertainty.if_estimated(),
            callers: Vec::new(),
            callees: Vec::new(),
        }
    }
}

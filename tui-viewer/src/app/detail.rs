//! Details of a row that do not fit on its line.

use std::collections::{BTreeMap, HashMap};

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::waits_in::{CallSamples, in_nodes};
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::saturating_sum;

use crate::app::data::Data;
use crate::app::function::Around;
use crate::app::row::{What, share};
use crate::keys::view::View;

/// Details of a row: threads, callers, members, waits.
#[derive(Debug, Default)]
pub(crate) struct Detail {
    /// Threads with their share of the row's time, largest share first. In the tree the share is of total time, and in
    /// the hotspots of self time. For a counter, it is a share of the calls.
    pub(crate) threads: Vec<(String, f64)>,
    /// Callers of the row's function with their share of its self time, largest share first. Empty except in the
    /// hotspots. For a counter, the share is of the calls.
    pub(crate) callers: Vec<(String, f64)>,
    /// Members of a group, in order of self time, largest first.
    pub(crate) members: Vec<String>,
    /// Tick at which the row's earliest open scope was entered. `None` if the row has no open scope, or if the start of
    /// any open scope was not measured, because that scope may be the earliest.
    pub(crate) began: Option<u64>,
    /// System calls in which the row's function and its callees wait, most frequent first.
    pub(crate) waits_in: Vec<CallSamples>,
    /// Callers and callees of the row's function, if they fit on the screen.
    pub(crate) around: Option<Around>,
}

impl Detail {
    /// Gathers the details of a row from each thread in the snapshot. If `around`, also adds the callers and callees of
    /// the row's function.
    pub(crate) fn of(data: &Data, what: What, around: bool) -> Self {
        let function = data.function(what).filter(|_| around);
        let key = function.map(|function| data.tree.functions.get(function).key);
        Self {
            around: key.and_then(|key| Around::of(data.whole(), key)),
            ..what.table().detail(data, what.row)
        }
    }

    /// Gathers the details of a row of the tree.
    pub(crate) fn of_path(data: &Data, row: u32) -> Self {
        let what = View::Tree.row(row);
        let is_row = data.tree.nodes_of([row]);
        // In a bottom-up tree, the nodes of the row itself already account for all of its time.
        let below = match data.bottom_up {
            true => vec![row],
            false => with_rows_below(&data.tree, vec![row]),
        };
        let is_below = data.tree.nodes_of(below);
        Self {
            threads: threads(data, |thread| part_in(data, thread, what, &is_below)),
            members: members(data, what),
            began: began(data, is_row),
            waits_in: in_nodes(&data.snapshot, &is_below),
            ..Self::default()
        }
    }

    /// Gathers the details of a row of the hotspots.
    pub(crate) fn of_function(data: &Data, row: u32) -> Self {
        let what = View::Hot.row(row);
        let hot = &data.hot()[row as usize];
        let is_of_it = data.calls().nodes_of(hot.rows.iter().copied());
        let below = with_rows_below(data.calls(), hot.rows.clone());
        Self {
            threads: threads(data, |thread| part_in(data, thread, what, &is_of_it)),
            callers: callers(data, row),
            members: members(data, what),
            began: began(data, is_of_it),
            waits_in: in_nodes(&data.snapshot, data.calls().nodes_of(below)),
            around: None,
        }
    }

    /// Gathers the details of the time outside any scope.
    pub(crate) fn of_outside(data: &Data) -> Self {
        Self {
            threads: threads(data, |thread| data.snapshot.threads[thread.index()].outside_ticks),
            ..Self::default()
        }
    }
}

/// Returns these rows of a tree and all their descendants.
fn with_rows_below(tree: &CallTree, mut rows: Vec<u32>) -> Vec<u32> {
    let mut next = 0;
    while let Some(&row) = rows.get(next) {
        rows.extend(tree.children(row));
        next += 1;
    }
    rows
}

/// Returns the tick at which the earliest open scope of the nodes accepted by `of_it` was entered. `None` if they have
/// no open scope, or if the start of any is unknown.
fn began(data: &Data, of_it: impl Fn(NodeId) -> bool) -> Option<u64> {
    let threads = data.snapshot.threads.iter().enumerate();
    let in_scope = |index: usize| data.thread.is_none_or(|chosen| chosen.index() == index);
    let frames = threads
        .filter(|&(index, _)| in_scope(index))
        .flat_map(|(_, thread)| &thread.open);
    let ticks = frames
        .filter(|frame| of_it(frame.node))
        .map(|frame| frame.began_tick);
    // A tick of 0 stands for an unknown start.
    ticks.min().filter(|&first| first > 0)
}

/// Returns the names of a group's members in order of self time, largest first; empty if the row is not a group.
fn members(data: &Data, what: What) -> Vec<String> {
    let Some(group) = data
        .function(what)
        .filter(|&id| data.tree.functions.get(id).is_group)
    else {
        return Vec::new();
    };
    let nodes = &data.snapshot.nodes;
    let mut ticks: BTreeMap<&str, u64> = BTreeMap::new();
    for (&site, &own) in nodes.site.iter().zip(&nodes.self_ticks) {
        if data.tree.functions.of_site[site as usize] == group {
            let sum = ticks.entry(&data.snapshot.sites[site as usize].name).or_default();
            *sum = sum.saturating_add(own);
        }
    }
    let mut found: Vec<(&str, u64)> = ticks.into_iter().collect();
    found.sort_by_key(|&(_, ticks)| std::cmp::Reverse(ticks));
    found.into_iter().map(|(name, _)| name.to_string()).collect()
}

fn threads(data: &Data, ticks: impl Fn(ThreadId) -> u64) -> Vec<(String, f64)> {
    let all = (0..data.snapshot.threads.len() as u32).map(ThreadId);
    let mut found: Vec<(ThreadId, u64)> = all
        .filter(|&thread| data.thread.is_none_or(|chosen| chosen == thread))
        .map(|thread| (thread, ticks(thread)))
        .filter(|&(_, ticks)| ticks > 0)
        .collect();
    found.sort_by_key(|&(thread, ticks)| (std::cmp::Reverse(ticks), thread));
    let whole = saturating_sum(found.iter().map(|&(_, ticks)| ticks));
    let name = |thread: ThreadId| data.snapshot.threads[thread.index()].name.clone();
    found
        .into_iter()
        .map(|(thread, ticks)| (name(thread), share(ticks, whole)))
        .collect()
}

/// Returns the self time in ticks that a thread spent in the nodes accepted by `is_part`. For a counter, which has no
/// time, returns the number of calls instead.
fn part_in(data: &Data, thread: ThreadId, what: What, is_part: impl Fn(NodeId) -> bool) -> u64 {
    let nodes = &data.snapshot.nodes;
    let column = match data.figures(what).tally {
        Some(_) => &nodes.calls,
        None => &nodes.self_ticks,
    };
    let rows = data.snapshot.rows_of(thread);
    let parts = rows.filter(|&node| is_part(NodeId(node as u32)));
    saturating_sum(parts.map(|node| column[node]))
}

fn callers(data: &Data, row: u32) -> Vec<(String, f64)> {
    let hot = &data.hot()[row as usize];
    let mut by_caller: HashMap<Option<FunctionId>, u64> = HashMap::new();
    for &index in &hot.rows {
        let row = &data.tree.rows[index as usize];
        let caller = row.parent.map(|parent| data.tree.rows[parent as usize].function);
        let sum = by_caller.entry(caller).or_default();
        *sum = sum.saturating_add(match hot.tally {
            Some(_) => row.calls,
            None => row.self_ns,
        });
    }
    let mut found: Vec<(Option<FunctionId>, u64)> = by_caller.into_iter().collect();
    found.sort_by_key(|&(caller, ns)| (std::cmp::Reverse(ns), caller));
    let whole = hot.tally.map_or(hot.self_ns, |_| hot.calls);
    let name = |caller: Option<FunctionId>| match caller {
        Some(function) => data.names.short[function.index()].clone(),
        None => "(top)".to_string(),
    };
    found
        .into_iter()
        .map(|(caller, part)| (name(caller), share(part, whole)))
        .collect()
}

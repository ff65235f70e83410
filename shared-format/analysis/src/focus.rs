//! A snapshot reduced to the calls of one function, or to one path of the tree and the paths below it.

use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::{Left, SampledIn, Snapshot};

use crate::call_tree::PathId;
use crate::functions::Functions;

/// The calls in focus. A focus contains no index, so it can be applied to other snapshots too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// All calls of the function with this key, on any path.
    Function(u64),
    /// A row of the tree and all rows below it.
    Subtree(PathId),
}

/// Returns the snapshot with only the calls in focus. Each focus is applied to the result of the previous one.
///
/// The rows in focus move to the top of their thread, together with the rows below them. Time outside any scope is left out.
/// Data about the whole program (cost, losses, lifetime) is kept. `grouped` tells whether the focus was chosen in a tree in
/// which groups replace their members.
pub fn in_focus(snapshot: &Snapshot, focus: &[Focus], grouped: bool) -> Snapshot {
    let nodes = &snapshot.nodes;
    let functions = Functions::build(snapshot, grouped);
    let key_of = |row: usize| functions.list[functions.of_site[nodes.site[row] as usize].index()].key;
    let mut paths: Vec<PathId> = Vec::with_capacity(nodes.len());
    for (row, &parent) in nodes.parent.iter().enumerate() {
        let above = match parent {
            NO_PARENT => PathId::TOP,
            parent => paths[parent as usize],
        };
        paths.push(above.below(key_of(row)));
    }
    let mut paths: Vec<Option<PathId>> = paths.into_iter().map(Some).collect();
    for focus in focus {
        for row in 0..paths.len() {
            let above = match nodes.parent[row] {
                NO_PARENT => None,
                // Parents have lower indices, so this focus has already been applied to the parent's path.
                parent => paths[parent as usize],
            };
            let Some(path) = paths[row] else { continue };
            paths[row] = match (*focus, above) {
                // A function may be called on several paths, so after focusing on it, paths begin at its calls. The paths of a
                // subtree do not change.
                (Focus::Function(_), Some(above)) => Some(above.below(key_of(row))),
                (Focus::Function(key), None) => (key_of(row) == key).then(|| PathId::TOP.below(key)),
                (Focus::Subtree(_), Some(_)) => Some(path),
                (Focus::Subtree(wanted), None) => (path == wanted).then_some(path),
            };
        }
    }
    let mut part = snapshot.part(|_| true, |row| paths[row].is_some(), Left::Out);
    for thread in &mut part.threads {
        thread.outside_ticks = 0;
    }
    part.measures.clear_outside();
    let lines = &mut part.lines.samples;
    lines.retain(|sample| matches!(sample.inside, SampledIn::Row(_)));
    part
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tickscope_format::latency::Histogram;
    use tickscope_format::snapshot::Quantity;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;
    use crate::call_tree::CallTree;
    use crate::transform::{focus_function, focus_subtree};

    /// Returns path, calls, times and latencies of each row.
    fn told(tree: &CallTree) -> Vec<(PathId, u64, u64, u64, Histogram)> {
        let rows = (0u32..).zip(&tree.rows);
        let mut told: Vec<_> = rows
            .map(|(at, row)| {
                (
                    row.path,
                    row.calls,
                    row.self_ns,
                    row.total_ticks,
                    tree.latency(at).clone(),
                )
            })
            .collect();
        told.sort_by_key(|row| row.0);
        told
    }

    proptest! {
        #[test]
        fn it_is_what_the_shape_of_the_tree_shows(
            mut whole in fixtures::any_snapshot(),
            groups in prop::collection::vec(prop::sample::select(vec!["", "a", "b"]), 8),
            grouped in any::<bool>(),
            picks in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..3),
        ) {
            for thread in 0..whole.threads.len() as u32 {
                whole.measures.push_outside(Quantity::Waiting, thread, 1);
            }
            for (site, group) in whole.sites.iter_mut().zip(groups) {
                site.group = group.into();
            }
            let build = |snapshot: &Snapshot| {
                let functions = Functions::build(snapshot, grouped);
                CallTree::build_of(snapshot, Arc::new(functions), |_| true)
            };
            let mut tree = build(&whole);
            let mut focus = Vec::new();
            for (function, pick) in picks {
                if tree.rows.is_empty() {
                    break;
                }
                let row = tree.rows[pick.index(tree.rows.len())];
                let (on, next) = if function {
                    let key = tree.functions.get(row.function).key;
                    (Focus::Function(key), focus_function(&tree, row.function))
                } else {
                    (Focus::Subtree(row.path), focus_subtree(&tree, row.path))
                };
                focus.push(on);
                tree = next;
            }
            let part = in_focus(&whole, &focus, grouped);
            let built = build(&part);
            prop_assert_eq!(built.measured_ns(), tree.measured_ns());
            prop_assert_eq!(built.rows.len(), tree.rows.len());
            // In the viewer, a focused subtree keeps its paths. Here its top row moves to the top of the thread, which changes
            // the paths, so they are not compared.
            let by_numbers = |tree: &CallTree| {
                let mut told: Vec<_> = told(tree).into_iter().map(|(_, calls, own, total, l)| (calls, own, total, l.max_ticks)).collect();
                told.sort_unstable();
                told
            };
            prop_assert_eq!(by_numbers(&built), by_numbers(&tree));
            if focus.iter().all(|on| matches!(on, Focus::Function(_))) {
                prop_assert_eq!(told(&built), told(&tree));
            }
            prop_assert!(part.threads.iter().all(|thread| thread.outside_ticks == 0));
            prop_assert!(part.measures.iter().all(|(_, column)| column.outside.is_empty()));
            prop_assert_eq!(part.threads.len(), whole.threads.len(), "idle threads are threads");
            prop_assert_eq!(in_focus(&whole, &[Focus::Function(1)], grouped).nodes.len(), 0);
            prop_assert_eq!(fixture::received(&part), part, "it is a sound snapshot");
        }
    }
}

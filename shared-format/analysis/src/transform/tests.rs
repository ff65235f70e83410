use proptest::prelude::*;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Snapshot;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::hotspots::hot;

/// Returns the tree as text: name, calls, self and total ticks, and `@` where recursion was folded.
fn text(tree: &CallTree) -> String {
    let mut out = String::new();
    let mut stack: Vec<u32> = tree.top().iter().rev().copied().collect();
    while let Some(index) = stack.pop() {
        let row = &tree.rows[index as usize];
        let name = &tree.functions.get(row.function).name;
        let mark = if tree.is_folded(index) { " @" } else { "" };
        out.push_str(&"  ".repeat(row.depth as usize));
        out.push_str(&format!(
            "{name} {} {}/{}{mark}\n",
            row.calls, row.self_ticks, row.total_ticks
        ));
        stack.extend(tree.children(index).iter().rev());
    }
    out
}

fn tree_of(snapshot: &Snapshot) -> CallTree {
    CallTree::build(snapshot, |_| true)
}

fn function(tree: &CallTree, name: &str) -> FunctionId {
    let index = tree.functions.list.iter().position(|f| f.name == name);
    FunctionId(index.unwrap() as u32)
}

#[test]
fn recursion_in_one_row() {
    let tree = tree_of(&fixture::mutual_recursion());
    let folded = fold_recursion(&tree);
    assert_eq!(
        text(&folded),
        "main 1 10/221\n  even 6 130/191 @\n    odd 9 53/54 @\n      leaf 1 1/1\n    leaf 5 7/7\n  odd 1 20/20\n"
    );
    // The inner `f` has a different caller than the outer `f`.
    let apart = fold_recursion(&tree_of(&fixtures::run(&[
        (0, "a", 1, 1),
        (1, "b", 1, 2),
        (2, "f", 1, 4),
        (3, "a", 1, 8),
        (4, "f", 1, 16),
    ])));
    assert_eq!(text(&apart), "a 2 9/31 @\n  b 1 2/6\n    f 1 4/4\n  f 1 16/16\n");
    let plain = tree_of(&fixture::two_threads());
    assert_eq!(text(&fold_recursion(&plain)), text(&plain));
}

#[test]
fn callers_of_self_time() {
    let tree = tree_of(&fixture::mutual_recursion());
    let turned = bottom_up(&tree, usize::MAX, |_| false);
    assert!(turned.whole);
    assert_eq!(
        text(&turned.tree),
        "main 1 10/10\n\
         even 6 0/130\n\
         .main 2 100/100\n\
         .odd 4 0/30\n\
         ..even 4 0/30\n\
         ...main 4 30/30\n\
         odd 10 0/73\n\
         .even 9 0/53\n\
         ..main 3 50/50\n\
         ..odd 6 0/3\n\
         ...even 6 0/3\n\
         ....main 6 3/3\n\
         .main 1 20/20\n\
         leaf 6 0/8\n\
         .even 5 0/7\n\
         ..odd 5 0/7\n\
         ...even 5 0/7\n\
         ....main 5 7/7\n\
         .odd 1 0/1\n\
         ..even 1 0/1\n\
         ...odd 1 0/1\n\
         ....even 1 0/1\n\
         .....main 1 1/1\n"
            .replace('.', "  ")
    );
}

#[test]
fn nodes_know_their_rows_in_every_shape() {
    let tree = tree_of(&fixture::mutual_recursion());
    let nodes = |tree: &CallTree, row: u32| {
        let is_part = tree.nodes_of([row]);
        (0..8).filter(|&node| is_part(NodeId(node))).collect::<Vec<u32>>()
    };
    assert_eq!(nodes(&tree, 2), [2]);
    let folded = fold_recursion(&tree);
    assert_eq!(nodes(&folded, 2), [2, 5]);
    let odd = function(&tree, "odd");
    assert_eq!(nodes(&focus_function(&folded, odd), 0), [2, 5, 7]);
    let turned = bottom_up(&tree, usize::MAX, |_| false).tree;
    assert_eq!(nodes(&turned, 1), [1, 3], "even");
    assert_eq!(nodes(&turned, 4), [1], "even as main calls it");
}

#[test]
fn without_steps_only_what_is_open_goes_on() {
    let tree = tree_of(&fixture::mutual_recursion());
    let closed = bottom_up(&tree, 0, |_| false);
    assert!(!closed.whole);
    let deepest = |tree: &CallTree| tree.rows.iter().map(|row| row.depth).max();
    // Even a closed row shows whether it has callers.
    assert_eq!(deepest(&closed.tree), Some(1));
    let leaf = closed.tree.rows[3].path;
    let one = bottom_up(&tree, 0, |path| path == leaf).tree;
    assert_eq!(deepest(&one), Some(2));
    let all = bottom_up(&tree, 0, |_| true);
    let got = text(&all.tree);
    assert_eq!(got, text(&bottom_up(&tree, usize::MAX, |_| false).tree));
    assert!(all.whole);
}

#[test]
fn latencies_errors_and_open_calls_go_with_their_rows() {
    let mut snapshot = fixture::recursion();
    for row in 1..4 {
        let calls = u64::from(row);
        snapshot
            .latencies
            .push(row, &fixture::calls_of(100 * calls, calls));
        snapshot
            .estimates
            .push(fixture::estimate(row, 1, 10 * calls, 100));
        snapshot.threads[0].open.push(fixture::open(row, 1));
    }
    let tree = tree_of(&snapshot);
    let fib = function(&tree, "fib");
    let folded = fold_recursion(&tree);
    let row = &folded.rows[1];
    assert_eq!((row.calls, row.open, folded.latency(1).count()), (7, 1, 6));
    let uncertainty = folded.uncertainty(1).unwrap();
    // The error of the total comes only from the outermost calls.
    assert_eq!((uncertainty.timed, uncertainty.total_error), (3, 100.0));
    assert!((uncertainty.self_error - 1_400f64.sqrt()).abs() < 1e-9);
    // Transforming a folded tree merges rows that are themselves the result of merging.
    let focused = focus_function(&folded, fib);
    assert_eq!((focused.rows.len(), focused.latency(0).count()), (1, 6));
    let turned = bottom_up(&tree, usize::MAX, |_| false).tree;
    let is_fib = |&&row: &&u32| turned.rows[row as usize].function == fib;
    let top = turned.top().iter().find(is_fib);
    let top = *top.unwrap();
    let got = (turned.rows[top as usize].open, turned.latency(top).count());
    assert_eq!(got, (1, 6));
    let uncertainty = turned.uncertainty(top).unwrap();
    assert!(uncertainty.total_estimated && (uncertainty.total_error - 1_400f64.sqrt()).abs() < 1e-9);
    assert_eq!(
        (
            uncertainty.self_estimated,
            uncertainty.self_error,
            uncertainty.timed
        ),
        (false, 0.0, 3),
        "all of it has a caller"
    );
}

fn sums_hold(tree: &CallTree) -> Result<(), TestCaseError> {
    for (index, row) in tree.rows.iter().enumerate() {
        let children = tree.children(index as u32);
        let below = |of: fn(&TreeRow) -> u64| {
            let values = children.iter().map(|&row| of(&tree.rows[row as usize]));
            values.sum::<u64>()
        };
        prop_assert_eq!(row.total_ticks, row.self_ticks + below(|row| row.total_ticks));
        prop_assert_eq!(row.total_ns, row.self_ns + below(|row| row.total_ns));
        prop_assert!(row.parent.is_none_or(|parent| (parent as usize) < index));
    }
    Ok(())
}

fn self_ns(tree: &CallTree) -> u64 {
    tree.rows.iter().map(|row| row.self_ns).sum()
}

proptest! {
    #[test]
    fn children_and_self_are_the_total_in_every_shape(snapshot in fixtures::any_snapshot(), pick in any::<prop::sample::Index>()) {
        let tree = tree_of(&snapshot);
        sums_hold(&tree)?;
        prop_assert_eq!(tree.measured_ns(), snapshot.self_nanos().iter().sum::<u64>());
        let folded = fold_recursion(&tree);
        sums_hold(&folded)?;
        prop_assert_eq!(self_ns(&folded), self_ns(&tree));
        prop_assert_eq!(folded.measured_ns(), tree.measured_ns());
        for row in 0..folded.rows.len() {
            let mut above = folded.rows[row].parent;
            while let Some(at) = above {
                prop_assert_ne!(folded.rows[at as usize].function, folded.rows[row].function);
                above = folded.rows[at as usize].parent;
            }
        }
        let turned = bottom_up(&tree, usize::MAX, |_| false).tree;
        sums_hold(&turned)?;
        prop_assert_eq!(turned.measured_ns(), self_ns(&tree));
        prop_assert_eq!(self_ns(&turned), self_ns(&tree));
        sums_hold(&bottom_up(&folded, usize::MAX, |_| false).tree)?;
        let functions = hot(&tree);
        for row in &functions {
            let top = turned.top().iter().find(|&&top| turned.rows[top as usize].function == row.function);
            let top = &turned.rows[*top.unwrap() as usize];
            prop_assert_eq!((top.total_ns, top.calls), (row.self_ns, row.calls));
        }
        if functions.is_empty() {
            return Ok(());
        }
        let row = &functions[pick.index(functions.len())];
        let focused = focus_function(&tree, row.function);
        sums_hold(&focused)?;
        prop_assert_eq!(focused.measured_ns(), row.total_ns, "outermost calls only");
        let place = &tree.rows[pick.index(tree.rows.len())];
        let sub = focus_subtree(&tree, place.path);
        sums_hold(&sub)?;
        prop_assert_eq!(sub.measured_ns(), place.total_ns);
        prop_assert!(sub.rows.iter().all(|row| tree.rows.iter().any(|old| old.path == row.path)));
        prop_assert!(focus_subtree(&tree, PathId(1)).rows.is_empty());
    }

    #[test]
    fn however_few_steps_rows_in_sight_are_right(snapshot in fixtures::any_snapshot(), steps in 0usize..40, odd in any::<bool>()) {
        let tree = tree_of(&snapshot);
        let open = |path: PathId| path.0 % 2 == u64::from(odd);
        let some = bottom_up(&tree, steps, open).tree;
        let all = bottom_up(&tree, usize::MAX, open).tree;
        let mut stack: Vec<(u32, u32)> = some.top().iter().copied().zip(all.top().iter().copied()).collect();
        while let Some((a, b)) = stack.pop() {
            let (row, same) = (&some.rows[a as usize], &all.rows[b as usize]);
            prop_assert_eq!((row.path, row.total_ns, row.calls), (same.path, same.total_ns, same.calls));
            prop_assert_eq!(some.children(a).len(), all.children(b).len());
            if open(row.path) {
                stack.extend(some.children(a).iter().copied().zip(all.children(b).iter().copied()));
            }
        }
    }
}

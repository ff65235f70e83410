use proptest::prelude::*;
use tickscope_format::snapshot::Quantity;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;
use tickscope_testkit::orderbook;

use super::*;
use crate::call_tree::OffCpu;
use crate::hotspots::hot;

fn around(tree: &CallTree, name: &str) -> Neighbours {
    let index = tree.functions.list.iter().position(|f| f.name == name);
    Neighbours::of(tree, FunctionId(index.unwrap() as u32)).unwrap()
}

/// Formats links as text: name, `all_calls/of_calls`, ticks, and `@` if the link is in a cycle with the function.
fn links(tree: &CallTree, list: &[Link]) -> Vec<String> {
    list.iter()
        .map(|link| {
            let name = link.function.map_or("-", |f| &tree.functions.get(f).name);
            let mark = if link.in_cycle { " @" } else { "" };
            format!(
                "{name} {}/{} {}{mark}",
                link.all_calls, link.of_calls, link.figures.total_ticks
            )
        })
        .collect()
}

#[test]
fn time_off_the_cpu_is_divided_as_all_time_is() {
    let mut snapshot = fixture::mutual_recursion();
    snapshot.waits = true;
    // Half of each row's time is spent waiting, and a quarter of it ready to run, so all sums must show the same shares.
    for row in 0..snapshot.nodes.len() as u32 {
        let ticks = &mut snapshot.nodes.self_ticks[row as usize];
        *ticks *= 20;
        snapshot.measures.push_row(Quantity::Waiting, row, *ticks / 2);
        snapshot.measures.push_row(Quantity::Ready, row, *ticks / 4);
    }
    let tree = CallTree::build(&snapshot, |_| true);
    let is_part = |off: OffCpu, ns: u64| {
        assert_eq!((off.waiting_ns * 2, off.ready_ns * 4), (ns, ns));
    };
    for function in (0..tree.functions.list.len() as u32).map(FunctionId) {
        let around = Neighbours::of(&tree, function).unwrap();
        is_part(around.figures.self_off, around.figures.self_ns);
        is_part(around.figures.total_off, around.figures.total_ns);
        for link in around.callers.iter().chain(&around.callees) {
            is_part(link.figures.total_off, link.figures.total_ns);
        }
    }
}

#[test]
fn who_waits_now_is_told_of_each_row_and_link() {
    let tree = CallTree::build(&orderbook::waiting(1_340), |_| true);
    let open: Vec<(u32, u32)> = tree.rows.iter().map(|row| (row.open, row.waiting)).collect();
    assert!(open.iter().all(|(open, waiting)| waiting <= open));
    assert!(
        open.iter().any(|&(open, waiting)| open > 0 && waiting == open),
        "{open:?}"
    );
    for row in hot(&tree) {
        let around = Neighbours::of(&tree, row.function).unwrap();
        let got = (around.figures.open, around.figures.waiting);
        assert_eq!(got, (row.open, row.waiting));
        let callers = around.callers.iter();
        let sum = callers.fold((0, 0), |sum, link| {
            (sum.0 + link.figures.open, sum.1 + link.figures.waiting)
        });
        assert_eq!(sum, (row.open, row.waiting));
    }
}

#[test]
fn a_cycle_is_marked_and_its_time_goes_where_it_was_spent() {
    let tree = CallTree::build(&fixture::mutual_recursion(), |_| true);
    let even = around(&tree, "even");
    assert_eq!((even.outermost_calls, even.recursive_calls()), (2, 4));
    assert_eq!((even.figures.self_ticks, even.figures.total_ticks), (130, 191));
    // `odd` calls `even` again. The self time of that inner call belongs to `even` itself, and the inner call also calls `leaf`.
    assert_eq!(links(&tree, &even.callers), ["main 2/6 191", "odd 4/6 0 @"]);
    assert_eq!(links(&tree, &even.callees), ["odd 9/10 54 @", "leaf 5/6 7"]);
    assert!(even.recursive && !around(&tree, "main").recursive);
    let fib = around(&CallTree::build(&fixture::recursion(), |_| true), "fib");
    assert!(fib.recursive && fib.callees.is_empty());
    let odd = around(&tree, "odd");
    assert_eq!(odd.outermost_calls, 4);
    assert_eq!(odd.recursive_calls(), 6);
    assert_eq!(odd.figures.total_ticks, 111);
    assert_eq!(links(&tree, &odd.callers), ["even 9/10 91 @", "main 1/10 20"]);
    assert_eq!(links(&tree, &odd.callees), ["even 4/6 37 @", "leaf 1/6 1"]);
}

#[test]
fn times_are_estimates_as_those_of_their_rows_are() {
    let mut snapshot = fixture::mutual_recursion();
    // The times of the inner call of `even`, and of the call that it makes, become estimates. The self time of `odd` below the
    // outer call stays exact.
    for (node, self_error, total_error) in [(3, 30, 40), (4, 3, 3)] {
        let estimate = fixture::estimate(node, 1, self_error, total_error);
        snapshot.estimates.push(estimate);
    }
    let tree = CallTree::build(&snapshot, |_| true);
    let error = |link: &Link| link.uncertainty.map(|uncertainty| uncertainty.total_error);
    let even = around(&tree, "even");
    let uncertainty = even.uncertainty.unwrap();
    assert_eq!((uncertainty.self_error, uncertainty.total_error), (30.0, 0.0));
    assert_eq!(even.callers.iter().map(error).collect::<Vec<_>>(), [None, None]);
    let got = even.callees.iter().map(error).collect::<Vec<_>>();
    assert_eq!(got, [Some(40.0), Some(3.0)]);
    let odd = around(&tree, "odd");
    let got = odd.callees.iter().map(error).collect::<Vec<_>>();
    assert_eq!(got, [Some(40.0), None]);
}

#[test]
fn a_function_without_a_call_has_no_neighbours() {
    let tree = CallTree::build(&fixture::two_threads(), |thread| thread.0 == 2);
    assert_eq!(Neighbours::of(&tree, FunctionId(0)), None);
}

proptest! {
    #[test]
    fn callers_are_the_total_and_so_are_callees_with_self(snapshot in fixtures::any_snapshot()) {
        let tree = CallTree::build(&snapshot, |_| true);
        for row in hot(&tree) {
            let of = Neighbours::of(&tree, row.function).unwrap();
            prop_assert_eq!((of.figures.total_ns, of.figures.self_ns), (row.total_ns, row.self_ns));
            prop_assert_eq!((of.figures.total_ticks, of.figures.self_ticks), (row.total_ticks, row.self_ticks));
            prop_assert_eq!(of.outermost_calls + of.recursive_calls(), row.calls);
            prop_assert_eq!((of.figures.open, of.figures.errors), (row.open, row.errors));
            let sum = |links: &[Link], value: fn(&Link) -> u64| links.iter().map(value).sum::<u64>();
            prop_assert_eq!(sum(&of.callers, |link| link.figures.total_ns), of.figures.total_ns);
            prop_assert_eq!(sum(&of.callers, |link| link.figures.total_ticks), of.figures.total_ticks);
            prop_assert_eq!(sum(&of.callers, |link| link.figures.calls), of.outermost_calls);
            prop_assert_eq!(sum(&of.callees, |link| link.figures.total_ns) + of.figures.self_ns, of.figures.total_ns);
            prop_assert_eq!(sum(&of.callees, |link| link.figures.total_ticks) + of.figures.self_ticks, of.figures.total_ticks);
            for links in [&of.callers, &of.callees] {
                let mut seen: Vec<_> = links.iter().map(|link| link.function).collect();
                prop_assert!(!seen.contains(&Some(row.function)), "itself is the row between them");
                seen.sort();
                seen.dedup();
                prop_assert_eq!(seen.len(), links.len(), "each is listed once");
                prop_assert!(links.iter().all(|link| link.all_calls <= link.of_calls));
            }
        }
    }
}

use proptest::prelude::*;
use tickscope_format::snapshot::Snapshot;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs as fixtures;

use super::*;
use crate::callers::{self, Neighbours};

fn graph_of(snapshot: &Snapshot) -> (CallTree, CallGraph) {
    let tree = CallTree::build(snapshot, |_| true);
    let graph = CallGraph::of(&tree);
    (tree, graph)
}

/// Name, calls, self and total ticks.
fn lines(tree: &CallTree, list: &[Edge]) -> Vec<String> {
    list.iter()
        .map(|line| {
            let name = line.function.map_or("-", |f| &tree.functions.get(f).name);
            format!(
                "{name} {}/{} {} {}",
                line.calls, line.of_calls, line.own.ticks, line.total.ticks
            )
        })
        .collect()
}

#[test]
fn a_cycle_is_also_shown_as_a_whole() {
    let (tree, graph) = graph_of(&fixture::mutual_recursion());
    // main, even, odd and leaf; even and odd call each other.
    let whole = graph.entries.last().unwrap();
    assert_eq!(whole.subject, Subject::Cycle(1));
    assert_eq!((whole.outermost_calls, whole.recursive_calls), (3, 13));
    assert_eq!((whole.own.ticks, whole.total.ticks), (203, 211));
    assert_eq!(lines(&tree, &whole.callers), ["main 3/3 203 211"]);
    assert_eq!(
        lines(&tree, &whole.callees),
        ["even 4/6 130 137", "odd 9/10 73 74"]
    );
    let named = |name: &str| {
        let is = |entry: &&Entry| matches!(entry.subject, Subject::Function(f) if tree.functions.get(f).name == name);
        graph.entries.iter().find(is).unwrap()
    };
    let even = named("even");
    assert_eq!(lines(&tree, &even.callers), ["main 2/6 130 191", "odd 4/6 0 0"]);
    assert_eq!(lines(&tree, &even.callees), ["odd 9/10 53 54", "leaf 5/6 7 7"]);
    assert_eq!(graph.cycle_of.iter().filter(|&&number| number == 1).count(), 2);
}

#[test]
fn a_function_that_calls_itself_is_no_cycle() {
    let (tree, graph) = graph_of(&fixture::recursion());
    assert_eq!(graph.entries.len(), 2);
    let fib = &graph.entries[0];
    assert_eq!((fib.outermost_calls, fib.recursive_calls), (1, 6));
    assert_eq!(lines(&tree, &fib.callers), ["main 1/7 600 600"]);
    assert!(fib.callees.is_empty());
}

proptest! {
    #[test]
    fn it_is_what_is_found_around_each_function(snapshot in fixtures::any_snapshot()) {
        let (tree, graph) = graph_of(&snapshot);
        for entry in &graph.entries {
            let Subject::Function(function) = entry.subject else { continue };
            let of = Neighbours::of(&tree, function).unwrap();
            prop_assert_eq!(entry.outermost_calls, of.outermost_calls);
            prop_assert_eq!(entry.recursive_calls, of.recursive_calls);
            prop_assert_eq!(entry.own, Amount { ticks: of.self_ticks, ns: of.self_ns });
            prop_assert_eq!(entry.total, Amount { ticks: of.total_ticks, ns: of.total_ns });
            prop_assert_eq!(entry.uncertainty, of.uncertainty);
            for (lines, links) in [(&entry.callers, &of.callers), (&entry.callees, &of.callees)] {
                let mut lines: Vec<_> = lines
                    .iter()
                    .map(|line| (line.function, line.calls, line.of_calls, line.total.ticks, line.total.ns))
                    .collect();
                let link = |link: &callers::Link| (link.function, link.calls, link.of_calls, link.ticks, link.ns);
                let mut links: Vec<_> = links.iter().map(link).collect();
                lines.sort();
                links.sort();
                prop_assert_eq!(lines, links);
            }
        }
        let functions = graph.entries.iter().filter(|entry| matches!(entry.subject, Subject::Function(_)));
        prop_assert_eq!(functions.map(|entry| entry.own.ns).sum::<u64>(), tree.measured_ns());
    }

    #[test]
    fn callers_are_the_total_and_so_are_callees_with_self(snapshot in fixtures::any_snapshot()) {
        let (tree, graph) = graph_of(&snapshot);
        for entry in &graph.entries {
            let sum = |lines: &[Edge], value: fn(&Edge) -> Amount| {
                let mut sum = Amount::default();
                lines.iter().for_each(|line| sum += value(line));
                sum
            };
            for line in entry.callers.iter().chain(&entry.callees) {
                prop_assert!(line.own.ns <= line.total.ns && line.own.ticks <= line.total.ticks, "{line:?}");
                prop_assert!(line.total.ns <= entry.total.ns && line.calls <= line.of_calls, "{line:?}");
            }
            prop_assert_eq!(sum(&entry.callers, |line| line.own), entry.own);
            prop_assert_eq!(sum(&entry.callers, |line| line.total), entry.total);
            let mut below = sum(&entry.callees, |line| line.total);
            match entry.subject {
                Subject::Function(_) => {
                    below += entry.own;
                    prop_assert_eq!(below, entry.total);
                }
                Subject::Cycle(number) => {
                    prop_assert_eq!(below, entry.total);
                    prop_assert_eq!(sum(&entry.callees, |line| line.own), entry.own);
                    prop_assert!(entry.callees.len() > 1);
                    prop_assert_eq!(entry.callees.iter().map(|line| line.calls).sum::<u64>(), entry.recursive_calls);
                    prop_assert_eq!(entry.callers.iter().map(|line| line.calls).sum::<u64>(), entry.outermost_calls);
                    let members = graph.cycle_of.iter().filter(|&&of| of == number).count();
                    prop_assert_eq!(members, entry.callees.len());
                }
            }
        }
        prop_assert_eq!(graph.cycle_of.len(), tree.functions.list.len());
    }
}

//! Finds the system calls in which threads waited while they were in given nodes, and counts the samples of each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::saturating_sum;

/// A system call, and how many samples found a thread waiting in it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSamples {
    /// Name of the system call.
    pub call: String,
    /// Number of samples.
    pub samples: u64,
    /// Fraction of the listed samples that belong to this system call, from 0 to 1.
    pub share: f64,
}

/// Returns the system calls in which threads waited while their innermost node was one of the chosen ones. The calls with the
/// most samples come first.
pub fn in_nodes(snapshot: &Snapshot, is_chosen: impl Fn(NodeId) -> bool) -> Vec<CallSamples> {
    let samples = snapshot.waits_in.samples();
    let chosen = samples.filter(|&(row, ..)| is_chosen(NodeId(row)));
    shares(chosen.map(|(_, call, samples)| (call, samples)))
}

/// Returns the system calls in which threads waited while this was their innermost node. The calls with the most samples come
/// first.
pub fn in_node(snapshot: &Snapshot, node: NodeId) -> Vec<CallSamples> {
    shares(snapshot.waits_in.of_row(node.0))
}

fn shares<'a, I: Iterator<Item = (&'a str, u64)>>(samples: I) -> Vec<CallSamples> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (call, samples) in samples {
        let sum = sums.entry(call).or_default();
        *sum = sum.saturating_add(samples);
    }
    let all = saturating_sum(sums.values().copied());
    let mut calls: Vec<CallSamples> = sums
        .into_iter()
        .map(|(call, samples)| CallSamples {
            call: call.into(),
            samples,
            share: samples as f64 / all as f64,
        })
        .collect();
    calls.sort_by_key(|call| Reverse(call.samples));
    calls
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;
    use crate::call_tree::CallTree;
    use crate::transform;

    fn told(calls: &[CallSamples]) -> Vec<(&str, u64)> {
        let calls = calls.iter();
        calls.map(|call| (call.call.as_str(), call.samples)).collect()
    }

    #[test]
    fn samples_of_merged_rows_add_up_and_shares_are_of_all() {
        let snapshot = fixture::waiting();
        let own = in_node(&snapshot, NodeId(1));
        assert_eq!(told(&own), [("futex", 71), ("fsync", 20), ("read", 9)]);
        assert_eq!((own[0].share, own[2].share), (0.71, 0.09));
        let all = in_nodes(&snapshot, |_| true);
        assert_eq!(told(&all), [("futex", 83), ("fsync", 20), ("read", 9)]);
        assert_eq!(in_node(&snapshot, NodeId(0)), []);
    }

    #[test]
    fn rows_of_a_tree_from_the_bottom_up_have_what_their_calls_have() {
        let snapshot = fixture::waiting();
        let tree = CallTree::build(&snapshot, |_| true);
        let turned = transform::bottom_up(&tree, usize::MAX, |_| true).tree;
        let top = turned.top().iter();
        let calls = top.flat_map(|&row| in_nodes(&snapshot, turned.nodes_of([row])));
        let all: u64 = calls.map(|call| call.samples).sum();
        assert_eq!(all, 112);
    }
}

//! Totals for each function over all threads of the process. The governor uses them to decide which functions are
//! measured.

use tickscope_format::snapshot::{Mode, Quantity};

use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::function_sites;
use crate::enabled::record::node::Node;
use crate::enabled::record::tree::Tree;

/// Measuring a poll of an async body costs as much as measuring this many calls.
const POLL: u64 = 10;

/// Totals for a function. Times include all calls inside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Done {
    /// Number of calls; a poll counts as [`POLL`] calls.
    pub(crate) calls: u64,
    /// Number of calls whose time is known.
    pub(crate) timed: u64,
    /// Ticks of all calls. A node's untimed calls are assumed to take as long as its timed calls.
    pub(crate) ticks: u64,
    /// Ticks that the clock has charged to the function's nodes and the nodes below them, including ticks of open calls.
    pub(crate) charged: u64,
    /// Charged ticks, with recursive calls counted only once, in the outermost call.
    pub(crate) charged_once: u64,
    /// Charged ticks of calls that no switched-on function encloses.
    pub(crate) charged_outermost: u64,
}

impl Done {
    /// Returns the totals since an earlier moment.
    pub(crate) fn since(&self, then: &Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(then.calls),
            timed: self.timed.saturating_sub(then.timed),
            ticks: self.ticks.saturating_sub(then.ticks),
            charged: self.charged.saturating_sub(then.charged),
            charged_once: self.charged_once.saturating_sub(then.charged_once),
            charged_outermost: self.charged_outermost.saturating_sub(then.charged_outermost),
        }
    }

    /// Returns `charged_once` as a share of `charged`.
    pub(crate) fn once(&self) -> f64 {
        match self.charged {
            0 => 1.0,
            all => self.charged_once as f64 / all as f64,
        }
    }

    /// Returns whether the function spends more than a tenth of its time in calls that no switched-on function
    /// encloses. If it were switched off, the calls inside those calls would have no caller.
    pub(crate) fn is_outermost(&self) -> bool {
        self.charged_outermost > self.charged_once / 10
    }
}

/// A node of the tree that is being added.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Ticks of those nodes below this node that have been added so far.
    ticks: u64,
    /// Whether a switched-on function encloses the node.
    is_inside: bool,
}

/// Totals for all functions, by function number.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionSums {
    pub(crate) by_number: Vec<Done>,
}

impl FunctionSums {
    /// Adds the totals of a thread's functions. `sampled` holds the ticks that sampling has added to each node.
    pub(crate) fn add(&mut self, tree: &Tree, mode: Mode, sampled: &[u64]) {
        self.by_number
            .resize(function_sites::all().len(), Done::default());
        let length = tree.nodes.len();
        let mut rows = vec![Row::default(); length as usize];
        // Parents come before children.
        for (index, node) in (1..length).filter_map(|index| Some((index, tree.nodes.get(index)?))) {
            if let Some(parent) = node.parent.get() {
                let counts = parent.site.get().is_some_and(|site| !site.is_ruled_off());
                rows[index as usize].is_inside = counts || rows[parent.index() as usize].is_inside;
            }
        }
        for (index, node) in (1..length)
            .rev()
            .filter_map(|index| Some((index, tree.nodes.get(index)?)))
        {
            let own = match mode.is_sampling() {
                true => sampled.get(index as usize).copied().unwrap_or(0),
                false => node.self_ticks.load(Ordering::Relaxed),
            };
            let row = rows[index as usize];
            let charged = row.ticks.saturating_add(own);
            if let Some(parent) = node.parent.get() {
                let sum = &mut rows[parent.index() as usize].ticks;
                *sum = sum.saturating_add(charged);
            }
            let Some(site) = node.site.get() else { continue };
            let number = function_sites::number_of(site);
            let Some(sum) = number.and_then(|number| self.by_number.get_mut(number as usize)) else {
                continue;
            };
            let polls = tree.measures.get(index);
            let polls = polls.map_or(0, |of| of.of(Quantity::Polls).load(Ordering::Relaxed));
            let begun = node.calls.load(Ordering::Relaxed);
            let calls = if site.is_future() { polls * POLL } else { begun };
            let (timed, ticks) = match mode.times_some_calls() {
                true => timed_of(node, calls, begun),
                false => (calls, charged),
            };
            sum.calls += calls;
            sum.timed += timed;
            let mut above = node.up().skip(1);
            let is_first = !above.any(|above| above.site.is(site));
            for (sum, ticks) in [
                (&mut sum.ticks, ticks),
                (&mut sum.charged, charged),
                (&mut sum.charged_once, if is_first { charged } else { 0 }),
                (
                    &mut sum.charged_outermost,
                    if row.is_inside { 0 } else { charged },
                ),
            ] {
                *sum = sum.saturating_add(ticks);
            }
        }
    }
}

/// In adaptive mode: estimates how many of the `calls` were timed, and how many ticks all `calls` took. `begun` is the
/// number of calls that have begun, which does not include the later polls of a future.
fn timed_of(node: &Node, calls: u64, begun: u64) -> (u64, u64) {
    let Some(latency) = node.latency.get() else {
        return (0, 0);
    };
    let timed = latency.timed.load(Ordering::Relaxed).min(begun);
    let ticks = latency.timed_ticks.load(Ordering::Relaxed);
    if timed == 0 {
        return (0, 0);
    }
    let part = timed as f64 / begun as f64;
    ((calls as f64 * part) as u64, (ticks as f64 / part) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::tree::NO_LIMIT;
    use crate::enabled::record::tree::tests::opened;

    #[test]
    fn a_function_around_which_nothing_counts_is_outermost_for_as_much_time_as_it_takes_there() {
        function_sites::set_for_tests();
        let [outer, inner, off] = [5, 6, 7].map(|number| function_sites::get(number).unwrap());
        off.set_ruled_off(true);
        let tree = opened(NO_LIMIT, 10, 100);
        let root = tree.take().unwrap();
        let add = |parent, site, calls, ticks| {
            let node = tree.add_child(parent, site, || true).unwrap();
            node.calls.store(calls, Ordering::Relaxed);
            node.self_ticks.store(ticks, Ordering::Relaxed);
            node
        };
        let first = add(root, outer, 2, 100);
        let second = add(first, inner, 10, 450);
        add(second, inner, 40, 50);
        // A function that is off does not count as a caller, so calls inside it are outermost.
        let gone = add(root, off, 1, 5);
        add(gone, inner, 3, 20);
        let mut sums = FunctionSums::default();
        sums.add(&tree, Mode::Exact, &[]);
        let done = |number: usize| sums.by_number[number];
        assert_eq!((done(5).calls, done(5).timed, done(5).ticks), (2, 2, 600));
        // The time of the inner call counts in both calls of the recursion.
        assert_eq!((done(6).calls, done(6).ticks), (53, 570));
        assert_eq!((done(5).once(), done(6).once()), (1.0, 520.0 / 570.0));
        assert!(done(5).is_outermost() && !done(6).is_outermost() && done(7).is_outermost());
        assert_eq!((done(6).charged_once, done(6).charged_outermost), (520, 20));
        sums.add(&tree, Mode::Exact, &[]);
        assert_eq!(sums.by_number[6].calls, 106);
    }

    /// In a recursion, all of the few outer calls are timed, but only a few of the many inner calls. The mean over all
    /// timed calls would be too long for the inner ones.
    #[test]
    fn calls_that_were_not_timed_last_as_long_as_the_timed_ones_of_their_node() {
        function_sites::set_for_tests();
        let tree = opened(NO_LIMIT, 10, 100);
        let root = tree.take().unwrap();
        let add = |parent, calls, timed, ticks| {
            let node = tree
                .add_child(parent, function_sites::get(5).unwrap(), || true)
                .unwrap();
            node.calls.store(calls, Ordering::Relaxed);
            node.latency.set_release(tree.latencies.make(node.index()));
            let latency = node.latency.get().unwrap();
            latency.timed.store(timed, Ordering::Relaxed);
            latency.timed_ticks.store(ticks, Ordering::Relaxed);
            node
        };
        let outer = add(root, 2, 2, 50_000);
        add(outer, 1_000, 10, 200);
        let mut sums = FunctionSums::default();
        sums.add(&tree, Mode::Adaptive, &[]);
        let done = sums.by_number[5];
        assert_eq!((done.calls, done.timed, done.ticks), (1_002, 12, 70_000));
    }
}

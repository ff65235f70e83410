//! Finds the cause of a slow call: the node that accounts for most of the call's excess over a typical call, and what kind of
//! excess it is.

use tickscope_format::snapshot::CauseKind;

use super::Tree;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::node::Node;
use crate::enabled::record::path_sums::{PathSums, SumsOfWatch};
use crate::enabled::record::typical_paths::{self, Means, TypicalPaths};

/// Ready time is the cause only if its excess over the typical time is more than this many times the rest of the excess. When
/// more threads want to run than there are CPUs, a call that works longer is also ready for longer, by about the same amount.
const READY_LEAST: i64 = 3;

/// Used instead of [`READY_LEAST`] for a call that would have been slow even without its excess ready time.
const READY_LEAST_IF_SLOW: i64 = 10;

/// If most of a path's excess is waiting, its number of calls is the cause only if there were at least this many calls more than
/// is typical. With fewer additional calls, such as one call instead of none, waiting is the better explanation.
const CALLS_MORE: f64 = 4.0;

impl Tree {
    /// Finds what caused most of a slow call's excess over the typical time, and counts the call under this cause. The call is
    /// compared with this thread's typical calls of the same node or, if there are none, with the typical calls of all threads.
    /// Returns `None` if there are no typical calls.
    pub(super) fn cause(
        &self,
        sums: &SumsOfWatch,
        root: &'static Node,
        ticks: u64,
        threshold: u64,
    ) -> Option<(u32, CauseKind)> {
        let of_root = sums.nodes.get(root.index())?;
        let calls = of_root.typical.calls.load(Ordering::Relaxed);
        if calls > 0 {
            let typical = |of_node: &PathSums| Means::of(of_node.typical.read(), calls);
            return self.cause_beside(sums, root, ticks, threshold, typical);
        }
        let slot = self.watching.slot.load(Ordering::Relaxed);
        typical_paths::read(slot, sums.number(), |paths| {
            self.find_paths(sums, root, paths)?;
            let typical = |of_node: &PathSums| {
                let path = of_node.path.load(Ordering::Relaxed).checked_sub(1);
                path.and_then(|path| paths.means(path as u32)).unwrap_or_default()
            };
            self.cause_beside(sums, root, ticks, threshold, typical)
        })
    }

    /// Stores the path number of each node in a slow call. Returns `None` if no typical call is known.
    fn find_paths(&self, sums: &SumsOfWatch, root: &'static Node, paths: &TypicalPaths) -> Option<()> {
        let of_root = paths.path(None, root.site.get()?)?;
        // In the list of touched nodes, each node comes before its callees.
        for (index, of_node) in self.each_touched(sums) {
            let node = self.nodes.get(index);
            let path = if index == root.index() {
                Some(of_root)
            } else {
                let parent = node.and_then(|node| sums.nodes.get(node.parent.get()?.index()));
                let parent = parent.and_then(|parent| parent.path.load(Ordering::Relaxed).checked_sub(1));
                let site = node.and_then(|node| node.site.get());
                parent
                    .zip(site)
                    .and_then(|(parent, site)| paths.path(Some(parent as u32), site))
            };
            let path = path.map_or(0, |path| u64::from(path) + 1);
            of_node.path.store(path, Ordering::Relaxed);
        }
        paths.means(of_root).filter(|means| means.calls > 0.0).map(|_| ())
    }

    /// Finds the cause by comparing each node with a typical call. Any call may lose its CPU, so ready time is the cause only if
    /// its excess is several times the rest of the excess.
    fn cause_beside(
        &self,
        sums: &SumsOfWatch,
        root: &'static Node,
        ticks: u64,
        threshold: u64,
        typical: impl Fn(&PathSums) -> Means,
    ) -> Option<(u32, CauseKind)> {
        let (mut ready, mut others) = (0i64, 0i64);
        for (index, of_node) in self.each_touched(sums) {
            let now = Means::of(of_node.pending.read(), 1);
            let typical = typical(of_node);
            ready += now.ready - typical.ready;
            let waiting = now.waiting - typical.waiting;
            let excess = waiting + now.working - typical.working;
            others += excess;
            // The excess is added to the node and all nodes above it, up to the root.
            let mut at = self.nodes.get(index);
            while let Some(node) = at {
                if let Some(sums) = sums.nodes.get(node.index()) {
                    add(&sums.excess, excess.cast_unsigned());
                    add(&sums.excess_waiting, waiting.cast_unsigned());
                    add(&sums.whole, (now.working + now.waiting).cast_unsigned());
                }
                at = node.parent.get().filter(|_| !std::ptr::eq(node, root));
            }
        }
        let is_slow_without = ticks.saturating_sub(ready.max(0).cast_unsigned()) >= threshold;
        let least = if is_slow_without {
            READY_LEAST_IF_SLOW
        } else {
            READY_LEAST
        };
        if ready > 0 && ready / least > others {
            return self.count_cause(sums, root.index(), CauseKind::Ready, ready);
        }
        // Descend to the child with the largest excess, as long as that child accounts for more than half of its parent's excess.
        let mut at = root.index();
        let excess_of = |sums: &PathSums| sums.excess.load(Ordering::Relaxed).cast_signed();
        loop {
            let here = sums.nodes.get(at).map_or(0, excess_of);
            let mut most = None;
            for (index, of_node) in self.each_touched(sums) {
                let parent = self.nodes.get(index).and_then(|node| node.parent.get());
                if index != root.index()
                    && parent.is_some_and(|parent| parent.index() == at)
                    && excess_of(of_node) > here / 2
                    && most.is_none_or(|(_, excess)| excess < excess_of(of_node))
                {
                    most = Some((index, excess_of(of_node)));
                }
            }
            match most {
                Some((child, _)) => at = child,
                None => break,
            }
        }
        let of_node = sums.nodes.get(at)?;
        let excess = excess_of(of_node);
        let waiting = of_node.excess_waiting.load(Ordering::Relaxed).cast_signed();
        let calls = of_node.pending.calls.load(Ordering::Relaxed) as f64;
        let typical = typical(of_node).calls;
        let whole = of_node.whole.load(Ordering::Relaxed).cast_signed();
        // The time that the additional calls took, if each of them took the typical time.
        let by_calls = if typical > 0.0 {
            (calls / typical - 1.0) * (whole - excess) as f64
        } else {
            excess as f64
        };
        let more_calls = calls - typical;
        let is_by_calls = by_calls > excess as f64 / 2.0 && at != root.index();
        let kind = if waiting > excess / 2 && !(is_by_calls && more_calls >= CALLS_MORE) {
            CauseKind::Waiting
        } else if is_by_calls {
            CauseKind::Calls
        } else {
            CauseKind::SelfTime
        };
        let excess = if kind == CauseKind::Waiting {
            waiting
        } else {
            excess
        };
        self.count_cause(sums, at, kind, excess)
    }

    fn count_cause(
        &self,
        sums: &SumsOfWatch,
        node: u32,
        kind: CauseKind,
        excess: i64,
    ) -> Option<(u32, CauseKind)> {
        let of_node = sums.nodes.get(node)?;
        let cause = of_node.causes.get(kind as usize)?;
        add(&cause.calls, 1);
        add(&cause.excess_ticks, excess.max(0).cast_unsigned());
        add(&cause.path_calls, of_node.pending.calls.load(Ordering::Relaxed));
        Some((node, kind))
    }
}

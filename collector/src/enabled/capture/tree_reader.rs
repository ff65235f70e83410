//! Reads a live tree while its thread goes on.

use tickscope_format::ids::SiteId;
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::ThreadState;

use crate::enabled::capture::baseline::Counts;
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::capture::row::{Lost, Row};
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::platform::sync::{self, Ordering, fence};
use crate::enabled::record::latency::Latency;
use crate::enabled::record::mode_switch;
use crate::enabled::record::node::Node;
use crate::enabled::record::registry::Block;
use crate::enabled::record::tree::{PAUSED, Tree};
use crate::enabled::runtime::config;

/// What was read of a live tree, beside its nodes.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Open calls, outermost first: node and the tick it began, 0 where that is not known.
    pub(crate) open: Vec<(u32, u64)>,
    pub(crate) state: ThreadState,
    pub(crate) lost: Lost,
}

/// Reads one tree again and again. Index 0 is the root.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// What never changes of a node is read once.
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: Vec<Counts>,
    changed: Changed,
    /// The histogram in hand, kept for its capacity.
    histogram: Histogram,
}

/// Which histograms need to be read again: those of nodes that were called or open of late.
#[derive(Debug, Default)]
struct Changed {
    /// Readings until a node needs no more. A call may end after its histogram was read and before its thread was
    /// looked at, so the reading after that one is the first to be sure.
    left: Vec<u8>,
}

impl Reader {
    /// Reads the tree, and into `histograms` those that may have changed.
    pub(crate) fn read(
        &mut self,
        block: &'static Block,
        sites: &mut SiteIds,
        histograms: &mut Histograms,
    ) -> Reading {
        let config = config::get();
        let now = || config.chosen.clock.now();
        let quiet = self.read_counts(now, config.max_gap_ticks, &block.tree, sites, histograms);
        self.finish(&block.tree, quiet)
    }

    /// Reads all nodes, and adds the time since the last event, by this clock and with this limit of a gap. Gives where the
    /// thread is if it had no event meanwhile.
    pub(crate) fn read_counts(
        &mut self,
        now: impl FnOnce() -> u64,
        limit: u64,
        tree: &'static Tree,
        sites: &mut SiteIds,
        histograms: &mut Histograms,
    ) -> Option<&'static Node> {
        let current = tree.current.get_acquire();
        let last = tree.last.load(Ordering::Acquire);
        let length = tree.nodes.len();
        for index in self.rows.len() as u32..length {
            let node = tree.nodes.get(index);
            self.rows.push(Row {
                parent: node.and_then(|node| node.parent.get()).map_or(0, Node::index),
                // The root has no site, and its row is never shown.
                site: node
                    .and_then(|node| node.site.get())
                    .map_or(SiteId(0), |site| sites.id(site)),
                errors: 0,
                is_counter: node.is_some_and(Node::is_counter),
            });
        }
        self.counts.resize(self.rows.len(), Counts::default());
        self.changed.left.resize(self.rows.len(), 2);
        for (index, counts) in self.counts.iter_mut().enumerate() {
            if let Some(node) = tree.nodes.get(index as u32) {
                read_node(
                    node,
                    index,
                    counts,
                    &mut self.changed,
                    &mut self.histogram,
                    histograms,
                );
                if self.rows[index].is_counter {
                    counts.sum = node.sum();
                }
            }
        }
        if tree.clock_errors.load(Ordering::Relaxed) > 0 {
            for (index, row) in self.rows.iter_mut().enumerate() {
                row.errors = tree.errors_of(index as u32);
            }
        }
        let now = now();
        // SYNC POINT: mark before counters, counters before last: if neither has changed, no event touched what
        // was read in between. `current` first: an event whose counters were seen has taken it out, and one that
        // has put the same node back has moved `last` before.
        fence(Ordering::Acquire);
        let same = |now: &'static Node| current.is_some_and(|current| std::ptr::eq(now, current));
        let quiet = tree.current.get_acquire().filter(|now| same(now));
        let quiet = quiet.filter(|_| tree.last.load(Ordering::Acquire) == last);
        if let Some(current) = quiet {
            // The time since the last event, which the next one is going to charge.
            let pending = pending(tree, last, now, limit);
            for (node, ticks) in [
                (Tree::charged(current), pending.before),
                (current, pending.behind),
            ] {
                if let Some(count) = self.counts.get_mut(node.index() as usize) {
                    count.ticks = count.ticks.saturating_add(ticks);
                }
            }
        }
        quiet
    }

    /// All histograms need to be read: what is collected has changed.
    pub(crate) fn forget(&mut self) {
        self.changed.left.fill(2);
    }

    /// Finds what is open; `quiet` is where the thread is, if that is known.
    fn finish(&mut self, tree: &'static Tree, quiet: Option<&'static Node>) -> Reading {
        let innermost = quiet.or_else(|| settled_current(tree));
        let mut open = Vec::new();
        let mut at = innermost;
        while let Some(node) = at.filter(|node| node.site.get().is_some()) {
            let began = match node.known_beginning() {
                None => 0,
                // The thread may have begun an outer call anew between two looks: it is no later than what it holds.
                Some(began) => open
                    .iter()
                    .map(|&(_, inner)| inner)
                    .rfind(|&inner| inner > 0)
                    .map_or(began, |inner: u64| began.min(inner)),
            };
            open.push((node.index(), began));
            at = node.parent.get();
        }
        open.reverse();
        open.retain(|&(index, _)| (index as usize) < self.rows.len());
        self.changed.keep_open(&open);
        let state = match (tree.is_paused(), open.is_empty()) {
            (true, _) => ThreadState::Paused,
            (false, false) => ThreadState::Running,
            // Also a thread that the kernel took off its CPU in the middle of an event: where it is, it has not said.
            (false, true) => ThreadState::Idle,
        };
        let lost = Lost {
            dropped: tree.dropped.load(Ordering::Relaxed),
            unbalanced: tree.unbalanced.load(Ordering::Relaxed),
            clock_errors: tree.clock_errors.load(Ordering::Relaxed),
        };
        Reading { open, state, lost }
    }
}

/// Another thread's look at which histogram a node has, and as which it was made; 0 where it has none.
pub(crate) fn latency_of(node: &Node) -> (Option<&'static Latency>, u64) {
    // SYNC POINT: made before found: what was counted in its place in an earlier life is none of this node's.
    let latency = node.latency.get_acquire();
    (latency, latency.map_or(0, Latency::made))
}

/// Reads a node's counters, and its histogram where that may have changed.
fn read_node(
    node: &Node,
    index: usize,
    counts: &mut Counts,
    changed: &mut Changed,
    histogram: &mut Histogram,
    histograms: &mut Histograms,
) {
    let calls = node.calls.load(Ordering::Relaxed);
    let ticks = node.self_ticks.load(Ordering::Relaxed);
    let (latency, made) = latency_of(node);
    // A future that is polled again is no new call, but its poll has ended.
    let look = changed.look(index, calls != counts.calls || ticks != counts.ticks);
    let known = std::mem::replace(&mut counts.calls, calls);
    counts.ticks = ticks;
    if look {
        match latency {
            Some(latency) => {
                let known = || (known, histograms.ended(index));
                counts.calls = latency.read(&node.calls, known, histogram);
            }
            None => *histogram = Histogram::default(),
        }
        histograms.set(index, histogram, made);
        if counts.calls != calls {
            changed.left[index] = 2;
        }
    }
    // A call that is timed is a call: where those have not changed this has not.
    if let Some(latency) = latency.filter(|_| look) {
        counts.timed = latency.timed.load(Ordering::Relaxed);
    }
}

/// Time that a tree's next event is going to charge.
#[derive(Debug, Default)]
struct Pending {
    /// Up to the first switch that the thread has not met: of the innermost call that is timed.
    before: u64,
    /// Behind it: of the innermost call, as every one is timed from then on.
    behind: u64,
}

/// The time since a tree's last event at `last` that its next one is going to charge: of all stretches in between
/// that measure time.
fn pending(tree: &Tree, last: u64, now: u64, limit: u64) -> Pending {
    // A longer one is not going to be charged.
    let within = |ticks: u64| if ticks <= limit { ticks } else { 0 };
    let mut since = (last != PAUSED).then_some(last);
    let mut pending = Pending::default();
    let mut stretch = &mut pending.before;
    let mut known = tree.caught_up_to.load(Ordering::Acquire);
    for switch in mode_switch::after(known) {
        let tick = since.map_or(switch.tick, |since| switch.tick.max(since));
        if switch.follows(known) {
            *stretch = stretch.saturating_add(since.map_or(0, |since| within(tick - since)));
        }
        known = switch.word;
        since = (switch.is_timed() && !tree.stands_still()).then_some(tick);
        stretch = &mut pending.behind;
    }
    *stretch = stretch.saturating_add(since.map_or(0, |since| within(now.saturating_sub(since))));
    pending
}

/// Where a busy thread stands: its events take nanoseconds, so a few looks find it between two of them.
pub(crate) fn settled_current(tree: &'static Tree) -> Option<&'static Node> {
    (0..1000).find_map(|_| {
        sync::spin_loop();
        tree.current.get_acquire()
    })
}

impl Changed {
    /// Whether the histogram of a node needs to be read, which was `called` or took time since the reading before or not.
    fn look(&mut self, index: usize, called: bool) -> bool {
        let left = &mut self.left[index];
        if called {
            *left = 2;
        }
        let read = *left > 0;
        *left = left.saturating_sub(1);
        read
    }

    fn keep_open(&mut self, open: &[(u32, u64)]) {
        for &(index, _) in open {
            self.left[index as usize] = 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_until_its_node_has_rested_for_two_readings() {
        let mut changed = Changed { left: vec![2] };
        let mut before = 0;
        let mut reads = |calls, open: bool| {
            let read = changed.look(0, std::mem::replace(&mut before, calls) != calls);
            if open {
                changed.keep_open(&[(0, 5)]);
            }
            read
        };
        assert!(reads(1, true), "its first call");
        assert!(reads(1, true), "still open");
        assert!(reads(1, false), "was open");
        assert!(reads(1, false), "may have ended behind the reading before");
        assert!(!reads(1, false));
        assert!(reads(2, false), "called again");
    }
}

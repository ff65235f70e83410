//! Reads a live tree while its thread runs.
//!
//! A program may have 100 000 nodes, so a reading does not repeat work whose result cannot have changed. The parent and the
//! site of a node are read once. A histogram is read only if its node has been called, or has had an open call, since the
//! previous reading. The number of calls of a node is read right after its histogram, so that any calls made in between look
//! like calls that are still open.

mod changed;
mod futures;
mod open_gap;

use tickscope_format::ids::SiteId;
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Losses, Quantity, ThreadState};

use crate::enabled::capture::baseline::{Baseline, Counts, Measured};
use crate::enabled::capture::functions::Ends;
use crate::enabled::capture::histograms::Histograms;
use crate::enabled::capture::ranges;
use crate::enabled::capture::row::{Lost, Row};
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::platform::off_cpu::Clocks;
use crate::enabled::platform::os;
use crate::enabled::platform::sync::{self, Ordering, fence};
use crate::enabled::record::latency::Latency;
use crate::enabled::record::node::Node;
use crate::enabled::record::numbers::Numbers;
use crate::enabled::record::registry::Block;
use crate::enabled::record::site::SiteKind;
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;

use self::changed::Changed;
use self::futures::Futures;
use self::open_gap::{OpenGap, pending};

/// Result of reading a live tree, apart from the data of its nodes.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The open calls, outermost first: the node, and the tick at which the call began, or 0 if that is unknown.
    pub(crate) open: Vec<(u32, u64)>,
    pub(crate) state: ThreadState,
    pub(crate) lost: Lost,
}

/// Reads one tree repeatedly. Index 0 is the root.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Properties of each node besides its counters. All of them but the errors are read only once.
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: Vec<Counts>,
    /// Measurements of the nodes besides calls and time; empty if there are none.
    pub(crate) measured: Vec<Measured>,
    /// Readings of values and gauges.
    pub(crate) numbers: Vec<ranges::Read>,
    changed: Changed,
    futures: Futures,
    /// The histogram being read, kept to reuse its memory.
    histogram: Histogram,
    open_gap: OpenGap,
    /// How many function calls had ended in each way when the counts were read.
    ends: Ends,
}

impl Reader {
    /// Reads the tree. Histograms that may have changed are read into `baseline`.
    pub(crate) fn read(
        &mut self,
        block: &'static Block,
        sites: &mut SiteIds,
        baseline: &mut Baseline,
    ) -> Reading {
        let config = config::get();
        let now = || config.chosen.clock.now();
        let tid = block.tid.load(Ordering::Relaxed);
        let clocks = || {
            let cpu_ns = os::cpu_ns_of(tid).filter(|_| config.waits)?;
            let wall_ns = os::monotonic_ns();
            Some(Clocks { wall_ns, cpu_ns })
        };
        self.find_rows(&block.tree, sites);
        // Ended calls of futures are read first, so that a thread never seems to have ended more calls than it has
        // begun.
        let (length, histogram) = (self.rows.len(), &mut self.histogram);
        self.futures
            .read(&block.tree, length, &mut baseline.async_histograms, histogram);
        let histograms = &mut baseline.histograms;
        let quiet = self.read_counts(now, config.max_gap_ticks, &block.tree, histograms, clocks);
        self.finish(&block.tree, quiet)
    }

    /// Finds the rows of new nodes.
    pub(crate) fn find_rows(&mut self, tree: &'static Tree, sites: &mut SiteIds) {
        let (known, length) = (self.rows.len() as u32, tree.nodes.len());
        self.futures.find(tree, known, length);
        for index in known..length {
            let node = tree.nodes.get(index);
            self.rows.push(Row {
                parent: node.and_then(|node| node.parent.get()).map_or(0, Node::index),
                // The root has no site, and its row is never shown.
                site: node
                    .and_then(|node| node.site.get())
                    .map_or(SiteId(0), |site| sites.id(site)),
                errors: 0,
                kind: node.map_or(SiteKind::Scope, Node::kind),
            });
        }
    }

    /// Reads all nodes whose rows are known. Adds the time from the last event to now, as told by the clock `now`,
    /// unless it exceeds `limit`. `clocks` reads the thread's clocks, which tell how long the thread was off its CPU.
    /// Returns the thread's current node if the thread had no event during the reading.
    pub(crate) fn read_counts(
        &mut self,
        now: impl FnOnce() -> u64,
        limit: u64,
        tree: &'static Tree,
        histograms: &mut Histograms,
        clocks: impl FnOnce() -> Option<Clocks>,
    ) -> Option<&'static Node> {
        let current = tree.current.get_acquire();
        let last = tree.last.load(Ordering::Acquire);
        // The ends of calls are read before the beginnings, so that ends never outnumber beginnings although the thread
        // keeps running.
        self.ends = Ends::of(tree);
        self.counts.resize(self.rows.len(), Counts::default());
        self.changed.resize(self.rows.len());
        self.numbers.clear();
        for (index, counts) in self.counts.iter_mut().enumerate() {
            let Some(node) = tree.nodes.get(index as u32) else {
                continue;
            };
            let (changed, histogram) = (&mut self.changed, &mut self.histogram);
            match self.rows[index].kind {
                SiteKind::Scope => read_node(node, index, counts, changed, histogram, histograms),
                SiteKind::Counter => {
                    counts.calls = node.calls.load(Ordering::Relaxed);
                    counts.sum = node.sum();
                }
                SiteKind::Value => {
                    let read = read_value(tree, node, counts, changed, histogram, histograms);
                    self.numbers.push(read);
                }
                SiteKind::Gauge => self.numbers.extend(read_gauge(tree, node, counts)),
            }
        }
        self.read_measures(tree);
        self.futures.add(tree, &self.counts, &mut self.measured);
        if tree.clock_errors.load(Ordering::Relaxed) > 0 {
            for (index, row) in self.rows.iter_mut().enumerate() {
                row.errors = tree.errors_of(index as u32);
            }
        }
        let now = now();
        // SYNC POINT: an event takes `current` out before it changes counters, and changes counters before `last`. So
        // if neither `current` nor `last` has changed, no event touched the counters read in between. `current` is
        // checked first: an event whose counters were seen has already taken `current` out, and an event that puts the
        // same node back changes `last` before it does so.
        fence(Ordering::Acquire);
        let quiet = current.filter(|current| is_quiet(tree, current, last));
        if let Some(current) = quiet {
            // The next event will charge the time since the last event.
            let pending = pending(tree, last, now, limit);
            let whole = pending.before.saturating_add(pending.behind);
            let off = clocks().map_or(0, |clocks| self.open_gap.off(tree, last, whole, clocks));
            let off_before = off.min(pending.before);
            self.open_gap.begin_to_show(now);
            for (node, ticks, off) in [
                (Tree::charged(current), pending.before, off_before),
                (current, pending.behind, off - off_before),
            ] {
                let index = node.index() as usize;
                if let Some(count) = self.counts.get_mut(index) {
                    count.ticks = count.ticks.saturating_add(ticks);
                }
                if off > 0 {
                    self.measured.resize(self.rows.len(), Measured::default());
                    if let Some(measured) = self.measured.get_mut(index) {
                        measured.add_waiting(off);
                    }
                }
                self.open_gap.show(index, &self.counts, &self.measured);
            }
        } else {
            self.open_gap.keep(last, &mut self.counts, &mut self.measured);
        }
        quiet
    }

    /// Reads what the nodes have measured besides calls and time. In most programs there is nothing else, and no memory
    /// for it.
    fn read_measures(&mut self, tree: &'static Tree) {
        let unplaced = tree.waits.unplaced.load(Ordering::Relaxed);
        self.measured.clear();
        if tree.measures.is_empty() && unplaced == 0 {
            return;
        }
        self.measured.resize(self.rows.len(), Measured::default());
        for (index, measured) in (0..).zip(&mut self.measured) {
            if let Some(measures) = tree.measures.get(index) {
                *measured = Measured(measures.read());
            }
        }
        if let Some(root) = self.measured.first_mut() {
            root.0[Quantity::UnplacedWaiting.code() as usize] = unplaced;
        }
    }

    /// Returns whether any row belongs to a future.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn has_futures(&self) -> bool {
        !self.futures.are_none()
    }

    /// Marks all histograms as changed, because the thread measures something else in the new mode.
    pub(crate) fn forget(&mut self) {
        self.changed.forget();
    }

    /// Finds the open calls. `quiet` is the node where the thread is, if that is known.
    fn finish(&mut self, tree: &'static Tree, quiet: Option<&'static Node>) -> Reading {
        let innermost = quiet.or_else(|| find_current(tree));
        let calls = innermost.into_iter().flat_map(Node::up);
        let mut open = Vec::new();
        for node in calls.take_while(|node| node.site.get().is_some()) {
            let began = match node.known_beginning() {
                None => 0,
                // Between two loads, the thread may have left an outer call and begun it again. So no outer call may be
                // shown to begin later than the calls inside it.
                Some(began) => open
                    .iter()
                    .map(|&(_, inner)| inner)
                    .rfind(|&inner| inner > 0)
                    .map_or(began, |inner: u64| began.min(inner)),
            };
            open.push((node.index(), began));
        }
        open.reverse();
        open.retain(|&(index, _)| (index as usize) < self.rows.len());
        self.changed.keep_open(&open);
        let state = match (tree.is_paused(), open.is_empty()) {
            (true, _) => ThreadState::Paused,
            (false, false) => ThreadState::Running,
            // A thread that was descheduled in the middle of an event, where its node is unknown, also counts as idle.
            (false, true) => ThreadState::Idle,
        };
        let lost = Lost {
            losses: Losses {
                dropped: tree.dropped.load(Ordering::Relaxed),
                unbalanced: tree.unbalanced.load(Ordering::Relaxed),
            },
            clock_errors: tree.clock_errors.load(Ordering::Relaxed),
            ends: self.ends,
        };
        Reading { open, state, lost }
    }
}

/// Returns the histogram of a node, and the number of that histogram; `None` and 0 if the node has none. Any thread may
/// call this.
pub(crate) fn latency_of(node: &Node) -> (Option<&'static Latency>, u64) {
    // SYNC POINT: a histogram is set up before it can be found here, so counts that an earlier use of the tree left in
    // its memory are not attributed to this node.
    let latency = node.latency.get_acquire();
    (latency, latency.map_or(0, Latency::made))
}

/// Reads the counters of a node, and its histogram if it may have changed.
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
    // A later poll of a future is not a new call, but it changes the ticks and the histogram.
    let look = changed.look(index, calls != counts.calls || ticks != counts.ticks);
    let known = std::mem::replace(&mut counts.calls, calls);
    counts.ticks = ticks;
    if look {
        match latency {
            Some(latency) => {
                let known = || (known, histograms.ended(index));
                counts.calls = latency.read(|| node.calls.load(Ordering::Acquire), known, histogram);
            }
            None => *histogram = Histogram::default(),
        }
        histograms.set(index, histogram, made);
        if counts.calls != calls {
            changed.again(index);
        }
    }
    // Every timed call is also a call, so there are no new timed calls if there are no new calls.
    if let Some(latency) = latency.filter(|_| look) {
        counts.timed = latency.timed.load(Ordering::Relaxed);
    }
}

/// Reads the counters and the numbers of a value. The number of calls comes from the value's histogram, so that the two
/// match.
fn read_value(
    tree: &Tree,
    node: &Node,
    counts: &mut Counts,
    changed: &mut Changed,
    histogram: &mut Histogram,
    histograms: &mut Histograms,
) -> ranges::Read {
    // SYNC POINT: calls are loaded before numbers, so that every execution counted here is among the numbers.
    let calls = node.calls.load(Ordering::Acquire);
    let numbers = tree.numbers.of(node);
    let index = node.index() as usize;
    counts.sum = node.sum();
    if changed.look(index, calls != counts.calls) {
        counts.calls = match numbers {
            Some(numbers) => {
                let counted = numbers.read(histogram);
                histograms.set(index, histogram, 1);
                counted
            }
            None => calls,
        };
        if counts.calls != calls {
            changed.again(index);
        }
    }
    ranges::Read {
        node: node.index(),
        calls,
        stretches: numbers.map(Numbers::stretches),
        level: None,
    }
}

/// Reads the counters and the numbers of a gauge; `None` if the gauge has not been set yet.
fn read_gauge(tree: &Tree, node: &Node, counts: &mut Counts) -> Option<ranges::Read> {
    // SYNC POINT: calls are loaded before numbers, as in `read_value`.
    counts.calls = node.calls.load(Ordering::Acquire);
    let numbers = tree.numbers.of(node).filter(|_| counts.calls > 0);
    let set_tick = numbers.map_or(0, |numbers| numbers.set_tick.load(Ordering::Relaxed));
    (counts.calls > 0).then(|| ranges::Read {
        node: node.index(),
        calls: counts.calls,
        stretches: numbers.map(Numbers::stretches),
        level: Some((node.level(), set_tick)),
    })
}

/// Returns whether a thread is still in `current`, and has had no event since the event at tick `last`.
pub(crate) fn is_quiet(tree: &Tree, current: &Node, last: u64) -> bool {
    let now = tree.current.get_acquire();
    now.is_some_and(|now| std::ptr::eq(now, current)) && tree.last.load(Ordering::Acquire) == last
}

/// Returns the current node of a busy thread. Its events take nanoseconds, so one of a few loads finds the thread between two
/// events.
fn find_current(tree: &'static Tree) -> Option<&'static Node> {
    (0..1000).find_map(|_| {
        sync::spin_loop();
        tree.current.get_acquire()
    })
}

//! Reads a live tree while its thread runs.
//!
//! A program may have 100 000 nodes, so a reading repeats only work whose result can have changed. Parent and site of a node are
//! read once. A histogram is read only if its node was called or open since the previous reading. The calls of a node are read
//! right after its histogram, so that calls in between look like calls that are still open.

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

/// Result of reading a live tree, other than its nodes.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The open calls, outermost first: the node and the tick at which it began, 0 if that is unknown.
    pub(crate) open: Vec<(u32, u64)>,
    pub(crate) state: ThreadState,
    pub(crate) lost: Lost,
}

/// Reads one tree repeatedly. Index 0 is the root.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The fixed facts of each node, which are read once.
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: Vec<Counts>,
    /// Amounts other than calls and time; empty if no such amount was counted.
    pub(crate) measured: Vec<Measured>,
    /// Readings of values and gauges.
    pub(crate) numbers: Vec<ranges::Read>,
    changed: Changed,
    futures: Futures,
    /// The histogram being read, kept to reuse its memory.
    histogram: Histogram,
    open_gap: OpenGap,
    /// Numbers of ended function calls, by kind of end, when the counts were read.
    ends: Ends,
}

impl Reader {
    /// Reads the tree, and into `baseline` the histograms that may have changed.
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
        // The ended calls of futures are read first, so that they never outnumber the begun calls of the thread.
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

    /// Reads all nodes whose rows are known. Adds the time since the last event, by the clock `now`, unless it exceeds
    /// `limit`. `clocks` reads the thread's clocks, to tell how long the thread was off its CPU. Returns the thread's
    /// current node if the thread had no event meanwhile.
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
        // The ends are read before the beginnings, so that ends never outnumber beginnings while the thread runs on.
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
        // SYNC POINT: mark before counters, counters before last: if neither `current` nor `last` has changed, no event
        // touched the counters read in between. `current` is checked first: an event whose counters were seen has taken
        // `current` out, and an event that puts the same node back moves `last` first.
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

    /// Reads the amounts other than calls and time. Most programs count no such amounts, and have no memory for them.
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

    /// Returns whether there are rows of futures.
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
                // The thread may have begun an outer call again between two loads, so this loop lets no outer call
                // begin later than the calls inside it.
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
            // This includes a thread that was descheduled in the middle of an event, where its node is unknown.
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

/// Returns the histogram of a node as another thread may read it, and its number; the number is 0 without a histogram.
pub(crate) fn latency_of(node: &Node) -> (Option<&'static Latency>, u64) {
    // SYNC POINT: a histogram is made before it is found: counts that an earlier life left in its memory do not belong
    // to this node.
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
    // A later poll of a future is no new call, but it changes the ticks and the histogram.
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
    // Timed calls are calls, so their number has not changed if the number of calls has not.
    if let Some(latency) = latency.filter(|_| look) {
        counts.timed = latency.timed.load(Ordering::Relaxed);
    }
}

/// Reads the counters and the numbers of a value. The calls come from its histogram, so both are from one moment.
fn read_value(
    tree: &Tree,
    node: &Node,
    counts: &mut Counts,
    changed: &mut Changed,
    histogram: &mut Histogram,
    histograms: &mut Histograms,
) -> ranges::Read {
    // SYNC POINT: calls before numbers, so that all executions that are counted here are among the numbers.
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

/// Reads the counters and the numbers of a gauge; `None` if it was not set yet.
fn read_gauge(tree: &Tree, node: &Node, counts: &mut Counts) -> Option<ranges::Read> {
    // SYNC POINT: calls before numbers, as in `read_value`.
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

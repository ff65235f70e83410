//! Calls of the unit: measured as usual, or with clocks off, to find out what the clock costs in this program.
//!
//! With clocks off, the thread's path is [`Path::Sampled`] while the call is open, so that scopes in it are counted only. In exact mode
//! the time of such a call is then shared out: each node gets its calls in this call, times what a call of it took on average before;
//! the sum stays as measured. In adaptive mode the time stays with the unit, as that of calls that are not timed does.

use tickscope_format::snapshot::Quantity;

use super::waiting::OffInGap;
use super::{Path, Tree};
use crate::enabled::platform::os;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::catch_up::begin_to_charge;
use crate::enabled::record::node::Node;
use crate::enabled::record::unit::Clocks;

/// What a call takes in a place is taken from the calls there if they were so many, and else from those of the function in all places.
const CALLS_LEAST: u64 = 16;

/// A call is none of the unit in a thread with more nodes behind that of the unit: they are looked at in each call.
const NODES_MOST: u32 = 1 << 14;

/// The paths on which a call may be measured.
const CLOCKED: [Path; 4] = [Path::Fast, Path::Exact, Path::Adaptive, Path::AdaptiveExact];

impl Tree {
    /// Measures the call of `root`, which has just begun, as one of the unit, if it can be. Returns whether it is: then
    /// [`end_unit`](Self::end_unit) has to end it.
    #[inline(never)]
    pub(crate) fn begin_unit(&self, root: &'static Node, number: u64, clock: impl Fn() -> u64) -> bool {
        let unit = &self.unit;
        let outside = self.path();
        let may_be = number != 0
            && unit.open().is_none()
            && root.is_timed()
            && self.nodes.len() - root.index() <= NODES_MOST
            && CLOCKED.contains(&outside);
        let began = self.last.load(Ordering::Relaxed);
        let Some(current) = may_be.then(|| self.take()).flatten() else {
            return false;
        };
        unit.belong_to(number);
        unit.outside.store(outside as u32, Ordering::Relaxed);
        let clocks = unit.next(self.next_random());
        if !outside.may_skip_clock() {
            // For both kinds of calls, so that what it does to caches is in both.
            self.note_calls_before(root);
        }
        unit.begin(root, clocks);
        // An alarm that has come meanwhile stays.
        if clocks == Clocks::Off && !self.exchange_path(outside, Path::Sampled) {
            unit.discard();
        }
        unit.cpu_began.store(os::own_cpu_ns(), Ordering::Relaxed);
        // What this took is in no scope.
        if let Some(passed) = clock().checked_sub(began) {
            self.leave_out(root, began, passed);
        }
        self.put(current);
        true
    }

    /// Ends the call of the unit, at the tick that `clock` reads.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_unit(&self, clock: impl Fn() -> u64) {
        let unit = &self.unit;
        let Some(root) = unit.open() else {
            // It was closed with a call around it.
            add(&self.unbalanced, 1);
            return;
        };
        let now = clock();
        let cpu_ns = os::own_cpu_ns();
        let clocks = unit.clocks();
        // A signal handler that comes before all is noted may begin a call of the same function.
        unit.leave();
        let at_end = || now;
        if clocks == Some(Clocks::Off) {
            self.leave_unclocked_path();
        }
        let is_innermost = self.current.is(root);
        let ended = match (clocks, self.path()) {
            (Some(Clocks::Off), Path::Fast | Path::Exact) => is_innermost && self.end_unclocked(root, at_end),
            (_, Path::Adaptive | Path::AdaptiveExact) => {
                self.end_untimed(root) || self.end_timed(root, at_end)
            }
            (_, Path::Fast | Path::Exact) => self.end_innermost(root, at_end),
            (_, Path::Sampled | Path::Off) => self.end_uncharged(root),
            (_, Path::Watched | Path::WatchedExact) => self.end_watched(root, at_end),
            (_, Path::Alarm) => false,
        };
        match clocks.filter(|_| ended) {
            Some(clocks) => {
                let ns = cpu_ns.saturating_sub(unit.cpu_began.load(Ordering::Relaxed));
                unit.end(clocks, ns);
            }
            None => unit.close(),
        }
        if !ended {
            self.end_out_of_order(root, at_end);
        } else if !self.may_skip_clock() {
            let then = self.last.load(Ordering::Relaxed);
            self.go_on_after(then, clock);
        }
    }

    /// The open call of the unit is none that counts: its end will not be seen, or its time is of two kinds. The calls from `innermost` on
    /// go on as usual, after the time so far was charged.
    #[cold]
    pub(crate) fn discard_unit(&self, innermost: &'static Node) {
        if self.unit.clocks() == Some(Clocks::Off) {
            self.leave_unclocked_path();
            begin_to_charge(innermost);
        }
        self.unit.discard();
    }

    /// Puts the path of an open call with clocks off back, after an alarm that came without a switch. `outside` is the path since; another
    /// alarm that has come meanwhile stays.
    pub(crate) fn go_on_unclocked(&self, outside: Path) {
        if self.unit.clocks() == Some(Clocks::Off) {
            self.exchange_path(outside, Path::Sampled);
        }
    }

    /// Forgets the open call of the unit, if there is one, because it is closed with a call around it.
    #[cold]
    pub(super) fn forget_unit(&self) {
        if self.unit.open().is_none() {
            return;
        }
        if self.unit.clocks() == Some(Clocks::Off) {
            self.leave_unclocked_path();
        }
        self.unit.close();
    }

    /// Forgets the open call of the unit if it is one of those from `innermost` up to `outermost`, without `outermost`: its guard
    /// was leaked, or is dropped later.
    pub(super) fn forget_unit_inside(&self, innermost: &'static Node, outermost: &'static Node) {
        let Some(root) = self.unit.open() else { return };
        let mut at = Some(innermost);
        while let Some(node) = at.filter(|node| !std::ptr::eq(*node, outermost)) {
            if std::ptr::eq(node, root) {
                return self.forget_unit();
            }
            at = node.parent.get();
        }
    }

    /// Returns whether the unit's call that is open, if one is, was begun in adaptive mode.
    pub(crate) fn is_adaptive_outside_unit(&self) -> bool {
        self.unit.outside.load(Ordering::Relaxed) >= Path::AdaptiveExact as u32
    }

    fn leave_unclocked_path(&self) {
        let outside = self.unit.outside.load(Ordering::Relaxed);
        if let Some(path) = CLOCKED.into_iter().find(|path| *path as u32 == outside) {
            self.exchange_path(Path::Sampled, path);
        }
    }

    /// Notes how often each node that may be in the unit was called before.
    fn note_calls_before(&self, root: &'static Node) {
        let length = self.nodes.len();
        for index in root.index() + 1..length {
            if let (Some(before), Some(node)) = (self.unit.calls_before.make(index), self.nodes.get(index)) {
                before.store(node.calls.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        self.unit.nodes_before.store(length, Ordering::Relaxed);
    }

    /// Ends the unit's call, the innermost one, which had clocks off in exact mode, and shares its time out. Returns false if its
    /// time is not known.
    fn end_unclocked(&self, root: &'static Node, clock: impl Fn() -> u64) -> bool {
        let (Some(parent), Some(current)) = (root.parent.get(), self.take()) else {
            return false;
        };
        let now = clock();
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.gap_max.load(Ordering::Relaxed) {
            self.put(current);
            return false;
        }
        let OffInGap {
            waiting,
            ready,
            looked,
        } = self.look_at_gap(gap, now);
        // It is unknown in which of the nodes it waited. Its CPU was taken away while it worked.
        let worked = gap.saturating_sub(waiting);
        let (given, ready_given) = self.share_out(root, worked, ready.min(worked));
        add(&root.self_ticks, gap - given);
        if waiting + ready > 0 {
            let ready = ready.saturating_sub(ready_given);
            self.measure_at(root, [(Quantity::Waiting, waiting), (Quantity::Ready, ready)]);
        }
        // SYNC POINT: counters before last.
        self.last.store(now, Ordering::Release);
        if looked > 0 {
            self.leave_out(root, now, looked);
        }
        if let Some(latency) = root.latency.get() {
            latency.flush(root.lasted(now + looked), &self.latencies);
        }
        self.put(parent);
        true
    }

    /// Gives each node in the unit what its calls of this call took as far as is known, and the same share of `ready`, the part in which the
    /// thread had no CPU. Returns the sums, at most `ticks` and `ready`.
    fn share_out(&self, root: &'static Node, ticks: u64, ready: u64) -> (u64, u64) {
        let unit = &self.unit;
        let first = root.index() + 1;
        let known = unit.nodes_before.load(Ordering::Relaxed);
        let mean = |node: &Node, calls: u64| match node.site.get() {
            Some(site) if calls < CALLS_LEAST => site.mean_ticks(),
            _ => node.self_ticks.load(Ordering::Relaxed) as f64 / calls.max(1) as f64,
        };
        // The call that ends is among those of the unit's node.
        let own = root.calls.load(Ordering::Relaxed).saturating_sub(1);
        let mut all = mean(root, own);
        for index in first..self.nodes.len() {
            let (Some(node), Some(share)) = (self.nodes.get(index), unit.shares.make(index)) else {
                continue;
            };
            let is_inside = node.parent.get().is_some_and(|parent| {
                let of_parent = || unit.shares.get(parent.index());
                std::ptr::eq(parent, root)
                    || parent.index() >= first
                        && of_parent().is_some_and(|share| share.load(Ordering::Relaxed) > 0)
            });
            let before = unit.calls_before.get(index).filter(|_| index < known);
            let before = before.map_or(0, |calls| calls.load(Ordering::Relaxed));
            let calls = node.calls.load(Ordering::Relaxed).saturating_sub(before);
            let expected = if node.is_counter() {
                0.0
            } else {
                calls as f64 * mean(node, before)
            };
            let expected = if is_inside { expected } else { 0.0 };
            all += expected;
            share.store(u64::from(is_inside) + expected as u64, Ordering::Relaxed);
        }
        let part = if all > 0.0 { ticks as f64 / all } else { 0.0 };
        let (mut given, mut ready_given) = (0, 0);
        for index in first..self.nodes.len() {
            let (Some(node), Some(share)) = (self.nodes.get(index), unit.shares.get(index)) else {
                continue;
            };
            let expected = share.load(Ordering::Relaxed).saturating_sub(1);
            let own = ((expected as f64 * part) as u64).min(ticks - given);
            if own > 0 {
                add(&node.self_ticks, own);
                given += own;
            }
            let own_ready = (own as f64 / ticks.max(1) as f64 * ready as f64) as u64;
            if own_ready > 0 {
                self.measure_at(node, [(Quantity::Ready, own_ready)]);
                ready_given += own_ready;
            }
        }
        (given, ready_given.min(ready))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::site::Site;
    use crate::enabled::record::tree::NO_LIMIT;

    static ROOT: Site = Site::named("frame", "m", "f.rs", 1);
    static A: Site = Site::named("a", "m", "f.rs", 2);
    static B: Site = Site::named("b", "m", "f.rs", 3);

    struct Walk {
        tree: Box<Tree>,
        now: u64,
    }

    impl Walk {
        fn new() -> Self {
            let tree = Box::new(Tree::new());
            assert!(tree.open(1, NO_LIMIT, 10, 100));
            tree.set_path(Path::Exact);
            Self { tree, now: 1 }
        }

        fn enter(&mut self, site: &'static Site) -> &'static Node {
            let current = self.tree.current.get().unwrap();
            let child = self.tree.known_child(current, site);
            let child = child.unwrap_or_else(|| {
                let current = self.tree.take().unwrap();
                let child = self.tree.add_child(current, site, || true).unwrap();
                self.tree.put(current);
                child
            });
            if self.tree.is(Path::Sampled) {
                self.tree.begin_untimed(child, 1);
            } else {
                self.tree.mark();
                self.tree.begin(current, child, self.now, 1);
            }
            child
        }

        fn exit(&self, node: &'static Node) {
            let ended = self.tree.end_untimed(node) || self.tree.end_innermost(node, || self.now);
            assert!(ended);
        }

        /// A call of the unit: 5 ticks of its own, `calls` times a of 10 with b of 30 in it. Returns whether clocks were off.
        fn frame(&mut self, calls: u64) -> bool {
            let root = self.enter(&ROOT);
            let now = self.now;
            let is_unit = self.tree.begin_unit(root, 1, || now);
            let off = self.tree.is(Path::Sampled);
            self.now += 5;
            for _ in 0..calls {
                let a = self.enter(&A);
                self.now += 4;
                let b = self.enter(&B);
                self.now += 30;
                self.exit(b);
                self.now += 6;
                self.exit(a);
            }
            if is_unit {
                let now = self.now;
                self.tree.end_unit(|| now);
            } else {
                self.exit(root);
            }
            off
        }

        fn node(&self, index: u32) -> (u64, u64) {
            let node = self.tree.nodes.get(index).unwrap();
            (
                node.calls.load(Ordering::Relaxed),
                node.self_ticks.load(Ordering::Relaxed),
            )
        }
    }

    #[test]
    fn time_without_clocks_is_shared_out_by_what_was_called() {
        let mut walk = Walk::new();
        for (site, ticks) in [(&ROOT, 5.0), (&A, 10.0), (&B, 30.0)] {
            site.set_mean_ticks(ticks);
        }
        let mut off = 0;
        let mut calls = 0;
        for frame in 0..1000 {
            let of_frame = frame % 7;
            calls += of_frame;
            off += u64::from(walk.frame(of_frame));
        }
        assert!((400..600).contains(&off), "{off}");
        let (frames, a, b) = (walk.node(1), walk.node(2), walk.node(3));
        assert_eq!((frames.0, a.0, b.0), (1000, calls, calls));
        assert_eq!(frames.1 + a.1 + b.1, walk.now - 1, "nothing is lost");
        // The shares are rounded down, and what is left of them is the unit's.
        for (of, ticks) in [(a.1, 10 * calls), (b.1, 30 * calls)] {
            assert!(of <= ticks && ticks - of <= off, "{of} of {ticks}");
        }
        assert!(walk.tree.is(Path::Exact) && walk.tree.unit.open().is_none());
        let sums = walk.tree.unit.read(1).unwrap();
        assert_eq!(sums.pairs, 500.0);
    }

    #[test]
    fn an_alarm_without_a_switch_leaves_clocks_off() {
        let mut walk = Walk::new();
        let root = walk.enter(&ROOT);
        let now = walk.now;
        while !walk.tree.begin_unit(root, 1, || now) || !walk.tree.is(Path::Sampled) {
            walk.tree.forget_unit();
        }
        // What catching up does where there is no switch to catch up with.
        walk.tree.set_path(Path::Exact);
        walk.tree.go_on_unclocked(Path::Exact);
        assert!(walk.tree.is(Path::Sampled));
        walk.now += 40;
        let now = walk.now;
        walk.tree.end_unit(|| now);
        assert!(walk.tree.is(Path::Exact));
        assert_eq!(walk.node(1), (1, 40));
    }

    #[test]
    fn a_call_that_is_closed_from_outside_is_forgotten() {
        let mut walk = Walk::new();
        for _ in 0..4 {
            walk.frame(1);
        }
        let pairs = || walk.tree.unit.read(1).map(|sums| sums.pairs);
        let before = pairs();
        let outer = walk.enter(&A);
        let root = walk.enter(&ROOT);
        root.calls.store(10, Ordering::Relaxed);
        let now = walk.now;
        while !walk.tree.begin_unit(root, 1, || now) || !walk.tree.is(Path::Sampled) {
            walk.tree.forget_unit();
        }
        walk.enter(&B);
        walk.now += 9;
        let now = walk.now;
        walk.tree.end_out_of_order(outer, || now);
        assert!(walk.tree.is(Path::Exact) && walk.tree.unit.open().is_none());
        assert_eq!(walk.tree.unit.read(1).map(|sums| sums.pairs), before);
        let unbalanced = || walk.tree.unbalanced.load(Ordering::Relaxed);
        let so_far = unbalanced();
        walk.tree.end_unit(|| now);
        assert_eq!(unbalanced(), so_far + 1, "its guard is dropped too late");
    }
}

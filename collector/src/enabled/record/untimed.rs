//! Begins and ends calls in the modes that read the clock less than twice per scope.
//!
//! **Sampled**: an event only moves `current` and counts the call; the publisher reads `current` to find out where the thread is.
//! **Adaptive**: if the calls of a node are short, only one call in 2^k is timed. An untimed call and the calls inside it charge
//! no time. Their time is charged to the nearest timed frame, and `estimate` moves it back to them when a snapshot is made. A
//! frame is untimed while its `began` is [`UNTIMED`].
//!
//! In these modes, an event that only changes `current` does not take it out first, because any signal handler that interrupts
//! the event leaves `current` as it was.

use crate::enabled::platform::sync::{ADDS_IN_ONE, Ordering, add};
use crate::enabled::record::latency::Latency;
use crate::enabled::record::node::{Node, UNTIMED};
use crate::enabled::record::tree::Tree;

/// log2 of a duration in ticks (about 20 us). If a node's calls take at least this long on average, all of them are timed,
/// because the clock costs little in comparison.
const LONG_TICKS_LOG2: u64 = 16;

/// The rate of a node is recomputed after this many timed calls.
const RATE_INTERVAL: u64 = 32;

/// At least one call in 2^7 is timed, and is then weighted 2^7 times. If fewer calls were timed, a single call that lost its CPU
/// would distort sums over a few seconds.
const RATE_MAX: u64 = 7;

/// Every call is timed until 2^9 calls have been timed. After that, one call in two is timed, and this fraction is halved each
/// time that the number of timed calls doubles.
const FIRST_TIMED_LOG2: u64 = 9;

impl Tree {
    /// Begins `child` without a clock read.
    #[inline(always)]
    pub(crate) fn begin_untimed(&self, child: &'static Node, calls: u64) {
        if !ADDS_IN_ONE {
            self.mark();
        }
        add(&child.calls, calls);
        child.began.store(UNTIMED, Ordering::Relaxed);
        self.put(child);
        self.set_in_event(false);
    }

    /// Ends the innermost call if it began without a clock read. Returns true if the call belongs to `node`; otherwise does
    /// nothing and returns false.
    #[inline(always)]
    pub(crate) fn end_untimed(&self, node: &'static Node) -> bool {
        self.set_in_event(true);
        let ended = !node.is_timed() && self.end_uncharged(node);
        self.set_in_event(false);
        ended
    }

    /// Ends the innermost call without charging time. Returns true if the call belongs to `node`; otherwise does nothing and
    /// returns false.
    #[inline(always)]
    pub(crate) fn end_uncharged(&self, node: &'static Node) -> bool {
        match node.parent.get() {
            Some(parent) if self.current.is(node) => {
                self.put(parent);
                true
            }
            _ => false,
        }
    }

    /// Begins `child` with a clock read, for a call that is timed.
    #[inline(always)]
    pub(crate) fn begin_timed(
        &self,
        current: &'static Node,
        child: &'static Node,
        calls: u64,
        now: impl FnOnce() -> u64,
    ) {
        self.mark();
        if let Some(latency) = child.latency.get() {
            add(&latency.timed, calls);
        }
        self.begin(current, child, now(), calls);
        child.mend_beginning();
    }

    /// Ends the innermost call if it is timed. Returns true if the call belongs to `node`; otherwise does nothing and returns
    /// false.
    #[inline(always)]
    pub(crate) fn end_timed(&self, node: &'static Node, now: impl FnOnce() -> u64) -> bool {
        let Some(parent) = node.parent.get().filter(|_| self.current.is(node)) else {
            return false;
        };
        self.mark();
        self.finish_timed(node, parent, now());
        true
    }

    #[inline(never)]
    fn finish_timed(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(now) = self.charge(node, now) {
            self.count_timed(node, parent, now);
        }
        self.put(parent);
    }

    /// Counts the duration of a timed call of `node` that ends at tick `now`, and chooses the next call to time.
    pub(crate) fn count_timed(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(latency) = node.latency.get()
            && let Some(ticks) = node.lasted(now)
        {
            if !latency.buffer(latency.timed.load(Ordering::Relaxed), ticks) {
                latency.flush(Some(ticks), &self.latencies);
            }
            add(&latency.timed_ticks, ticks);
            self.choose_next(parent, node);
        }
    }

    /// Chooses which call of `node` to time next. Only calls inside timed calls of `parent` are considered, and each of them is
    /// equally likely to be chosen. Overall, one call in 2^rate is timed; calls inside untimed calls are included in this count,
    /// although they are never timed.
    #[inline(always)]
    pub(crate) fn choose_next(&self, parent: &'static Node, node: &'static Node) {
        if let Some(latency) = node.latency.get()
            && latency
                .timed
                .load(Ordering::Relaxed)
                .is_multiple_of(RATE_INTERVAL)
        {
            latency.rate.store(rate(node, latency), Ordering::Relaxed);
        }
        let rate_of = |node: &'static Node| {
            let latency = node.latency.get();
            latency.map_or(0, |latency| latency.rate.load(Ordering::Relaxed))
        };
        // Only calls inside timed calls of `parent` can be timed, so the rate of `parent` has already reduced their number.
        let own = rate_of(node).saturating_sub(rate_of(parent));
        // Every slow call of a watched function has to be timed.
        let skip = if own == 0 || node.site.get().is_some_and(|site| site.watch().is_some()) {
            0
        } else {
            // A random number between 0 and twice the mean. On average, 2^own - 1 calls are skipped.
            ((self.next_random() >> 32) * ((2 << own) - 1)) >> 32
        };
        node.skip.store(skip as u32, Ordering::Relaxed);
    }

    /// Returns a random number. Its upper bits are of better quality than its lower bits.
    #[inline(always)]
    pub(crate) fn next_random(&self) -> u64 {
        let x = xorshift(self.random.load(Ordering::Relaxed));
        self.random.store(x, Ordering::Relaxed);
        x.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Returns the next state of Marsaglia's xorshift64 random number generator. A state is never 0. The generator is fast, but not
/// suitable for secrets.
#[inline(always)]
pub(crate) fn xorshift(state: u64) -> u64 {
    let x = state ^ state << 13;
    let x = x ^ x >> 7;
    x ^ x << 17
}

/// Computes the rate of a node from its own calls. The rate grows with the number of calls that have been timed, including those
/// in earlier threads. It is 0 if the calls are long.
///
/// The mean covers all calls so far. If the rate followed the most recent durations, long calls would be timed more often than
/// short ones, which would make the mean too large.
#[inline(always)]
fn rate(node: &'static Node, latency: &Latency) -> u64 {
    let timed = latency.timed.load(Ordering::Relaxed).max(1);
    let mean = latency.timed_ticks.load(Ordering::Relaxed) / timed;
    let shorter = LONG_TICKS_LOG2.saturating_sub(mean.max(1).ilog2().into());
    // Timing a call costs the caller about 60 ns, so shorter calls are timed more rarely. The fraction of calls that are timed
    // shrinks even faster than their duration, because shorter calls are also more numerous.
    let by_length = shorter * 3 / 2;
    let by_number = (u64::from(timed.ilog2()) + 1).saturating_sub(FIRST_TIMED_LOG2);
    let by_number = by_number.min(RATE_MAX);
    let by_number = node.site.get().map_or(by_number, |site| site.enough(by_number));
    by_length.min(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::site::Site;
    use crate::enabled::record::tree::NO_LIMIT;
    use crate::enabled::record::tree::tests::opened;

    static A: Site = Site::named("a", "m", "f.rs", 1);
    static B: Site = Site::named("b", "m", "f.rs", 2);

    fn tree() -> Box<Tree> {
        let tree = opened(NO_LIMIT, 10, 100);
        tree.wants_latencies.store(1, Ordering::Relaxed);
        tree
    }

    fn child(tree: &Tree, site: &'static Site) -> &'static Node {
        let current = tree.take().unwrap();
        let child = tree.add_child(current, site, || true).unwrap();
        tree.put(current);
        child
    }

    fn begin(tree: &Tree, current: &'static Node, child: &'static Node, calls: u64, now: u64) {
        if child.is_skipped(current) {
            tree.begin_untimed(child, calls);
        } else {
            tree.begin_timed(current, child, calls, || now);
        }
    }

    fn end(tree: &Tree, node: &'static Node, now: u64) {
        assert!(tree.end_untimed(node) || tree.end_timed(node, || now));
    }

    /// Makes `calls` calls of `a`, each of which calls `b` once. Each of them spends 40 ticks in `b` and 60 in `a` itself.
    fn run(tree: &Tree, calls: u64, [of_a, of_b]: [&'static Site; 2]) -> (&'static Node, &'static Node) {
        let mut now = tree.last.load(Ordering::Relaxed);
        let root = tree.current.get().unwrap();
        let a = child(tree, of_a);
        begin(tree, root, a, 0, now);
        let b = child(tree, of_b);
        end(tree, a, now);
        for _ in 0..calls {
            begin(tree, root, a, 1, now);
            now += 30;
            begin(tree, a, b, 1, now);
            now += 40;
            end(tree, b, now);
            now += 30;
            end(tree, a, now);
        }
        (a, b)
    }

    #[test]
    fn calls_are_exact_and_time_is_conserved_whatever_is_timed() {
        let tree = tree();
        let (a, b) = run(&tree, 1_000_000, [&A, &B]);
        let root = tree.current.get().unwrap();
        assert_eq!(a.calls.load(Ordering::Relaxed), 1_000_000);
        assert_eq!(b.calls.load(Ordering::Relaxed), 1_000_000);
        let ticks: u64 = [root, a, b]
            .iter()
            .map(|node| node.self_ticks.load(Ordering::Relaxed))
            .sum();
        assert_eq!(ticks, tree.last.load(Ordering::Relaxed));
        let timed = a.latency.get().unwrap().timed.load(Ordering::Relaxed);
        assert!((5_000..60_000).contains(&timed), "{timed}");
    }

    #[test]
    fn a_short_call_is_timed_once_in_128_and_one_inside_it_no_more_seldom() {
        // All threads share a site's rate, even the threads of other tests, so this test has its own sites.
        static OWN: [Site; 2] = [
            Site::named("a", "own", "f.rs", 1),
            Site::named("b", "own", "f.rs", 2),
        ];
        let sites = [&OWN[0], &OWN[1]];
        let tree = tree();
        let (a, b) = run(&tree, 2_000, sites);
        let [timed_a, timed_b] = [a, b].map(|node| node.latency.get().unwrap());
        // Set roughly the state that is reached after two million calls.
        for latency in [timed_a, timed_b] {
            latency.timed.store(1 << 16, Ordering::Relaxed);
            latency.timed_ticks.store(100 << 16, Ordering::Relaxed);
        }
        run(&tree, 50_000, sites);
        let before = [timed_a, timed_b].map(|latency| latency.timed.load(Ordering::Relaxed));
        run(&tree, 320_000, sites);
        for (latency, before) in [timed_a, timed_b].into_iter().zip(before) {
            let timed = latency.timed.load(Ordering::Relaxed) - before;
            assert!((2_250..2_750).contains(&timed), "{timed}");
        }
    }

    #[test]
    fn a_long_call_and_a_short_one_that_is_watched_are_always_timed() {
        static WATCHED: Site = Site::named("watched", "m", "f.rs", 3);
        WATCHED.set_watch(Some(0));
        for (site, ticks) in [(&A, 70_000), (&WATCHED, 40)] {
            let tree = tree();
            let root = tree.current.get().unwrap();
            let a = child(&tree, site);
            for now in (0..10_000).map(|call| call * ticks) {
                begin(&tree, root, a, 1, now);
                end(&tree, a, now + ticks);
            }
            assert_eq!(a.latency.get().unwrap().timed.load(Ordering::Relaxed), 10_000);
        }
    }

    #[test]
    fn the_tick_of_an_end_is_known_if_the_call_was_timed() {
        let tree = tree();
        let root = tree.current.get().unwrap();
        let a = child(&tree, &A);
        tree.begin_timed(root, a, 1, || 20);
        assert_eq!(tree.end_tick(a), None, "it is open");
        end(&tree, a, 70);
        assert_eq!(tree.end_tick(a), Some(70));
        let b = child(&tree, &B);
        tree.begin_timed(root, b, 1, || 90);
        assert_eq!(tree.end_tick(a), None, "another call has begun");
        end(&tree, b, 95);
        tree.begin_untimed(a, 1);
        end(&tree, a, 100);
        assert_eq!(tree.end_tick(a), None);
        tree.begin_timed(root, a, 1, || 110);
        end(&tree, a, 120);
        tree.stop();
        assert_eq!(tree.end_tick(a), None, "no time is charged");
    }

    #[test]
    fn events_without_a_clock_count_and_leave_time_alone() {
        let tree = tree();
        let last = tree.last.load(Ordering::Relaxed);
        let a = child(&tree, &A);
        tree.begin_untimed(a, 1);
        let b = child(&tree, &B);
        tree.begin_untimed(b, 1);
        assert!(!tree.end_untimed(a), "the innermost only");
        assert!(tree.end_untimed(b) && tree.end_untimed(a));
        assert_eq!(tree.last.load(Ordering::Relaxed), last);
        assert_eq!(a.calls.load(Ordering::Relaxed), 1);
    }
}

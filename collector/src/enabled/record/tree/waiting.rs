//! Assigns the time that a thread was off its CPU to the nodes of its tree.

use tickscope_format::snapshot::Quantity;

use super::{Path, Tree};
use crate::enabled::platform::off_cpu::{self, Clocks};
use crate::enabled::platform::os;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::node::Node;
use crate::enabled::record::waits::{
    self, DRIFT_LIMITS, FIRST_LIMIT, NOISE_NS, Off, RATE_PARTS, SHORT_LIMITS, least_ns, least_ticks, place,
    ticks_per_ns,
};

/// Time that the thread spent off the CPU in a gap between two events, and in the gaps for which it stands, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OffInGap {
    waiting: u64,
    ready: u64,
    /// Ticks spent examining the gap; 0 if that took only a few nanoseconds, or if the thread lost its CPU while doing so.
    looked: u64,
}

/// Returns whether the thread stayed on its CPU while it spent `looked_ns` examining a gap. If it did not, this time becomes part
/// of the next gap and counts as time off the CPU there.
fn was_undisturbed(looked_ns: u64) -> bool {
    if off_cpu::has_word() {
        off_cpu::stayed()
    } else {
        looked_ns < least_ns()
    }
}

impl Tree {
    /// Starts looking for off-CPU time in gaps, from tick `now` on, if `wanted` is true. A thread calls this once for each life
    /// of its tree.
    pub(crate) fn begin_waits(&self, wanted: bool, now: u64) {
        let waits = &self.waits;
        waits.wanted.store(u32::from(wanted), Ordering::Relaxed);
        waits.file.store(0, Ordering::Relaxed);
        waits.ready_ns.store(0, Ordering::Relaxed);
        waits.unplaced.store(0, Ordering::Relaxed);
        waits.read_tick.store(0, Ordering::Relaxed);
        waits.short.begin();
        if wanted {
            let limit = ticks_per_ns(os::monotonic_ns()).map_or(FIRST_LIMIT, least_ticks);
            self.lower_limit(limit);
            self.read_clocks(now);
        }
    }

    /// Closes the thread's `schedstat` file. Later gaps are examined without it.
    pub(crate) fn end_waits(&self) {
        os::keeping_errno(|| off_cpu::close(self.waits.file.swap(off_cpu::NO_FILE, Ordering::Relaxed)));
    }

    /// Restarts the search for off-CPU time at tick `now`. Time off the CPU before that is not assigned to any gap.
    pub(crate) fn read_clocks(&self, now: u64) {
        if self.waits.is_wanted() {
            os::keeping_errno(|| {
                off_cpu::mark();
                let clocks = off_cpu::clocks();
                self.waits.store(now, clocks);
                self.waits.store_switches(clocks.cpu_ns);
            });
        }
    }

    /// Assigns the off-CPU time in a gap that ends at tick `now` to `node`. Returns how many ticks it took to examine the gap:
    /// see `OffInGap::looked`.
    pub(crate) fn place_wait(&self, node: &'static Node, gap: u64, now: u64) -> u64 {
        let found = self.look_at_gap(gap, now);
        let (mut waiting, mut ready) = (found.waiting, found.ready);
        let all = waiting + ready;
        if all > gap {
            // A gap that stands for others may have more than its node has had so far. The rest belongs to other nodes.
            let working = node
                .self_ticks
                .load(Ordering::Relaxed)
                .saturating_sub(self.off_ticks(node.index()));
            let room = gap.saturating_add(working);
            let part = room.min(all) as f64 / all as f64;
            (waiting, ready) = ((waiting as f64 * part) as u64, (ready as f64 * part) as u64);
            add(&self.waits.unplaced, all.saturating_sub(waiting + ready));
        }
        if waiting + ready > 0 {
            self.measure_at(node, [(Quantity::Waiting, waiting), (Quantity::Ready, ready)]);
        }
        found.looked
    }

    /// Returns how many ticks of a node's self time were spent off the CPU.
    fn off_ticks(&self, index: u32) -> u64 {
        let measured = self.measures.get(index);
        let off = [Quantity::Waiting, Quantity::Ready]
            .map(|off| measured.map_or(0, |of| of.of(off).load(Ordering::Relaxed)));
        off.into_iter().fold(0, u64::saturating_add)
    }

    /// Finds the time off the CPU in a gap that ends at tick `now`.
    fn look_at_gap(&self, gap: u64, now: u64) -> OffInGap {
        let waits = &self.waits;
        let nothing = OffInGap::default();
        if !waits.is_wanted() {
            return nothing;
        }
        let read_tick = waits.read_tick.load(Ordering::Relaxed);
        if read_tick == 0 {
            self.read_clocks(now);
            return nothing;
        }
        if off_cpu::stayed() {
            waits.sure_tick.store(now, Ordering::Relaxed);
            // If gaps were skipped, the next one that is examined needs the readings from before.
            if self.has_drifted(now) && waits.early_ns.load(Ordering::Relaxed) == 0 {
                self.read_clocks(now);
            }
            return nothing;
        }
        let is_short = self.is_short_gap(gap);
        if is_short && waits.skips_short_gap() {
            return nothing;
        }
        let weight = if is_short { waits.short.weight() } else { 1 };
        off_cpu::mark();
        if weight == 0 {
            add(&waits.early_ns, waits.short.mean_ns());
        }
        os::keeping_errno(|| {
            let began = waits::now();
            let clocks = off_cpu::clocks();
            let since = waits.since_reading(clocks);
            let (wall_ns, off_ns) = (since.wall_ns, waits.off_ns(since));
            let ticks = now.wrapping_sub(read_tick);
            let Some(rate) = ticks_per_ns(clocks.wall_ns) else {
                waits.store(now, clocks);
                return nothing;
            };
            self.lower_limit(least_ticks(rate));
            let ns = |ticks: u64| (ticks as f64 / rate) as u64;
            // The thread may have lost its CPU after the event, but before the clocks were read. That time belongs to the next
            // gap.
            let later = wall_ns.saturating_sub(ns(ticks)).min(off_ns);
            let later = if later > NOISE_NS + wall_ns / RATE_PARTS {
                later
            } else {
                0
            };
            let all = off_ns - later;
            let mut off = Off::default();
            let begin = now.wrapping_sub(gap);
            let short_ns = ns(begin.saturating_sub(waits.sure_tick.load(Ordering::Relaxed)));
            if all > NOISE_NS || weight == 0 {
                let mut switched = waits.switched(clocks.cpu_ns, all);
                if later > 0 {
                    switched = waits.leave_for_later(later, switched);
                }
                if weight > 0 {
                    let early_ns = waits.early_ns.load(Ordering::Relaxed);
                    let (switches, ready) = waits.short.leave_out(switched, all, early_ns);
                    off = place(all, ready, switches, ns(gap), short_ns, least_ns());
                }
            }
            let unplaced_ns = waits
                .short
                .after_debts(all - off.placed, waits.too_much_ns(since));
            waits.store(
                now,
                Clocks {
                    wall_ns: clocks.wall_ns - later,
                    ..clocks
                },
            );
            let in_ticks = |ns: u64| (ns as f64 * rate) as u64;
            let placed = in_ticks(off.placed).min(gap);
            let ready = in_ticks(off.ready).min(placed);
            add(&waits.unplaced, in_ticks(unplaced_ns));
            // This duration is measured with the same clock as events, because that clock may be coarse. Measured with another
            // clock, the examination could end later than the tick that the next event reads. The next gap would then look like a
            // step backward, and would not be charged.
            let looked = waits::now().saturating_sub(began);
            let looked = if was_undisturbed(ns(looked)) { looked } else { 0 };
            waits.short.looked(ns(looked));
            if is_short && weight > 0 {
                waits
                    .short
                    .examined(off.placed, clocks.cpu_ns, self.next_random());
            }
            OffInGap {
                waiting: weight * (placed - ready),
                ready: weight * ready,
                looked,
            }
        })
    }

    /// Returns whether a gap is short, in a mode in which only some short gaps are examined.
    #[inline(always)]
    pub(super) fn is_short_gap(&self, gap: u64) -> bool {
        let shortest = self.limit_set.load(Ordering::Relaxed);
        gap <= shortest.saturating_mul(SHORT_LIMITS)
            && (self.is(Path::Adaptive) || self.is(Path::AdaptiveExact))
    }

    /// Returns whether the clocks have to be read again, even if the thread has stayed on its CPU. If two readings were too far
    /// apart, the drift between the two clocks would look like time off the CPU.
    #[inline(always)]
    pub(super) fn has_drifted(&self, now: u64) -> bool {
        let most = self.limit_set.load(Ordering::Relaxed);
        now.wrapping_sub(self.waits.read_tick.load(Ordering::Relaxed)) > most.saturating_mul(DRIFT_LIMITS)
    }

    /// Assigns off-CPU time to `node` for a gap that ended at tick `then`, when the mode was switched. Of the time off the CPU
    /// since the last reading, the gap gets a share in proportion to its length.
    pub(crate) fn place_past_wait(&self, node: &'static Node, gap: u64, then: u64) {
        let waits = &self.waits;
        let Some(rate) = ticks_per_ns(os::monotonic_ns()).filter(|_| waits.is_wanted()) else {
            return;
        };
        if gap <= least_ticks(rate) || off_cpu::stayed() {
            return;
        }
        let clocks = os::keeping_errno(off_cpu::clocks);
        let since = waits.since_reading(clocks);
        let share = since.off_ns() as f64 / since.wall_ns.max(1) as f64;
        let waiting = (gap as f64 * share) as u64;
        self.measure_at(node, [(Quantity::Waiting, waiting)]);
        waits.sure_tick.store(then, Ordering::Relaxed);
        let early = waits.early_ns.load(Ordering::Relaxed);
        let more = (waiting as f64 / rate) as u64;
        waits
            .early_ns
            .store(early.saturating_add(more), Ordering::Relaxed);
    }

    /// Returns how many ticks the thread has spent off the CPU in the current gap, which has lasted `pending` ticks so far. `now`
    /// holds the wall time and the thread's CPU time at the end of these ticks. Called by another thread while the tree's thread
    /// is not handling an event.
    pub(crate) fn open_wait(&self, pending: u64, now: Clocks) -> u64 {
        let waits = &self.waits;
        let read_tick = waits.read_tick.load(Ordering::Relaxed);
        let last = self.last.load(Ordering::Relaxed);
        let since = waits.since_reading(now);
        if !waits.is_wanted() || read_tick == 0 || since.wall_ns == 0 {
            return 0;
        }
        let all = waits.off_ns(since);
        let Some(rate) = ticks_per_ns(now.wall_ns) else {
            return 0;
        };
        let short = last.saturating_sub(waits.sure_tick.load(Ordering::Relaxed).min(last));
        let placed = (all as f64 * rate) as u64;
        placed.saturating_sub(short).min(pending)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::enabled::record::arena::zeros;
    use crate::enabled::record::site::Site;
    use crate::enabled::record::tree::NO_LIMIT;
    use crate::enabled::record::waits::{ClockInUse, OF_TEST};

    static SITE: Site = Site::named("waits", "m", "f.rs", 1);

    thread_local! {
        /// Length of a tick, and of a step of the clock, in nanoseconds.
        static CLOCK: Cell<(u64, u64)> = const { Cell::new((1, 1)) };
    }

    fn ticks() -> u64 {
        let (tick_ns, step_ns) = CLOCK.get();
        os::monotonic_ns() / step_ns * step_ns / tick_ns
    }

    fn ticks_per_ns() -> Option<f64> {
        Some(1.0 / CLOCK.get().0 as f64)
    }

    /// On CPUs other than x86-64, a tick of the counter lasts 16 ns or more, and the counter may advance by many ticks at once.
    #[test]
    fn a_coarse_clock_does_not_go_back_after_a_look_at_a_gap() {
        for clock in [(1, 1), (16, 16), (16, 1_000), (1, 100_000)] {
            CLOCK.set(clock);
            let now = ticks;
            OF_TEST.set(Some(ClockInUse { ticks_per_ns, now }));
            let tree: Box<Tree> = Box::new(zeros());
            assert!(tree.open(now(), NO_LIMIT, 10, 10));
            tree.begin_waits(true, now());
            for _ in 0..2_000 {
                let root = tree.take().unwrap();
                let known = tree.known_child(root, &SITE);
                let child = known.unwrap_or_else(|| tree.add_child(root, &SITE, || true).unwrap());
                tree.begin(root, child, now(), 1);
                // The sleep is longer than the shortest gap that is examined, and ends at an arbitrary point within a step of the
                // clock.
                std::thread::sleep(Duration::from_micros(60));
                assert!(tree.end_innermost(child, now));
            }
            assert_eq!(tree.clock_errors.load(Ordering::Relaxed), 0, "{clock:?}");
            tree.end_waits();
        }
        OF_TEST.set(None);
    }

    /// Checks that the time off the CPU in many short waits is found. `end` ends a call of its second argument, whose parent is the
    /// third one.
    fn waits_add_up(path: Path, end: impl Fn(&Tree, &'static Node, &'static Node)) {
        CLOCK.set((1, 1));
        let now = ticks;
        OF_TEST.set(Some(ClockInUse { ticks_per_ns, now }));
        off_cpu::find_areas();
        // Waits for another thread are shorter than the shortest sleep.
        let ((ask, asked), (answer, answered)) = (mpsc::channel(), mpsc::channel());
        let other = std::thread::spawn(move || {
            for () in asked {
                let began = Instant::now();
                while began.elapsed() < Duration::from_micros(20) {}
                answer.send(()).unwrap();
            }
        });
        let tree: Box<Tree> = Box::new(zeros());
        assert!(tree.open(now(), NO_LIMIT, 10, 10));
        tree.set_path(path);
        tree.begin_waits(true, now());
        // Looks have been dear.
        tree.waits.short.looked(1 << 60);
        let (began, root) = (off_cpu::clocks(), tree.take().unwrap());
        let child = tree.add_child(root, &SITE, || true).unwrap();
        tree.put(root);
        for _ in 0..8_000 {
            let root = tree.take().unwrap();
            tree.begin(root, child, now(), 1);
            ask.send(()).unwrap();
            answered.recv().unwrap();
            end(&tree, child, root);
        }
        let ended = off_cpu::clocks();
        let off = (ended.wall_ns - began.wall_ns) - (ended.cpu_ns - began.cpu_ns);
        let found = tree.off_ticks(child.index()) + tree.off_ticks(0);
        let all = found + tree.waits.unplaced.load(Ordering::Relaxed);
        assert!(all.abs_diff(off) < off / 5, "{found} {all} {off}");
        assert!(found > off / 2, "{found} {all} {off}");
        tree.end_waits();
        OF_TEST.set(None);
        drop(ask);
        other.join().unwrap();
    }

    #[test]
    fn waits_of_which_few_are_examined_add_up_to_the_time_off_the_cpu() {
        waits_add_up(Path::AdaptiveExact, |tree, child, _| {
            assert!(tree.end_innermost(child, ticks));
        });
    }

    #[test]
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    fn waits_that_hooks_skip_add_up_to_the_time_off_the_cpu() {
        waits_add_up(Path::Adaptive, |tree, child, root| {
            tree.mark();
            if tree.end_usually(child, ticks(), 0, true) {
                tree.put(root);
            } else {
                tree.put(child);
                assert!(tree.end_innermost(child, ticks));
            }
        });
    }
}

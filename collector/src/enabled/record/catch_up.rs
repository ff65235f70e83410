//! Catching up with mode switches. A thread does not notice a switch until its next event. When it then catches up, the result is
//! the same as if it had changed its mode exactly at the tick of the switch.

use crate::enabled::platform::clock;
use crate::enabled::platform::sync::{Ordering, fence};
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::node::{Node, UNKNOWN, UNTIMED};
use crate::enabled::record::tree::{PAUSED, Path, Tree};

impl Tree {
    /// Prepares the tree for a new thread, in the current mode. `exact` is the path that events take in exact mode.
    pub(crate) fn begin_mode(&self, exact: Path) {
        let newest = mode_switch::newest();
        if !newest.is_timed() {
            self.stop();
        }
        self.pass_to(newest, exact);
        self.catch_up(exact);
    }

    /// Catches up if a switch has alarmed this thread.
    #[inline]
    pub(crate) fn catch_up_if_alarmed(&self, exact: Path) {
        if self.is(Path::Alarm) {
            self.catch_up(exact);
        }
    }

    /// Catches up with all switches that this thread has not noticed yet. Does nothing inside an event.
    #[cold]
    pub(crate) fn catch_up(&self, exact: Path) {
        let Some(current) = self.take() else { return };
        self.discard_watched();
        loop {
            for switch in mode_switch::after(self.caught_up_to.load(Ordering::Relaxed)) {
                // The thread's last event may be later than the switch. If no time was being measured (`PAUSED`), there is
                // nothing to charge.
                let tick = match self.last.load(Ordering::Relaxed) {
                    PAUSED => switch.tick,
                    last => switch.tick.max(last),
                };
                if switch.follows(self.caught_up_to.load(Ordering::Relaxed)) {
                    self.charge_past(Self::charged(current), tick);
                } else if !self.stands_still() {
                    // Some earlier switches have already been overwritten, so it is unknown which modes applied since the last
                    // event.
                    self.lose_gap(Self::charged(current));
                }
                self.stop();
                self.pass_to(switch, exact);
                if switch.is_timed() {
                    begin_to_charge(current);
                }
                self.go_on(tick);
            }
            let newest = mode_switch::newest();
            if newest.is_after(self.caught_up_to.load(Ordering::Relaxed)) {
                // This switch happened while the loop was running, so the loop has to catch up with it as well.
                continue;
            }
            self.pass_to(newest, exact);
            self.prepare_nodes(newest);
            // SYNC POINT: this thread's path and tid are stored before `newest` is read (pairs with the fence in
            // `registry::switch_to`).
            fence(Ordering::SeqCst);
            // If an alarm was overwritten just now by setting the path, the switch behind that alarm is visible here.
            if mode_switch::newest() == newest {
                break;
            }
        }
        // The current event must not read a tick from before the switch.
        clock::after_loads();
        self.put(current);
    }

    fn pass_to(&self, switch: Switch, exact: Path) {
        self.caught_up_to.store(switch.word, Ordering::Relaxed);
        self.set_path(Path::of(switch.mode, exact));
    }

    fn prepare_nodes(&self, switch: Switch) {
        let wants = switch.wants_latencies();
        self.wants_latencies.store(u32::from(wants), Ordering::Relaxed);
        for node in (1..self.nodes.len()).filter_map(|index| self.nodes.get(index)) {
            let latency = match node.latency.get() {
                Some(latency) if wants => {
                    // Flush the buffer. Durations left in it could occupy the places of later calls, whose numbers do not follow
                    // on.
                    latency.flush(None, &self.latencies);
                    Some(latency)
                }
                None if wants && !node.is_counter() => self.latencies.make(node.index()),
                _ => None,
            };
            node.latency.set_release(latency);
        }
    }
}

/// Starts charging time to the open nodes, including nodes whose calls began while no time was measured.
fn begin_to_charge(innermost: &'static Node) {
    for node in innermost.up() {
        if node.began.load(Ordering::Relaxed) == UNTIMED {
            node.began.store(UNKNOWN, Ordering::Relaxed);
        }
    }
}

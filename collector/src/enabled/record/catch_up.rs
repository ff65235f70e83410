//! Catches up with mode switches. A thread notices a switch at its first event afterwards. It then catches up: the result is the
//! same as if it had switched at the tick of the switch.

use crate::enabled::platform::clock;
use crate::enabled::platform::sync::{Ordering, fence};
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::node::{Node, UNKNOWN, UNTIMED};
use crate::enabled::record::tree::{PAUSED, Path, Tree};

impl Tree {
    /// Prepares the tree for a thread in the current mode. `exact` is the path that events take in exact mode.
    pub(crate) fn begin_mode(&self, exact: Path) {
        let newest = mode_switch::newest();
        if !newest.is_timed() {
            self.stop();
        }
        self.pass_to(newest, exact);
        self.catch_up(exact);
    }

    /// Catches up if a switch has raised the alarm.
    #[inline]
    pub(crate) fn catch_up_if_alarmed(&self, exact: Path) {
        if self.is(Path::Alarm) {
            self.catch_up(exact);
        }
    }

    /// Catches up with all switches since the last switch that this thread has noticed. Does nothing inside an event.
    #[cold]
    pub(crate) fn catch_up(&self, exact: Path) {
        let Some(current) = self.take() else { return };
        self.discard_watched();
        loop {
            for switch in mode_switch::after(self.caught_up_to.load(Ordering::Relaxed)) {
                // The thread may have had an event since the switch. If the previous mode measures no time (`PAUSED`), nothing is
                // charged.
                let tick = match self.last.load(Ordering::Relaxed) {
                    PAUSED => switch.tick,
                    last => switch.tick.max(last),
                };
                if switch.follows(self.caught_up_to.load(Ordering::Relaxed)) {
                    self.charge_past(Self::charged(current), tick);
                } else if !self.stands_still() {
                    // Switches were overwritten before this one, so it is unknown in which modes the thread was meanwhile.
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
                // This switch happened during the loop, which catches up with it as well.
                continue;
            }
            self.pass_to(newest, exact);
            self.prepare_nodes(newest);
            // SYNC POINT: this thread's path and tid before `newest` (meets the fence in `registry::switch_to`).
            fence(Ordering::SeqCst);
            // If setting the path has just overwritten an alarm, the switch that raised the alarm is visible here.
            if mode_switch::newest() == newest {
                break;
            }
        }
        // The current event must not read a tick that lies before the switch.
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
                    // Durations that stay in the buffer could occupy the places of later calls, which have other numbers.
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

/// Begins to charge time to the open nodes, even to nodes whose calls began without a clock.
fn begin_to_charge(innermost: &'static Node) {
    for node in innermost.up() {
        if node.began.load(Ordering::Relaxed) == UNTIMED {
            node.began.store(UNKNOWN, Ordering::Relaxed);
        }
    }
}

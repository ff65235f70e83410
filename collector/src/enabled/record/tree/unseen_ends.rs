//! Ends calls whose end was never seen: calls of functions that were unwound, and scopes whose guards were leaked.

use super::Tree;
use crate::enabled::platform::sync::add;
use crate::enabled::record::deepest_nodes::LEAKED;
use crate::enabled::record::journal::Kind;
use crate::enabled::record::node::Node;

impl Tree {
    /// If leaked guards have filled the tree to its maximum depth, so that no call can begin inside `current`, ends their calls
    /// at the tick that `now` reads and counts them as unbalanced. Returns whether it ended any calls.
    pub(crate) fn end_leaked(&self, current: &'static Node, now: impl FnOnce() -> u64) -> bool {
        if !self.is_at_deepest(current) || !self.deepest.are_at_one_place() {
            return false;
        }
        let calls = || current.up();
        let is_leaked = |node: &&'static Node| {
            let mut leaked = calls().take(LEAKED);
            leaked.any(|leaked| node.site.get().is_some_and(|site| leaked.site.is(site)))
        };
        let count = calls().take_while(is_leaked).count();
        let Some(outermost) = calls().nth(count.saturating_sub(1)) else {
            return false;
        };
        let unwound = self.frames.close_inside(outermost);
        add(&self.unbalanced, (count as u64).saturating_sub(unwound));
        self.end_unseen(outermost, now);
        true
    }

    /// Ends a call whose end was not seen, and all calls inside it, at the tick that `now` reads. The time since the last event
    /// is charged to the innermost call. No durations are recorded for the calls that this ends.
    #[cold]
    pub(crate) fn end_unseen(&self, node: &'static Node, now: impl FnOnce() -> u64) {
        let Some(current) = self.take() else {
            add(&self.dropped, 1);
            return;
        };
        let is_open = current.up().any(|open| std::ptr::eq(open, node));
        let parent = node.parent.get().filter(|_| is_open);
        if parent.is_some() {
            if self.watching.is_open() {
                self.charge_noted(current, Kind::Exit, now());
                if self.is_watched_inside(current, node) || self.watching.root.is(node) {
                    self.discard_watched();
                }
            } else {
                self.charge(Self::charged(current), now());
            }
        }
        self.put(parent.unwrap_or(current));
    }
}

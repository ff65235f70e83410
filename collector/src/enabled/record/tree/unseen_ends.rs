//! Calls that have ended although no end was seen: calls of functions that were unwound, and calls of scopes whose guards were
//! leaked.

use super::Tree;
use crate::enabled::platform::sync::add;
use crate::enabled::record::deepest_nodes::LEAKED;
use crate::enabled::record::journal::Kind;
use crate::enabled::record::node::Node;

impl Tree {
    /// Ends the calls of leaked guards, if a new call in `current` would exceed the maximum depth because of them. The calls end
    /// at the tick that `now` reads, and are counted as unbalanced. Returns whether there were such calls.
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

    /// Ends a call, and all calls inside it, whose ends were not seen, at the tick that `now` reads. The time since the last
    /// event is charged to the innermost call. The durations of the ended calls are unknown.
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

//! The children of a node: the one entered last, and a table of all by (parent, site).

use super::Tree;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::arena::Ref;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;

impl Tree {
    /// Returns the child of `parent` at `site` if it was the one entered last.
    #[inline(always)]
    pub(crate) fn recent_child(parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        parent.recent.get().filter(|child| child.site.is(site))
    }

    /// Returns the child of `parent` at `site` if there is one.
    #[inline(always)]
    pub(crate) fn known_child(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        if let Some(child) = Self::recent_child(parent, site) {
            return Some(child);
        }
        let child = self.probe(parent, site)?.get()?;
        parent.recent.set(Some(child));
        Some(child)
    }

    /// Returns the counter of `parent` at `site` if there is one. It does not become the child entered last, because
    /// scopes profit more from that.
    #[inline(always)]
    pub(crate) fn known_counter(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        self.probe(parent, site)?.get()
    }

    /// Returns the child of `parent` at `site`, and makes it if needed; `None` if a limit forbids it. `current` is
    /// taken out.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_child(
        &self,
        parent: &'static Node,
        site: &'static Site,
        may_add: impl FnOnce() -> bool,
    ) -> Option<&'static Node> {
        let slot = self.probe(parent, site)?;
        // A signal handler may have made it just now.
        if let Some(child) = slot.get() {
            return Some(child);
        }
        let full = self.nodes.len() >= self.nodes_max.load(Ordering::Relaxed)
            || parent.depth() >= self.depth_max.load(Ordering::Relaxed);
        if full {
            return None;
        }
        let slot = if self.nodes.len() >= self.table.len() / 2 {
            self.grow(parent, site)?
        } else {
            slot
        };
        // Make space first, so that the process counts only nodes that are made.
        if !self.nodes.make_space() || !may_add() {
            return None;
        }
        let child = self.nodes.add(Some(site), Some(parent))?;
        if self.wants_latencies.load(Ordering::Relaxed) != 0 && !site.is_counter() {
            child.latency.set_release(self.latencies.make(child.index()));
        }
        if site.kind().keeps_numbers() {
            self.numbers.make(child);
        }
        if let Some(errors) = self.errors.get(child.index()) {
            errors.store(0, Ordering::Relaxed);
        }
        self.clear_measures(child);
        self.watching.clear_node(child);
        slot.set(Some(child));
        // A counter takes the place of the child entered last only until there is a scope.
        if !site.is_counter()
            || parent
                .recent
                .get()
                .is_none_or(|recent| recent.site.get().is_none())
        {
            parent.recent.set(Some(child));
        }
        Some(child)
    }

    /// Returns the slot of (parent, site), or the free slot where it belongs.
    #[inline(always)]
    fn probe(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Ref<Node>> {
        let mask = self.table.len().wrapping_sub(1);
        let mut at = hash(parent, site) & mask;
        loop {
            let slot = self.table.get(at)?;
            match slot.get() {
                Some(node) if !(node.site.is(site) && node.parent.is(parent)) => at = (at + 1) & mask,
                _ => return Some(slot),
            }
        }
    }

    /// Makes an empty table with this many slots; false if there is no memory. A thread with few nodes does not pay for
    /// an earlier one with many.
    pub(super) fn empty_table(&self, slots: u32) -> bool {
        if !self.table.reuse(slots) {
            return self.table.allocate(slots);
        }
        for slot in (0..slots).filter_map(|slot| self.table.get(slot)) {
            slot.set(None);
        }
        true
    }

    /// Doubles the table, and returns the free slot of (parent, site) in it.
    fn grow(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Ref<Node>> {
        if !self.empty_table(self.table.len() * 2) {
            return None;
        }
        for index in 1..self.nodes.len() {
            let node = self.nodes.get(index)?;
            self.probe(node.parent.get()?, node.site.get()?)?.set(Some(node));
        }
        self.probe(parent, site)
    }
}

/// Hashes (parent, site) by Fibonacci hashing, because the low bits of both addresses are always the same.
fn hash(parent: &'static Node, site: &'static Site) -> u32 {
    let parent = (std::ptr::from_ref(parent).addr() as u64 >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let site = (std::ptr::from_ref(site).addr() as u64 >> 3).wrapping_mul(0xd1b5_4a32_d192_ed03);
    ((parent ^ site) >> 32) as u32
}

//! The children of a node: the guessed child, and a table of all children by (parent, site).
//!
//! Calls that repeat in the same order can be guessed: a node remembers which child was entered first, and each child's latency
//! remembers which sibling was entered next. In exact mode, each event stores the guess for the next event in the tree, where the
//! next event finds it with one load.

use super::Tree;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::arena::TAG_BITS;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::{OVER_THE_LIMIT, Site};

impl Tree {
    /// Returns the child of `parent` with this site if it is the parent's `recent` child.
    #[inline(always)]
    pub(crate) fn recent_child(parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        parent.recent.get().filter(|child| child.site.is(site))
    }

    /// Returns the child of `parent` with this site if it is the tree's guess.
    #[inline(always)]
    pub(crate) fn guessed_child(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        self.guess
            .get()
            .filter(|child| child.site.is(site) && child.parent.is(parent))
    }

    /// Returns the first node in the table that has the same tag as the child of `parent` with this site. It is nearly always
    /// that child. But only the tags have been compared, not the nodes, so the caller has to check the node's site and parent.
    #[inline(always)]
    pub(crate) fn likely_child(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        let hash = hash(parent, site);
        let mut at = slot_of(hash);
        loop {
            let (child, is_tagged) = self.table.wrapped(at)?.get(hash)?;
            if is_tagged {
                return Some(child);
            }
            at = at.wrapping_add(1);
        }
    }

    /// Corrects a wrong guess: stores the right child as the guess for the next time.
    #[inline(always)]
    pub(crate) fn learn(&self, parent: &'static Node, child: &'static Node) {
        let before = self.ended.get().filter(|ended| ended.parent.is(parent));
        match before.and_then(|ended| ended.latency.get()) {
            Some(latency) => latency.next.set(Some(child)),
            None => parent.recent.set(Some(child)),
        }
    }

    /// Returns the child of `parent` with this site if there is one.
    #[inline(always)]
    pub(crate) fn known_child(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        if let Some(child) = Self::recent_child(parent, site) {
            return Some(child);
        }
        let child = self.find(parent, site)?;
        parent.recent.set(Some(child));
        Some(child)
    }

    /// Returns the child of `parent` with this site, and makes it if needed. Returns `None` if a limit forbids another node or
    /// there is no memory. Must be called while `current` is taken out.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_child(
        &self,
        parent: &'static Node,
        site: &'static Site,
        may_add: impl FnOnce() -> bool,
    ) -> Option<&'static Node> {
        // A signal handler may have made the child just now.
        if let Some(child) = self.find(parent, site) {
            return Some(child);
        }
        let full = self.nodes.len() >= self.nodes_max.load(Ordering::Relaxed)
            || self.is_at_deepest(parent)
            || parent.is_over_the_limit();
        if full {
            return None;
        }
        self.make_child(parent, site, may_add)
    }

    /// Returns the child of `parent` that counts calls over the limit, and makes it if needed. Without this child, the callees of
    /// these calls would seem to be called by `parent`. Returns `None` if `parent` is itself such a child or is at the maximum
    /// depth, or if there is no memory. Must be called while `current` is taken out.
    #[cold]
    #[inline(never)]
    pub(crate) fn child_over_the_limit(
        &self,
        parent: &'static Node,
        site: &'static Site,
        added: impl FnOnce(),
    ) -> Option<&'static Node> {
        if self.is_at_deepest(parent) || parent.is_over_the_limit() {
            return None;
        }
        let [functions, futures] = &OVER_THE_LIMIT;
        let site = if site.is_future() { futures } else { functions };
        let known = self.find(parent, site);
        known.or_else(|| {
            self.make_child(parent, site, || {
                added();
                true
            })
        })
    }

    /// Returns whether a node is at the maximum depth.
    pub(super) fn is_at_deepest(&self, node: &'static Node) -> bool {
        node.depth() >= self.depth_max.load(Ordering::Relaxed)
    }

    /// Makes a child that the table does not have.
    fn make_child(
        &self,
        parent: &'static Node,
        site: &'static Site,
        may_add: impl FnOnce() -> bool,
    ) -> Option<&'static Node> {
        if self.nodes.len() >= self.table.len() / 2 {
            self.grow()?;
        }
        // Make space first, so that the process counts only nodes that are made.
        if !self.nodes.make_space() || !may_add() {
            return None;
        }
        // Readers see the node as soon as it is added. So amounts that an earlier thread has left at this index are cleared
        // first.
        let index = self.nodes.len();
        if let Some(errors) = self.errors.get(index) {
            errors.store(0, Ordering::Relaxed);
        }
        self.clear_measures(index);
        self.watching.clear_node(index);
        let child = self.nodes.add(Some(site), Some(parent))?;
        if self.wants_latencies.load(Ordering::Relaxed) != 0 && !site.is_counter() {
            child.latency.set_release(self.latencies.make(child.index()));
        }
        if site.kind.keeps_numbers() {
            self.numbers.make(child);
        }
        self.deepest.note(child, self.depth_max.load(Ordering::Relaxed));
        self.put_into_table(parent, site, child)?;
        // A counter becomes the `recent` child only if there is no other child.
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

    /// Returns the child of `parent` with this site if the table has it. Does not change the `recent` child. Counters are looked
    /// up with this function, because scopes gain more from being the `recent` child.
    #[inline(always)]
    pub(crate) fn find(&self, parent: &'static Node, site: &'static Site) -> Option<&'static Node> {
        let hash = hash(parent, site);
        let mut at = slot_of(hash);
        loop {
            let (child, is_tagged) = self.table.wrapped(at)?.get(hash)?;
            if is_tagged && child.site.is(site) && child.parent.is(parent) {
                return Some(child);
            }
            at = at.wrapping_add(1);
        }
    }

    /// Puts a child into the first free slot at or after the slot of its hash. Returns `None` if there is no table.
    fn put_into_table(&self, parent: &'static Node, site: &'static Site, child: &'static Node) -> Option<()> {
        let hash = hash(parent, site);
        let mut at = slot_of(hash);
        loop {
            let slot = self.table.wrapped(at)?;
            if slot.get(hash).is_none() {
                slot.set(child, hash);
                return Some(());
            }
            at = at.wrapping_add(1);
        }
    }

    /// Empties the table and sets its size to `slots` slots. Returns false if there is no memory. Only these slots are cleared,
    /// so a thread with few nodes does not pay for an earlier thread with many nodes.
    pub(super) fn empty_table(&self, slots: u32) -> bool {
        if !self.table.reuse(slots) {
            return self.table.allocate(slots);
        }
        for slot in (0..slots).filter_map(|slot| self.table.get(slot)) {
            slot.clear();
        }
        true
    }

    /// Doubles the table. Returns `None` if there is no memory.
    fn grow(&self) -> Option<()> {
        if !self.empty_table(self.table.len() * 2) {
            return None;
        }
        for index in 1..self.nodes.len() {
            let node = self.nodes.get(index)?;
            self.put_into_table(node.parent.get()?, node.site.get()?, node)?;
        }
        Some(())
    }
}

/// Hashes (parent, site) by Fibonacci hashing, because the low bits of both addresses never vary. The site's address is rotated
/// by half a word, so that the varying bits of the two addresses do not overlap. The low bits of the hash are the tag in the
/// table, and the bits above them choose the slot.
#[inline(always)]
fn hash(parent: &'static Node, site: &'static Site) -> u32 {
    let parent = std::ptr::from_ref(parent).addr() as u64;
    let site = (std::ptr::from_ref(site).addr() as u64).rotate_left(32);
    ((parent ^ site).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[inline(always)]
fn slot_of(hash: u32) -> u32 {
    hash >> TAG_BITS
}

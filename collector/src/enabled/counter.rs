//! Counters: additions without a clock, below the open scope.
//!
//! A counter's node is never open, so no time is charged to it and no node is below it. A capture may see the amount of
//! an execution before its call; the next capture sees both.

use crate::enabled::platform::sync::{ADDS_IN_ONE, add};
use crate::enabled::record::current_thread;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::tree::Tree;
use crate::enabled::scope::{may_count, new_child};

/// Adds an amount to the counter of a site, below the open scope.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn count(site: &'static Site, amount: u64) {
    if site.is(SiteState::Enabled) {
        // The mode does not matter here: in the mode off the site is disabled.
        if let Some(tree) = current_thread::hot()
            && let Some(current) = tree.current.get()
            && let Some(counter) = Tree::recent_child(current, site)
        {
            return add_to(tree, current, counter, amount);
        }
    } else if site.is(SiteState::Disabled) {
        return;
    }
    count_otherwise(site, amount);
}

/// Looks for the counter among all children of the open scope.
#[inline(never)]
fn count_otherwise(site: &'static Site, amount: u64) {
    if let Some(tree) = current_thread::hot()
        && let Some(current) = tree.current.get()
        && let Some(counter) = tree.known_counter(current, site)
    {
        return add_to(tree, current, counter, amount);
    }
    count_first(site, amount);
}

/// Handles the first execution of a counter, and threads and sites that do not count.
#[cold]
#[inline(never)]
fn count_first(site: &'static Site, amount: u64) {
    if (site.is(SiteState::New) || current_thread::hot().is_none()) && !may_count(site) {
        return;
    }
    let Some(tree) = current_thread::hot() else {
        return;
    };
    let Some(current) = tree.current.get() else {
        // An event of this thread is in progress: this is a signal handler or an allocator.
        return add(&tree.dropped, 1);
    };
    if let Some(counter) = new_child(tree, current, site) {
        add_to(tree, current, counter, amount);
    }
}

#[inline(always)]
fn add_to(tree: &'static Tree, current: &'static Node, counter: &'static Node, amount: u64) {
    if !ADDS_IN_ONE {
        tree.mark();
    }
    counter.count(amount);
    if !ADDS_IN_ONE {
        tree.put(current);
    }
}

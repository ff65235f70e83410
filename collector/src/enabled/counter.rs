//! Counters, values and gauges: amounts and numbers below the open scope, without time.
//!
//! Nodes of counters, values and gauges are never open, so no time is charged to them and no node is below them. A
//! capture may see the amount of an execution without its call; the next capture sees both.
//!
//! A value or a gauge takes `current` out of the tree while it changes its numbers. An event of a signal handler in
//! between is dropped and counted as dropped.

use crate::enabled::platform::clock;
use crate::enabled::platform::sync::{ADDS_IN_ONE, Ordering, add};
use crate::enabled::record::current_thread;
use crate::enabled::record::node::Node;
use crate::enabled::record::numbers::of_level;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::tree::{Path, Tree};
use crate::enabled::runtime::config;
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

/// Searches for the counter among all children of the open scope.
#[inline(never)]
fn count_otherwise(site: &'static Site, amount: u64) {
    if let Some(tree) = current_thread::hot()
        && let Some(current) = tree.current.get()
        && let Some(counter) = tree.find(current, site)
    {
        return add_to(tree, current, counter, amount);
    }
    count_first(site, amount);
}

/// Handles the first execution of a counter, and threads and sites that do not count.
#[cold]
#[inline(never)]
fn count_first(site: &'static Site, amount: u64) {
    if let Some(Place { tree, current, node }) = first_place(site) {
        add_to(tree, current, node, amount);
    }
}

/// The place of an execution: its tree, the open node, and the node that counts.
struct Place {
    tree: &'static Tree,
    current: &'static Node,
    node: &'static Node,
}

/// Makes the node of a counter, a value or a gauge at its first execution; `None` if it does not count.
#[cold]
#[inline(never)]
fn first_place(site: &'static Site) -> Option<Place> {
    if (site.is(SiteState::New) || current_thread::hot().is_none()) && !may_count(site) {
        return None;
    }
    let tree = current_thread::hot()?;
    let Some(current) = tree.current.get() else {
        // An event of this thread is in progress: this is a signal handler or an allocator.
        add(&tree.dropped, 1);
        return None;
    };
    let node = new_child(tree, current, site)?;
    Some(Place { tree, current, node })
}

/// Finds the node of a value or a gauge; `None` if it does not count.
#[inline(always)]
fn place(site: &'static Site) -> Option<Place> {
    if site.is(SiteState::Enabled)
        && let Some(tree) = current_thread::hot()
        && let Some(current) = tree.current.get()
        && let Some(node) = Tree::recent_child(current, site).or_else(|| tree.find(current, site))
    {
        return Some(Place { tree, current, node });
    }
    first_place(site)
}

/// Adds a number to the value of a site, below the open scope.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn value(site: &'static Site, number: u64) {
    if !site.is(SiteState::Disabled) {
        note_value(site, number);
    }
}

#[inline(never)]
fn note_value(site: &'static Site, number: u64) {
    let Some(Place { tree, current, node }) = place(site) else {
        return;
    };
    tree.mark();
    if let Some(numbers) = tree.numbers.of(node) {
        numbers.note(number, node.calls.load(Ordering::Relaxed));
        numbers.hit(number, &tree.latencies);
    }
    node.count_number(number);
    tree.put(current);
}

/// Sets the gauge of a site, below the open scope.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn gauge(site: &'static Site, level: i64) {
    if !site.is(SiteState::Disabled) {
        note_gauge(site, level);
    }
}

#[inline(never)]
fn note_gauge(site: &'static Site, level: i64) {
    let Some(Place { tree, current, node }) = place(site) else {
        return;
    };
    tree.mark();
    // The tick tells which of several threads has set the gauge last.
    let tick = if tree.is(Path::Fast) || tree.is(Path::Adaptive) {
        clock::tsc()
    } else {
        config::now()
    };
    if let Some(numbers) = tree.numbers.of(node) {
        numbers.note(of_level(level), node.calls.load(Ordering::Relaxed));
        numbers.set_tick.store(tick, Ordering::Relaxed);
    }
    node.set_level(level);
    tree.put(current);
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

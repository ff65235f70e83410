//! Counters, values and gauges: numbers recorded under the open scope, without any time.
//!
//! Nodes of counters, values and gauges are never open, so no time is charged to them and they have no children. A
//! capture may see the amount added by an execution but not yet the execution itself; the next capture sees both.
//!
//! While a value or a gauge changes its numbers, `current` is taken out of the tree. If a signal handler causes an
//! event in the meantime, that event is dropped and counted as dropped.

use crate::enabled::platform::clock;
use crate::enabled::platform::sync::{ADDS_IN_ONE, Ordering, add};
use crate::enabled::record::current_thread;
use crate::enabled::record::node::Node;
use crate::enabled::record::numbers::of_level;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::tree::{Path, Tree};
use crate::enabled::runtime::config;
use crate::enabled::scope::{may_count, new_child};

/// Adds an amount to a site's counter, under the open scope.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn count(site: &'static Site, amount: u64) {
    if site.is(SiteState::Enabled) {
        // The mode does not have to be checked here: in the mode `Off`, the site is disabled.
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

/// Slower variant of [`count`] that searches all children of the open scope for the counter.
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

/// Handles the first execution of a counter, and executions that are not counted because of their thread or site.
#[cold]
#[inline(never)]
fn count_first(site: &'static Site, amount: u64) {
    if let Some(Place { tree, current, node }) = first_place(site) {
        add_to(tree, current, node, amount);
    }
}

/// Where an execution is recorded: the tree, the open node, and the node of the counter, value or gauge.
struct Place {
    tree: &'static Tree,
    current: &'static Node,
    node: &'static Node,
}

/// Creates the node of a counter, a value or a gauge at its first execution. Returns `None` if the execution is not
/// counted.
#[cold]
#[inline(never)]
fn first_place(site: &'static Site) -> Option<Place> {
    if (site.is(SiteState::New) || current_thread::hot().is_none()) && !may_count(site) {
        return None;
    }
    let tree = current_thread::hot()?;
    let Some(current) = tree.current.get() else {
        // The thread is in the middle of an event, so this code runs in a signal handler or in an allocator.
        add(&tree.dropped, 1);
        return None;
    };
    let node = new_child(tree, current, site)?;
    Some(Place { tree, current, node })
}

/// Finds or creates the node of a value or a gauge. Returns `None` if the execution is not counted.
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

/// Records a number for a site's value, under the open scope.
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

/// Sets a site's gauge, under the open scope.
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
    // The tick shows which of several threads was the last to set the gauge.
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

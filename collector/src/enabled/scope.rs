//! Scopes: the guard, and how a scope begins and ends. This is the only code that runs on every call of a measured function.
//!
//! When a scope begins, the child is found first, and then the clock is read. When a scope ends, the clock is read first. The
//! search is therefore charged to the node that was current before, and no time is charged twice. If the child was not guessed,
//! it is found by its tag, and its memory is not read until the clock has been read.

use std::fmt;

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::clock;
use crate::enabled::platform::sync::add;
use crate::enabled::record::current_thread::{self, Phase};
use crate::enabled::record::in_flight::CallId;
use crate::enabled::record::node::Node;
use crate::enabled::record::registry;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::site_table;
use crate::enabled::record::tree::{Path, Tree};
use crate::enabled::runtime::config;
use crate::own_thread::OwnThread;

/// An open scope. It ends when this guard is dropped.
///
/// A scope belongs to the thread that opened it. Dropping scopes out of order, or leaking one, does not damage the call tree.
/// Such scopes are counted as unbalanced.
#[must_use = "the scope ends at once if its guard is not kept"]
pub struct Scope {
    /// The open node; `None` if the scope is not counted.
    pub(crate) node: Option<&'static Node>,
    /// The node is in this thread's tree, so the guard must not move to another thread.
    _own_thread: OwnThread,
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site = self.node.and_then(|node| node.site.get());
        let name = site.map(|site| site.describe().name);
        f.debug_struct("Scope").field("name", &name).finish()
    }
}

impl Scope {
    /// Leaves the scope open until [`end`] or [`end_poll`] ends its node.
    #[inline(always)]
    pub(crate) fn keep_open(self) -> Option<&'static Node> {
        let node = self.node;
        std::mem::forget(self);
        node
    }

    /// Ends a scope that is a poll of a future.
    #[inline(always)]
    pub(crate) fn end_poll(self, number: u64, call: &CallId, is_over: bool) {
        if let Some(node) = self.node {
            end_poll(node, number, call, is_over);
            std::mem::forget(self);
        }
    }
}

/// Opens a scope at a site.
// In a debug build, inlined code is compiled as part of the program, without optimisation. A function that is not inlined is
// compiled as part of this crate, so a program that optimises only this crate has cheap scopes in its debug build as well.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn enter(site: &'static Site) -> Scope {
    enter_counting(site, 1)
}

/// Opens a scope that counts as `calls` calls. `calls` is 0 if the scope continues an earlier call.
#[inline(always)]
pub(crate) fn enter_counting(site: &'static Site, calls: u64) -> Scope {
    enter_with(site, calls, || enter_unusual_site(site, calls))
}

/// Opens a scope for a poll of a future. If the future has been polled before, `call` is the id of its call. `delay` is the
/// number of ticks since the future was woken, if known.
#[inline(always)]
pub(crate) fn enter_poll(site: &'static Site, is_first: bool, call: &CallId, delay: Option<u64>) -> Scope {
    enter_with(site, is_first.into(), || {
        enter_unusual_poll(site, is_first, call, delay)
    })
}

/// Opens a scope. If the site is new or watched, `unusual` does this instead.
#[inline(always)]
fn enter_with(site: &'static Site, calls: u64, unusual: impl FnOnce() -> Option<&'static Node>) -> Scope {
    if site.is(SiteState::Enabled) {
        let tree = current_thread::hot();
        let Some(fast) = tree.filter(|tree| tree.is(Path::Fast)) else {
            return guard(enter_in_another_mode(tree, site, calls));
        };
        if let Some(current) = fast.current.get()
            && let Some(child) = fast.guessed_child(current, site)
        {
            fast.mark();
            return guard(Some(fast.begin(current, child, clock::tsc(), calls)));
        }
        guard(enter_otherwise(tree, site, calls))
    } else if site.is(SiteState::Disabled) {
        guard(None)
    } else {
        guard(unusual())
    }
}

#[inline(always)]
fn guard(node: Option<&'static Node>) -> Scope {
    Scope {
        node,
        _own_thread: OwnThread::HERE,
    }
}

/// Handles wrong guesses of the child, and modes other than exact. Makes only tail calls, so that it does not have to save any
/// registers.
#[inline(never)]
fn enter_otherwise(tree: Option<&'static Tree>, site: &'static Site, calls: u64) -> Option<&'static Node> {
    if let Some(tree) = tree
        && tree.is(Path::Fast)
        && let Some(current) = tree.current.get()
        && let Some(child) = tree.likely_child(current, site)
    {
        tree.mark();
        // Reading the clock may wait for earlier loads. The child's memory may not be in a nearby cache, so it is
        // loaded only after the clock has been read. In about 1 % of searches, the tag belongs to another child.
        let now = clock::tsc();
        if child.site.is(site) && child.parent.is(current) {
            // The call may end soon, and its end needs the latency.
            child.latency.prefetch();
            tree.learn(current, child);
            return Some(tree.begin(current, child, now, calls));
        }
        tree.put(current);
    }
    enter_in_another_mode(tree, site, calls)
}

/// Handles modes that skip the clock, and watched calls.
#[inline(never)]
fn enter_in_another_mode(
    tree: Option<&'static Tree>,
    site: &'static Site,
    calls: u64,
) -> Option<&'static Node> {
    if let Some(tree) = tree {
        tree.set_in_event(true);
        let current = tree.current.get();
        let child = current.and_then(|current| tree.known_child(current, site));
        if let Some((current, child)) = current.zip(child) {
            if tree.is(Path::Sampled) || tree.may_skip_clock() && child.is_skipped(current) {
                tree.begin_untimed(child, calls);
                return Some(child);
            }
            if tree.is(Path::Adaptive) {
                tree.begin_timed(current, child, calls, clock::tsc);
                tree.set_in_event(false);
                return Some(child);
            }
            if tree.is(Path::Watched) {
                tree.set_in_event(false);
                return enter_in_watched(tree, current, child, calls);
            }
        }
        tree.set_in_event(false);
    }
    enter_rarely(site, calls)
}

/// Begins a call inside a watched call. This is a separate function, so that the other paths do not have to save registers for
/// it.
#[inline(never)]
fn enter_in_watched(
    tree: &'static Tree,
    current: &'static Node,
    child: &'static Node,
    calls: u64,
) -> Option<&'static Node> {
    tree.mark();
    tree.begin_watched(current, child, clock::tsc(), calls);
    Some(child)
}

/// Handles new sites, and sites whose calls are watched.
#[inline(never)]
fn enter_unusual_site(site: &'static Site, calls: u64) -> Option<&'static Node> {
    enter_unusual(site, calls, |tree, node| tree.watch_call(node))
}

/// Handles polls at new sites, and at sites whose calls are watched. `call` is passed by reference, so that the usual path does
/// not have to load it.
#[cold]
#[inline(never)]
fn enter_unusual_poll(
    site: &'static Site,
    is_first: bool,
    call: &CallId,
    delay: Option<u64>,
) -> Option<&'static Node> {
    enter_unusual(site, is_first.into(), |tree, node| {
        tree.watch_poll(node, is_first, *call, delay)
    })
}

/// Opens a scope at a new or watched site. `watch` starts watching the call.
#[inline(always)]
fn enter_unusual(
    site: &'static Site,
    calls: u64,
    watch: impl FnOnce(&'static Tree, &'static Node),
) -> Option<&'static Node> {
    if site.is(SiteState::New) && !may_count(site) {
        return None;
    }
    if !site.is(SiteState::Watched) {
        return enter_rarely(site, calls);
    }
    let node = enter_otherwise(current_thread::hot(), site, calls)?;
    if let Some(tree) = current_thread::hot() {
        watch(tree, node);
    }
    Some(node)
}

/// Handles mode switches, new children, and clocks other than the time stamp counter.
#[inline(never)]
fn enter_rarely(site: &'static Site, calls: u64) -> Option<&'static Node> {
    let Some(tree) = current_thread::hot().filter(|_| !site.is(SiteState::New)) else {
        return enter_first(site, calls);
    };
    tree.catch_up_if_alarmed(config::exact_path());
    let Some(current) = tree.current.get() else {
        // This thread is already handling an event, so this scope is inside a signal handler or an allocator.
        add(&tree.dropped, 1);
        return None;
    };
    let (current, child) = match tree.known_child(current, site) {
        Some(child) => (current, child),
        None => new_place(tree, current, site, calls)?,
    };
    match tree.path() {
        Path::Sampled => tree.begin_untimed(child, calls),
        Path::Adaptive | Path::AdaptiveExact => {
            if child.is_skipped(current) {
                tree.begin_untimed(child, calls);
            } else {
                tree.begin_timed(current, child, calls, config::now);
            }
        }
        // If another alarm has been raised in the meantime, this event is still handled in the old mode, and the next event
        // catches up.
        Path::Fast | Path::Exact | Path::Alarm => {
            tree.learn(current, child);
            tree.mark();
            tree.begin(current, child, config::now(), calls);
            child.mend_beginning();
        }
        Path::Watched | Path::WatchedExact => {
            tree.mark();
            tree.begin_watched(current, child, config::now(), calls);
            child.mend_beginning();
        }
        Path::Off => return None,
    }
    Some(child)
}

/// Returns the node of `site` below the thread's innermost open node, even if the site is disabled. Adds the node if necessary.
pub(crate) fn place(tree: &'static Tree, site: &'static Site) -> Option<&'static Node> {
    let current = tree.current.get()?;
    tree.known_child(current, site)
        .or_else(|| add_child(tree, current, site))
        .or_else(|| child_over_the_limit(tree, current, site))
}

/// Finds a place for a call at a site that has no child in `current`. Returns the innermost open node, and its child for the
/// call: a new node, or the node that counts calls over the limit.
fn new_place(
    tree: &'static Tree,
    current: &'static Node,
    site: &'static Site,
    calls: u64,
) -> Option<(&'static Node, &'static Node)> {
    if tree.end_leaked(current, config::now) {
        let current = tree.current.get()?;
        let known = tree.known_child(current, site);
        let child = known.or_else(|| new_child(tree, current, site));
        return child.map(|child| (current, child));
    }
    let child = add_child(tree, current, site).or_else(|| {
        let over = child_over_the_limit(tree, current, site);
        // A scope that continues a call (`calls` is 0) drops no call if the node for calls over the limit can take it.
        add(&tree.dropped, if over.is_some() { calls } else { 1 });
        over
    });
    child.map(|child| (current, child))
}

/// Adds a child, or counts a dropped call if that is not possible.
pub(crate) fn new_child(
    tree: &'static Tree,
    current: &'static Node,
    site: &'static Site,
) -> Option<&'static Node> {
    let child = add_child(tree, current, site);
    if child.is_none() {
        current_thread::drop_call();
    }
    child
}

fn add_child(tree: &'static Tree, current: &'static Node, site: &'static Site) -> Option<&'static Node> {
    tree.mark();
    let child = tree.add_child(current, site, registry::may_add_node);
    tree.put(current);
    child
}

fn child_over_the_limit(
    tree: &'static Tree,
    current: &'static Node,
    site: &'static Site,
) -> Option<&'static Node> {
    tree.mark();
    let child = tree.child_over_the_limit(current, site, registry::add_node);
    tree.put(current);
    child
}

/// Handles the first scope at a site or on a thread, and threads that are not counted.
#[cold]
#[inline(never)]
fn enter_first(site: &'static Site, calls: u64) -> Option<&'static Node> {
    if may_count(site) && current_thread::hot().is_some() {
        enter_rarely(site, calls)
    } else {
        None
    }
}

/// Registers the site and the thread if they are new. Returns whether the scope is counted.
#[cold]
pub(crate) fn may_count(site: &'static Site) -> bool {
    if site.is(SiteState::New) {
        if config::is_being_decided() {
            current_thread::drop_call();
            return false;
        }
        // The configuration is decided before anything is counted.
        config::settle();
        site_table::meet(site);
        if site.is(SiteState::Disabled) {
            return false;
        }
    }
    match thread_lifecycle::register() {
        Phase::Counting => return true,
        Phase::Busy | Phase::Gone => current_thread::drop_call(),
        Phase::New | Phase::Excluded => {}
    }
    false
}

impl Drop for Scope {
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(node) = self.node {
            end(node);
        }
    }
}

/// Ends the open poll of a future in `node`. `number` is the poll's number; it cannot be taken from the row's number of calls,
/// which includes only first polls. `is_over` says whether the call is over.
#[inline(always)]
pub(crate) fn end_poll(node: &'static Node, number: u64, call: &CallId, is_over: bool) {
    let ended = current_thread::hot()
        .is_some_and(|tree| tree.is(Path::Fast) && tree.end_innermost_numbered(node, || number, clock::tsc));
    if !ended {
        end_poll_otherwise(node, call, is_over);
    }
}

/// Ends a poll that `end_poll` cannot end: in a mode other than exact, inside a watched call, or with another clock.
#[cold]
#[inline(never)]
fn end_poll_otherwise(node: &'static Node, call: &CallId, is_over: bool) {
    if let Some(tree) = current_thread::hot() {
        if tree.may_skip_clock() {
            let is_adaptive = tree.is(Path::Adaptive) && node.is_timed();
            if tree.end_untimed(node) || is_adaptive && tree.end_timed(node, clock::tsc) {
                return;
            }
        } else if tree.is(Path::Watched) || tree.is(Path::WatchedExact) {
            tree.note_poll_end(node, *call, is_over);
        }
    }
    exit_otherwise(node);
}

/// Ends an open call of this node.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn end(node: &'static Node) {
    if let Some(tree) = current_thread::hot() {
        let ended = if tree.is(Path::Fast) {
            tree.end_innermost(node, clock::tsc)
        } else {
            tree.may_skip_clock() && tree.end_untimed(node)
        };
        if ended {
            return;
        }
    }
    exit_otherwise(node);
}

/// Ends timed calls in adaptive mode, and all other calls that [`end`] cannot end. In adaptive mode the clock is read first,
/// because any work done before that would be charged to the call.
#[inline(never)]
fn exit_otherwise(node: &'static Node) {
    if let Some(tree) = current_thread::hot()
        && tree.is(Path::Adaptive)
        && node.is_timed()
        && tree.end_timed(node, clock::tsc)
    {
        return;
    }
    if let Some(tree) = current_thread::hot()
        && tree.is(Path::Watched)
    {
        return exit_in_watched(tree, node);
    }
    exit_rarely(node);
}

/// Ends a watched call, or a call inside a watched call.
#[inline(never)]
fn exit_in_watched(tree: &'static Tree, node: &'static Node) {
    if !tree.end_watched(node, clock::tsc) {
        exit_rarely(node);
    }
}

/// Handles mode switches, scopes that are not the innermost one, and clocks other than the time stamp counter.
#[inline(never)]
fn exit_rarely(node: &'static Node) {
    // If the thread is excluded or has ended, all its calls have already been closed.
    let Some(tree) = current_thread::hot() else {
        return;
    };
    tree.catch_up_if_alarmed(config::exact_path());
    let ended = match tree.path() {
        Path::Sampled | Path::Off => tree.end_uncharged(node),
        Path::Adaptive | Path::AdaptiveExact => tree.end_untimed(node) || tree.end_timed(node, config::now),
        Path::Watched | Path::WatchedExact => tree.end_watched(node, config::now),
        Path::Fast | Path::Exact | Path::Alarm => tree.end_innermost(node, config::now),
    };
    if !ended {
        tree.end_out_of_order(node, config::now);
    }
}

//! Scopes: the guard, its enter and its exit. The only code that a program runs at every call.
//!
//! Enter finds the child first and reads the clock then; exit reads the clock first. So finding is charged to
//! the node that was current, and nothing is charged twice.

use std::fmt;
use std::marker::PhantomData;

use crate::arena::{NOBODY, Node};
use crate::clock;
use crate::process;
use crate::session;
use crate::site::Site;
use crate::threads::{self, Phase};
use crate::tree::{Tree, is_nobody};

/// An open scope; it ends when this is dropped.
///
/// It belongs to the thread that opened it. Dropping scopes out of order or leaking one leaves the call tree
/// intact and is counted as unbalanced.
#[must_use = "the scope ends at once if its guard is not kept"]
pub struct Scope {
    node: &'static Node,
    /// Not `Send`: the node is in this thread's tree.
    _of_this_thread: PhantomData<*mut ()>,
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.node.site.get().map(|site| site.describe().name);
        f.debug_struct("Scope").field("name", &name).finish()
    }
}

/// Opens a scope at a site.
// In a debug build what is inlined is compiled with the program, without optimisation. Called instead, it is
// compiled here, and a program that optimises this crate alone has cheap scopes in its debug build as well.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn enter(site: &'static Site) -> Scope {
    enter_counting(site, 1)
}

/// Opens a scope that counts as `calls` calls: 0 for one that goes on.
#[inline(always)]
pub(crate) fn enter_counting(site: &'static Site, calls: u64) -> Scope {
    if let Some(tree) = threads::hot()
        && let Some(current) = tree.take()
    {
        return match Tree::recent_child(current, site) {
            Some(child) => {
                tree.begin(current, child, clock::tsc(), calls);
                guard(child)
            }
            None => enter_other(tree, current, site, calls),
        };
    }
    enter_slowly(site, calls)
}

#[inline(always)]
fn guard(node: &'static Node) -> Scope {
    Scope {
        node,
        _of_this_thread: PhantomData,
    }
}

/// The child is not the one entered last, or does not exist yet; `current` is taken out.
#[inline(never)]
fn enter_other(tree: &'static Tree, current: &'static Node, site: &'static Site, calls: u64) -> Scope {
    match tree.find_child(current, site, threads::may_add_node) {
        Some(child) => {
            tree.begin(current, child, process::fixed().chosen.clock.now(), calls);
            guard(child)
        }
        None => {
            tree.put(current);
            threads::drop_call();
            guard(&NOBODY)
        }
    }
}

/// Another clock than the time stamp counter, a new thread, an excluded one, one in the middle of an event.
#[cold]
#[inline(never)]
fn enter_slowly(site: &'static Site, calls: u64) -> Scope {
    match threads::register(session::first_scope) {
        Phase::Counting => {
            if let Some(tree) = threads::counting()
                && let Some(current) = tree.take()
            {
                return enter_other(tree, current, site, calls);
            }
            threads::drop_call();
        }
        Phase::Busy | Phase::Gone => threads::drop_call(),
        Phase::New | Phase::Excluded => {}
    }
    guard(&NOBODY)
}

impl Drop for Scope {
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(tree) = threads::hot()
            && tree.end_innermost(self.node, clock::tsc)
        {
            return;
        }
        exit_slowly(self.node);
    }
}

#[cold]
#[inline(never)]
fn exit_slowly(node: &'static Node) {
    if is_nobody(node) {
        return;
    }
    // A thread that is excluded or gone has closed all its calls already.
    if let Some(tree) = threads::counting() {
        let now = || process::fixed().chosen.clock.now();
        if !tree.end_innermost(node, now) {
            tree.end_out_of_order(node, now());
        }
    }
}

/// This thread's clock stands still until it is dropped.
#[must_use = "the pause ends at once if its guard is not kept"]
#[derive(Debug)]
pub struct Pause {
    /// Whether there was a clock to stop.
    stopped: bool,
    /// Not `Send`: it is this thread's clock.
    _of_this_thread: PhantomData<*mut ()>,
}

/// Lets this thread's clock stand still: the time until the guard is dropped is charged to nobody. Nests.
/// Calls are counted all the same.
pub fn pause() -> Pause {
    let counting = threads::register(session::first_scope) == Phase::Counting;
    let tree = threads::counting().filter(|_| counting);
    if let Some(tree) = tree {
        tree.pause(process::fixed().chosen.clock.now());
    }
    Pause {
        stopped: tree.is_some(),
        _of_this_thread: PhantomData,
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // Also where the thread has been excluded since: it may be included again.
        if let Some(tree) = threads::own().filter(|_| self.stopped) {
            tree.resume(process::fixed().chosen.clock.now());
            if threads::counting().is_none() {
                tree.stop();
            }
        }
    }
}

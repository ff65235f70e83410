//! Models of how threads interact, run under loom. They run the same code as real programs, in all interleavings and
//! with all reorderings that the memory model allows. Code that involves only one thread (thread-locals, clock reads)
//! is left out; `tests/it/threads.rs` tests that code with real threads.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a model that cannot go on has failed"
)]

mod in_flight;
mod live_blocks;
mod publication;
mod registration;
mod switches;
mod tearing;
mod waiting;

use crate::enabled::record::arena::{FromZeros, zeros};
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::{NO_LIMIT, Path, Tree};

static OUTER: Site = Site::named("outer", "models", "f.rs", 1);
static INNER: Site = Site::named("inner", "models", "f.rs", 2);

/// Creates a zeroed value that is never freed.
fn leaked<T: FromZeros + 'static>() -> &'static T {
    Box::leak(Box::new(zeros::<T>()))
}

/// Creates an open tree that has a node for one site.
fn tree() -> &'static Tree {
    let tree: &'static Tree = leaked();
    assert!(tree.open(0, NO_LIMIT, 10, 10));
    tree.set_path(Path::Exact);
    let root = tree.take().unwrap();
    tree.add_child(root, &OUTER, || true).unwrap();
    tree.put(root);
    tree
}

/// Begins a call at tick `now()`, like an event in exact mode.
fn begin(tree: &'static Tree, site: &'static Site, now: impl FnOnce() -> u64) {
    tree.catch_up_if_alarmed(Path::Exact);
    let current = tree.current.get().unwrap();
    let child = match tree.known_child(current, site) {
        Some(child) => child,
        None => {
            tree.mark();
            let child = tree.add_child(current, site, || true).unwrap();
            tree.put(current);
            child
        }
    };
    tree.mark();
    tree.begin(current, child, now(), 1);
}

/// Ends the innermost call.
fn end(tree: &'static Tree, now: impl FnOnce() -> u64) {
    tree.catch_up_if_alarmed(Path::Exact);
    assert!(tree.end_innermost(tree.current.get().unwrap(), now));
}

//! Functions that were switched off while calls of them were open. Their end sleds, which are those at the returns and tail
//! calls, stay on until all of these calls have ended.
//!
//! Once the entry sled of a function is off, no further call of the function begins. An entry that was in progress at that time
//! finds the site disabled and takes its call back. So once a thread has no open call of the function, this will not change. The
//! open calls of a thread are the nodes from its current node up to the root. The end sleds are switched off after each thread
//! has been found without an open call at least once, so no end is missed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::enabled::record::node::Node;
use crate::enabled::record::registry;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;

/// Pause after the first check of all threads. Each later pause is twice as long as the one before, up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(200);

/// The checks take up at most 1/`LOOK_SHARE` of the time.
const LOOK_SHARE: u32 = 200;

/// The functions whose end sleds are on although their entry sleds are off.
#[derive(Debug)]
pub(crate) struct Leaving {
    functions: Vec<Function>,
    next: Option<Instant>,
    pause: Duration,
}

#[derive(Debug)]
struct Function {
    number: u32,
    /// Addresses of the trees in which the function may be open; `None` before the first check.
    trees: Option<Vec<usize>>,
}

/// The functions that are open in a thread.
#[derive(Debug)]
struct OpenCalls {
    /// The address of the thread's tree.
    tree: usize,
    /// Numbers of the open functions; `None` if they cannot be determined at the moment.
    functions: Option<HashSet<u32>>,
}

impl Leaving {
    pub(crate) const fn none() -> Self {
        Self {
            functions: Vec::new(),
            next: None,
            pause: SHORTEST,
        }
    }

    /// Returns the time until the next check; `None` if no end sleds remain to be switched off.
    pub(crate) fn rest(&self, now: Instant) -> Option<Duration> {
        self.next.map(|next| next.saturating_duration_since(now))
    }

    /// Adds a function whose entry sled has been switched off.
    pub(crate) fn begin(&mut self, number: u32) {
        self.functions.push(Function { number, trees: None });
        self.pause = SHORTEST;
        self.next = Some(Instant::now());
    }

    /// Removes a function that is to be counted again.
    pub(crate) fn forget(&mut self, number: u32) {
        self.functions.retain(|function| function.number != number);
    }

    /// Returns the functions that have no open calls left, sorted by number, and removes them. Returns nothing if no check is due
    /// yet. `number_of` returns the number of the function to which a site belongs.
    pub(crate) fn ended(&mut self, number_of: fn(&'static Site) -> Option<u32>) -> Vec<u32> {
        let now = Instant::now();
        if self.next.is_none_or(|next| next > now) {
            return Vec::new();
        }
        let threads: Vec<OpenCalls> = registry::living()
            .map(|block| OpenCalls::of(&block.tree, number_of))
            .collect();
        let ended = self.look(&threads);
        let pause = self.pause.max(now.elapsed() * LOOK_SHARE);
        self.pause = (self.pause * 2).min(LONGEST);
        self.next = (!self.functions.is_empty()).then(|| Instant::now() + pause);
        ended
    }

    fn look(&mut self, threads: &[OpenCalls]) -> Vec<u32> {
        let mut ended = Vec::new();
        self.functions.retain_mut(|function| {
            let number = function.number;
            let before = function.trees.take();
            let is_possible = |thread: &&OpenCalls| {
                before.as_ref().is_none_or(|trees| trees.contains(&thread.tree))
                    && thread
                        .functions
                        .as_ref()
                        .is_none_or(|open| open.contains(&number))
            };
            let open: Vec<usize> = threads
                .iter()
                .filter(is_possible)
                .map(|thread| thread.tree)
                .collect();
            let is_open = !open.is_empty();
            function.trees = Some(open);
            if !is_open {
                ended.push(number);
            }
            is_open
        });
        ended.sort_unstable();
        ended
    }
}

impl OpenCalls {
    fn of(tree: &Tree, number_of: fn(&'static Site) -> Option<u32>) -> Self {
        let current = tree.outside_events();
        let open = || std::iter::successors(current, |node| node.parent.get());
        // All calls beyond the limits on depth and nodes share a node, so it is unknown to which functions they belong.
        let is_known = current.is_some() && !open().any(Node::is_over_the_limit);
        Self {
            tree: std::ptr::from_ref(tree).addr(),
            functions: is_known.then(|| open().filter_map(|node| number_of(node.site.get()?)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(tree: usize, functions: &[u32]) -> OpenCalls {
        OpenCalls {
            tree,
            functions: Some(functions.iter().copied().collect()),
        }
    }

    #[test]
    fn ends_wait_for_each_thread_to_be_seen_without_an_open_call() {
        let mut leaving = Leaving::none();
        assert!(leaving.rest(Instant::now()).is_none());
        leaving.begin(7);
        leaving.begin(5);
        leaving.begin(6);
        assert_eq!(leaving.rest(Instant::now()), Some(Duration::ZERO));
        let in_event = OpenCalls {
            tree: 3,
            functions: None,
        };
        assert_eq!(leaving.look(&[open(1, &[1, 7]), open(2, &[7])]), [5, 6]);
        // A thread that had no open call of the function at an earlier check cannot have an open call now.
        leaving.begin(5);
        let threads = [open(1, &[]), open(2, &[7, 1]), in_event];
        assert!(leaving.look(&threads).is_empty());
        // A thread that has ended cannot have an open call either. A thread that was in the middle of an event may have one.
        assert_eq!(leaving.look(&[open(1, &[7]), open(3, &[5])]), [7]);
        leaving.forget(5);
        assert!(leaving.look(&[open(3, &[5])]).is_empty());
    }
}

//! Mean values of the typical calls of watched functions, by path, over all threads. A slow call is compared with these values if
//! the thread that made it has made no typical call itself, for example because the thread serves only one request.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tickscope_format::snapshot::WATCHES_MAX;

use crate::enabled::record::path_sums::COUNTS;
use crate::enabled::record::pool::briefly;
use crate::enabled::record::site::Site;

/// What a path takes on average in one typical call, excluding its callees. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Means {
    pub(crate) calls: f64,
    pub(crate) working: i64,
    pub(crate) waiting: i64,
    pub(crate) ready: i64,
}

/// The call paths inside a watched function, and their means.
#[derive(Debug, Default)]
pub(crate) struct TypicalPaths {
    /// Path numbers, keyed by the number of the parent path (`None` for the path of the watched function itself) and the address
    /// of the site.
    paths: HashMap<(Option<u32>, usize), u32>,
    means: Vec<Means>,
}

/// For each watch slot: the paths, and the number of the watch that they belong to.
static OF_WATCHES: [Mutex<Option<(u64, TypicalPaths)>>; WATCHES_MAX] =
    [const { Mutex::new(None) }; WATCHES_MAX];

/// For each watch slot: the number of the watch for which a thread has requested the paths.
static WANTED: [AtomicU64; WATCHES_MAX] = [const { AtomicU64::new(0) }; WATCHES_MAX];

impl Means {
    /// Computes means from sums over `of_function` calls of the watched function.
    pub(crate) fn of([calls, ticks, waiting, ready, ..]: [u64; COUNTS], of_function: u64) -> Self {
        let [ticks, waiting, ready] =
            [ticks, waiting, ready].map(|ticks| (ticks / of_function.max(1)).cast_signed());
        Self {
            calls: calls as f64 / of_function.max(1) as f64,
            working: ticks - waiting - ready,
            waiting,
            ready,
        }
    }
}

impl TypicalPaths {
    /// Adds the path of `site` below `parent`, which must have been added before. Without a parent, adds the path of the watched
    /// function itself.
    pub(crate) fn add(&mut self, parent: Option<u32>, site: &'static Site, means: Means) {
        let path = self.means.len() as u32;
        self.paths.insert((parent, std::ptr::from_ref(site).addr()), path);
        self.means.push(means);
    }

    /// Returns the number of the path of `site` below `parent`. Without a parent, this is the path of the watched function
    /// itself.
    pub(crate) fn path(&self, parent: Option<u32>, site: &'static Site) -> Option<u32> {
        self.paths
            .get(&(parent, std::ptr::from_ref(site).addr()))
            .copied()
    }

    pub(crate) fn means(&self, path: u32) -> Option<Means> {
        self.means.get(path as usize).copied()
    }
}

/// Calls `with` on the paths of watch `number` in this slot, if they are known. Also requests these paths: the next snapshot
/// updates all paths that have been requested.
pub(crate) fn read<R>(slot: u32, number: u64, with: impl FnOnce(&TypicalPaths) -> Option<R>) -> Option<R> {
    WANTED.get(slot as usize)?.store(number, Ordering::Relaxed);
    briefly(OF_WATCHES.get(slot as usize)?, |known| {
        known
            .as_ref()
            .filter(|known| known.0 == number)
            .and_then(|(_, paths)| with(paths))
    })?
}

/// Returns whether a thread has requested the paths of watch `number` in this slot.
pub(crate) fn are_wanted(slot: usize, number: u64) -> bool {
    WANTED
        .get(slot)
        .is_some_and(|wanted| wanted.load(Ordering::Relaxed) == number)
}

/// Stores the paths of watch `number` in this slot.
pub(crate) fn set(slot: usize, number: u64, paths: TypicalPaths) {
    if let Some(known) = OF_WATCHES.get(slot) {
        briefly(known, |known| *known = Some((number, paths)));
    }
}

//! Means of typical calls of watched functions, by path and over all threads. A slow call is compared with these means if its own
//! thread has made no typical call on the same path, for example because the thread serves only one request.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tickscope_format::snapshot::WATCHES_MAX;

use crate::enabled::record::path_sums::COUNTS;
use crate::enabled::record::pool::briefly;
use crate::enabled::record::site::Site;

/// Mean amounts of a path in a typical call, without its callees. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Means {
    pub(crate) calls: f64,
    pub(crate) working: i64,
    pub(crate) waiting: i64,
    pub(crate) ready: i64,
}

/// The paths of a watched function.
#[derive(Debug, Default)]
pub(crate) struct TypicalPaths {
    /// Path numbers, by the number of the parent path (`None` for the watched function's path) and the site's address.
    paths: HashMap<(Option<u32>, usize), u32>,
    means: Vec<Means>,
}

/// For each slot of a watch: the number of the watch to which the paths belong, and the paths.
static OF_WATCHES: [Mutex<Option<(u64, TypicalPaths)>>; WATCHES_MAX] =
    [const { Mutex::new(None) }; WATCHES_MAX];

/// For each slot of a watch: the number of the watch whose paths a thread has requested.
static WANTED: [AtomicU64; WATCHES_MAX] = [const { AtomicU64::new(0) }; WATCHES_MAX];

impl Means {
    /// Returns the means of sums over `of_function` calls of the watched function.
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
    /// Adds the path of `site` below the earlier path `parent`. Without a parent, the path begins at the watched function.
    pub(crate) fn add(&mut self, parent: Option<u32>, site: &'static Site, means: Means) {
        let path = self.means.len() as u32;
        self.paths.insert((parent, std::ptr::from_ref(site).addr()), path);
        self.means.push(means);
    }

    /// Returns the number of the path of `site` below `parent`. Without a parent, it is the path of the watched function itself.
    pub(crate) fn path(&self, parent: Option<u32>, site: &'static Site) -> Option<u32> {
        self.paths
            .get(&(parent, std::ptr::from_ref(site).addr()))
            .copied()
    }

    pub(crate) fn means(&self, path: u32) -> Option<Means> {
        self.means.get(path as usize).copied()
    }
}

/// Reads the paths of the watch with this number in a slot, if they are known. Also requests these paths: the next snapshot sets
/// all paths that were requested.
pub(crate) fn read<R>(slot: u32, number: u64, with: impl FnOnce(&TypicalPaths) -> Option<R>) -> Option<R> {
    WANTED.get(slot as usize)?.store(number, Ordering::Relaxed);
    briefly(OF_WATCHES.get(slot as usize)?, |known| {
        known
            .as_ref()
            .filter(|known| known.0 == number)
            .and_then(|(_, paths)| with(paths))
    })?
}

/// Returns whether a thread has requested the paths of the watch with this number.
pub(crate) fn are_wanted(slot: usize, number: u64) -> bool {
    WANTED
        .get(slot)
        .is_some_and(|wanted| wanted.load(Ordering::Relaxed) == number)
}

/// Sets the paths of the watch with this number.
pub(crate) fn set(slot: usize, number: u64, paths: TypicalPaths) {
    if let Some(known) = OF_WATCHES.get(slot) {
        briefly(known, |known| *known = Some((number, paths)));
    }
}

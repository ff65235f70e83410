//! Finds other copies of this library in the process. The executable, and each library that it loads, may have been
//! linked with a copy of its own. Each copy has its own rows, ring and publisher, and does not count the calls in other
//! copies.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::enabled::platform::modules::{self, OtherCopy};
use crate::enabled::runtime::config;

/// Result of the last search.
static FOUND: Mutex<Vec<OtherCopy>> = Mutex::new(Vec::new());

fn found() -> MutexGuard<'static, Vec<OtherCopy>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Searches for other copies that are in use. Must not be called while holding any lock of the collector: the search
/// takes the lock of the loader's list, and a program may call the collector while it holds that lock.
pub(crate) fn look() {
    // In a forked child, the loader's lock may be held by a thread that does not exist in the child.
    if config::is_forked_child() {
        return;
    }
    let others = modules::other_copies();
    *found() = others;
}

/// Returns the files that contain other copies.
pub(crate) fn files() -> Vec<PathBuf> {
    found().iter().map(|copy| copy.file.clone()).collect()
}

pub(crate) fn warning() -> Option<String> {
    let found = found();
    let others: Vec<String> = found
        .iter()
        .map(|OtherCopy { file, version }| format!("{} ({version})", file.display()))
        .collect();
    (!others.is_empty()).then(|| {
        format!(
            "this process has another copy of tickscope in {}: its counts are not here, but in a separate ring, which `tickscope list` shows \
             once that copy publishes",
            others.join(" and ")
        )
    })
}

/// Returns the path of the library that contains this copy, or an empty string if the executable contains it.
pub(crate) fn own_library() -> String {
    modules::own_library().map_or_else(String::new, |library| library.display().to_string())
}

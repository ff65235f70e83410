//! A cache whose size is limited in the simplest way: the oldest entry is dropped first.
//!
//! An entry is dropped even if most requests need it. This makes about one request in two hundred slow: see
//! [`offers`](crate::shop::catalogue::offers).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError};

use tickscope::sync::{Mutex, named_mutex};

/// The largest number of entries. Most of them are pictures.
const MOST_ENTRIES: usize = 480;

/// Identifies an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The picture of an item.
    Picture(u32),
    /// The best offers of a section.
    Offers(u32),
}

/// A cached value. Clones share its bytes.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Picture(Arc<[u8]>),
    Offers(Arc<[u32]>),
}

#[derive(Debug)]
pub(crate) struct Cache {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Key, Entry>,
    /// The keys in the order in which their entries were added.
    order: VecDeque<Key>,
}

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            entries: named_mutex("cache", Entries::default()),
        }
    }

    /// Returns an entry if the cache has it.
    #[tickscope::profile]
    pub(crate) fn get(&self, key: Key) -> Option<Entry> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.by_key.get(&key).cloned();
        drop(entries);
        match &entry {
            Some(_) => tickscope::count!("hit"),
            None => tickscope::count!("miss"),
        }
        entry
    }

    /// Adds an entry, and drops the oldest one if there are too many.
    pub(crate) fn put(&self, key: Key, entry: Entry) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_key.insert(key, entry).is_some() {
            return;
        }
        entries.order.push_back(key);
        if entries.order.len() > MOST_ENTRIES
            && let Some(oldest) = entries.order.pop_front()
        {
            entries.by_key.remove(&oldest);
        }
    }
}

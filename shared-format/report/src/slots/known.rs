//! Threads and functions of all records so far, with numbers in the order in which they were met.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tickscope_analysis::functions::Functions;
use tickscope_analysis::spent::{TimeSpent, key_of, key_once_ended};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Sites;

/// Threads and functions, by number.
#[derive(Debug, Default)]
pub(super) struct Known {
    threads: Vec<(String, u32)>,
    by_thread: HashMap<u64, u32>,
    /// Names of ended threads, by the key of their row.
    once_ended: HashMap<u64, String>,
    functions: Vec<u64>,
    by_function: HashMap<u64, u32>,
    /// Functions of sites, which seldom change from record to record.
    of_sites: Option<(Sites, Functions)>,
}

impl Known {
    /// Returns the name and the id of a thread.
    pub(super) fn thread(&self, number: u32) -> (&str, u32) {
        let (name, tid) = &self.threads[number as usize];
        (name, *tid)
    }

    /// Returns the key of a function.
    pub(super) fn function(&self, number: u32) -> u64 {
        self.functions[number as usize]
    }

    /// Returns the number of a thread, by its key.
    pub(super) fn number_of_thread(&mut self, key: u64) -> u32 {
        let next = self.threads.len() as u32;
        match self.by_thread.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let name = self.once_ended.get(&key).cloned().unwrap_or_default();
                self.threads.push((name, 0));
                *new.insert(next)
            }
        }
    }

    /// Returns the number of a function, by its key.
    pub(super) fn number_of_function(&mut self, key: u64) -> u32 {
        let next = self.functions.len() as u32;
        let number = *self.by_function.entry(key).or_insert(next);
        if number == next {
            self.functions.push(key);
        }
        number
    }

    /// Returns the self times in a record.
    pub(super) fn spent_in(&mut self, snapshot: &Snapshot) -> TimeSpent {
        for thread in &snapshot.threads {
            if let Entry::Vacant(new) = self.by_thread.entry(key_of(thread)) {
                new.insert(self.threads.len() as u32);
                self.threads.push((thread.name.clone(), thread.tid));
                let ended = key_once_ended(&thread.name);
                self.once_ended.insert(ended, thread.name.clone());
            }
        }
        let functions = match self.of_sites.take() {
            Some((sites, functions)) if sites == snapshot.sites => functions,
            Some(_) | None => Functions::of(snapshot),
        };
        for function in &functions.list {
            self.number_of_function(function.key);
        }
        let spent = TimeSpent::of(snapshot, &functions);
        self.of_sites = Some((snapshot.sites.clone(), functions));
        spent
    }
}

//! The live threads: what captures and samples know about each thread, apart from its tree.
//!
//! A thread has an entry from the first capture or sample that finds its block until the block is given back. So a
//! block's address always identifies a single thread.

use std::collections::BTreeMap;

use tickscope_format::snapshot::Mode;

use crate::enabled::capture::baseline::Baseline;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::thread_name;
use crate::enabled::capture::tree_reader::{Reader, Reading};
use crate::enabled::capture::waiting_looks::{self, Budget, Looked, Looks, THREADS_MOST};
use crate::enabled::platform::os;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::numbers;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::runtime::config;

/// A live thread.
#[derive(Debug, Default)]
pub(crate) struct LiveThread {
    pub(crate) name: String,
    pub(crate) baseline: Baseline,
    pub(crate) reader: Reader,
    /// In sampled mode: the ticks that sampling has added to each node.
    pub(crate) sampled: Vec<u64>,
    /// In adaptive mode: the ticks that sampling attributes to each node.
    found: Vec<u64>,
    /// What the latest check found about the system call in which the thread is waiting.
    pub(crate) looked: Option<Looked>,
}

/// The live threads, by the address of their block.
#[derive(Debug, Default)]
pub(crate) struct LiveThreads(BTreeMap<usize, LiveThread>);

impl LiveThread {
    /// Reads the thread's tree into its baseline.
    pub(crate) fn read(
        &mut self,
        block: &'static Block,
        sites: &mut SiteIds,
        cpu_ns: Option<u64>,
    ) -> Reading {
        let reading = self.reader.read(block, sites, &mut self.baseline);
        for (counts, sampled) in self.reader.counts.iter_mut().zip(&self.sampled) {
            counts.ticks = counts.ticks.saturating_add(*sampled);
        }
        for (counts, found) in self.reader.counts.iter_mut().zip(&self.found) {
            counts.found = *found;
        }
        self.baseline
            .show(&self.reader.counts, &self.reader.measured, cpu_ns);
        let stretch = numbers::stretch();
        for read in &self.reader.numbers {
            self.baseline.ranges.show(read, stretch);
        }
        reading
    }

    /// Adds the time since the last sample to the thread's current node. Returns false if the thread is in the middle
    /// of an event, which is work of the collector and not of the program.
    pub(crate) fn sample(&mut self, block: &'static Block, passed: u64, mode: Mode) -> bool {
        if block.tree.stands_still() {
            return true;
        }
        let Some(node) = block.tree.outside_events() else {
            return false;
        };
        let index = node.index() as usize;
        let column = if mode.is_sampling() {
            &mut self.sampled
        } else {
            &mut self.found
        };
        if column.len() <= index {
            column.resize(index + 1, 0);
        }
        column[index] += passed;
        true
    }
}

impl LiveThreads {
    /// Returns the thread of a block, which is added if it is new.
    pub(crate) fn of(&mut self, block: &'static Block) -> &mut LiveThread {
        self.0.entry(block.address()).or_insert_with(|| LiveThread {
            name: thread_name::of_living(block.tid.load(Ordering::Relaxed)),
            ..LiveThread::default()
        })
    }

    /// Removes the entry for a block, whose thread has ended. `name` is the kernel's name for the thread.
    pub(crate) fn remove(&mut self, block: &'static Block, name: &[u8; 16]) -> LiveThread {
        let mut thread = self.0.remove(&block.address()).unwrap_or_default();
        // The name is empty if no capture has seen the thread, and `UNNAMED` if the first capture saw it after its end.
        if thread.name.is_empty() || thread.name == thread_name::UNNAMED {
            thread.name = thread_name::of_kernel(block.tid.load(Ordering::Relaxed), name);
        }
        thread
    }

    /// Returns the ticks that samples added to each node of a block in sampled mode.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn sampled(&self, block: &'static Block) -> &[u64] {
        self.0.get(&block.address()).map_or(&[], |thread| &thread.sampled)
    }

    /// Returns all threads that are known.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut LiveThread> {
        self.0.values_mut()
    }

    /// Finds the system calls in which threads wait, as far as the CPU budget of one check allows. Threads take turns.
    pub(crate) fn look_at_waits(&mut self, looks: &mut Looks) {
        let before = os::own_cpu_ns();
        let now = config::now();
        let mut budget = Budget::new();
        for block in registry::living_after(looks.at).take(THREADS_MOST) {
            // Threads that no capture or sample has found yet are skipped.
            if let Some(thread) = self.0.get_mut(&block.address()) {
                let Some(found) = waiting_looks::look(block, thread.looked, now, &mut budget) else {
                    break;
                };
                thread.looked = found.looked;
                if let Some((node, call)) = found.waiting {
                    thread.baseline.waits_in.count(node.index(), call);
                }
            }
            looks.at = Some(block);
        }
        looks.spent(os::own_cpu_ns().saturating_sub(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::tree::NO_LIMIT;

    #[test]
    fn a_look_that_meets_an_event_is_no_time_of_the_program() {
        let block = registry::take().unwrap();
        assert!(block.tree.open(0, NO_LIMIT, 10, 100));
        let root = block.tree.current.get().unwrap();
        let mut thread = LiveThread::default();
        let mut look = || thread.sample(block, 7, Mode::Sampled);
        assert!(look());
        // The first kind of event leaves `current` set, and the second kind makes it empty.
        block.tree.set_in_event(true);
        assert!(!look());
        block.tree.set_in_event(false);
        block.tree.mark();
        assert!(!look());
        block.tree.put(root);
        assert!(look());
        assert_eq!(thread.sampled, [14]);
        registry::forget(block);
    }
}

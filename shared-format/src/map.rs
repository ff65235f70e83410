//! A file mapping as words. Nothing here ever makes a reference into the mapping: another process writes to it.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use memmap2::{Advice, MmapOptions, MmapRaw};

use crate::error::FormatError;
use crate::layout::WORD;
use crate::words::{ReadWords, Words};

/// The mapping of a whole ring file. A forked child does not inherit it.
#[derive(Debug)]
pub(crate) struct MapWords {
    map: MmapRaw,
    /// Words that have blocks, at most those of the mapping; never fewer.
    length: usize,
}

// === impl MapWords ===

impl MapWords {
    /// Maps a file whose blocks are allocated for so many bytes, and room for it to grow.
    ///
    /// # Errors
    /// What mapping gives.
    pub(crate) fn new(file: &File, bytes: u64, bytes_most: u64) -> io::Result<Self> {
        let map = MmapOptions::new()
            .len(bytes_most.max(bytes) as usize)
            .map_raw(file)?;
        map.advise(Advice::DontFork)?;
        Ok(Self {
            map,
            length: bytes as usize / WORD,
        })
    }

    /// The file has blocks for so many bytes now.
    pub(crate) fn has_grown(&mut self, bytes: u64) {
        self.length = (bytes as usize).min(self.map.len()) / WORD;
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.length, "word {index} of {}", self.length);
        let pointer = self.map.as_mut_ptr().cast::<u64>().wrapping_add(index);
        // SAFETY: in bounds by the assertion, as `length` is at most the mapping's; mappings begin at a page, so words are aligned; the mapping
        // lives as long as `self`; all access from this process goes through here, all of it atomic.
        unsafe { AtomicU64::from_ptr(pointer) }
    }
}

impl ReadWords for MapWords {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        for (offset, word) in out.iter_mut().enumerate() {
            *word = u64::from_le(self.word(first + offset).load(Ordering::Relaxed));
        }
        Ok(())
    }

    fn fence_acquire(&self) {
        fence(Ordering::Acquire);
    }
}

impl Words for MapWords {
    fn store(&self, index: usize, value: u64) {
        self.word(index).store(value.to_le(), Ordering::Relaxed);
    }

    fn store_release(&self, index: usize, value: u64) {
        self.word(index).store(value.to_le(), Ordering::Release);
    }

    fn fence_release(&self) {
        fence(Ordering::Release);
    }
}

//! Traits for shared memory that is accessed as 64-bit words. The ring and the slots access memory only through these
//! traits, so the same code runs on a memory mapping, on a file read with `pread`, on a recorder that can reproduce a
//! crash after any store, and under loom.

use crate::error::FormatError;

/// Words that can be read, several at a time.
///
/// Each word is read as some store left it, but the words of one read may stem from different points in time.
pub trait ReadWords {
    /// Copies the words `first..first + out.len()` to `out`, each with a relaxed load.
    ///
    /// # Errors
    /// The words do not exist, for example because the file was truncated.
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError>;

    /// Orders earlier reads before later reads.
    fn fence_acquire(&self);
}

/// Words that can also be written, but only by a single writer.
pub trait Words: ReadWords {
    /// Stores a word with relaxed ordering.
    fn store(&self, index: usize, value: u64);

    /// Stores a word with release ordering, so that it becomes visible only after all earlier stores.
    fn store_release(&self, index: usize, value: u64);

    /// Orders earlier stores before later stores.
    fn fence_release(&self);
}

/// Converts little-endian bytes to words. An incomplete word at the end is ignored.
pub(crate) fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// Writes words to the beginning of `bytes`, in little-endian order. Words that do not fit are ignored.
pub(crate) fn fill_bytes(bytes: &mut [u8], words: &[u64]) {
    let (places, _) = bytes.as_chunks_mut();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

/// Converts words to little-endian bytes.
pub(crate) fn bytes_of(words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(words)];
    fill_bytes(&mut bytes, words);
    bytes
}

/// Collects words as little-endian bytes.
pub(crate) fn to_bytes(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let words = words.into_iter();
    let mut bytes = Vec::with_capacity(words.size_hint().0 * size_of::<u64>());
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Reads one word.
///
/// # Errors
/// The same as for [`ReadWords::read`].
#[cfg_attr(test, track_caller)]
pub fn read_one(words: &impl ReadWords, index: usize) -> Result<u64, FormatError> {
    let mut word = [0];
    words.read(index, &mut word)?;
    Ok(word[0])
}

#[cfg(test)]
pub(crate) mod recorder {
    //! Words in plain memory, with a log of all stores. The log can reproduce the state that a crash would leave after
    //! any number of the stores.

    use std::cell::{Cell, RefCell};
    use std::panic::Location;
    use std::rc::Rc;

    use super::*;
    use tickscope_testkit::model::mutation;

    #[derive(Debug)]
    pub(crate) struct Recorder {
        words: Rc<RefCell<Vec<u64>>>,
        log: Rc<RefCell<Vec<(usize, u64)>>>,
        stores: Cell<u64>,
    }

    impl Recorder {
        pub(crate) fn new(length: usize) -> Self {
            Self {
                words: Rc::new(RefCell::new(vec![0; length])),
                log: Rc::default(),
                stores: Cell::new(0),
            }
        }

        pub(crate) fn stores(&self) -> u64 {
            self.stores.get()
        }

        /// Replays the stores one by one, starting with zeroed words. Calls `look` before the first store and after
        /// each store, with the number of stores so far and the words.
        pub(crate) fn prefixes<E>(&self, mut look: impl FnMut(u64, &Self) -> Result<(), E>) -> Result<(), E> {
            let left = Self::new(self.words.borrow().len());
            look(0, &left)?;
            for (count, &(index, value)) in (1..).zip(&*self.log.borrow()) {
                left.words.borrow_mut()[index] = value;
                look(count, &left)?;
            }
            Ok(())
        }
    }

    impl ReadWords for Recorder {
        fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
            let words = self.words.borrow();
            match words.get(first..first + out.len()) {
                Some(from) => {
                    out.copy_from_slice(from);
                    Ok(())
                }
                None => Err(FormatError::Truncated {
                    found: words.len() as u64 * 8,
                    wanted: first as u64 * 8,
                }),
            }
        }

        fn fence_acquire(&self) {}
    }

    impl Words for Recorder {
        #[track_caller]
        fn store(&self, index: usize, value: u64) {
            self.stores.set(self.stores.get() + 1);
            let (words, log) = (Rc::clone(&self.words), Rc::clone(&self.log));
            mutation::act(Location::caller(), move |_| {
                words.borrow_mut()[index] = value;
                log.borrow_mut().push((index, value));
            });
        }

        #[track_caller]
        fn store_release(&self, index: usize, value: u64) {
            self.store(index, value);
        }

        fn fence_release(&self) {}
    }
}

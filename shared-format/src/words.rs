//! Shared memory as 64-bit words. Ring and slots know nothing else, so that the same code runs over a mapping,
//! over a file read with `pread`, over a recorder that cuts off after any store, and under loom.

use crate::error::FormatError;

/// Words that can be read, a run at a time.
///
/// A read gives each word as some store left it; words of one run may be of different moments.
pub trait ReadWords {
    /// Copies words `first..first + out.len()`, each with a relaxed load.
    ///
    /// # Errors
    /// Where the words do not exist (any more): a file that was cut.
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError>;

    /// Orders reads before it against reads behind it.
    fn fence_acquire(&self);
}

/// Words that can be written as well, by one writer.
pub trait Words: ReadWords {
    /// A relaxed store.
    fn store(&self, index: usize, value: u64);

    /// A store that all earlier stores come before.
    fn store_release(&self, index: usize, value: u64);

    /// Orders stores before it against stores behind it.
    fn fence_release(&self);
}

/// Bytes as words; what does not fill one is left out.
pub(crate) fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// Words as bytes.
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
/// As [`ReadWords::read`].
pub fn read_one(words: &impl ReadWords, index: usize) -> Result<u64, FormatError> {
    let mut word = [0];
    words.read(index, &mut word)?;
    Ok(word[0])
}

#[cfg(test)]
pub(crate) mod recorder {
    //! Words in plain memory that stop taking stores after a given number: what a crash leaves.

    use std::cell::{Cell, RefCell};

    use super::*;

    #[derive(Debug)]
    pub(crate) struct Recorder {
        words: RefCell<Vec<u64>>,
        stores_left: Cell<u64>,
        stores: Cell<u64>,
    }

    impl Recorder {
        pub(crate) fn new(length: usize) -> Self {
            Self {
                words: RefCell::new(vec![0; length]),
                stores_left: Cell::new(u64::MAX),
                stores: Cell::new(0),
            }
        }

        /// Takes this many more stores, then none.
        pub(crate) fn cut_after(&self, stores: u64) {
            self.stores_left.set(stores);
        }

        pub(crate) fn stores(&self) -> u64 {
            self.stores.get()
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
        fn store(&self, index: usize, value: u64) {
            self.stores.set(self.stores.get() + 1);
            if let Some(left) = self.stores_left.get().checked_sub(1) {
                self.stores_left.set(left);
                self.words.borrow_mut()[index] = value;
            }
        }

        fn store_release(&self, index: usize, value: u64) {
            self.store(index, value);
        }

        fn fence_release(&self) {}
    }
}

//! Shared memory as 64-bit words. Ring and slots use these traits alone, so the same code runs over a mapping, over a
//! file read with `pread`, over a recorder that stops after any store, and under loom.

use crate::error::FormatError;

/// Words that can be read, several at a time.
///
/// A read returns each word as some store left it. The words of one read may be of different moments.
pub trait ReadWords {
    /// Copies words `first..first + out.len()`, each with a relaxed load.
    ///
    /// # Errors
    /// If the words do not exist, for example because the file was cut.
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError>;

    /// Orders earlier reads before later reads.
    fn fence_acquire(&self);
}

/// Words that one writer can also write.
pub trait Words: ReadWords {
    /// Stores a word with a relaxed store.
    fn store(&self, index: usize, value: u64);

    /// Stores a word after all earlier stores.
    fn store_release(&self, index: usize, value: u64);

    /// Orders earlier stores before later stores.
    fn fence_release(&self);
}

/// Returns bytes as words. An incomplete last word is left out.
pub(crate) fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// Fills bytes with a slice of words, from the first byte on. Words that do not fit are left out.
pub(crate) fn fill_bytes(bytes: &mut [u8], words: &[u64]) {
    let (places, _) = bytes.as_chunks_mut();
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

/// Returns a slice of words as bytes.
pub(crate) fn bytes_of(words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(words)];
    fill_bytes(&mut bytes, words);
    bytes
}

/// Returns the words of an iterator as bytes.
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
#[cfg_attr(test, track_caller)]
pub fn read_one(words: &impl ReadWords, index: usize) -> Result<u64, FormatError> {
    let mut word = [0];
    words.read(index, &mut word)?;
    Ok(word[0])
}

#[cfg(test)]
pub(crate) mod recorder {
    //! Words in plain memory, which can show the state that a crash leaves after any prefix of the stores.

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

        /// Calls `look` for the state after each prefix of the stores, from none to all, with the number of stores.
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

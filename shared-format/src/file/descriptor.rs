//! A descriptor inside somebody else's program. Some programs close all descriptors that they do not know, and the next
//! file they open gets the same number: so nothing is done with it before it has been asked which file it is of.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::file::open::open_plain;

/// An open file, as long as its descriptor is its own.
#[derive(Debug)]
pub(super) struct Held {
    /// None once the descriptor was closed by others.
    file: Option<File>,
    /// Device and inode.
    id: (u64, u64),
}

fn id_of(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

impl Held {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let id = id_of(&file.metadata()?);
        Ok(Self { file: Some(file), id })
    }

    /// The file and what the system says of it; none where the descriptor is not its any more.
    pub(super) fn get(&self) -> Option<(&File, Metadata)> {
        Some((self.file.as_ref()?, self.facts()?))
    }

    /// The same; where the descriptor was closed, by a new one if the path still leads to the file.
    pub(super) fn get_again(&mut self, path: &Path) -> Option<(&File, Metadata)> {
        let mut facts = self.facts();
        if facts.is_none() {
            self.forget();
            self.file = open_plain(path, true).ok();
            facts = self.facts();
            if facts.is_none() {
                // Another file, and this descriptor is ours.
                self.file = None;
            }
        }
        Some((self.file.as_ref()?, facts?))
    }

    fn facts(&self) -> Option<Metadata> {
        let facts = self.file.as_ref()?.metadata().ok()?;
        (id_of(&facts) == self.id).then_some(facts)
    }

    /// Cuts the file to a length where it is longer: one that others have cut stays as they left it.
    pub(super) fn shorten(&self, length: u64) {
        if let Some((file, _)) = self.get().filter(|(_, facts)| facts.len() > length) {
            let _ = file.set_len(length);
        }
    }

    /// Leaves the descriptor to whoever has it now.
    fn forget(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = file.into_raw_fd();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.get().is_none() {
            self.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    /// What an allocation had taken in part went back by the length from before it, whatever the file was by then.
    #[test]
    fn a_file_that_was_cut_or_exchanged_meanwhile_was_given_the_old_length() {
        let file = tempfile::tempfile().unwrap();
        let held = Held::new(file.try_clone().unwrap()).unwrap();
        for (found, left) in [(5000, 4096), (4096, 4096), (100, 100), (0, 0)] {
            file.set_len(found).unwrap();
            held.shorten(4096);
            assert_eq!(file.metadata().unwrap().len(), left);
        }
        let other = tempfile::tempfile().unwrap();
        other.set_len(9000).unwrap();
        let number = held.file.as_ref().unwrap().as_raw_fd();
        // As where the program closes all, and opens its own.
        crate::os::put_in_place(&other, number);
        held.shorten(4096);
        assert_eq!(other.metadata().unwrap().len(), 9000);
        // It is not closed: it is another file's.
        drop(held);
    }
}

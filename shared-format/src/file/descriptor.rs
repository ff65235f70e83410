//! A file descriptor in a program that the collector does not control. Some programs close every descriptor that they
//! do not recognise, and the next file they open gets the same number. Device and inode are therefore checked before
//! each use.

use std::fs::{self, File, Metadata};
use std::io;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::file::open::open_plain;

/// An open file whose descriptor number may have been reused for another file.
#[derive(Debug)]
pub(super) struct Descriptor {
    /// `None` once the program is found to have closed the descriptor.
    file: Option<File>,
    /// Device and inode of the file.
    id: (u64, u64),
}

pub(super) fn id_of(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

impl Descriptor {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let id = id_of(&file.metadata()?);
        Ok(Self { file: Some(file), id })
    }

    /// Returns the file and its metadata, or `None` if the descriptor now belongs to another file.
    pub(super) fn get(&self) -> Option<(&File, Metadata)> {
        Some((self.file.as_ref()?, self.facts()?))
    }

    /// Same as [`get`](Self::get), but if the descriptor was closed, first tries to open the file again through `path`.
    pub(super) fn get_again(&mut self, path: &Path) -> Option<(&File, Metadata)> {
        let mut facts = self.facts();
        if facts.is_none() {
            self.forget();
            self.file = open_plain(path, true).ok();
            facts = self.facts();
            if facts.is_none() {
                // The path leads to another file. The new descriptor was opened here, so it is safe to close it.
                self.file = None;
            }
        }
        Some((self.file.as_ref()?, facts?))
    }

    /// Returns whether a path leads to another file or to nothing. Returns `false` if the path cannot be followed, for
    /// example for lack of permission.
    pub(super) fn is_elsewhere(&self, path: &Path) -> bool {
        match fs::symlink_metadata(path) {
            Ok(facts) => id_of(&facts) != self.id,
            Err(error) => matches!(error.kind(), NotFound | NotADirectory),
        }
    }

    fn facts(&self) -> Option<Metadata> {
        let facts = self.file.as_ref()?.metadata().ok()?;
        (id_of(&facts) == self.id).then_some(facts)
    }

    /// Cuts the file to `length` bytes if it is longer. A file that another process has already cut further is left as
    /// it is.
    pub(super) fn shorten(&self, length: u64) {
        if let Some((file, _)) = self.get().filter(|(_, facts)| facts.len() > length) {
            let _ = file.set_len(length);
        }
    }

    /// Forgets the descriptor without closing it, because its number now belongs to another file.
    fn forget(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = file.into_raw_fd();
        }
    }
}

impl Drop for Descriptor {
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

    /// After an allocation fails, a file that was cut or replaced in the meantime must not get its earlier length back.
    #[test]
    fn a_file_that_was_cut_or_exchanged_meanwhile_was_given_the_old_length() {
        let file = tempfile::tempfile().unwrap();
        let descriptor = Descriptor::new(file.try_clone().unwrap()).unwrap();
        for (found, left) in [(5000, 4096), (4096, 4096), (100, 100), (0, 0)] {
            file.set_len(found).unwrap();
            descriptor.shorten(4096);
            assert_eq!(file.metadata().unwrap().len(), left);
        }
        let other = tempfile::tempfile().unwrap();
        other.set_len(9000).unwrap();
        let number = descriptor.file.as_ref().unwrap().as_raw_fd();
        // A program that closes all descriptors may open a file of its own that gets the same number.
        crate::os::put_in_place(&other, number);
        descriptor.shorten(4096);
        assert_eq!(other.metadata().unwrap().len(), 9000);
        // Dropping the descriptor does not close the number, which belongs to another file.
        drop(descriptor);
    }
}

//! Limits how much space rings may take: at most a quarter of the free space, and less if blocks cannot be allocated.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::FormatError;
use crate::file::descriptor::Descriptor;
use crate::file::header::Header;
use crate::layout::{RING_WORDS_RANGE, WORD};
use crate::os;

/// Minimum size of a ring in bytes. If space is short, rings are halved, but not below this size.
pub(super) const LEAST_RING_BYTES: u64 = 1 << 20;

/// A ring takes up at most the free space divided by this number, because other programs need space as well, above all
/// in `/dev/shm`.
const SHARE: u64 = 4;

/// Space is plentiful if it suffices for this many rings.
pub(super) const PLENTY: u64 = 64;

pub(super) fn halve(header: &mut Header) {
    header.ring_words /= 2;
    header.coarse_words = header.coarse_words.min(header.ring_words);
}

/// Halves a ring until it takes at most a quarter of the free space.
pub(super) fn leave_room(
    file: &File,
    header: &mut Header,
    least: u64,
    dir: &Path,
) -> Result<(), FormatError> {
    let Some(free) = os::free_bytes(file) else {
        return Ok(());
    };
    while header.ring_words * WORD as u64 > free / SHARE {
        if header.ring_words / 2 < least {
            return Err(FormatError::Unsuitable {
                path: dir.to_path_buf(),
                found: format!("has {free} bytes free, of which a ring may take a quarter"),
                wanted: format!(
                    "{}; free some, or choose another place with TICKSCOPE_DIR",
                    least * WORD as u64 * SHARE
                ),
            });
        }
        halve(header);
    }
    Ok(())
}

/// Allocates blocks so that the coarse ring can grow from `size` to `wanted` words. While space is short, `wanted` is
/// halved, as long as the result is larger than `size`. Returns the new size, or `None` if the file cannot be reached
/// or was cut.
///
/// The additional blocks may take up at most a quarter of the free space. If that quarter is too small for another
/// program to create a ring in, the allocation fails.
pub(super) fn allocate_some(
    descriptor: &Descriptor,
    header: &Header,
    size: u64,
    mut wanted: u64,
) -> io::Result<Option<u64>> {
    let begin = header.file_bytes_with(size);
    let free = descriptor.get().and_then(|(file, _)| os::free_bytes(file));
    let most = match free.map(|free| free / SHARE) {
        Some(share) if share < LEAST_RING_BYTES => 0,
        Some(share) => share,
        None => u64::MAX,
    };
    loop {
        // This is checked before each allocation, because the file may have been cut during the previous one.
        // Allocating blocks in a file that was cut would extend it again and hide the damage.
        let Some((file, _)) = descriptor.get().filter(|(_, facts)| facts.len() >= begin) else {
            return Ok(None);
        };
        let bytes = header.file_bytes_with(wanted) - begin;
        let allocated = match bytes <= most {
            true => os::allocate(file, begin, bytes),
            false => Err(io::ErrorKind::StorageFull.into()),
        };
        match allocated {
            Ok(()) => return Ok(Some(wanted)),
            Err(error) => {
                let half = wanted / 2;
                if !is_shortage(&error) || half <= size || half < *RING_WORDS_RANGE.start() {
                    return Err(error);
                }
                wanted = half;
            }
        }
    }
}

pub(super) fn is_shortage(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | FileTooLarge | QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::header::tests::example;

    /// Allocating blocks in a file that was cut would extend it again and hide the damage.
    #[test]
    fn a_cut_just_before_the_history_grew_was_hidden() {
        let header = Header {
            coarse_words: LEAST_RING_BYTES / WORD as u64,
            ..example()
        };
        let file = tempfile::tempfile().unwrap();
        let descriptor = Descriptor::new(file.try_clone().unwrap()).unwrap();
        let length = || file.metadata().unwrap().len();
        file.set_len(100).unwrap();
        let got = allocate_some(&descriptor, &header, 0, header.coarse_words).unwrap();
        assert_eq!(got, None);
        assert_eq!(length(), 100);
        file.set_len(header.file_bytes()).unwrap();
        let grown = allocate_some(&descriptor, &header, 0, header.coarse_words).unwrap();
        assert_eq!(grown, Some(header.coarse_words));
        assert_eq!(length(), header.file_bytes_with(header.coarse_words));
    }
}

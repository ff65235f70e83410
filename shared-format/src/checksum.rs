//! The checksum of headers, records and slots: the CRC-32 (IEEE) of their bytes as stored in the file.

use crate::layout::WORD;
use crate::words::fill_bytes;

/// Number of words passed to the hasher at a time, because it is slow if given only a few bytes per call.
const AT_ONCE: usize = 64;

/// Returns the checksum of the words followed by the bytes.
pub fn checksum(words: &[u64], bytes: &[u8]) -> u64 {
    let mut crc = begin(words);
    crc.update(bytes);
    u64::from(crc.finalize())
}

/// Returns a hasher that has consumed the words, so that the bytes after them can be added in pieces.
pub(crate) fn begin(words: &[u64]) -> crc32fast::Hasher {
    let mut crc = crc32fast::Hasher::new();
    let mut piece = [0; AT_ONCE * WORD];
    for words in words.chunks(AT_ONCE) {
        fill_bytes(&mut piece, words);
        crc.update(&piece[..words.len() * WORD]);
    }
    crc
}

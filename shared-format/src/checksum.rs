//! The one checksum of headers, records and slots: CRC-32 over words as they stand in the file.

/// The checksum of words and of the bytes behind them.
pub(crate) fn checksum(words: &[u64], bytes: &[u8]) -> u64 {
    let mut crc = crc32fast::Hasher::new();
    for word in words {
        crc.update(&word.to_le_bytes());
    }
    crc.update(bytes);
    u64::from(crc.finalize())
}

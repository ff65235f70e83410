//! Finds out where a ring's newest record is, without reading the whole record into memory.

use crate::checksum;
use crate::error::FormatError;
use crate::layout::{WORD, record};
use crate::ring::{Region, Stamp, copy_words, read_head, read_latest, stamp_of};
use crate::words::{ReadWords, bytes_of};

/// Number of words read at a time: 64 KiB.
const PIECE: u64 = (64 << 10) / WORD as u64;

/// Position and length of a complete record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Stamp of the record.
    pub(crate) stamp: Stamp,
    /// Position of the record.
    pub(crate) position: u64,
    /// Length of the record in words, including its head.
    pub(crate) words: u64,
}

/// Finds the newest record of a ring that is no longer written to. The record is checked as thoroughly as when it is
/// read, but piece by piece, so that a record that claims to be very long does not take up memory.
///
/// # Errors
/// [`FormatError::NoRecord`] if there is no complete record, or an error from reading `words`.
pub(crate) fn find_newest(words: &impl ReadWords, region: &Region) -> Result<Extent, FormatError> {
    let position = read_latest(words, region)?;
    let Some((head, length)) = read_head(words, region, position, region.words)? else {
        return Err(FormatError::NoRecord);
    };
    let mut crc = checksum::begin(&head[..record::CRC]);
    let mut left = head[record::BYTES] as usize;
    let mut piece = vec![0; PIECE.min(length) as usize];
    let mut done = 0;
    while done < length {
        let piece = &mut piece[..PIECE.min(length - done) as usize];
        if !copy_words(words, region, position, record::WORDS as u64 + done, piece)? {
            return Err(FormatError::NoRecord);
        }
        let bytes = bytes_of(piece);
        // The zeros that pad the last word are not part of the checksum.
        let counted = left.min(bytes.len());
        crc.update(&bytes[..counted]);
        left -= counted;
        done += piece.len() as u64;
    }
    let whole =
        head[record::MAGIC] as u32 == record::MAGIC_VALUE && head[record::CRC] == u64::from(crc.finalize());
    whole
        .then(|| Extent {
            stamp: stamp_of(&head),
            position,
            words: record::WORDS as u64 + length,
        })
        .ok_or(FormatError::NoRecord)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::stamp;
    use crate::ring::{Writer, read_newest};
    use crate::words::Words;
    use crate::words::recorder::Recorder;

    const REGION: Region = Region {
        first: 4,
        words: 4 * PIECE,
        intent: 0,
        latest: 1,
    };

    #[test]
    fn a_record_that_is_read_is_found_and_no_other() {
        let words = Recorder::new(4 + REGION.words as usize);
        assert!(find_newest(&words, &REGION).is_err());
        let mut writer = Writer::new(REGION);
        // The third record wraps.
        for (number, bytes) in (1..).zip([0, 64 << 10, 100_003, 100_003, 1]) {
            let stamp = stamp(number);
            writer.publish(&words, stamp, &vec![7; bytes]).unwrap();
            let read = read_newest(&words, &REGION).unwrap();
            let found = Extent {
                stamp,
                position: read.position,
                words: 8 + bytes.div_ceil(8) as u64,
            };
            assert_eq!(find_newest(&words, &REGION).unwrap(), found);
        }
        // A change to any word is detected.
        let last = read_newest(&words, &REGION).unwrap().position;
        for offset in 0..9 {
            let index = REGION.at(last + offset);
            let mut before = [0];
            words.read(index, &mut before).unwrap();
            words.store(index, before[0] ^ 1);
            assert!(find_newest(&words, &REGION).is_err(), "word {offset}");
            words.store(index, before[0]);
        }
        find_newest(&words, &REGION).unwrap();
    }
}

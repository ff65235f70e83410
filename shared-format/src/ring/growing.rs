//! A ring that starts small and doubles. Only a long-running program fills a large one.
//!
//! The place of a position in the ring is the position modulo the ring's size, so as long as all positions are below
//! the size, doubling the size moves no record. The ring therefore doubles only until it wraps around for the first
//! time, and then keeps its size. A state word contains the size. A reader that uses an old size with a new position
//! finds a record that states another position, and reads again.

use crate::error::FormatError;
use crate::layout::{WORD, record};
use crate::ring::{self, Patience, Record, Region, Stamp, Writer};
use crate::words::{ReadWords, Words, read_one};

/// Initial size of the ring in words: 1 MiB.
const FIRST_WORDS: u64 = (1 << 20) / WORD as u64;

/// Maximum number of times that a reader reads the size. The ring doubles far fewer times than this.
const TRIES: u32 = 64;

/// A ring that doubles: the region it has at its maximum size, and the word that contains its current size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growing {
    /// Region of the ring at its maximum size.
    pub most: Region,
    /// Index of the word that contains the current size, which is 0 before the first record.
    pub size: usize,
}

/// The writer of a ring that doubles.
#[derive(Debug)]
pub struct GrowingWriter {
    /// Writes to the ring at its current size.
    writer: Writer,
    growing: Growing,
}

impl Growing {
    /// Returns the current region of the ring, or `None` before its first record or if its size is invalid.
    ///
    /// # Errors
    /// An error from reading `words`.
    pub fn region(&self, words: &impl ReadWords) -> Result<Option<Region>, FormatError> {
        let size = read_one(words, self.size)?;
        let fits = size.is_power_of_two() && size <= self.most.words;
        Ok(fits.then_some(Region {
            words: size,
            ..self.most
        }))
    }

    /// Copies the newest complete record. Returns `None` if there is no complete record.
    ///
    /// # Errors
    /// [`FormatError::Lapped`] if the writer overtook the reader on every try, or an error from reading `words`.
    pub fn read_newest(&self, words: &impl ReadWords) -> Result<Option<Record>, FormatError> {
        let mut before = None;
        let mut patience = Patience::default();
        for _ in 0..TRIES {
            let Some(region) = self.region(words)? else {
                return Ok(None);
            };
            // Tries are counted separately for each size of the ring, but the copied words are counted over all sizes.
            patience.tries = 0;
            match patience.read_newest(words, &region) {
                Ok(record) => return Ok(Some(record)),
                // The ring may have doubled in the meantime.
                Err(FormatError::NoRecord | FormatError::Lapped { .. }) if before != Some(region) => {
                    before = Some(region);
                }
                Err(FormatError::NoRecord) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Copies the record before `record`. Returns `None` if the earlier record has been overwritten or does not exist.
    ///
    /// # Errors
    /// An error from reading `words`.
    pub fn read_before(
        &self,
        words: &impl ReadWords,
        record: &Record,
    ) -> Result<Option<Record>, FormatError> {
        // The size is read after the record, so it is at least as large as it was when the record was written.
        match (record.previous, self.region(words)?) {
            (Some(previous), Some(region)) => ring::read_before(words, &region, record.position, previous),
            _ => Ok(None),
        }
    }
}

impl GrowingWriter {
    /// Creates a writer for a ring that has no words yet.
    pub fn new(growing: Growing) -> Self {
        let nothing = Region {
            words: 0,
            ..growing.most
        };
        Self {
            writer: Writer::new(nothing),
            growing,
        }
    }

    /// Returns the current size of the ring in words.
    pub fn size(&self) -> u64 {
        self.writer.region.words
    }

    /// Returns the size in words to which the ring should grow before a payload of this many bytes is published, or
    /// `None` if the ring is large enough or cannot grow further.
    pub fn wanted(&self, payload_bytes: u64) -> Option<u64> {
        let (size, next, most) = (self.size(), self.writer.next, self.growing.most.words);
        let length = record::WORDS as u64 + payload_bytes.div_ceil(WORD as u64);
        let fits = |words: u64| next + length <= words && length <= words / 2;
        if size == most || next > size || fits(size) {
            return None;
        }
        let mut wanted = (size * 2).max(FIRST_WORDS).min(most);
        while wanted < most && !fits(wanted) {
            wanted *= 2;
        }
        Some(wanted)
    }

    /// Grows the ring to the size in words that [`Self::wanted`] returned, or to a smaller power of two above the
    /// current size. The file must already be long enough.
    pub fn grow(&mut self, words: &impl Words, size: u64) {
        debug_assert!(size.is_power_of_two() && size <= self.growing.most.words);
        debug_assert!(size > self.size() && self.writer.next <= self.size());
        self.writer.region.words = size;
        words.store_release(self.growing.size, size);
    }

    /// Keeps the ring at its current size from now on. Call this if there is no space for a larger ring.
    pub fn stay(&mut self) {
        self.growing.most.words = self.size();
    }

    /// Returns the length of the longest payload that fits now, in bytes.
    pub fn longest_payload(&self) -> u64 {
        match self.size() {
            0 => 0,
            _ => self.writer.longest_payload(),
        }
    }

    /// Publishes a record and returns its sequence number.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if the payload does not fit. The ring is then unchanged.
    pub fn publish(&mut self, words: &impl Words, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        if self.size() == 0 {
            let found = payload.len() as u64;
            return Err(FormatError::TooLarge { found, wanted: 0 });
        }
        self.writer.publish(words, stamp, payload)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::stamp;
    use crate::words::recorder::Recorder;

    /// A fine ring of 64 words, and after it a coarse ring of up to 256 words.
    const FINE: Region = Region {
        first: 8,
        words: 64,
        intent: 0,
        latest: 1,
    };

    const COARSE: Growing = Growing {
        most: Region {
            first: 72,
            words: 256,
            intent: 2,
            latest: 3,
        },
        size: 4,
    };

    /// Grows the ring to the smallest size that holds the payload, but starts at 32 words instead of 1 MiB.
    fn grow_for(writer: &mut GrowingWriter, words: &Recorder, bytes: u64) {
        let length = record::WORDS as u64 + bytes.div_ceil(8);
        while writer.wanted(bytes).is_some() {
            writer.grow(words, (writer.size() * 2).max(32));
            if writer.writer.next + length <= writer.size() && length <= writer.size() / 2 {
                break;
            }
        }
    }

    #[test]
    fn a_ring_says_what_it_needs_and_stays_where_there_is_no_more() {
        let large = Growing {
            most: Region {
                first: 8,
                words: 4 * FIRST_WORDS,
                intent: 0,
                latest: 1,
            },
            size: 4,
        };
        let mut writer = GrowingWriter::new(large);
        let got = (writer.wanted(1), writer.longest_payload());
        assert_eq!(got, (Some(FIRST_WORDS), 0));
        assert_eq!(writer.wanted(800 << 10), Some(2 * FIRST_WORDS), "at most a half");
        // The ring gets no larger than this, even for a larger payload.
        assert_eq!(writer.wanted(80 << 20), Some(4 * FIRST_WORDS));
        let words = Recorder::new(8 + FIRST_WORDS as usize);
        assert!(writer.publish(&words, stamp(1), &[]).is_err());
        writer.grow(&words, FIRST_WORDS);
        writer.publish(&words, stamp(1), &vec![1; 400 << 10]).unwrap();
        assert_eq!(writer.wanted(400 << 10), None);
        writer.publish(&words, stamp(2), &vec![2; 400 << 10]).unwrap();
        assert_eq!(writer.wanted(400 << 10), Some(2 * FIRST_WORDS));
        writer.stay();
        assert_eq!(writer.wanted(400 << 10), None);
        writer.publish(&words, stamp(3), &vec![3; 400 << 10]).unwrap();
        let three = large.read_newest(&words).unwrap().unwrap();
        let two = large.read_before(&words, &three).unwrap().unwrap();
        assert_eq!((three.sequence, two.payload[0]), (3, 2));
        assert_eq!(large.read_before(&words, &two).unwrap(), None, "written over");
    }

    #[test]
    fn what_was_written_before_it_grew_is_found_behind() {
        let words = Recorder::new(72 + 256);
        let mut writer = GrowingWriter::new(COARSE);
        assert_eq!(COARSE.read_newest(&words).unwrap(), None);
        let mut records = 0;
        while writer.size() < 256 || writer.wanted(40).is_some() {
            grow_for(&mut writer, &words, 40);
            records += 1;
            writer
                .publish(&words, stamp(records), &[records as u8; 40])
                .unwrap();
        }
        let mut found = COARSE.read_newest(&words).unwrap();
        for sequence in (1..=records).rev() {
            let record = found.unwrap();
            assert_eq!((record.sequence, record.payload[0]), (sequence, sequence as u8));
            found = COARSE.read_before(&words, &record).unwrap();
        }
        assert_eq!(found, None);
    }

    #[test]
    fn a_size_that_no_writer_writes_is_no_ring() {
        let words = Recorder::new(72 + 256);
        for size in [3, 512, u64::MAX] {
            words.store(COARSE.size, size);
            assert_eq!(COARSE.read_newest(&words).unwrap(), None, "{size}");
        }
        // The size is set before the first record is published.
        words.store(COARSE.size, 32);
        assert_eq!(COARSE.read_newest(&words).unwrap(), None);
    }

    /// Runs under loom. The ring doubles from four to eight words, so that the third record is written after the second
    /// and not over the first. A reader that copies the third record with the old size finds another position in the
    /// head, and sees the new size on its next try.
    #[test]
    fn a_copy_made_while_the_ring_doubles_is_never_mixed() {
        use crate::ring::tests::model::LoomWords;
        use crate::ring::{copy_words, publish_words, read_latest};

        const DOUBLES: Growing = Growing {
            most: Region {
                first: 3,
                words: 8,
                intent: 0,
                latest: 1,
            },
            size: 2,
        };
        const HALF: Region = Region {
            words: 4,
            ..DOUBLES.most
        };
        tickscope_testkit::model::check(None, || {
            let words = LoomWords::new(11);
            let mut writer = GrowingWriter::new(DOUBLES);
            // Each record begins with its position.
            writer.grow(&words, HALF.words);
            publish_words(&words, &HALF, 0, [0, 10].into_iter(), 2);
            publish_words(&words, &HALF, 2, [2, 12].into_iter(), 2);
            let shared = words.clone();
            let thread = loom::thread::spawn(move || {
                writer.grow(&shared, DOUBLES.most.words);
                publish_words(&shared, &writer.writer.region, 4, [4, 14].into_iter(), 2);
            });
            let region = DOUBLES.region(&words).unwrap().unwrap();
            let latest = read_latest(&words, &region).unwrap();
            for region in [region, DOUBLES.region(&words).unwrap().unwrap()] {
                let mut copy = [0; 2];
                let whole = copy_words(&words, &region, latest, 0, &mut copy).unwrap();
                assert!(whole && (copy[0] != latest || copy[1] == latest + 10));
                if latest == 2 || region == DOUBLES.most {
                    assert_eq!(copy[0], latest);
                }
            }
            if latest == 4 {
                assert_eq!(DOUBLES.region(&words).unwrap(), Some(DOUBLES.most));
            }
            thread.join().unwrap();
        });
    }

    /// If a program dies between any two stores, the newest finished record of each ring is still intact, and so are
    /// all earlier coarse records that have not been overwritten. `HISTORIES=10000` tests that many random histories,
    /// each with up to nine records in the two rings, which wrap around and grow.
    #[test]
    fn every_store_prefix_leaves_the_newest_finished_record_of_both() {
        use proptest::test_runner::TestRunner;

        let histories = std::env::var("HISTORIES").map_or(256, |count| count.parse().unwrap());
        let lengths = proptest::collection::vec((any::<bool>(), 0usize..=(32 - 8) * 8), 1..10);
        let (prefixes, wraps) = (std::cell::Cell::new(0u64), std::cell::Cell::new(0u64));
        let mut runner = TestRunner::new(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(histories)
        });
        let result = runner.run(&lengths, |lengths| {
            let words = Recorder::new(72 + 256);
            let (mut fine, mut coarse) = (Writer::new(FINE), GrowingWriter::new(COARSE));
            // For each ring, the finished records: the number of stores after which the record was finished, and its
            // index.
            let mut finished: [Vec<(u64, usize)>; 2] = Default::default();
            for (index, &(is_coarse, length)) in lengths.iter().enumerate() {
                let payload = vec![index as u8 + 1; length];
                if is_coarse {
                    grow_for(&mut coarse, &words, length as u64);
                    coarse.publish(&words, stamp(index as u64), &payload).unwrap();
                } else {
                    fine.publish(&words, stamp(index as u64), &payload).unwrap();
                }
                let finished = &mut finished[usize::from(is_coarse)];
                // The first record is finished one store earlier, because a ring of zeros already states that its
                // newest record is at position 0.
                let stores = words.stores() - u64::from(finished.is_empty());
                finished.push((stores, index));
            }
            wraps.set(wraps.get() + u64::from(fine.next > FINE.words) + u64::from(coarse.size() > 32));
            words.prefixes(|cut, left| {
                prefixes.set(prefixes.get() + 1);
                let newest = |ring: usize| {
                    let before = finished[ring].iter().take_while(|&&(stores, _)| stores <= cut);
                    before.map(|&(_, index)| index as u64).last()
                };
                let of_fine = newest(0).map(|_| ring::read_newest(left, &FINE).unwrap());
                let ticks = of_fine.map(|record| {
                    let index = record.stamp.tick as usize;
                    assert_eq!(record.payload, vec![index as u8 + 1; lengths[index].1]);
                    record.stamp.tick
                });
                prop_assert_eq!(ticks, newest(0), "fine, cut after {}", cut);
                let mut found = COARSE.read_newest(left).unwrap();
                let ticks = found.as_ref().map(|record| record.stamp.tick);
                prop_assert_eq!(ticks, newest(1), "coarse, cut after {}", cut);
                while let Some(record) = found {
                    let index = record.stamp.tick as usize;
                    prop_assert_eq!(&record.payload, &vec![index as u8 + 1; lengths[index].1]);
                    found = COARSE.read_before(left, &record).unwrap();
                }
                Ok(())
            })
        });
        result.unwrap();
        let (prefixes, wraps) = (prefixes.get(), wraps.get());
        assert!(wraps > 0);
        println!(
            "G2: {histories} histories, {wraps} times wrapped or grown, {prefixes} store prefixes, 0 failures"
        );
    }
}

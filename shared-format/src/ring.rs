//! The ring: one writer publishes whole records, any number of readers copy the newest one.
//!
//! After the broadcast buffer of Agrona (Martin Thompson, Todd Montgomery). Positions count words since the
//! first record and never go back; a position's place is its remainder by the ring's size, so records wrap.
//!
//! The writer says how far it is going to write (`intent`), writes, and says where the newest whole record
//! begins (`latest`). A reader that has copied a record looks at `intent` again: if the writer's intent is
//! more than a ring's size past the record's beginning, what was copied may be mixed and is thrown away.
//! No record is longer than half the ring, so at every instruction `intent - latest` is at most the ring's
//! size: a program that dies at any store leaves its newest finished record whole.

pub mod growing;

use crate::checksum::checksum;
use crate::error::FormatError;
use crate::layout::{WORD, record};
use crate::snapshot::{CaptureFacts, CaptureKind};
use crate::words::{self, ReadWords, Words, read_one};

/// How often a reader tries before it says that it is lapped on every try.
const TRIES: u32 = 200;

/// `previous` of the first record.
const NONE: u64 = u64::MAX;

/// Where a ring and its two state words lie, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First word of the ring.
    pub first: usize,
    /// Words of the ring, a power of two.
    pub words: u64,
    /// Index of the word `intent`.
    pub intent: usize,
    /// Index of the word `latest`.
    pub latest: usize,
}

/// The writing side. It alone stores into the region.
#[derive(Debug)]
pub struct Writer {
    region: Region,
    /// Where the next record begins.
    next: u64,
    /// Where the one before it begins.
    previous: u64,
    /// Records written so far.
    sequence: u64,
}

/// What a record says of itself, beside its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Why it was taken.
    pub kind: CaptureKind,
    /// The program's clock at the capture, in ticks.
    pub tick: u64,
    /// The wall clock at the capture, nanoseconds since the Unix epoch.
    pub unix_ns: u64,
}

impl From<&CaptureFacts> for Stamp {
    fn from(capture: &CaptureFacts) -> Self {
        let &CaptureFacts {
            kind, tick, unix_ns, ..
        } = capture;
        Self { kind, tick, unix_ns }
    }
}

/// A whole record, copied out of the ring and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its stamp.
    pub stamp: Stamp,
    /// Its place in the order of records, from 1.
    pub sequence: u64,
    /// Where it begins.
    pub position: u64,
    /// Where the one before it begins, if there was one.
    pub previous: Option<u64>,
    /// The encoded snapshot.
    pub payload: Vec<u8>,
}

// === impl Region ===

impl Region {
    fn at(&self, position: u64) -> usize {
        self.first + (position & (self.words - 1)) as usize
    }

    /// The longest record, in words: a half, so that the newest finished one is never written over.
    fn longest(&self) -> u64 {
        self.words / 2
    }
}

/// Writes `body` at `position` under the protocol; the order of these stores is the whole of it.
fn publish_words(
    words: &impl Words,
    region: &Region,
    position: u64,
    body: impl Iterator<Item = u64>,
    len: u64,
) {
    words.store(region.intent, position.wrapping_add(len));
    // SYNC POINT: intent before words (meets the fence in `copy_words` behind its copy).
    words.fence_release();
    // Not `for`: a chain asks at each word which of its ends it is in.
    body.enumerate().for_each(|(offset, word)| {
        words.store(region.at(position.wrapping_add(offset as u64)), word);
    });
    // SYNC POINT: words before latest (meets the fence in `read_latest`).
    words.store_release(region.latest, position);
}

/// Where the newest record begins; what is read next is at least as new.
fn read_latest(words: &impl ReadWords, region: &Region) -> Result<u64, FormatError> {
    // A read through a file is no atomic load: it counts when two agree.
    let mut latest = read_one(words, region.latest)?;
    loop {
        let again = read_one(words, region.latest)?;
        if latest == again {
            break;
        }
        latest = again;
    }
    // SYNC POINT: words before latest.
    words.fence_acquire();
    Ok(latest)
}

/// Copies `out.len()` words from `offset` on in the record at `position`; false where the writer may have been
/// in that record meanwhile.
fn copy_words(
    words: &impl ReadWords,
    region: &Region,
    position: u64,
    offset: u64,
    out: &mut [u64],
) -> Result<bool, FormatError> {
    let at = region.at(position.wrapping_add(offset));
    let before_end = (region.first + region.words as usize - at).min(out.len());
    let (head, tail) = out.split_at_mut(before_end);
    words.read(at, head)?;
    if !tail.is_empty() {
        words.read(region.first, tail)?;
    }
    // SYNC POINT: intent before words.
    words.fence_acquire();
    let intent = read_one(words, region.intent)?;
    Ok(intent.wrapping_sub(position) <= region.words)
}

fn kind_code(kind: CaptureKind) -> u32 {
    match kind {
        CaptureKind::Periodic => 0,
        CaptureKind::Closing => 1,
        CaptureKind::Final => 2,
    }
}

fn kind_of(code: u32) -> CaptureKind {
    match code {
        1 => CaptureKind::Closing,
        2 => CaptureKind::Final,
        _ => CaptureKind::Periodic,
    }
}

/// A record as words: head and payload, the last word filled up with zeros.
pub(crate) fn record_head(
    stamp: Stamp,
    sequence: u64,
    position: u64,
    previous: u64,
    payload: &[u8],
) -> [u64; 8] {
    let mut head = [0u64; record::WORDS];
    head[record::MAGIC] = u64::from(record::MAGIC_VALUE) | u64::from(kind_code(stamp.kind)) << 32;
    head[record::BYTES] = payload.len() as u64;
    head[record::POSITION] = position;
    head[record::PREVIOUS] = previous;
    head[record::SEQUENCE] = sequence;
    head[record::TICK] = stamp.tick;
    head[record::UNIX_NS] = stamp.unix_ns;
    head[record::CRC] = checksum(&head[..record::CRC], payload);
    head
}

/// The payload as words, the last one filled up with zeros.
pub(crate) fn payload_words(payload: &[u8]) -> impl Iterator<Item = u64> {
    let (whole, rest) = payload.as_chunks();
    let last = (!rest.is_empty()).then(|| {
        let mut bytes = [0; WORD];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes
    });
    whole.iter().copied().chain(last).map(u64::from_le_bytes)
}

/// Whether words are the head of a record that begins at a position.
pub(crate) fn is_head(head: &[u64; 8], position: u64) -> bool {
    head[record::MAGIC] as u32 == record::MAGIC_VALUE && head[record::POSITION] == position
}

/// Why and when a record was captured.
pub(crate) fn stamp_of(head: &[u64; 8]) -> Stamp {
    Stamp {
        kind: kind_of((head[record::MAGIC] >> 32) as u32),
        tick: head[record::TICK],
        unix_ns: head[record::UNIX_NS],
    }
}

/// Takes a copied record apart; none where its head or its checksum is not what a writer writes.
pub(crate) fn parse_record(head: &[u64; 8], body: &[u64]) -> Option<Record> {
    let bytes = usize::try_from(head[record::BYTES]).ok()?;
    if head[record::MAGIC] as u32 != record::MAGIC_VALUE || bytes.div_ceil(WORD) != body.len() {
        return None;
    }
    let mut payload = words::to_bytes(body.iter().copied());
    payload.truncate(bytes);
    if head[record::CRC] != checksum(&head[..record::CRC], &payload) {
        return None;
    }
    Some(Record {
        stamp: stamp_of(head),
        sequence: head[record::SEQUENCE],
        position: head[record::POSITION],
        // Of the first it is `NONE`; one that does not lie before it would lead round in a circle.
        previous: Some(head[record::PREVIOUS]).filter(|&previous| previous < head[record::POSITION]),
        payload,
    })
}

// === impl Writer ===

impl Writer {
    /// A writer of an empty region.
    pub fn new(region: Region) -> Self {
        Self {
            region,
            next: 0,
            previous: NONE,
            sequence: 0,
        }
    }

    /// The longest payload that fits, in bytes.
    pub fn longest_payload(&self) -> u64 {
        (self.region.longest() - record::WORDS as u64) * WORD as u64
    }

    /// Publishes a record and gives its sequence number.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`]; the ring is as it was.
    pub fn publish(&mut self, words: &impl Words, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        let found = payload.len() as u64;
        if found > self.longest_payload() {
            return Err(FormatError::TooLarge {
                found,
                wanted: self.longest_payload(),
            });
        }
        let sequence = self.sequence + 1;
        let head = record_head(stamp, sequence, self.next, self.previous, payload);
        let length = record::WORDS as u64 + found.div_ceil(WORD as u64);
        publish_words(
            words,
            &self.region,
            self.next,
            head.into_iter().chain(payload_words(payload)),
            length,
        );
        self.sequence = sequence;
        self.previous = self.next;
        self.next += length;
        Ok(sequence)
    }
}

/// Copies the newest whole record.
///
/// # Errors
/// [`FormatError::Lapped`] where the writer was faster on every try, [`FormatError::NoRecord`] where there is
/// none that is whole, and what reading gives.
pub fn read_newest(words: &impl ReadWords, region: &Region) -> Result<Record, FormatError> {
    let mut damaged_at = None;
    for _ in 0..TRIES {
        let latest = read_latest(words, region)?;
        if let Some(record) = try_read(words, region, latest)? {
            return Ok(record);
        }
        // The same record damaged twice, and the writer not near it: it does not mend itself.
        let intent = read_one(words, region.intent)?;
        let lapped = intent.wrapping_sub(latest) > region.words;
        if !lapped && damaged_at.replace(latest) == Some(latest) {
            return Err(FormatError::NoRecord);
        }
    }
    Err(FormatError::Lapped { tries: TRIES })
}

/// Copies the record at a position, as given by [`Record::previous`]; none where it has been written over.
///
/// # Errors
/// What reading gives.
pub fn read_at(
    words: &impl ReadWords,
    region: &Region,
    position: u64,
) -> Result<Option<Record>, FormatError> {
    try_read(words, region, position)
}

fn try_read(words: &impl ReadWords, region: &Region, position: u64) -> Result<Option<Record>, FormatError> {
    let mut head = [0u64; record::WORDS];
    if !copy_words(words, region, position, 0, &mut head)? {
        return Ok(None);
    }
    // Nothing of the head is believed before the bounds hold: a length is allocated next.
    let length = head[record::BYTES].div_ceil(WORD as u64);
    if head[record::POSITION] != position || length > region.longest() {
        return Ok(None);
    }
    // A file may be shorter than it claims: its last word is there before so many are allocated.
    if length > 0 {
        let begin = region.at(position.wrapping_add(record::WORDS as u64));
        let end = region.at(position.wrapping_add(record::WORDS as u64 + length - 1));
        let last = if end < begin {
            region.first + region.words as usize - 1
        } else {
            end
        };
        read_one(words, last)?;
    }
    let mut body = vec![0u64; length as usize];
    if !copy_words(words, region, position, record::WORDS as u64, &mut body)? {
        return Ok(None);
    }
    Ok(parse_record(&head, &body))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::words::recorder::Recorder;
    use proptest::prelude::*;

    const REGION: Region = Region {
        first: 4,
        words: 64,
        intent: 0,
        latest: 1,
    };

    fn stamp(tick: u64) -> Stamp {
        Stamp {
            kind: CaptureKind::Periodic,
            tick,
            unix_ns: tick,
        }
    }

    #[test]
    fn the_newest_record_is_read_and_its_forerunner_found() {
        let words = Recorder::new(68);
        let mut writer = Writer::new(REGION);
        assert_eq!(writer.publish(&words, stamp(1), b"one").unwrap(), 1);
        assert_eq!(writer.publish(&words, stamp(2), b"two, longer").unwrap(), 2);
        let two = read_newest(&words, &REGION).unwrap();
        assert_eq!(
            (two.payload.as_slice(), two.sequence),
            (b"two, longer".as_slice(), 2)
        );
        let one = read_at(&words, &REGION, two.previous.unwrap()).unwrap().unwrap();
        assert_eq!((one.payload.as_slice(), one.previous), (b"one".as_slice(), None));
    }

    #[test]
    fn a_record_longer_than_half_the_ring_is_refused_and_changes_nothing() {
        let words = Recorder::new(68);
        let mut writer = Writer::new(REGION);
        writer.publish(&words, stamp(1), b"one").unwrap();
        let longest = writer.longest_payload() as usize;
        assert!(matches!(
            writer.publish(&words, stamp(2), &vec![7; longest + 1]),
            Err(FormatError::TooLarge { .. })
        ));
        assert_eq!(read_newest(&words, &REGION).unwrap().sequence, 1);
        writer.publish(&words, stamp(2), &vec![7; longest]).unwrap();
        assert_eq!(read_newest(&words, &REGION).unwrap().payload.len(), longest);
    }

    #[test]
    fn a_record_that_calls_itself_or_a_later_one_its_forerunner_has_none() {
        for previous in [0, 1, 40, NONE - 1, NONE] {
            let words = Recorder::new(68);
            let head = record_head(stamp(1), 1, 0, previous, b"one");
            publish_words(
                &words,
                &REGION,
                0,
                head.into_iter().chain(payload_words(b"one")),
                9,
            );
            assert_eq!(read_newest(&words, &REGION).unwrap().previous, None, "{previous}");
        }
    }

    /// Words of which it is remembered how many were read at once.
    struct Measured(Recorder, std::cell::Cell<usize>);

    impl ReadWords for Measured {
        fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
            self.1.set(self.1.get().max(out.len()));
            self.0.read(first, out)
        }

        fn fence_acquire(&self) {}
    }

    #[test]
    fn a_length_that_the_file_does_not_have_is_not_made_room_for() {
        let most = 1 << 29;
        let claimed = Region {
            words: most,
            ..REGION
        };
        let words = Recorder::new(68);
        let mut head = record_head(stamp(1), 1, 0, NONE, b"");
        head[record::BYTES] = (most / 2) * WORD as u64;
        words.store(REGION.intent, 8);
        (0..)
            .zip(head)
            .for_each(|(offset, word)| words.store(claimed.at(offset), word));
        let words = Measured(words, std::cell::Cell::new(0));
        assert!(matches!(
            read_newest(&words, &claimed),
            Err(FormatError::Truncated { .. })
        ));
        assert!(words.1.get() <= record::WORDS, "{} words at once", words.1.get());
    }

    #[test]
    fn an_overwritten_record_is_none() {
        let words = Recorder::new(68);
        let mut writer = Writer::new(REGION);
        for tick in 0..8 {
            writer.publish(&words, stamp(tick), &[9; 100]).unwrap();
        }
        assert_eq!(read_at(&words, &REGION, 0).unwrap(), None);
    }

    #[test]
    fn a_flipped_bit_is_no_record() {
        for bit in 0..64 * 4 {
            let words = Recorder::new(68);
            let mut writer = Writer::new(REGION);
            writer.publish(&words, stamp(1), &[0x5a; 16]).unwrap();
            let index = REGION.first + bit / 64;
            let word = read_one(&words, index).unwrap();
            words.store(index, word ^ 1 << (bit % 64));
            assert!(
                matches!(read_newest(&words, &REGION), Err(FormatError::NoRecord)),
                "bit {bit}"
            );
        }
    }

    proptest! {
        /// What a program leaves that dies between any two stores: the last finished record, whole.
        #[test]
        fn every_store_prefix_leaves_the_newest_finished_record(
            lengths in proptest::collection::vec(0usize..=(32 - 8) * 8, 1..12),
        ) {
            let publish_all = |words: &Recorder| {
                let mut writer = Writer::new(REGION);
                lengths
                    .iter()
                    .enumerate()
                    .map(|(index, &length)| {
                        writer.publish(words, stamp(index as u64), &vec![index as u8; length]).unwrap();
                        words.stores()
                    })
                    .collect::<Vec<u64>>()
            };
            let finished_after = publish_all(&Recorder::new(68));
            for cut in finished_after[0]..=*finished_after.last().unwrap() {
                let words = Recorder::new(68);
                words.cut_after(cut);
                publish_all(&words);
                let newest = finished_after.iter().filter(|&&stores| stores <= cut).count() - 1;
                let record = read_newest(&words, &REGION).unwrap();
                prop_assert_eq!(record.payload, vec![newest as u8; lengths[newest]], "cut after {}", cut);
                prop_assert_eq!(record.sequence, newest as u64 + 1);
            }
        }
    }

    pub(crate) mod model {
        //! Under loom: every interleaving and every allowed reordering of one writer and one reader.

        use std::sync::Arc;

        use loom::sync::atomic::{AtomicU64, Ordering, fence};

        use super::*;

        pub(crate) struct LoomWords(pub(crate) Vec<AtomicU64>);

        impl ReadWords for LoomWords {
            fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
                for (offset, word) in out.iter_mut().enumerate() {
                    *word = self.0[first + offset].load(Ordering::Relaxed);
                }
                Ok(())
            }

            fn fence_acquire(&self) {
                fence(Ordering::Acquire);
            }
        }

        impl Words for LoomWords {
            fn store(&self, index: usize, value: u64) {
                self.0[index].store(value, Ordering::Relaxed);
            }

            fn store_release(&self, index: usize, value: u64) {
                self.0[index].store(value, Ordering::Release);
            }

            fn fence_release(&self) {
                fence(Ordering::Release);
            }
        }

        /// The protocol without checksums, which would hide a wrong order: two-word records in a ring of
        /// four words, so that the third is written over the first.
        #[test]
        fn a_copy_that_passes_the_lap_check_is_never_mixed() {
            const SMALL: Region = Region {
                first: 2,
                words: 4,
                intent: 0,
                latest: 1,
            };
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(3);
            builder.check(|| {
                let words = Arc::new(LoomWords((0..6).map(|_| AtomicU64::new(0)).collect()));
                // The first record is there before anybody can look.
                publish_words(&*words, &SMALL, 0, [10, 10].into_iter(), 2);
                let writer = Arc::clone(&words);
                let thread = loom::thread::spawn(move || {
                    publish_words(&*writer, &SMALL, 2, [12, 12].into_iter(), 2);
                    publish_words(&*writer, &SMALL, 4, [14, 14].into_iter(), 2);
                });
                let latest = words.0[SMALL.latest].load(Ordering::Relaxed);
                words.fence_acquire();
                let mut copy = [0; 2];
                if copy_words(&*words, &SMALL, latest, 0, &mut copy).unwrap() {
                    assert_eq!(copy, [latest + 10; 2]);
                }
                thread.join().unwrap();
            });
        }
    }
}

//! The ring: one writer publishes complete records, and any number of readers copy the newest one.
//!
//! The protocol follows the broadcast buffer of Agrona (Martin Thompson, Todd Montgomery). Positions count words from
//! the beginning of the first record and never decrease. The place of a position in the ring is the position modulo the
//! ring's size, so records wrap around.
//!
//! The writer announces where its next record will end (`intent`), writes the record, and then announces where the
//! newest complete record begins (`latest`). After copying a record, a reader reads `intent` again. If it is more than
//! a ring's size past the beginning of the record, the copy may contain parts of newer records and is discarded. No
//! record is longer than half the ring, so `intent - latest` never exceeds the ring's size: if a program dies between
//! any two stores, its newest finished record stays intact.

pub(crate) mod extent;
pub mod growing;
#[cfg(test)]
mod lapped;

use crate::checksum::checksum;
use crate::error::FormatError;
use crate::layout::{WORD, record};
use crate::snapshot::{CaptureInfo, CaptureKind};
use crate::words::{self, ReadWords, Words, read_one};

/// Number of tries after which a reader gives up on a writer that keeps overtaking it.
const TRIES: u32 = 200;

/// Number of copied words that count as one more try: 4 MiB. So a reader has only a few tries for records of many
/// megabytes, and no program can keep its readers busy for long.
const WORDS_PER_TRY: u64 = (4 << 20) / WORD as u64;

/// Value of `previous` in the first record.
const NONE: u64 = u64::MAX;

/// Where to find a ring and its two state words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First word of the ring.
    pub first: usize,
    /// Size of the ring in words, a power of two.
    pub words: u64,
    /// Index of the word `intent`.
    pub intent: usize,
    /// Index of the word `latest`.
    pub latest: usize,
}

/// The writer of a ring. A region must have only one writer.
#[derive(Debug)]
pub struct Writer {
    region: Region,
    /// Position of the next record.
    next: u64,
    /// Position of the last record that was written; [`NONE`] before the first.
    previous: u64,
    /// Number of records written so far.
    sequence: u64,
}

/// Reason and time of a record's capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Reason of the capture.
    pub kind: CaptureKind,
    /// Time of the capture on the program's clock, in ticks.
    pub tick: u64,
    /// Wall-clock time of the capture, in nanoseconds since the Unix epoch.
    pub unix_ns: u64,
}

impl From<&CaptureInfo> for Stamp {
    fn from(capture: &CaptureInfo) -> Self {
        let &CaptureInfo {
            kind, tick, unix_ns, ..
        } = capture;
        Self { kind, tick, unix_ns }
    }
}

/// Tracks how hard a reader has tried to copy the newest record.
#[derive(Debug, Default)]
struct Patience {
    /// Number of tries, each counted once, however long the copy was.
    tries: u64,
    /// Number of payload words that were copied in all tries together.
    copied: u64,
    /// Number of tries that failed because the writer overtook the reader.
    lapped: u64,
}

/// A complete record, copied out of the ring and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Stamp of the record.
    pub stamp: Stamp,
    /// Sequence number, from 1.
    pub sequence: u64,
    /// Position of the record.
    pub position: u64,
    /// Position of the previous record, if there was one.
    pub previous: Option<u64>,
    /// The encoded snapshot.
    pub payload: Vec<u8>,
}

impl Region {
    fn at(&self, position: u64) -> usize {
        self.first + (position & (self.words - 1)) as usize
    }

    /// Returns the length of the longest record in words: at most half the ring, so that the newest finished record is never
    /// overwritten.
    fn longest(&self) -> u64 {
        (self.words / 2).min(record::WORDS as u64 + record::BYTES_MAX / WORD as u64)
    }
}

/// Writes `body` at `position`. The order of these stores is the protocol.
fn publish_words(
    words: &impl Words,
    region: &Region,
    position: u64,
    body: impl Iterator<Item = u64>,
    len: u64,
) {
    words.store(region.intent, position.wrapping_add(len));
    // SYNC POINT: `intent` is stored before the words (pairs with the fence after the copy in `copy_words`).
    words.fence_release();
    // `for_each` instead of a `for` loop, in which `Chain` would check for every word which of its halves comes next.
    body.enumerate().for_each(|(offset, word)| {
        words.store(region.at(position.wrapping_add(offset as u64)), word);
    });
    // SYNC POINT: the words are stored before `latest` (pairs with the fence in `read_latest`).
    words.store_release(region.latest, position);
}

/// Returns the position of the newest record. Later reads see this record or a newer one.
fn read_latest(words: &impl ReadWords, region: &Region) -> Result<u64, FormatError> {
    // A read through a file is not an atomic load, so `latest` is accepted once two reads agree. If the writer never
    // pauses, the loop ends after `TRIES` reads, and the record's checksum shows whether the last value was right.
    let mut latest = read_one(words, region.latest)?;
    for _ in 0..TRIES {
        let again = read_one(words, region.latest)?;
        if latest == again {
            break;
        }
        latest = again;
    }
    // SYNC POINT: `latest` is read before the words (pairs with the release store in `publish_words`).
    words.fence_acquire();
    Ok(latest)
}

/// Copies `out.len()` words of the record at `position`, starting at word `offset` of the record. Returns false if the
/// writer may have overwritten the record in the meantime.
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
    // SYNC POINT: the words are read before `intent` (pairs with the fence in `publish_words`).
    words.fence_acquire();
    let intent = read_one(words, region.intent)?;
    Ok(intent.wrapping_sub(position) <= region.words)
}

fn kind_code(kind: CaptureKind) -> u64 {
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

/// Returns the head of a record, with the checksum of head and payload.
pub(crate) fn record_head(
    stamp: Stamp,
    sequence: u64,
    position: u64,
    previous: u64,
    payload: &[u8],
) -> [u64; 8] {
    let mut head = [0u64; record::WORDS];
    head[record::MAGIC] = u64::from(record::MAGIC_VALUE) | kind_code(stamp.kind) << 32;
    head[record::BYTES] = payload.len() as u64;
    head[record::POSITION] = position;
    head[record::PREVIOUS] = previous;
    head[record::SEQUENCE] = sequence;
    head[record::TICK] = stamp.tick;
    head[record::UNIX_NS] = stamp.unix_ns;
    head[record::CRC] = checksum(&head[..record::CRC], payload);
    head
}

/// Returns the length of a record with this payload, in words.
fn words_of(payload: &[u8]) -> u64 {
    (record::WORDS + payload.len().div_ceil(WORD)) as u64
}

/// Returns the payload as words. The last word is padded with zeros.
pub(crate) fn payload_words(payload: &[u8]) -> impl Iterator<Item = u64> {
    let (whole, rest) = payload.as_chunks();
    let last = (!rest.is_empty()).then(|| {
        let mut bytes = [0; WORD];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes
    });
    whole.iter().copied().chain(last).map(u64::from_le_bytes)
}

/// Returns whether `head` is the head of a record that begins at `position`.
pub(crate) fn is_head(head: &[u64; 8], position: u64) -> bool {
    head[record::MAGIC] as u32 == record::MAGIC_VALUE && head[record::POSITION] == position
}

/// Returns the reason and time of a record's capture from its head.
pub(crate) fn stamp_of(head: &[u64; 8]) -> Stamp {
    Stamp {
        kind: kind_of((head[record::MAGIC] >> 32) as u32),
        tick: head[record::TICK],
        unix_ns: head[record::UNIX_NS],
    }
}

/// Builds a record from copied words. Returns `None` if its head or its checksum is invalid.
pub(crate) fn parse_record(head: &[u64; 8], body: &[u64]) -> Option<Record> {
    let bytes = usize::try_from(head[record::BYTES]).ok()?;
    if head[record::MAGIC] as u32 != record::MAGIC_VALUE || bytes.div_ceil(WORD) != body.len() {
        return None;
    }
    let mut payload = words::bytes_of(body);
    payload.truncate(bytes);
    if head[record::CRC] != checksum(&head[..record::CRC], &payload) {
        return None;
    }
    Some(Record {
        stamp: stamp_of(head),
        sequence: head[record::SEQUENCE],
        position: head[record::POSITION],
        // This is `NONE` in the first record. A position that is not lower than the record's own is rejected, because
        // readers that followed it would loop forever.
        previous: Some(head[record::PREVIOUS]).filter(|&previous| previous < head[record::POSITION]),
        payload,
    })
}

impl Writer {
    /// Makes a writer for an empty region.
    pub fn new(region: Region) -> Self {
        Self {
            region,
            next: 0,
            previous: NONE,
            sequence: 0,
        }
    }

    /// Returns the length of the longest payload that fits, in bytes.
    pub fn longest_payload(&self) -> u64 {
        (self.region.longest() - record::WORDS as u64) * WORD as u64
    }

    /// Returns how many bytes of the file are in use once a record with this payload is published. After records have
    /// wrapped around, these are all bytes up to the end of the ring.
    pub fn bytes_with(&self, payload: &[u8]) -> u64 {
        let end = self.next.saturating_add(words_of(payload)).min(self.region.words);
        (self.region.first as u64 + end) * WORD as u64
    }

    /// Publishes a record and returns its sequence number.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if the payload does not fit. The ring is then unchanged.
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
        let length = words_of(payload);
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

/// Copies the newest complete record.
///
/// # Errors
/// [`FormatError::Lapped`] if the writer overtook the reader on every try, [`FormatError::NoRecord`] if there is no
/// complete record, or an error from reading `words`.
pub fn read_newest(words: &impl ReadWords, region: &Region) -> Result<Record, FormatError> {
    read_newest_counting(words, region, &mut 0)
}

/// Copies the newest complete record as [`read_newest`] does, and adds to `lapped` the number of tries on which the
/// writer overtook the reader.
///
/// # Errors
/// The same as for [`read_newest`].
pub fn read_newest_counting(
    words: &impl ReadWords,
    region: &Region,
    lapped: &mut u64,
) -> Result<Record, FormatError> {
    let mut patience = Patience::default();
    let newest = patience.read_newest(words, region);
    *lapped += patience.lapped;
    newest
}

/// Copies the record at `previous`, which is the [`Record::previous`] of the record at `position`. Returns `None` if it
/// has been overwritten.
///
/// # Errors
/// An error from reading `words`.
pub fn read_before(
    words: &impl ReadWords,
    region: &Region,
    position: u64,
    previous: u64,
) -> Result<Option<Record>, FormatError> {
    // Each record must end before the next one begins. If records could overlap, following them back through a ring
    // could take time proportional to the square of its size.
    try_read(words, region, previous, position.saturating_sub(previous), &mut 0)
}

/// Copies the head of the record at a position, and returns it with the length of the payload in words. Returns `None`
/// if the record has been overwritten, or is longer than the limit `most`, in words.
fn read_head(
    words: &impl ReadWords,
    region: &Region,
    position: u64,
    most: u64,
) -> Result<Option<([u64; record::WORDS], u64)>, FormatError> {
    let mut head = [0u64; record::WORDS];
    if !copy_words(words, region, position, 0, &mut head)? {
        return Ok(None);
    }
    // The length is trusted only if it is within these limits, because the caller allocates that much memory next.
    let length = head[record::BYTES].div_ceil(WORD as u64);
    let most = most.min(region.longest()).checked_sub(record::WORDS as u64);
    let fits = head[record::POSITION] == position && most.is_some_and(|most| length <= most);
    Ok(fits.then_some((head, length)))
}

/// Copies the record at a position, and adds the number of copied words to `copied`. Returns `None` if the record has
/// been overwritten, is damaged, or is longer than the limit `most`, in words.
fn try_read(
    words: &impl ReadWords,
    region: &Region,
    position: u64,
    most: u64,
    copied: &mut u64,
) -> Result<Option<Record>, FormatError> {
    let Some((head, length)) = read_head(words, region, position, most)? else {
        return Ok(None);
    };
    // A file may be shorter than its header claims. So memory for the whole record is allocated only after reading the
    // word of the record that is furthest into the file. That is its last word or, if the record wraps around, the last
    // word of the ring.
    let end = region.at(position.wrapping_add(record::WORDS as u64 + length - 1));
    let last = match end < region.at(position) {
        true => region.first + region.words as usize - 1,
        false => end,
    };
    read_one(words, last)?;
    *copied += length;
    let mut body = vec![0u64; length as usize];
    if !copy_words(words, region, position, record::WORDS as u64, &mut body)? {
        return Ok(None);
    }
    Ok(parse_record(&head, &body))
}

impl Patience {
    /// Returns the number of tries so far, where copying a long record counts as several.
    fn tries(&self) -> u64 {
        self.tries + self.copied / WORDS_PER_TRY
    }

    /// Copies the newest complete record, or fails once there are no tries left.
    fn read_newest(&mut self, words: &impl ReadWords, region: &Region) -> Result<Record, FormatError> {
        let mut damaged_at = None;
        while self.tries() < TRIES.into() {
            self.tries += 1;
            let latest = read_latest(words, region)?;
            if let Some(record) = try_read(words, region, latest, region.words, &mut self.copied)? {
                return Ok(record);
            }
            // If the same record is found damaged twice and the writer has not overtaken the reader, the damage is
            // permanent.
            let intent = read_one(words, region.intent)?;
            if intent.wrapping_sub(latest) > region.words {
                self.lapped += 1;
            } else if damaged_at.replace(latest) == Some(latest) {
                return Err(FormatError::NoRecord);
            }
        }
        Err(FormatError::Lapped {
            tries: self.tries as u32,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;

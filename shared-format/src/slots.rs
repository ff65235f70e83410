//! Request slots: a viewer asks the program for something, and the program replies.
//!
//! Each half of a slot has a single writer. A viewer owns a slot while it holds a lock on the slot's bytes, which the
//! kernel releases if the viewer dies. The viewer writes the request half in a single write, and the program writes the
//! reply half. A request is open as long as its sequence number is higher than the one in the reply, so it is carried
//! out exactly once. A new owner starts with a number higher than those in both halves, and the reply repeats the
//! request's checksum, so that no viewer mistakes a reply to another viewer for its own.
//!
//! The program does not trust anything in a slot: an invalid request is counted and ignored.

use crate::checksum::checksum;
use crate::error::FormatError;
use crate::layout::WORD;
use crate::layout::slot::{COUNT, FIRST, REPLY_WORDS, REQUEST_WORDS, WORDS};
use crate::pattern::{self, Pattern};
use crate::snapshot::{Mode, Over};
use crate::words::{ReadWords, Words};

/// Maximum amount by which the sequence number of a valid request is ahead of the last reply.
const SEQUENCE_WINDOW: u64 = 1 << 20;

const CODE_AT: usize = 1;
const ARGUMENT_AT: usize = 2;
const TEXT_AT: usize = 3;
const CRC_AT: usize = 15;

/// Number of low bits in a request's argument that hold the length of the pattern. In a request for a watch, the other
/// bits hold the threshold for slow calls.
const LENGTH_BITS: u32 = 8;
const LENGTH_MASK: u64 = (1 << LENGTH_BITS) - 1;

const _: () = assert!((CRC_AT - TEXT_AT) * WORD == pattern::BYTES_MAX);

/// Requests of a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Publish a record that is captured after the request.
    PublishNow,
    /// Begin a new reset epoch.
    Reset,
    /// Undo the last reset.
    UndoReset,
    /// Publish records at this interval in nanoseconds, for this viewer.
    Interval(u64),
    /// Switch the mode. This closes the reset epoch.
    Mode(Mode),
    /// Disable the sites that match the pattern.
    SitesOff(Pattern),
    /// Enable the sites that match.
    SitesOn(Pattern),
    /// Remove the rule with this pattern. The remaining rules then decide which of its sites are enabled.
    ForgetRule(Pattern),
    /// Watch the functions that match the pattern, to tell their slow calls from typical ones. If the pattern is
    /// already being watched, only the threshold changes.
    Watch(Pattern, Over),
    /// Remove the watch with this pattern.
    Unwatch(Pattern),
    /// Sample the program counter of each thread this many times per second of its CPU time; 0 stops the sampling.
    Lines(u32),
}

/// A request in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of the slot.
    pub slot: usize,
    /// Sequence number, higher than all earlier ones in the slot.
    pub sequence: u64,
    /// The operation, or `None` if this build does not know it.
    pub op: Option<Op>,
    /// Checksum of the request, which the reply repeats.
    pub crc: u64,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The request was carried out.
    Done,
    /// There is no reset to undo.
    NothingToUndo,
    /// The program does not know this request, because its collector is older.
    Unknown,
    /// The program takes no requests of this kind.
    Refused,
    /// An outcome that was added in a later version, given as its code.
    Other(u64),
}

/// The program's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The sequence number of the request.
    pub sequence: u64,
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Sequence number of the first record that shows the effect.
    pub record: u64,
    /// The reset epoch after the request.
    pub reset_epoch: u64,
    /// The request's checksum.
    pub crc: u64,
}

impl Op {
    /// Writes code, argument and pattern into the words of a request.
    fn encode(self, words: &mut [u64; REQUEST_WORDS]) {
        let (code, argument, pattern) = match self {
            Self::PublishNow => (1, 0, None),
            Self::Reset => (2, 0, None),
            Self::UndoReset => (3, 0, None),
            Self::Interval(ns) => (4, ns, None),
            Self::Mode(mode) => (5, mode as u64, None),
            Self::SitesOff(pattern) => (6, 0, Some(pattern)),
            Self::SitesOn(pattern) => (7, 0, Some(pattern)),
            Self::ForgetRule(pattern) => (8, 0, Some(pattern)),
            Self::Watch(pattern, over) => (9, over.code() << LENGTH_BITS, Some(pattern)),
            Self::Unwatch(pattern) => (10, 0, Some(pattern)),
            Self::Lines(hz) => (11, u64::from(hz), None),
            // Codes 12 and 13 are reserved, because earlier versions used them for other requests.
        };
        let text = pattern.as_ref().map_or("", Pattern::as_str).as_bytes();
        (words[CODE_AT], words[ARGUMENT_AT]) = (code, argument | text.len() as u64);
        for (word, bytes) in words[TEXT_AT..CRC_AT].iter_mut().zip(text.chunks(WORD)) {
            let mut eight = [0; WORD];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
    }

    fn decode(words: &[u64; REQUEST_WORDS]) -> Option<Self> {
        let argument = words[ARGUMENT_AT];
        match words[CODE_AT] {
            1 => Some(Self::PublishNow),
            2 => Some(Self::Reset),
            3 => Some(Self::UndoReset),
            4 => Some(Self::Interval(argument)),
            5 => Mode::ALL
                .into_iter()
                .find(|mode| *mode as u64 == argument)
                .map(Self::Mode),
            6 => text(words, argument).map(Self::SitesOff),
            7 => text(words, argument).map(Self::SitesOn),
            8 => text(words, argument).map(Self::ForgetRule),
            9 => {
                let pattern = text(words, argument & LENGTH_MASK)?;
                Some(Self::Watch(pattern, Over::of_code(argument >> LENGTH_BITS)?))
            }
            10 => text(words, argument).map(Self::Unwatch),
            11 => u32::try_from(argument).ok().map(Self::Lines),
            _ => None,
        }
    }
}

/// Returns the pattern in a request, given its length in bytes, or `None` if it is invalid.
fn text(words: &[u64; REQUEST_WORDS], length: u64) -> Option<Pattern> {
    let words = words[TEXT_AT..CRC_AT].iter();
    let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    let length = usize::try_from(length).ok()?;
    let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
    Pattern::new(text).ok()
}

impl Outcome {
    fn code(self) -> u64 {
        match self {
            Self::Done => 1,
            Self::NothingToUndo => 2,
            Self::Unknown => 3,
            Self::Refused => 4,
            Self::Other(code) => code,
        }
    }

    fn of(code: u64) -> Self {
        match code {
            1 => Self::Done,
            2 => Self::NothingToUndo,
            3 => Self::Unknown,
            4 => Self::Refused,
            _ => Self::Other(code),
        }
    }
}

/// Returns the index of a slot's first word.
pub fn first_word(slot: usize) -> usize {
    FIRST + slot * WORDS
}

/// Returns the request half of a slot, which a viewer must write in a single write. A page of zeros is not a valid
/// request, because the checksum of zeros is not 0.
pub fn request_words(sequence: u64, op: Op) -> [u64; REQUEST_WORDS] {
    let mut words = [0; REQUEST_WORDS];
    words[0] = sequence;
    op.encode(&mut words);
    words[CRC_AT] = checksum(&words[..CRC_AT], &[]);
    words
}

fn read_request(words: &impl ReadWords, slot: usize) -> Result<Result<Request, u64>, FormatError> {
    let mut request = [0; REQUEST_WORDS];
    words.read(first_word(slot), &mut request)?;
    Ok(request_of(&request, slot))
}

/// Decodes a request. If it is invalid, returns its sequence number as the error.
fn request_of(words: &[u64; REQUEST_WORDS], slot: usize) -> Result<Request, u64> {
    let crc = checksum(&words[..CRC_AT], &[]);
    if words[CRC_AT] != crc {
        return Err(words[0]);
    }
    Ok(Request {
        slot,
        sequence: words[0],
        op: Op::decode(words),
        crc,
    })
}

fn read_reply(words: &impl ReadWords, slot: usize) -> Result<Option<Reply>, FormatError> {
    let mut reply = [0; REPLY_WORDS];
    words.read(first_word(slot) + REQUEST_WORDS, &mut reply)?;
    if reply[CRC_AT] != checksum(&reply[..CRC_AT], &[]) {
        return Ok(None);
    }
    Ok(Some(Reply {
        sequence: reply[0],
        outcome: Outcome::of(reply[1]),
        record: reply[2],
        reset_epoch: reply[3],
        crc: reply[4],
    }))
}

/// The program's side of the request slots.
#[derive(Debug, Default)]
pub struct Server {
    /// For each slot, the sequence number of the last request that was answered. The server keeps this itself, because
    /// the page is not trusted.
    answered: [u64; COUNT],
    /// For each slot, the sequence number of the last invalid request, so that each invalid request is counted only
    /// once.
    broken: [u64; COUNT],
    /// Number of invalid requests.
    refused: u64,
}

impl Server {
    /// Returns the requests that have not been answered yet, at most one per slot.
    pub fn look(&mut self, words: &impl ReadWords) -> Vec<Request> {
        let mut open = Vec::new();
        // All slots are copied in one read, because each read may be a system call.
        let mut page = [0; COUNT * WORDS];
        if words.read(FIRST, &mut page).is_err() {
            return open;
        }
        for (slot, words) in page.as_chunks::<WORDS>().0.iter().enumerate() {
            let answered = self.answered[slot];
            let request = words.first_chunk().map(|request| request_of(request, slot));
            match request {
                Some(Ok(request)) if request.sequence == answered => {}
                Some(Ok(request)) if request.sequence.wrapping_sub(answered) <= SEQUENCE_WINDOW => {
                    open.push(request);
                }
                Some(Ok(Request { sequence, .. }) | Err(sequence)) => self.refuse(slot, sequence),
                None => {}
            }
        }
        open
    }

    fn refuse(&mut self, slot: usize, sequence: u64) {
        if self.broken[slot] != sequence {
            self.broken[slot] = sequence;
            self.refused += 1;
        }
    }

    /// Returns the number of invalid requests so far.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Replies to a request.
    ///
    /// # Panics
    /// If `request.slot` is [`COUNT`] or more, which is never the case for a request that was read from a slot.
    pub fn answer(
        &mut self,
        words: &impl Words,
        request: &Request,
        outcome: Outcome,
        record: u64,
        reset_epoch: u64,
    ) {
        self.answered[request.slot] = request.sequence;
        let mut reply = [0; REPLY_WORDS];
        reply[0] = request.sequence;
        reply[1] = outcome.code();
        reply[2] = record;
        reply[3] = reset_epoch;
        reply[4] = request.crc;
        reply[CRC_AT] = checksum(&reply[..CRC_AT], &[]);
        // The checksum covers the whole reply, so a reader that sees a half-written reply rejects it and reads again.
        let first = first_word(request.slot) + REQUEST_WORDS;
        for (offset, word) in reply.into_iter().enumerate().rev() {
            words.store_release(first + offset, word);
        }
    }
}

/// Returns the sequence number for the first request of a slot's new owner.
///
/// # Errors
/// An error from reading `words`.
pub fn next_sequence(words: &impl ReadWords, slot: usize) -> Result<u64, FormatError> {
    let replied = read_reply(words, slot)?.map_or(0, |reply| reply.sequence);
    let requested = match read_request(words, slot)? {
        Ok(request) if request.sequence.wrapping_sub(replied) <= SEQUENCE_WINDOW => request.sequence,
        _ => replied,
    };
    Ok(requested.max(replied).wrapping_add(1))
}

/// Returns the reply to a request, or `None` if there is no reply yet.
///
/// # Errors
/// An error from reading `words`.
pub fn reply_to(
    words: &impl ReadWords,
    slot: usize,
    request: &[u64; REQUEST_WORDS],
) -> Result<Option<Reply>, FormatError> {
    let reply = read_reply(words, slot)?;
    Ok(reply.filter(|reply| reply.sequence == request[0] && reply.crc == request[CRC_AT]))
}

#[cfg(test)]
mod tests;

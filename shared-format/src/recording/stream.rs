//! A recording that arrives through a pipe or a socket, record by record.
//!
//! Several recordings may follow each other in a stream: each of them begins with a header page.

use std::io::{self, Read};
use std::path::Path;

use super::{HEAD_WORDS, check_version, stored};
use crate::addresses::Addresses;
use crate::checksum::checksum;
use crate::error::{FormatError, damaged};
use crate::layout::{SNAPSHOT_FILE_MAGIC, WORD, record};
use crate::ring::{self, Stamp};
use crate::words;

/// Length of a header page and of a record's head, in bytes.
const PAGE_BYTES: usize = HEAD_WORDS * WORD;
const HEAD_BYTES: usize = record::WORDS * WORD;

/// Name of a record in messages.
const WHAT: &str = "record of a stream";

/// Reads a stream.
#[derive(Debug)]
pub struct Stream<R> {
    input: R,
    /// Bytes read so far.
    read: u64,
    /// Beginning of the next record, in words from the end of the recording's header page; `None` until that page has
    /// been read.
    position: Option<u64>,
    /// The sites that were read last, with the position of the record that contains them.
    sites: Option<(u64, Vec<u8>)>,
    longest: u64,
}

/// Next part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The beginning of a recording. A stream may contain several.
    Begin,
    /// A whole record.
    Record(StreamedRecord),
    /// The end of the stream.
    End {
        /// Bytes of an incomplete page or record at the end.
        torn: u64,
    },
}

/// A record of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamedRecord {
    /// Reason and time of the capture.
    pub stamp: Stamp,
    /// The payload, as the program wrote it, except that the order of its sections may differ.
    pub payload: Vec<u8>,
    /// Functions and source lines that no earlier record contains.
    pub addresses: Addresses,
}

impl<R: Read> Stream<R> {
    /// Creates a reader for a stream. A record that is longer than `longest` bytes, packed or unpacked, is an error.
    pub fn new(input: R, longest: u64) -> Self {
        Self {
            input,
            read: 0,
            position: None,
            sites: None,
            longest: longest.min(record::BYTES_MAX),
        }
    }

    /// Waits for the next piece. After an error or the end, there are no more pieces.
    ///
    /// Memory use is limited by the number of bytes that have arrived and by `longest`. It does not depend on the
    /// lengths that the stream claims.
    ///
    /// # Errors
    /// [`FormatError::NotOurs`] if the stream does not begin as a recording does, [`FormatError::Damaged`] if anything
    /// after that is invalid, [`FormatError::Version`] or [`FormatError::Features`] if another version of tickscope
    /// wrote it, or the system's error.
    pub fn next_piece(&mut self) -> Result<Piece, FormatError> {
        let begin = self.read;
        let head = self.take(PAGE_BYTES as u64)?;
        if head.is_empty() {
            return Ok(Piece::End { torn: 0 });
        }
        let magic = SNAPSHOT_FILE_MAGIC.to_le_bytes();
        let is_page = head.starts_with(&magic) || magic.starts_with(&head);
        if self.position.is_none() && !is_page {
            let found = &head[..head.len().min(WORD)];
            return Err(FormatError::NotOurs {
                found: format!("\"{}\"", found.escape_ascii()),
                wanted: "\"TICKKEPT\", the start of what tickscope record -o - writes".into(),
            });
        }
        let torn = |read: u64| Ok(Piece::End { torn: read - begin });
        // A page and a record's head have the same length.
        const { assert!(PAGE_BYTES == HEAD_BYTES) };
        let words: Vec<u64> = words::from_bytes(&head).collect();
        let Some(words) = words.first_chunk::<{ record::WORDS }>() else {
            return torn(self.read);
        };
        if is_page {
            check_version(words[1], words[2])?;
            (self.position, self.sites) = (Some(0), None);
            return Ok(Piece::Begin);
        }
        let position = self.position.unwrap_or_default();
        if !ring::is_head(words, position) {
            let wanted = "a record or the beginning of a recording";
            return Err(damaged(WHAT, begin, "other bytes", wanted));
        }
        let bytes = words[record::BYTES];
        if bytes > self.longest {
            let (found, wanted) = (format!("{bytes} bytes"), format!("at most {}", self.longest));
            return Err(damaged(WHAT, begin, found, wanted));
        }
        let padded = bytes.next_multiple_of(WORD as u64);
        let mut body = self.take(padded)?;
        if (body.len() as u64) < padded {
            return torn(self.read);
        }
        body.truncate(bytes as usize);
        if words[record::CRC] != checksum(&words[..record::CRC], &body) {
            let wanted = "the checksum of its bytes";
            return Err(damaged(WHAT, begin, "another checksum", wanted));
        }
        let addresses = match stored::has_addresses(&body) {
            true => stored::unpacked_addresses(&body)?,
            false => Addresses::default(),
        };
        let payload = self.unpacked(body, position, begin)?;
        self.position = Some(position + record::WORDS as u64 + padded / WORD as u64);
        Ok(Piece::Record(StreamedRecord {
            stamp: ring::stamp_of(words),
            payload,
            addresses,
        }))
    }

    fn unpacked(&mut self, stored: Vec<u8>, position: u64, begin: u64) -> Result<Vec<u8>, FormatError> {
        let Some((_, sites_at)) = stored::info(&stored) else {
            return Ok(stored);
        };
        if sites_at == position {
            let sites = stored::unpacked(&stored, stored::PACKED_SITES, self.longest)?;
            self.sites = Some((position, sites));
        }
        let sites = self.sites.as_ref().filter(|(of, _)| *of == sites_at);
        let Some((_, sites)) = sites else {
            let found = format!("the sites at word {sites_at}");
            let wanted = "its own sites or the sites read last";
            return Err(damaged(WHAT, begin, found, wanted));
        };
        let mut payload = stored::unpacked(&stored, stored::PACKED, self.longest)?;
        payload.extend_from_slice(sites);
        Ok(payload)
    }

    /// Reads this many bytes, or fewer if the stream ends first.
    fn take(&mut self, bytes: u64) -> Result<Vec<u8>, FormatError> {
        let mut taken = Vec::new();
        // The buffer grows with the bytes that arrive, not with the claimed length.
        let read = io::Read::by_ref(&mut self.input)
            .take(bytes)
            .read_to_end(&mut taken);
        self.read += taken.len() as u64;
        match read {
            Ok(_) => Ok(taken),
            Err(error) => Err(FormatError::io("read", Path::new("the stream"), error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Writer;
    use super::super::tests::{named_by, snapshot};
    use super::*;
    use crate::codec;
    use crate::fixture;

    const LONGEST: u64 = 1 << 20;

    /// Returns a payload. The sites change with every third one.
    fn payload(seq: u64) -> Vec<u8> {
        fixture::payload(&snapshot(seq, seq as usize / 3))
    }

    /// Returns two recordings in a row, as `record -o - --follow` writes them.
    fn stream() -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stream");
        let mut writer = Writer::stream(fs::File::create(&path).unwrap(), Path::new("out")).unwrap();
        for seq in 1..=6 {
            if seq == 5 {
                writer.begin_again().unwrap();
            }
            let stamp = fixture::stamp_at(seq, 100 + seq);
            writer.name(named_by(seq));
            writer.append(stamp, &payload(seq)).unwrap();
        }
        writer.finish().unwrap();
        fs::read(&path).unwrap()
    }

    /// Reader that returns at most three bytes at a time, like a slow connection.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = self.0.len().min(3).min(buffer.len());
            let (now, later) = self.0.split_at(some);
            buffer[..some].copy_from_slice(now);
            self.0 = later;
            Ok(some)
        }
    }

    fn pieces(input: impl Read) -> Result<Vec<Piece>, FormatError> {
        let mut stream = Stream::new(input, LONGEST);
        let mut all = Vec::new();
        loop {
            all.push(stream.next_piece()?);
            if matches!(all.last(), Some(Piece::End { .. })) {
                return Ok(all);
            }
        }
    }

    #[test]
    fn records_come_as_they_were_written_and_a_second_recording_is_told() {
        let bytes = stream();
        let all = pieces(Slow(&bytes)).unwrap();
        let shape: String = all
            .iter()
            .map(|piece| match piece {
                Piece::Begin => 'B',
                Piece::Record(_) => 'r',
                Piece::End { .. } => '.',
            })
            .collect();
        assert_eq!(shape, "BrrrrBrr.");
        let records = all.iter().filter_map(|piece| match piece {
            Piece::Record(record) => Some(record),
            Piece::Begin | Piece::End { .. } => None,
        });
        for (seq, record) in (1..).zip(records) {
            assert_eq!(record.stamp.unix_ns, 100 + seq);
            assert_eq!(record.addresses, named_by(seq));
            let got = codec::decode(&record.payload).unwrap();
            assert_eq!(got, codec::decode(&payload(seq)).unwrap());
        }
        assert_eq!(all.last(), Some(&Piece::End { torn: 0 }));
    }

    #[test]
    fn any_beginning_of_a_stream_is_a_stream_and_says_what_is_missing() {
        let bytes = stream();
        let whole = pieces(&bytes[..]).unwrap().len();
        for length in (0..bytes.len()).step_by(7) {
            let all = pieces(&bytes[..length]).unwrap_or_else(|error| panic!("{length}: {error}"));
            assert!(all.len() < whole, "{length}");
        }
        let all = pieces(&bytes[..8 * WORD + 5]).unwrap();
        assert_eq!(all.last(), Some(&Piece::End { torn: 5 }));
        assert_eq!(pieces(&bytes[..20]).unwrap(), [Piece::End { torn: 20 }]);
    }

    #[test]
    fn garbage_is_refused_and_takes_no_memory() {
        let said = |bytes: &[u8]| pieces(bytes).unwrap_err().to_string();
        assert!(said(b"GET / HTTP/1.1\r\n").contains("begins with \"GET / HT\", wanted \"TICKKEPT\""));
        assert!(said(b"x").contains("begins with \"x\""));
        let bytes = stream();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x11;
            // Reading must come to an end after every change. The result is not checked, because some changes, such as
            // changes to padding, have no effect.
            let _ = pieces(&flipped[..]);
        }
        let mut long = bytes.clone();
        let at = PAGE_BYTES + record::BYTES * WORD;
        long[at..at + WORD].copy_from_slice(&(LONGEST + 1).to_le_bytes());
        assert!(
            said(&long).contains("found 1048577 bytes, wanted at most 1048576"),
            "{}",
            said(&long)
        );
        // The record claims more bytes than arrive.
        long[at..at + WORD].copy_from_slice(&LONGEST.to_le_bytes());
        assert!(matches!(pieces(&long[..]).unwrap().last(), Some(Piece::End { torn }) if *torn > 0));
        let mut newer = bytes.clone();
        newer[WORD + 4] = 99;
        assert!(said(&newer).contains("ring format 99."), "{}", said(&newer));
        let mut garbage = bytes[..PAGE_BYTES].to_vec();
        garbage.extend_from_slice(&[b'z'; 64]);
        assert!(
            said(&garbage).contains("at byte 64: found other bytes, wanted a record"),
            "{}",
            said(&garbage)
        );
    }
}

//! Recordings (`.tks`): a header page, followed by records.
//!
//! A record is complete as soon as it is written, so every prefix of a recording is a valid recording: if the writer
//! dies, all records that it finished can still be read. A reader first reads only the heads of the records, and
//! unpacks a record when it is requested. A snapshot file is a recording with a single record.

#[cfg(feature = "deflate")]
mod append;
mod stored;
#[cfg(feature = "deflate")]
mod stream;

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::addresses::Addresses;
use crate::checksum::checksum;
use crate::codec;
use crate::error::{self, FormatError, damaged};
use crate::file::open::open_plain;
use crate::layout::{SNAPSHOT_FILE_MAGIC, WORD, record};
use crate::ring::{self, Stamp};
use crate::snapshot::Snapshot;
use crate::words;

#[cfg(feature = "deflate")]
pub use self::append::Writer;
#[cfg(feature = "deflate")]
pub use self::stream::{Piece, Stream, StreamedRecord};

/// Words before the first record: magic, version, features, and reserved words.
pub(crate) const HEAD_WORDS: usize = 8;

/// Required feature: records are packed, and may refer to the sites of an earlier record.
const PACKED: u64 = 1;

/// A recording, open for reading.
#[derive(Debug)]
pub struct Recording {
    file: File,
    path: PathBuf,
    moments: Vec<Moment>,
    torn_bytes: u64,
    /// The sites that were read last, with the position of the record that contains them.
    sites: RefCell<Option<(u64, Rc<[u8]>)>>,
}

/// A record in a recording, as described by its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Reason and time of the capture.
    pub stamp: Stamp,
    /// Sequence number of the capture in the program.
    pub seq: u64,
    /// Number of resets.
    pub reset_epoch: u64,
    /// The earlier reset epoch that was resumed if this epoch began with an undo. The record's counts then start at the
    /// beginning of the resumed epoch. `None` if this epoch did not begin with an undo.
    pub withdraws: Option<u64>,
    /// Beginning of the record, in words from the end of the header page.
    position: u64,
    /// Length of the body in bytes.
    bytes: u64,
    /// Whether the record contains [`Addresses`].
    has_addresses: bool,
}

impl Recording {
    /// Opens a file and finds its records. Bytes after the last complete record are ignored.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a recording that this build can read.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let file = open_plain(path, false)?;
        let failed = |error| FormatError::io("stat", path, error);
        let length = file.metadata().map_err(failed)?.len();
        let mut recording = Self {
            file,
            path: path.to_path_buf(),
            moments: Vec::new(),
            torn_bytes: 0,
            sites: RefCell::default(),
        };
        recording.check_page(length)?;
        let mut position = 0;
        while let Some(moment) = recording.moment(position, length)? {
            recording.moments.push(moment);
            position = moment.end();
        }
        recording.torn_bytes = length.saturating_sub(offset(position));
        Ok(recording)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the records in the order in which they were written, the oldest first.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Returns the number of bytes after the last complete record.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// Reads the payload of a record. It is what the program wrote, except that the order of the sections may differ.
    ///
    /// # Errors
    /// [`FormatError::Damaged`] if the bytes differ from the written bytes, or the error that occurred while reading.
    pub fn payload(&self, moment: &Moment) -> Result<Vec<u8>, FormatError> {
        let stored = self.stored(moment)?;
        let Some((_, sites_at)) = stored::info(&stored) else {
            return Ok(stored);
        };
        let mut payload = stored::unpacked(&stored, stored::PACKED, record::BYTES_MAX)?;
        payload.extend_from_slice(&self.sites_at(sites_at, moment)?);
        Ok(payload)
    }

    /// Reads the snapshot of a record.
    ///
    /// # Errors
    /// The errors of [`Self::payload`] and [`codec::decode`].
    pub fn snapshot(&self, moment: &Moment) -> Result<Snapshot, FormatError> {
        codec::decode(&self.payload(moment)?)
    }

    /// Reads the newest record that is not damaged, and decodes its snapshot.
    ///
    /// # Errors
    /// [`FormatError::NoRecord`] if no record can be read, or an error of [`codec::decode`].
    pub fn newest(&self) -> Result<(Moment, Snapshot), FormatError> {
        for moment in self.moments.iter().rev() {
            if let Ok(payload) = self.payload(moment) {
                return Ok((*moment, codec::decode(&payload)?));
            }
        }
        Err(FormatError::NoRecord)
    }

    /// Reads the functions and source lines of all samples in the recording, as its writer found them. Damaged records
    /// are skipped.
    pub fn addresses(&self) -> Addresses {
        let mut all = Addresses::default();
        for moment in self.moments.iter().filter(|moment| moment.has_addresses) {
            let stored = self.stored(moment);
            let read = stored.and_then(|stored| stored::unpacked_addresses(&stored));
            all.extend(read.unwrap_or_default());
        }
        all
    }

    fn check_page(&self, length: u64) -> Result<(), FormatError> {
        let bytes = self.read(0, (HEAD_WORDS * WORD).min(length as usize))?;
        let found = &bytes[..bytes.len().min(WORD)];
        if found != SNAPSHOT_FILE_MAGIC.to_le_bytes() {
            return Err(FormatError::NotOurs {
                found: format!("\"{}\" ({length} bytes)", found.escape_ascii()),
                wanted: "\"TICKKEPT\" or \"TICKRING\"".into(),
            });
        }
        let page: Vec<u64> = words::from_bytes(&bytes).collect();
        let Some(&[_, version, features, ..]) = page.first_chunk::<HEAD_WORDS>() else {
            return Err(FormatError::Truncated {
                found: length,
                wanted: (HEAD_WORDS * WORD) as u64,
            });
        };
        check_version(version, features)
    }

    /// Returns the record at a position, or `None` if no whole record is there.
    fn moment(&self, position: u64, length: u64) -> Result<Option<Moment>, FormatError> {
        let begin = offset(position);
        let there = length.saturating_sub(begin);
        let most = record::WORDS * WORD + stored::HEAD_BYTES;
        let bytes = self.read(begin, most.min(usize::try_from(there).unwrap_or(most)))?;
        let head: Vec<u64> = words::from_bytes(&bytes).take(record::WORDS).collect();
        let Some(head) = head.first_chunk().filter(|head| ring::is_head(head, position)) else {
            return Ok(None);
        };
        let behind = there - (record::WORDS * WORD) as u64;
        let payload = head[record::BYTES];
        if payload > record::BYTES_MAX || payload.next_multiple_of(WORD as u64) > behind {
            return Ok(None);
        }
        let stored = &bytes[record::WORDS * WORD..];
        let mut moment = Moment {
            stamp: ring::stamp_of(head),
            seq: 0,
            reset_epoch: 0,
            withdraws: None,
            position,
            bytes: payload,
            has_addresses: stored::has_addresses(stored),
        };
        let capture = match stored::info(stored) {
            Some((capture, _)) => capture,
            // The record of a snapshot file is not packed, and its capture info is in the payload.
            None => match self.stored(&moment) {
                Ok(payload) => codec::capture(&payload).unwrap_or_default(),
                Err(_) => return Ok(None),
            },
        };
        (moment.seq, moment.reset_epoch, moment.withdraws) =
            (capture.seq, capture.reset_epoch, capture.withdraws);
        Ok(Some(moment))
    }

    /// Reads the bytes that are stored after a record's head, without padding.
    fn stored(&self, moment: &Moment) -> Result<Vec<u8>, FormatError> {
        // The whole record was within the file when it was found, so this length is at most the file's length at that
        // time.
        let length = record::WORDS * WORD + (moment.bytes as usize).next_multiple_of(WORD);
        let mut head = self.read(offset(moment.position), length)?;
        let mut payload = head.split_off(record::WORDS * WORD);
        payload.truncate(moment.bytes as usize);
        let head: Vec<u64> = words::from_bytes(&head).collect();
        if head[record::CRC] == checksum(&head[..record::CRC], &payload) {
            return Ok(payload);
        }
        let (begin, wanted) = (offset(moment.position), "the checksum of its bytes");
        Err(damaged("record", begin, "another checksum", wanted))
    }

    /// Returns the sites of a record, which may be stored in an earlier record.
    fn sites_at(&self, position: u64, moment: &Moment) -> Result<Rc<[u8]>, FormatError> {
        if let Some((known, sites)) = &*self.sites.borrow()
            && *known == position
        {
            return Ok(Rc::clone(sites));
        }
        let owner = self
            .moments
            .binary_search_by_key(&position, |moment| moment.position);
        let Some(owner) = owner.ok().filter(|_| position <= moment.position) else {
            let (begin, found) = (offset(moment.position), format!("the sites at word {position}"));
            let wanted = "its own sites or an earlier record's";
            return Err(damaged("sites of a record", begin, found, wanted));
        };
        let stored = self.stored(&self.moments[owner])?;
        let sites: Rc<[u8]> = stored::unpacked(&stored, stored::PACKED_SITES, record::BYTES_MAX)?.into();
        *self.sites.borrow_mut() = Some((position, Rc::clone(&sites)));
        Ok(sites)
    }

    fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, FormatError> {
        let mut bytes = vec![0; length];
        self.file
            .read_exact_at(&mut bytes, offset)
            .map_err(|error| FormatError::io("read", &self.path, error))?;
        Ok(bytes)
    }
}

/// Checks that this build can read a recording of this version with these features.
fn check_version(version: u64, features: u64) -> Result<(), FormatError> {
    error::check_version(version)?;
    error::check_features(features, if cfg!(feature = "deflate") { PACKED } else { 0 })
}

impl Moment {
    /// Returns the position of the next record, in words after the header page.
    fn end(&self) -> u64 {
        self.position + record::WORDS as u64 + self.bytes.div_ceil(WORD as u64)
    }
}

/// Converts a position to an offset in the file, in bytes.
fn offset(position: u64) -> u64 {
    (position.saturating_add(HEAD_WORDS as u64)).saturating_mul(WORD as u64)
}

#[cfg(test)]
#[cfg(feature = "deflate")]
mod tests;

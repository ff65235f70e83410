//! The writer of a recording. It appends each record with one write.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{HEAD_WORDS, PACKED, stored};
use crate::addresses::Addresses;
use crate::codec;
use crate::error::FormatError;
use crate::layout::{FORMAT_MAJOR, FORMAT_MINOR, SNAPSHOT_FILE_MAGIC, WORD, record};
use crate::ring::{Stamp, payload_words, record_head};
use crate::words;

/// Writes a recording.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Temporary path of the recording until its first record is written, if it will replace another file.
    for_now: Option<PathBuf>,
    /// Beginning of the next record, in words from the end of the header page.
    position: u64,
    previous: u64,
    records: u64,
    /// Whether the output is a pipe, a socket or the like, from which written bytes cannot be removed.
    is_stream: bool,
    /// The sites that were written last, with the position of the record that contains them.
    sites: Option<(u64, Vec<u8>)>,
    /// Functions and source lines for the next record.
    addresses: Addresses,
}

impl Writer {
    /// Creates a new file. An existing file is replaced only if `force` is set, and not until the first record is
    /// written.
    ///
    /// # Errors
    /// [`FormatError::Unsuitable`] if a file exists that must not be replaced, or the system's error.
    pub fn create(path: &Path, force: bool) -> Result<Self, FormatError> {
        // The check does not follow a symbolic link, because a link's target must not be replaced.
        let there = path.symlink_metadata().ok();
        let refused = match &there {
            Some(_) if !force => Some(("exists already", "a new file")),
            Some(facts) if !facts.is_file() => Some(("exists and is not a plain file", "a new file")),
            _ => None,
        };
        if let Some((found, wanted)) = refused {
            return Err(FormatError::Unsuitable {
                path: path.to_path_buf(),
                found: found.into(),
                wanted: wanted.into(),
            });
        }
        let for_now = there.map(|_| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{}.new", std::process::id()));
            PathBuf::from(name)
        });
        let failed = |error| FormatError::io("create", path, error);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644);
        let file = options.open(for_now.as_deref().unwrap_or(path));
        let file = file.map_err(failed)?;
        let mut writer = Self {
            for_now,
            ..Self::of(file, path)
        };
        match writer.write_page() {
            Ok(()) => Ok(writer),
            Err(error) => {
                writer.remove_empty();
                Err(error)
            }
        }
    }

    /// Begins a recording in a pipe, a socket or the like, whose other end is read by a [`Stream`](super::Stream).
    /// Error messages refer to the recording as `name`.
    ///
    /// # Errors
    /// The system's error.
    pub fn stream(output: File, name: &Path) -> Result<Self, FormatError> {
        let mut writer = Self {
            is_stream: true,
            ..Self::of(output, name)
        };
        writer.write_page()?;
        Ok(writer)
    }

    fn of(file: File, path: &Path) -> Self {
        Self {
            file,
            path: path.to_path_buf(),
            for_now: None,
            position: 0,
            previous: u64::MAX,
            records: 0,
            is_stream: false,
            sites: None,
            addresses: Addresses::default(),
        }
    }

    /// Begins another recording in the same stream, because the records that follow belong to another run.
    ///
    /// # Errors
    /// The system's error.
    pub fn begin_again(&mut self) -> Result<(), FormatError> {
        (self.position, self.previous, self.sites) = (0, u64::MAX, None);
        self.write_page()
    }

    fn write_page(&mut self) -> Result<(), FormatError> {
        let mut page = [0; HEAD_WORDS];
        page[0] = SNAPSHOT_FILE_MAGIC;
        page[1] = u64::from(FORMAT_MAJOR) << 32 | u64::from(FORMAT_MINOR);
        page[2] = PACKED;
        let written = self.file.write_all(&words::to_bytes(page));
        written.map_err(|error| FormatError::io("write", &self.path, error))
    }

    /// Adds functions and source lines to the next record. The recording must not contain them already.
    pub fn name(&mut self, addresses: Addresses) {
        self.addresses.extend(addresses);
    }

    /// Appends a record. If that fails, earlier records stay as they are.
    ///
    /// # Errors
    /// The system's error, or an error if the bytes are not a payload.
    pub fn append(&mut self, stamp: Stamp, payload: &[u8]) -> Result<(), FormatError> {
        let capture = codec::capture(payload)?;
        let (others, sites) = codec::split_sites(payload)?;
        let known = self.sites.as_ref().filter(|(_, known)| *known == sites);
        let (sites_at, own) = match known {
            Some((position, _)) => (*position, None),
            None => (self.position, Some(&sites[..])),
        };
        let stored = stored::packed(&capture, sites_at, &self.addresses, &others, own)
            .map_err(|error| FormatError::io("pack for", &self.path, error))?;
        let head = record_head(stamp, self.records + 1, self.position, self.previous, &stored);
        let length = (record::WORDS + stored.len().div_ceil(WORD)) as u64;
        let bytes = words::to_bytes(head.into_iter().chain(payload_words(&stored)));
        if let Err(error) = self.file.write_all(&bytes) {
            // The bytes written so far are not a complete record. If they cannot be removed, readers ignore them.
            if !self.is_stream {
                let _ = self.file.set_len(self.bytes());
            }
            return Err(FormatError::io("write", &self.path, error));
        }
        if sites_at == self.position {
            self.sites = Some((sites_at, sites));
        }
        self.addresses = Addresses::default();
        self.previous = self.position;
        self.position += length;
        self.records += 1;
        if let Some(for_now) = self.for_now.take() {
            fs::rename(&for_now, &self.path).map_err(|error| {
                let _ = fs::remove_file(&for_now);
                FormatError::io("replace", &self.path, error)
            })?;
        }
        Ok(())
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the length of the file so far, in bytes.
    pub fn bytes(&self) -> u64 {
        (HEAD_WORDS as u64 + self.position) * WORD as u64
    }

    /// Flushes the file to disk, or removes it if it contains no record. Does nothing for a stream.
    ///
    /// # Errors
    /// The system's error.
    pub fn finish(self) -> Result<(), FormatError> {
        if self.is_stream {
            return Ok(());
        }
        if self.records == 0 {
            self.remove_empty();
            return Ok(());
        }
        self.file
            .sync_all()
            .map_err(|error| FormatError::io("write", &self.path, error))
    }

    fn remove_empty(&self) {
        let _ = fs::remove_file(self.for_now.as_ref().unwrap_or(&self.path));
    }
}

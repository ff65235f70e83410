//! The writing side of a series: one record after another, each in one piece.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::stored::{self, Facts};
use super::{HEAD_WORDS, PACKED};
use crate::codec;
use crate::error::FormatError;
use crate::layout::{FORMAT_MAJOR, FORMAT_MINOR, KEPT_MAGIC, WORD, record};
use crate::ring::{Stamp, payload_words, record_head};
use crate::words;

/// Appends records to a file of its own.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// The name it has until its first record is written, where it is to take the place of another file.
    for_now: Option<PathBuf>,
    /// Where the next record begins, in words behind the page.
    position: u64,
    previous: u64,
    records: u64,
    /// The sites that were written last, and the position of the record that has them.
    sites: Option<(u64, Vec<u8>)>,
}

impl Writer {
    /// A new file. One that is there already is replaced only by force, and not before there is a record to replace
    /// it with.
    ///
    /// # Errors
    /// That there is one, or what the system says.
    pub fn create(path: &Path, force: bool) -> Result<Self, FormatError> {
        // Without following links: what one points to is not ours to replace.
        let there = path.symlink_metadata().ok();
        let refused = match &there {
            Some(_) if !force => Some(("exists already", "a new file; --force writes over it")),
            Some(facts) if !facts.is_file() => Some(("exists and is no plain file", "a new file")),
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
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(for_now.as_deref().unwrap_or(path))
            .map_err(failed)?;
        let mut writer = Self {
            file,
            path: path.to_path_buf(),
            for_now,
            position: 0,
            previous: u64::MAX,
            records: 0,
            sites: None,
        };
        let mut page = [0; HEAD_WORDS];
        page[0] = KEPT_MAGIC;
        page[1] = u64::from(FORMAT_MAJOR) << 32 | u64::from(FORMAT_MINOR);
        page[2] = PACKED;
        match writer.file.write_all(&words::to_bytes(page)) {
            Ok(()) => Ok(writer),
            Err(error) => {
                writer.remove_empty();
                Err(FormatError::io("write", path, error))
            }
        }
    }

    /// Appends a record. Where that fails, those before it stay as they are.
    ///
    /// # Errors
    /// What the system says, or that it is no payload.
    pub fn append(&mut self, stamp: Stamp, payload: &[u8]) -> Result<(), FormatError> {
        let capture = codec::capture(payload)?;
        let (others, sites) = codec::split_sites(payload)?;
        let known = self.sites.as_ref().filter(|(_, known)| *known == sites);
        let (sites_at, own) = match known {
            Some((position, _)) => (*position, None),
            None => (self.position, Some(&sites[..])),
        };
        let stored = stored::packed(Facts::new(&capture, sites_at), &others, own)
            .map_err(|error| FormatError::io("pack for", &self.path, error))?;
        let head = record_head(stamp, self.records + 1, self.position, self.previous, &stored);
        let length = (record::WORDS + stored.len().div_ceil(WORD)) as u64;
        let bytes = words::to_bytes(head.into_iter().chain(payload_words(&stored)));
        if let Err(error) = self.file.write_all(&bytes) {
            // What stands there of it is no record; where it cannot be cut off either, readers leave it out.
            let _ = self.file.set_len(self.bytes());
            return Err(FormatError::io("write", &self.path, error));
        }
        if sites_at == self.position {
            self.sites = Some((sites_at, sites));
        }
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

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        (HEAD_WORDS as u64 + self.position) * WORD as u64
    }

    /// Has the file stay through a loss of power; one without a record goes away.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(self) -> Result<(), FormatError> {
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

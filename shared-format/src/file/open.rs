//! The reader's side of a ring file. It reads with `pread`, so that a file that another process cuts causes a short
//! read and not a signal.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::codec;
use crate::error::FormatError;
use crate::file::header::Header;
use crate::layout::{PAGE_WORDS, RING_MAGIC, WORD, slot, state};
use crate::os;
use crate::ring::extent::{self, Extent};
use crate::ring::{self, Record};
use crate::slots::{self, Op, Reply, first_word};
use crate::snapshot::Snapshot;
use crate::words::{self, ReadWords, read_one};

/// Time in nanoseconds after which a running program that shows no sign of life counts as stale. If three of the
/// program's intervals are longer than this, they are the limit instead.
const STALE_NS: u64 = 2_000_000_000;

/// Maximum interval, in nanoseconds, that the check for staleness takes into account. Programs show a sign of life ten
/// times a second, however long their interval is.
const INTERVAL_MOST_NS: u64 = 10_000_000_000;

/// Longest interval in nanoseconds that a program may choose.
const INTERVAL_LONGEST_NS: u64 = 3_600_000_000_000;

/// A ring file, opened for reading, and also for sending requests if the program accepts them.
#[derive(Debug)]
pub struct RingFile {
    file: File,
    path: PathBuf,
    header: Header,
    writable: bool,
    /// Number of times that the newest record had to be read again, because the program had overwritten it.
    lapped: AtomicU64,
}

/// State of the program that wrote a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The program holds the lock and shows signs of life.
    Running,
    /// The program holds the lock, but has not shown a sign of life recently.
    Stale {
        /// Time of the last sign of life, in nanoseconds since the Unix epoch.
        since_unix_ns: u64,
    },
    /// The program ended normally.
    Exited {
        /// Time at which the program ended, in nanoseconds since the Unix epoch.
        unix_ns: u64,
    },
    /// The program ended without a final record.
    Crashed {
        /// Time of the newest record, or of the collector's start if no record can be read, in nanoseconds since the
        /// Unix epoch.
        unix_ns: u64,
    },
}

/// A request slot held by this process. Dropping it releases the slot.
#[derive(Debug)]
pub struct Slot {
    /// The file, opened once more for this slot. This descriptor holds the lock on the slot.
    ring: RingFile,
    index: usize,
    next_sequence: u64,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent([u64; slot::REQUEST_WORDS]);

/// Reads a file as words.
struct FileWords<'a>(&'a File);

impl ReadWords for FileWords<'_> {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        let mut bytes = vec![0u8; out.len() * WORD];
        let offset = (first * WORD) as u64;
        match self.0.read_exact_at(&mut bytes, offset) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let found = self.0.metadata().map_or(0, |facts| facts.len());
                return Err(FormatError::Truncated {
                    found,
                    wanted: offset + bytes.len() as u64,
                });
            }
            Err(error) => return Err(FormatError::io("read", "the ring file", error)),
        }
        for (word, read) in out.iter_mut().zip(words::from_bytes(&bytes)) {
            *word = read;
        }
        Ok(())
    }

    fn fence_acquire(&self) {
        fence(Ordering::Acquire);
    }
}

/// Opens a regular file. It does not follow symbolic links and does not block on a FIFO.
///
/// # Errors
/// [`FormatError::Unsuitable`] if the path is not a regular file, or the system's error.
pub fn open_plain(path: &Path, write: bool) -> Result<File, FormatError> {
    let unsuitable = |found: String, wanted: &str| FormatError::Unsuitable {
        path: path.to_path_buf(),
        found,
        wanted: wanted.into(),
    };
    let facts = path.symlink_metadata();
    let facts = facts.map_err(|error| FormatError::io("open", path, error))?;
    let kind = facts.file_type();
    if kind.is_symlink() {
        return Err(unsuitable(
            "is a symbolic link".into(),
            "a plain file; name the file it points to",
        ));
    }
    if kind.is_dir() {
        return Err(unsuitable("is a directory".into(), "a file"));
    }
    if !kind.is_file() {
        let what = match kind.is_fifo() {
            true => "a FIFO",
            false => "a device or socket",
        };
        return Err(unsuitable(format!("is {what}"), "a plain file"));
    }
    let file = OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .and_then(os::out_of_the_way)
        .map_err(|error| FormatError::io("open", path, error))?;
    // Another process may have replaced the file between `symlink_metadata` and `open`.
    match file.metadata() {
        Ok(facts) if facts.is_file() => Ok(file),
        Ok(_) => Err(unsuitable(
            "was replaced while it was opened".into(),
            "a plain file",
        )),
        Err(error) => Err(FormatError::io("stat", path, error)),
    }
}

impl RingFile {
    /// Opens and checks a ring file.
    ///
    /// # Errors
    /// The reason why the file is not a ring that this build can read.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let is_refusal = |error: &io::Error| matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem);
        let (file, writable) = match open_plain(path, true) {
            Ok(file) => (file, true),
            Err(FormatError::Io { source, .. }) if is_refusal(&source) => (open_plain(path, false)?, false),
            Err(error) => return Err(error),
        };
        let facts = file.metadata();
        let facts = facts.map_err(|error| FormatError::io("stat", path, error))?;
        let mut magic = [0; 8];
        let beginning = file.read_at(&mut magic, 0);
        let beginning = beginning.map_err(|error| FormatError::io("read", path, error))?;
        if magic != RING_MAGIC.to_le_bytes() {
            let begins = magic[..beginning].escape_ascii();
            return Err(FormatError::NotOurs {
                found: format!("\"{begins}\" ({} bytes)", facts.len()),
                wanted: "\"TICKRING\"".into(),
            });
        }
        let mut page = [0; PAGE_WORDS];
        FileWords(&file).read(0, &mut page)?;
        let header = Header::decode(&page, facts.len())?;
        // A file with a second name (hard link) is refused, because another process can reach it by that name.
        if facts.nlink() > 1 {
            return Err(FormatError::Unsuitable {
                path: path.to_path_buf(),
                found: format!("has {} names (hard links)", facts.nlink()),
                wanted: "one name; copy the file instead of linking it".into(),
            });
        }
        Ok(Self {
            file,
            path: path.to_path_buf(),
            header,
            writable,
            lapped: AtomicU64::new(0),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the header of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn words(&self) -> impl ReadWords {
        FileWords(&self.file)
    }

    fn state(&self, word: usize) -> Result<u64, FormatError> {
        read_one(&self.words(), word)
    }

    /// Returns the position of the newest record. It is different for every record.
    ///
    /// # Errors
    /// Any error from reading the file.
    pub fn latest(&self) -> Result<u64, FormatError> {
        self.state(state::LATEST)
    }

    /// Reads the newest complete record.
    ///
    /// # Errors
    /// Same as [`ring::read_newest`].
    pub fn newest(&self) -> Result<Record, FormatError> {
        let mut lapped = 0;
        let newest = ring::read_newest_counting(&self.words(), &self.header.region(), &mut lapped);
        self.lapped.fetch_add(lapped, Ordering::Relaxed);
        newest
    }

    /// Returns the extent of the newest complete record of an ended program, without reading the record's payload into
    /// memory.
    pub(crate) fn newest_extent(&self) -> Result<Extent, FormatError> {
        extent::find_newest(&self.words(), &self.header.region())
    }

    /// Returns how often the newest record had to be read again, because the program overwrote it while it was being
    /// read.
    pub fn lapped(&self) -> u64 {
        self.lapped.load(Ordering::Relaxed)
    }

    /// Reads the newest complete record and its snapshot.
    ///
    /// # Errors
    /// Same as [`ring::read_newest`] and [`codec::decode`].
    pub fn newest_snapshot(&self) -> Result<(Record, Snapshot), FormatError> {
        let record = self.newest()?;
        let snapshot = codec::decode(&record.payload)?;
        Ok((record, snapshot))
    }

    /// Reads the record before `record`. Returns `None` if that earlier record has been overwritten or never existed.
    ///
    /// # Errors
    /// Any error from reading the file.
    pub fn before(&self, record: &Record) -> Result<Option<Record>, FormatError> {
        match record.previous {
            Some(previous) => {
                ring::read_before(&self.words(), &self.header.region(), record.position, previous)
            }
            None => Ok(None),
        }
    }

    /// Returns the records before `newest` whose sequence number is above `after`, newest first. The iterator ends at
    /// the first record that has been overwritten or cannot be read.
    pub fn between(&self, after: u64, newest: &Record) -> impl Iterator<Item = Record> {
        let (mut sequence, mut position, mut previous) = (newest.sequence, newest.position, newest.previous);
        std::iter::from_fn(move || {
            let before = previous.take().filter(|_| sequence > after.saturating_add(1))?;
            let record = ring::read_before(&self.words(), &self.header.region(), position, before)
                .ok()
                .flatten()?;
            (sequence, position, previous) = (record.sequence, record.position, record.previous);
            (sequence > after).then_some(record)
        })
    }

    /// Reads the newest record of the coarse ring, which reaches further back than the fine ring. Returns `None` if it
    /// has no record yet, if the file was written by an older collector, or if the coarse ring was emptied after the
    /// program ended.
    ///
    /// # Errors
    /// [`FormatError::Lapped`], or an error from reading the file.
    pub fn coarse_newest(&self) -> Result<Option<Record>, FormatError> {
        match self.header.coarse() {
            Some(coarse) => coarse.read_newest(&self.words()),
            None => Ok(None),
        }
    }

    /// Reads the record before `record` in the coarse ring. Returns `None` if that earlier record has been overwritten
    /// or never existed.
    ///
    /// # Errors
    /// Any error from reading the file.
    pub fn coarse_before(&self, record: &Record) -> Result<Option<Record>, FormatError> {
        match self.header.coarse() {
            Some(coarse) => coarse.read_before(&self.words(), record),
            None => Ok(None),
        }
    }

    /// Finds out whether the program is alive.
    ///
    /// # Errors
    /// [`FormatError::Truncated`], or the system's error.
    pub fn liveness(&self) -> Result<Liveness, FormatError> {
        let facts = self.file.metadata();
        let found = facts
            .map_err(|error| FormatError::io("stat", &self.path, error))?
            .len();
        // A program stops writing to a file that was cut, so such a file cannot show whether the program is alive.
        if found < self.header.file_bytes() {
            return Err(FormatError::Truncated {
                found,
                wanted: self.header.file_bytes(),
            });
        }
        // The probe briefly takes the lock itself. Locks belong to open file descriptions, so the probe needs to open
        // the file again.
        let probe =
            open_plain(&self.path, false).and_then(|probe| self.is_same(&probe).map(|same| (probe, same)));
        let held = match probe {
            Ok((probe, true)) => match probe.try_lock_shared() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(error)) => return Err(FormatError::io("flock", &self.path, error)),
            },
            // The file was unlinked or replaced in the meantime, or cannot be opened. Trying the lock on the descriptor
            // of this `RingFile` works as well.
            Ok((_, false)) | Err(_) => match self.file.try_lock_shared() {
                Ok(()) => {
                    let _ = self.file.unlock();
                    false
                }
                Err(_) => true,
            },
        };
        let beat = self.state(state::HEARTBEAT)?;
        let interval = self.state(state::INTERVAL)?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos() as u64);
        let past = os::monotonic_ns().checked_sub(beat);
        let (age, interval) = match past {
            Some(age) => (age, interval.min(INTERVAL_MOST_NS)),
            // A heartbeat in the future comes from a flipped bit or from a container with its own clock. The time of
            // the newest record is used instead.
            None => {
                let newest = self.newest().map(|record| record.stamp.unix_ns);
                let heard = newest.unwrap_or(self.header.started_unix_ns);
                (now.saturating_sub(heard), interval.min(INTERVAL_LONGEST_NS))
            }
        };
        let is_fresh = age <= STALE_NS.max(interval.saturating_mul(3));
        // If the file is from an earlier boot, the process that holds the lock is not the program that wrote the file.
        // The clocks of two boots cannot be compared.
        let held = held && (past.is_some() && is_fresh || self.is_of_this_boot());
        let exit = self.state(state::EXIT_UNIX_NS)?;
        if !held && exit != 0 {
            return Ok(Liveness::Exited { unix_ns: exit });
        }
        if !held {
            let unix_ns = self
                .newest()
                .map_or(self.header.started_unix_ns, |record| record.stamp.unix_ns);
            return Ok(Liveness::Crashed { unix_ns });
        }
        if !is_fresh {
            return Ok(Liveness::Stale {
                since_unix_ns: now.saturating_sub(age),
            });
        }
        Ok(Liveness::Running)
    }

    /// Returns whether the file was created since the machine last booted. If either boot id is unknown, returns
    /// `true`. Reads a file in `/proc`.
    fn is_of_this_boot(&self) -> bool {
        let (its, ours) = (self.header.boot_id, os::boot_id());
        its == ours || its == [0, 0] || ours == [0, 0]
    }

    fn is_same(&self, other: &File) -> Result<bool, FormatError> {
        let facts = |file: &File| {
            file.metadata()
                .map_err(|error| FormatError::io("stat", &self.path, error))
        };
        let (ours, theirs) = (facts(&self.file)?, facts(other)?);
        Ok((ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()))
    }

    /// Takes a free request slot. Returns `None` if all slots are taken, or if the program does not accept requests
    /// from this user.
    ///
    /// # Errors
    /// The system's error.
    pub fn take_slot(&self) -> Result<Option<Slot>, FormatError> {
        if !self.writable || !self.header.control {
            return Ok(None);
        }
        let ring = Self::open(&self.path)?;
        for index in 0..slot::COUNT {
            let (offset, bytes) = (first_word(index) * WORD, slot::WORDS * WORD);
            let locked = os::lock_range(&ring.file, offset as u64, bytes as u64)
                .map_err(|error| FormatError::io("lock a slot of", &self.path, error))?;
            if locked {
                let next_sequence = slots::next_sequence(&ring.words(), index)?;
                return Ok(Some(Slot {
                    ring,
                    index,
                    next_sequence,
                }));
            }
        }
        Ok(None)
    }
}

impl Slot {
    /// Sends a request.
    ///
    /// # Errors
    /// [`FormatError::Truncated`] if the file was cut, or the system's error.
    pub fn send(&mut self, op: Op) -> Result<Sent, FormatError> {
        let request = slots::request_words(self.next_sequence, op);
        // This wraps around, because the first sequence number comes from the slots page, which may contain any number.
        self.next_sequence = self.next_sequence.wrapping_add(1);
        let bytes = words::to_bytes(request);
        let offset = (first_word(self.index) * WORD) as u64;
        // The write must not go past the end of the file, because that would make a cut file grow again.
        let facts = self.ring.file.metadata();
        let length = facts
            .map_err(|error| FormatError::io("stat", &self.ring.path, error))?
            .len();
        if length < self.ring.header.file_bytes() {
            return Err(FormatError::Truncated {
                found: length,
                wanted: self.ring.header.file_bytes(),
            });
        }
        let failed = |error| FormatError::io("write to", &self.ring.path, error);
        self.ring.file.write_all_at(&bytes, offset).map_err(failed)?;
        Ok(Sent(request))
    }

    /// Returns the reply, or `None` if there is no reply yet.
    ///
    /// # Errors
    /// Any error from reading the file.
    pub fn reply(&self, sent: &Sent) -> Result<Option<Reply>, FormatError> {
        slots::reply_to(&self.ring.words(), self.index, &sent.0)
    }
}

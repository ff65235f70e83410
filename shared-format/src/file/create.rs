//! The program's side: a ring file that gets its name only when it holds a record.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::FormatError;
use crate::file::header::Header;
use crate::file::places::{self, RING_ENDING};
use crate::layout::{RING_WORDS_RANGE, WORD, slot, state};
use crate::map::MapWords;
use crate::os;
use crate::ring::{Stamp, Writer};
use crate::slots::{Outcome, Request, Server, first_word};
use crate::words::Words;

/// Halving a ring that finds no space ends here, in bytes.
pub const LEAST_RING_BYTES: u64 = 1 << 20;

/// The ring file of this process. Dropping it frees the lock by which others see that the program lives.
#[derive(Debug)]
pub struct OwnRing {
    words: MapWords,
    writer: Writer,
    server: Server,
    header: Header,
    dir: PathBuf,
    /// A second open file, without the lock: for giving the file its name and for asking who holds a slot.
    /// The lock itself is held by the mapping alone, which a forked child does not inherit.
    file: File,
    /// Nobody has cut the file so far.
    whole: bool,
    /// Its path; before it has a name, that of the temporary one where the file system needs one.
    path: PathBuf,
    linked: bool,
}

// === impl OwnRing ===

impl OwnRing {
    /// Makes a file without a name in `dir`, allocated, mapped and locked. Where space is short the ring is
    /// halved down to [`LEAST_RING_BYTES`].
    ///
    /// # Errors
    /// The directory is unfit, or what the system says; nothing is left behind.
    pub fn create(dir: &Path, mut header: Header) -> Result<Self, FormatError> {
        places::prepare(dir)?;
        let least = (LEAST_RING_BYTES / WORD as u64).min(header.ring_words);
        let (file, temporary) = loop {
            let (file, temporary) = open_nameless(dir, &header)?;
            match os::allocate(&file, header.file_bytes()) {
                Ok(()) => break (file, temporary),
                Err(error) => {
                    remove_temporary(temporary.as_deref());
                    if !is_shortage(&error) || header.ring_words / 2 < least {
                        return Err(FormatError::io("fallocate", dir, error));
                    }
                    header.ring_words /= 2;
                }
            }
        };
        debug_assert!(RING_WORDS_RANGE.contains(&header.ring_words));
        let made = lock_and_map(dir, file, &header);
        if made.is_err() {
            remove_temporary(temporary.as_deref());
        }
        let (words, file) = made?;
        for (index, word) in header.encode().into_iter().enumerate() {
            words.store(index, word);
        }
        Ok(Self {
            words,
            writer: Writer::new(header.region()),
            server: Server::default(),
            dir: dir.to_path_buf(),
            header,
            file,
            path: temporary.unwrap_or_default(),
            linked: false,
            whole: true,
        })
    }

    /// Gives the file its name. Call it when the first record is in.
    ///
    /// # Errors
    /// What the system says.
    pub fn link(&mut self) -> Result<(), FormatError> {
        let Header { name, pid, nonce, .. } = &self.header;
        let path = self.dir.join(format!("{name}.{pid}.{nonce:016x}.{RING_ENDING}"));
        let linked = if self.path.as_os_str().is_empty() {
            os::link_open_file(&self.file, &path)
        } else {
            fs::hard_link(&self.path, &path)
        };
        remove_temporary(Some(&self.path));
        linked.map_err(|error| FormatError::io("link", &path, error))?;
        self.path = path;
        self.linked = true;
        Ok(())
    }

    /// Whether the file still is as long as it was made. A store into what somebody cut off is a signal that
    /// kills the program, so every use looks first, and once cut it is never touched again.
    pub fn is_whole(&mut self) -> bool {
        self.whole &= self
            .file
            .metadata()
            .is_ok_and(|facts| facts.len() >= self.header.file_bytes());
        self.whole
    }

    /// Where the file is; nothing to find there before [`Self::link`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the ring, which may be fewer than asked for.
    pub fn ring_bytes(&self) -> u64 {
        self.header.ring_words * WORD as u64
    }

    /// The longest payload that fits into a record, in bytes.
    pub fn longest_payload(&self) -> u64 {
        self.writer.longest_payload()
    }

    /// Publishes a record and gives its sequence number.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`]; the ring is as it was.
    pub fn publish(&mut self, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        if !self.is_whole() {
            return Err(FormatError::Truncated {
                found: 0,
                wanted: self.header.file_bytes(),
            });
        }
        self.writer.publish(&self.words, stamp, payload)
    }

    /// A sign of life: the monotonic clock now, and the time between records in force, in nanoseconds.
    pub fn beat(&mut self, monotonic_ns: u64, interval_ns: u64) {
        if !self.is_whole() {
            return;
        }
        self.words.store(state::INTERVAL, interval_ns);
        self.words.store_release(state::HEARTBEAT, monotonic_ns);
    }

    /// Says how many records could not be published.
    pub fn fault(&mut self, faults: u64) {
        if self.is_whole() {
            self.words.store_release(state::FAULTS, faults);
        }
    }

    /// Says goodbye, at the given nanoseconds since the Unix epoch.
    pub fn exit(&mut self, unix_ns: u64) {
        if self.is_whole() {
            self.words.store_release(state::EXIT_UNIX_NS, unix_ns);
        }
    }

    /// Which slots a viewer holds.
    pub fn watched_slots(&self) -> Vec<usize> {
        let held = |first: usize, words: usize| {
            os::range_is_locked(&self.file, (first * WORD) as u64, (words * WORD) as u64).unwrap_or(false)
        };
        // Mostly nobody watches: one call then.
        if !held(slot::FIRST, slot::COUNT * slot::WORDS) {
            return Vec::new();
        }
        (0..slot::COUNT)
            .filter(|&index| held(first_word(index), slot::WORDS))
            .collect()
    }

    /// The requests not yet answered.
    pub fn requests(&mut self) -> Vec<Request> {
        if !self.is_whole() {
            return Vec::new();
        }
        self.server.look(&self.words)
    }

    /// Answers a request: the first record that shows it, and the reset epoch since.
    pub fn answer(&mut self, request: &Request, outcome: Outcome, record: u64, reset_epoch: u64) {
        if !self.is_whole() {
            return;
        }
        self.server
            .answer(&self.words, request, outcome, record, reset_epoch);
    }
}

impl Drop for OwnRing {
    fn drop(&mut self) {
        if !self.linked {
            remove_temporary(Some(&self.path));
        }
    }
}

/// Locks and maps a file, and gives an open file of it that does not carry the lock. A child forked meanwhile
/// would keep the locked descriptor, so it lives for these few calls only.
fn lock_and_map(dir: &Path, locked: File, header: &Header) -> Result<(MapWords, File), FormatError> {
    let again = format!("/proc/self/fd/{}", locked.as_raw_fd());
    let unlocked = OpenOptions::new()
        .read(true)
        .write(true)
        .open(again)
        .map_err(|error| FormatError::io("open again", dir, error))?;
    locked
        .try_lock()
        .map_err(|error| FormatError::io("flock", dir, error.into()))?;
    let words = MapWords::new(&locked, header.file_bytes() as usize)
        .map_err(|error| FormatError::io("mmap", dir, error))?;
    Ok((words, unlocked))
}

fn is_shortage(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | FileTooLarge | QuotaExceeded)
}

/// A file in `dir` that has no name, or where the file system cannot do that, one whose name no viewer takes
/// for a ring.
fn open_nameless(dir: &Path, header: &Header) -> Result<(File, Option<PathBuf>), FormatError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.clone().custom_flags(libc::O_TMPFILE).open(dir) {
        Ok(file) => Ok((file, None)),
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)
            ) =>
        {
            let path = dir.join(format!(".{}.{:016x}.making", header.pid, header.nonce));
            let file = options
                .create_new(true)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path);
            file.map(|file| (file, Some(path.clone())))
                .map_err(|error| FormatError::io("open", &path, error))
        }
        Err(error) => Err(FormatError::io("open", dir, error)),
    }
}

fn remove_temporary(path: Option<&Path>) {
    if let Some(path) = path.filter(|path| path.extension().is_some_and(|ending| ending == "making")) {
        // Where it cannot be removed, `list --clean` finds it later.
        let _ = fs::remove_file(path);
    }
}

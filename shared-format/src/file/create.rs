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
use crate::ring::growing::GrowingWriter;
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
    /// The writer of the coarse ring, where there is to be one.
    coarse: Option<GrowingWriter>,
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
    /// halved down to [`LEAST_RING_BYTES`], and the coarse one may grow no larger than it.
    ///
    /// # Errors
    /// The directory is unfit, or what the system says; nothing is left behind.
    pub fn create(dir: &Path, mut header: Header) -> Result<Self, FormatError> {
        places::prepare(dir)?;
        let least = (LEAST_RING_BYTES / WORD as u64).min(header.ring_words);
        let (file, temporary) = loop {
            let (file, temporary) = open_nameless(dir, &header)?;
            match os::allocate(&file, 0, header.file_bytes()) {
                Ok(()) => break (file, temporary),
                Err(error) => {
                    remove_temporary(temporary.as_deref());
                    if !is_shortage(&error) || header.ring_words / 2 < least {
                        return Err(FormatError::io("fallocate", dir, error));
                    }
                    header.ring_words /= 2;
                    header.coarse_words = header.coarse_words.min(header.ring_words);
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
            coarse: header.coarse().map(GrowingWriter::new),
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
            .is_ok_and(|facts| facts.len() >= self.file_bytes());
        self.whole
    }

    /// Length of the file as it has grown, in bytes.
    fn file_bytes(&self) -> u64 {
        let coarse_words = self.coarse.as_ref().map_or(0, GrowingWriter::size);
        self.header.file_bytes_with(coarse_words)
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
        self.check_whole()?;
        self.writer.publish(&self.words, stamp, payload)
    }

    fn check_whole(&mut self) -> Result<(), FormatError> {
        if self.is_whole() {
            return Ok(());
        }
        Err(FormatError::Truncated {
            found: 0,
            wanted: self.file_bytes(),
        })
    }

    /// Whether the coarse ring holds a record.
    pub fn has_coarse(&self) -> bool {
        self.coarse.as_ref().is_some_and(|coarse| coarse.size() > 0)
    }

    /// Lets the coarse ring grow for a payload of so many bytes, as far as it may and there is space, and gives the
    /// longest payload that fits into its next record, in bytes; 0 where there is no coarse ring.
    ///
    /// # Errors
    /// What the system says where not even the smallest fits; the next call tries again.
    pub fn coarse_room(&mut self, payload_bytes: u64) -> Result<u64, FormatError> {
        self.check_whole()?;
        let before = self.file_bytes();
        let Some(coarse) = &mut self.coarse else {
            return Ok(0);
        };
        if let Some(wanted) = coarse.wanted(payload_bytes) {
            let size = coarse.size();
            match allocate_some(&self.file, &self.header, size, wanted) {
                Ok(grown) => {
                    self.words.has_grown(self.header.file_bytes_with(grown));
                    coarse.grow(&self.words, grown);
                }
                Err(error) => {
                    // What was given in part goes back.
                    let _ = self.file.set_len(before);
                    if size == 0 {
                        return Err(FormatError::io("fallocate", &self.path, error));
                    }
                    coarse.stay();
                }
            }
        }
        Ok(coarse.longest_payload())
    }

    /// Publishes a record in the coarse ring and gives its sequence number there.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] beyond what [`Self::coarse_room`] gave; the ring is as it was.
    pub fn publish_coarse(&mut self, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        self.check_whole()?;
        let found = payload.len() as u64;
        match &mut self.coarse {
            Some(coarse) => coarse.publish(&self.words, stamp, payload),
            None => Err(FormatError::TooLarge { found, wanted: 0 }),
        }
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
    let (bytes, most) = (header.file_bytes(), header.file_bytes_with(header.coarse_words));
    let words = MapWords::new(&locked, bytes, most).map_err(|error| FormatError::io("mmap", dir, error))?;
    Ok((words, unlocked))
}

/// Gives the coarse ring blocks for `wanted` words where it has those for `size`, or for half as many and half of
/// that while that is more than it has, and says for how many.
fn allocate_some(file: &File, header: &Header, size: u64, mut wanted: u64) -> io::Result<u64> {
    let begin = header.file_bytes_with(size);
    loop {
        match os::allocate(file, begin, header.file_bytes_with(wanted) - begin) {
            Ok(()) => return Ok(wanted),
            Err(error) => {
                let half = wanted / 2;
                if !is_shortage(&error) || half <= size || half < *RING_WORDS_RANGE.start() {
                    return Err(error);
                }
                wanted = half;
            }
        }
    }
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

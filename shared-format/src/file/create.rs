//! The program's side of a ring file. The file gets its name only once it holds a record.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::FormatError;
use crate::file::damage::Damage;
use crate::file::descriptor::{Descriptor, id_of};
use crate::file::header::Header;
use crate::file::places::{self, RING_ENDING};
use crate::file::space::{LEAST_RING_BYTES, PLENTY, allocate_some, halve, is_shortage, leave_room};
use crate::layout::{RING_MAGIC, RING_WORDS_RANGE, WORD, header as at, slot, state};
use crate::mapping::MapWords;
use crate::os;
use crate::ring::growing::GrowingWriter;
use crate::ring::{Stamp, Writer};
use crate::slots::{Outcome, Request, Server, first_word};
use crate::words::{Words, read_one};

pub use crate::mapping::Way;

/// Number of bytes that are allocated when a file is created: the pages before the ring, and the part of the ring that
/// most programs write first. The program waits until its first record is written, and zeroing the blocks of a whole
/// ring takes milliseconds.
const FIRST_BYTES: u64 = 256 << 10;

/// The ring file of this process. Dropping it releases the lock that tells viewers that the program is alive.
#[derive(Debug)]
pub struct OwnRing {
    words: MapWords,
    writer: Writer,
    /// The writer of the coarse ring, if the file may have one.
    coarse: Option<GrowingWriter>,
    server: Server,
    header: Header,
    dir: PathBuf,
    /// A second descriptor of the file, which does not hold the lock. It is used to give the file its name and to find
    /// out which slots are locked by viewers. The lock is held only by the mapping, which a forked child does not
    /// inherit.
    file: Descriptor,
    /// Damage that was found in the file. A damaged file is never written to again.
    damage: Option<Damage>,
    /// Path that the file has once it is linked.
    path: PathBuf,
    /// Temporary path of the file before it is linked, on file systems that do not support unnamed files.
    temporary: Option<PathBuf>,
    /// Device and inode of the root directory at the time the path was chosen.
    root: Option<(u64, u64)>,
    linked: bool,
}

impl OwnRing {
    /// Creates an unnamed file in `dir`, maps and locks it, and allocates its first 256 KiB. [`Self::complete`]
    /// allocates the rest. If space is short, or if the ring would take more than a quarter of the free space, the size
    /// of the ring is halved, repeatedly if necessary, down to 1 MiB. The coarse ring of a halved ring never grows
    /// larger than the ring itself.
    ///
    /// # Errors
    /// The directory is unsuitable, or the system reported an error. Nothing is left behind.
    pub fn create(dir: &Path, header: Header) -> Result<Self, FormatError> {
        Self::create_by(dir, header, Way::Copied)
    }

    /// Same as [`Self::create`], but `way` selects how stores reach the file.
    ///
    /// # Errors
    /// Same as [`Self::create`].
    pub fn create_by(dir: &Path, mut header: Header, way: Way) -> Result<Self, FormatError> {
        places::prepare(dir)?;
        let least = (LEAST_RING_BYTES / WORD as u64).min(header.ring_words);
        let (file, temporary) = loop {
            let (file, temporary) = open_nameless(dir, &header)?;
            if let Err(error) = leave_room(&file, &mut header, least, dir) {
                remove_temporary(temporary.as_deref());
                return Err(error);
            }
            let sized = file.set_len(header.file_bytes());
            match sized.and_then(|()| os::allocate_within(&file, 0, first_bytes(&header))) {
                Ok(()) => break (file, temporary),
                Err(error) => {
                    remove_temporary(temporary.as_deref());
                    if !is_shortage(&error) || header.ring_words / 2 < least {
                        return Err(FormatError::io("fallocate", dir, error));
                    }
                    halve(&mut header);
                }
            }
        };
        debug_assert!(RING_WORDS_RANGE.contains(&header.ring_words));
        let made = lock_and_map(dir, file, &header, way);
        if made.is_err() {
            remove_temporary(temporary.as_deref());
        }
        let (words, file) = made?;
        for (index, word) in header.encode().into_iter().enumerate() {
            words.store(index, word);
        }
        words.fence_release();
        let Header { name, pid, nonce, .. } = &header;
        let path = dir.join(format!("{name}.{pid}.{nonce:016x}.{RING_ENDING}"));
        Ok(Self {
            words,
            writer: Writer::new(header.region()),
            coarse: header.coarse().map(GrowingWriter::new),
            server: Server::default(),
            dir: dir.to_path_buf(),
            header,
            file,
            path,
            temporary,
            root: root(),
            linked: false,
            damage: None,
        })
    }

    /// Returns whether so much space is free that it is safe to [complete](Self::complete) the ring later. If space is
    /// scarce, a ring that is not complete may lose its space to others.
    pub fn has_plenty(&self) -> bool {
        let free = self.file.get().and_then(|(file, _)| os::free_bytes(file));
        free.is_none_or(|free| free / PLENTY > self.header.file_bytes())
    }

    /// Allocates the blocks of the whole ring, if its file can still be reached. This is optional: without it,
    /// [`Self::publish`] allocates blocks when it needs them.
    ///
    /// # Errors
    /// The system's error; the ring then keeps the blocks that it has. Also the errors of [`Self::check`].
    pub fn complete(&mut self) -> Result<(), FormatError> {
        self.check()?;
        if self.file.get_again(&self.path).is_none() {
            return Ok(());
        }
        self.allocate(self.header.file_bytes())
    }

    /// Allocates the blocks of at least the first `bytes` bytes of the file.
    fn allocate(&mut self, bytes: u64) -> Result<(), FormatError> {
        let (have, whole) = (self.words.bytes(), self.header.file_bytes());
        if bytes <= have {
            return Ok(());
        }
        // Doubles the allocated size, so that allocations are rare. If space is short, allocates only the bytes that
        // are needed.
        let wanted = bytes.max(2 * have).min(whole);
        let grown = match self.file.get_again(&self.path) {
            Some((file, _)) => os::allocate_within(file, have, wanted - have)
                .map(|()| wanted)
                .or_else(|_| os::allocate_within(file, have, bytes - have).map(|()| bytes)),
            None => Err(io::Error::from_raw_os_error(libc::EBADF)),
        };
        let place = if self.linked { &self.path } else { &self.dir };
        let grown = grown.map_err(|error| FormatError::io("fallocate", place, error))?;
        self.words.has_grown(grown);
        Ok(())
    }

    /// Removes the file, so that no viewer mistakes it for the ring of a crashed program.
    pub fn remove(&self) {
        if self.linked {
            let _ = fs::remove_file(&self.path);
        } else {
            remove_temporary(self.temporary.as_deref());
        }
    }

    /// Gives the file its name, unless it already has it. Call this once the first record has been written.
    ///
    /// # Errors
    /// The system's error.
    pub fn link(&mut self) -> Result<(), FormatError> {
        if self.linked {
            return Ok(());
        }
        let linked = match (self.file.get(), &self.temporary) {
            (None, _) => Err(io::Error::from_raw_os_error(libc::EBADF)),
            (Some((file, _)), None) => os::link_open_file(file, &self.path),
            (Some(_), Some(temporary)) => fs::hard_link(temporary, &self.path),
        };
        remove_temporary(self.temporary.as_deref());
        linked.map_err(|error| FormatError::io("link", &self.path, error))?;
        self.linked = true;
        Ok(())
    }

    /// Returns how stores reach the file. If the kernel has refused the requested way, this is [`Way::Mapped`].
    pub fn way(&self) -> Way {
        self.words.way()
    }

    /// Returns whether the file is undamaged and may be written to; see [`Self::check`].
    pub fn is_whole(&mut self) -> bool {
        self.check().is_ok()
    }

    /// Checks that the file has not been cut and that no store has failed. Every method that accesses the contents of
    /// the file calls this first. Once damage is found, the file is never accessed again, because a mapped store beyond
    /// the end of the file would raise a signal that ends the program.
    ///
    /// # Errors
    /// The damage to the file.
    pub fn check(&mut self) -> Result<(), FormatError> {
        self.damage = self.damage.or_else(|| self.find_damage());
        self.damage
            .map_or(Ok(()), |damage| Err(damage.error(&self.path, self.file_bytes())))
    }

    /// Same as [`Self::check`], but also checks the first pages: a file that was cut and then extended again has its
    /// old length, but not its old contents.
    ///
    /// # Errors
    /// The damage to the file.
    pub fn look(&mut self) -> Result<(), FormatError> {
        self.check()?;
        let coarse_words = self.coarse.as_ref().map_or(0, GrowingWriter::size);
        let found = [at::MAGIC, state::COARSE_WORDS].map(|index| read_one(&self.words, index).ok());
        if self.words.fault().is_none() && found != [Some(RING_MAGIC), Some(coarse_words)] {
            self.damage = Some(Damage::Emptied);
        }
        match (self.damage, self.words.fault()) {
            (None, None) => Ok(()),
            _ => self.check(),
        }
    }

    /// Returns whether the file can no longer be found at its path: the file or its directory was removed or moved, or
    /// another file has taken the name. If the program has changed its root directory, the path no longer leads to the
    /// same place. In that case, the ring counts as removed only once the file has no name left.
    pub fn is_removed(&mut self) -> bool {
        let found = self.file.get_again(&self.path);
        self.linked
            && (found.is_none_or(|(_, facts)| facts.nlink() == 0)
                || self.file.is_elsewhere(&self.path) && self.root == root())
    }

    fn find_damage(&mut self) -> Option<Damage> {
        let bytes = self.file_bytes();
        let length = self.file.get_again(&self.path).map(|(_, facts)| facts.len());
        match (self.words.fault(), length) {
            (_, Some(found)) if found < bytes => Some(Damage::Cut(found)),
            (Some(fault), _) => Some(Damage::Fault(fault)),
            (None, None) if self.way() == Way::Mapped => Some(Damage::OutOfSight),
            (None, _) => None,
        }
    }

    /// Returns the current length of the file in bytes, including the coarse ring as far as it has grown.
    fn file_bytes(&self) -> u64 {
        let coarse_words = self.coarse.as_ref().map_or(0, GrowingWriter::size);
        self.header.file_bytes_with(coarse_words)
    }

    /// Returns the path of the file. Before [`Self::link`], there is nothing at this path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the ring in bytes, which may be smaller than requested.
    pub fn ring_bytes(&self) -> u64 {
        self.header.ring_words * WORD as u64
    }

    /// Returns the length in bytes of the longest payload that fits into a record.
    pub fn longest_payload(&self) -> u64 {
        self.writer.longest_payload()
    }

    /// Publishes a record and returns its sequence number.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`], or the system's error if no blocks are left. In both cases, the ring is unchanged.
    /// Also the errors of [`Self::check`].
    pub fn publish(&mut self, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        self.check()?;
        self.allocate(self.writer.bytes_with(payload))?;
        let sequence = self.writer.publish(&self.words, stamp, payload)?;
        self.check_fault()?;
        Ok(sequence)
    }

    /// Checks the file if any store has failed so far.
    fn check_fault(&mut self) -> Result<(), FormatError> {
        self.words.fault().map_or(Ok(()), |_| self.check())
    }

    /// Returns whether the coarse ring holds a record.
    pub fn has_coarse(&self) -> bool {
        self.coarse.as_ref().is_some_and(|coarse| coarse.size() > 0)
    }

    /// Lets the coarse ring grow, if necessary, to make room for a payload of `payload_bytes` bytes, as far as its
    /// limit and the free space allow. Returns the length in bytes of the longest payload that fits into the coarse
    /// ring's next record, or 0 if there is no coarse ring or the file cannot be reached.
    ///
    /// # Errors
    /// The system's error if there is no room for the rest of the ring or for the smallest coarse ring; the next call
    /// tries again. Also the errors of [`Self::check`].
    pub fn coarse_space(&mut self, payload_bytes: u64) -> Result<u64, FormatError> {
        self.complete()?;
        let before = self.file_bytes();
        let is_whole = self.words.bytes() >= self.header.file_bytes();
        let Some(coarse) = self.coarse.as_mut().filter(|_| is_whole) else {
            return Ok(0);
        };
        if let Some(wanted) = coarse.wanted(payload_bytes) {
            let size = coarse.size();
            match allocate_some(&self.file, &self.header, size, wanted) {
                Ok(None) => {}
                Ok(Some(grown)) => {
                    self.words.has_grown(self.header.file_bytes_with(grown));
                    coarse.grow(&self.words, grown);
                }
                Err(error) => {
                    // Frees the blocks of an allocation that succeeded only in part.
                    self.file.shorten(before);
                    if size == 0 {
                        return Err(FormatError::io("fallocate", &self.path, error));
                    }
                    coarse.stay();
                }
            }
        }
        let longest = coarse.longest_payload();
        self.check_fault()?;
        Ok(longest)
    }

    /// Publishes a record in the coarse ring and returns its sequence number there.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if the payload is longer than the length that [`Self::coarse_space`] returned; the
    /// ring is then unchanged. Also the errors of [`Self::check`].
    pub fn publish_coarse(&mut self, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        self.check()?;
        let found = payload.len() as u64;
        let Some(coarse) = &mut self.coarse else {
            return Err(FormatError::TooLarge { found, wanted: 0 });
        };
        let sequence = coarse.publish(&self.words, stamp, payload)?;
        self.check_fault()?;
        Ok(sequence)
    }

    /// Writes the heartbeat: the current monotonic time, and the interval between records, both in nanoseconds.
    pub fn beat(&mut self, monotonic_ns: u64, interval_ns: u64) {
        if !self.is_whole() {
            return;
        }
        self.words.store(state::INTERVAL, interval_ns);
        self.words.store_release(state::HEARTBEAT, monotonic_ns);
    }

    /// Writes how many records could not be published.
    pub fn fault(&mut self, faults: u64) {
        if self.is_whole() {
            self.words.store_release(state::FAULTS, faults);
        }
    }

    /// Records that the program has ended, and when, in nanoseconds since the Unix epoch.
    pub fn exit(&mut self, unix_ns: u64) {
        if self.is_whole() {
            self.words.store_release(state::EXIT_UNIX_NS, unix_ns);
        }
    }

    /// Returns the indices of the slots that viewers have locked.
    pub fn watched_slots(&self) -> Vec<usize> {
        let Some((file, _)) = self.file.get() else {
            return Vec::new();
        };
        let mut held = Vec::new();
        // Usually there is no viewer, and a single call is enough to find that out. Each time a locked slot is found,
        // the ranges before and after it still have to be searched.
        let mut unknown = vec![(0, slot::COUNT)];
        while let Some((first, end)) = unknown.pop() {
            let [from, to] = [first, end].map(|index| (first_word(index) * WORD) as u64);
            if let Some(locked) = os::locked_in(file, from, to - from).ok().flatten() {
                let index = first + (locked.start.max(from) - from) as usize / (slot::WORDS * WORD);
                held.push(index);
                let sides = [(first, index), (index + 1, end)].into_iter();
                unknown.extend(sides.filter(|(first, end)| first < end));
            }
        }
        held.sort_unstable();
        held
    }

    /// Returns the requests that have no reply yet.
    pub fn requests(&mut self) -> Vec<Request> {
        if !self.is_whole() {
            return Vec::new();
        }
        self.server.look(&self.words)
    }

    /// Replies to a request. `record` is the number of the first record that shows the effect of the request, and
    /// `reset_epoch` is the epoch after it.
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
            self.remove();
        }
    }
}

fn first_bytes(header: &Header) -> u64 {
    header.file_bytes().min(FIRST_BYTES)
}

/// Returns the device and inode of the root directory, or `None` if it cannot be read.
fn root() -> Option<(u64, u64)> {
    fs::metadata("/").ok().as_ref().map(id_of)
}

/// Locks and maps a file. Returns the mapping, which holds the lock, and a second descriptor, which does not. The
/// locked descriptor is closed on return, because any child forked while it is open inherits it, and the lock with it.
fn lock_and_map(
    dir: &Path,
    locked: File,
    header: &Header,
    way: Way,
) -> Result<(MapWords, Descriptor), FormatError> {
    let unlocked = OpenOptions::new()
        .read(true)
        .write(true)
        .open(os::path_of_open_file(&locked))
        .and_then(os::out_of_the_way)
        .map_err(|error| FormatError::io("open again", dir, error))?;
    locked
        .try_lock()
        .map_err(|error| FormatError::io("flock", dir, error.into()))?;
    let (bytes, most) = (first_bytes(header), header.file_bytes_with(header.coarse_words));
    let words = MapWords::new(&locked, bytes, most, way);
    let words = words.map_err(|error| FormatError::io("mmap", dir, error))?;
    let unlocked = Descriptor::new(unlocked).map_err(|error| FormatError::io("stat", dir, error))?;
    Ok((words, unlocked))
}

/// Opens an unnamed file in `dir`. On file systems that do not support this, the file gets a name that viewers do not
/// recognise as a ring.
fn open_nameless(dir: &Path, header: &Header) -> Result<(File, Option<PathBuf>), FormatError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let nameless = options.clone().custom_flags(libc::O_TMPFILE).open(dir);
    let unsupported = [libc::EOPNOTSUPP, libc::EISDIR, libc::ENOENT].map(Some);
    match nameless.and_then(os::out_of_the_way) {
        Ok(file) => Ok((file, None)),
        Err(error) if unsupported.contains(&error.raw_os_error()) => {
            let path = dir.join(format!(".{}.{:016x}.making", header.pid, header.nonce));
            options.create_new(true).custom_flags(libc::O_NOFOLLOW);
            let file = options.open(&path).and_then(os::out_of_the_way);
            file.map(|file| (file, Some(path.clone())))
                .map_err(|error| FormatError::io("open", &path, error))
        }
        Err(error) => Err(FormatError::io("open", dir, error)),
    }
}

fn remove_temporary(path: Option<&Path>) {
    if let Some(path) = path {
        // If this fails, `list --clean` finds the file later.
        let _ = fs::remove_file(path);
    }
}

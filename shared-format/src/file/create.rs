//! The program's side of a ring file. The file gets its name once it holds a record.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::FormatError;
use crate::file::damage::Damage;
use crate::file::descriptor::{Descriptor, id_of};
use crate::file::header::Header;
use crate::file::places::{self, RING_ENDING};
use crate::file::space::{LEAST_RING_BYTES, allocate_some, halve, is_shortage, leave_room};
use crate::layout::{RING_MAGIC, RING_WORDS_RANGE, WORD, header as at, slot, state};
use crate::mapping::MapWords;
use crate::os;
use crate::ring::growing::GrowingWriter;
use crate::ring::{Stamp, Writer};
use crate::slots::{Outcome, Request, Server, first_word};
use crate::words::{Words, read_one};

pub use crate::mapping::Way;

/// Bytes of a new file whose blocks are allocated when it is created: the pages before the ring, and the part of the ring that
/// most programs write first. The program waits for its first record, and zeroing the blocks of a whole ring takes milliseconds.
const FIRST_BYTES: u64 = 256 << 10;

/// The ring file of this process. Dropping it releases the lock by which viewers see that the program is alive.
#[derive(Debug)]
pub struct OwnRing {
    words: MapWords,
    writer: Writer,
    /// The writer of the coarse ring, if the file may have one.
    coarse: Option<GrowingWriter>,
    server: Server,
    header: Header,
    dir: PathBuf,
    /// A second descriptor of the file, without the lock. It serves to name the file and to find out which slots are held. Only
    /// the mapping holds the lock, and a forked child does not inherit the mapping.
    file: Descriptor,
    /// Damage that was found in the file, which is never written again after that.
    damage: Option<Damage>,
    /// Path of the file once it is linked.
    path: PathBuf,
    /// Temporary path before linking, on file systems that do not support files without a name.
    temporary: Option<PathBuf>,
    /// Device and inode of the root directory at the time when the path was made.
    root: Option<(u64, u64)>,
    linked: bool,
}

impl OwnRing {
    /// Creates a file without a name in `dir`: mapped and locked, with blocks for its first 256 KiB. [`Self::complete`] adds the
    /// other blocks. If space is short, or the ring would take more than a quarter of the free space, its size is halved, down to
    /// 1 MiB. If the ring is halved, the coarse ring never grows larger than the ring.
    ///
    /// # Errors
    /// The directory is unsuitable, or the system's error. Nothing is left behind.
    pub fn create(dir: &Path, header: Header) -> Result<Self, FormatError> {
        Self::create_by(dir, header, Way::Copied)
    }

    /// Creates a file as [`Self::create`] does; `way` says how stores reach the file.
    ///
    /// # Errors
    /// As [`Self::create`].
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

    /// Allocates the blocks of the whole ring, if its file can be reached. [`Self::publish`] allocates the blocks that
    /// it needs, so this call only does that work earlier.
    ///
    /// # Errors
    /// The system's error; the ring then keeps the blocks that it has. Also as [`Self::check`].
    pub fn complete(&mut self) -> Result<(), FormatError> {
        self.check()?;
        if self.file.get_again(&self.path).is_none() {
            return Ok(());
        }
        self.allocate(self.header.file_bytes())
    }

    /// Allocates the blocks of at least this many bytes from the beginning of the file.
    fn allocate(&mut self, bytes: u64) -> Result<(), FormatError> {
        let (have, whole) = (self.words.bytes(), self.header.file_bytes());
        if bytes <= have {
            return Ok(());
        }
        // Allocates twice the present size, so that allocations are rare, or only the bytes needed if space is short.
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

    /// Gives the file its name, unless it has one. Call this once the first record is in it.
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

    /// Returns how stores reach the file. This is [`Way::Mapped`] if the kernel has refused another way.
    pub fn way(&self) -> Way {
        self.words.way()
    }

    /// Returns whether the file may be written; see [`Self::check`].
    pub fn is_whole(&mut self) -> bool {
        self.check().is_ok()
    }

    /// Checks that the file still has its length and that no store has failed. Every method that uses the file checks it first. A
    /// damaged file is never touched again, because a mapped store beyond its end would raise a signal that ends the program.
    ///
    /// # Errors
    /// The damage to the file.
    pub fn check(&mut self) -> Result<(), FormatError> {
        self.damage = self.damage.or_else(|| self.find_damage());
        self.damage
            .map_or(Ok(()), |damage| Err(damage.error(&self.path, self.file_bytes())))
    }

    /// Checks as [`Self::check`] does, and also checks the first pages, because a file that was cut and extended again
    /// has its old length.
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

    /// Returns whether the file can no longer be found: it or its directory was removed or moved, or another file took
    /// its name. A program that has changed its root directory cannot see earlier paths; then the ring counts as
    /// removed once its file has no name.
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

    /// Returns the present length of the file in bytes, with the coarse ring as it has grown.
    fn file_bytes(&self) -> u64 {
        let coarse_words = self.coarse.as_ref().map_or(0, GrowingWriter::size);
        self.header.file_bytes_with(coarse_words)
    }

    /// Returns the path of the file, which leads nowhere before [`Self::link`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the ring in bytes, which may be smaller than requested.
    pub fn ring_bytes(&self) -> u64 {
        self.header.ring_words * WORD as u64
    }

    /// Returns the length of the longest payload that fits into a record, in bytes.
    pub fn longest_payload(&self) -> u64 {
        self.writer.longest_payload()
    }

    /// Publishes a record and returns its sequence number.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`], or the system's error if no blocks are left; the ring is then unchanged. Also as
    /// [`Self::check`].
    pub fn publish(&mut self, stamp: Stamp, payload: &[u8]) -> Result<u64, FormatError> {
        self.check()?;
        self.allocate(self.writer.bytes_with(payload))?;
        let sequence = self.writer.publish(&self.words, stamp, payload)?;
        self.check_fault()?;
        Ok(sequence)
    }

    /// Checks the file if one of the stores so far has failed.
    fn check_fault(&mut self) -> Result<(), FormatError> {
        self.words.fault().map_or(Ok(()), |_| self.check())
    }

    /// Returns whether the coarse ring holds a record.
    pub fn has_coarse(&self) -> bool {
        self.coarse.as_ref().is_some_and(|coarse| coarse.size() > 0)
    }

    /// Lets the coarse ring grow for a payload of this many bytes, within its limit and the free space. Returns the length in
    /// bytes of the longest payload that fits into the coarse ring's next record; 0 if there is no coarse ring.
    ///
    /// # Errors
    /// The system's error if not even the smallest ring fits; the next call tries again. Also as [`Self::check`].
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
                    // Frees the blocks of a partial allocation.
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
    /// [`FormatError::TooLarge`] if the payload is longer than [`Self::coarse_space`] returned; the ring is then
    /// unchanged. Also as [`Self::check`].
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

    /// Writes the heartbeat: the monotonic clock, and the time between two records, both in nanoseconds.
    pub fn beat(&mut self, monotonic_ns: u64, interval_ns: u64) {
        if !self.is_whole() {
            return;
        }
        self.words.store(state::INTERVAL, interval_ns);
        self.words.store_release(state::HEARTBEAT, monotonic_ns);
    }

    /// Writes the number of records that could not be published.
    pub fn fault(&mut self, faults: u64) {
        if self.is_whole() {
            self.words.store_release(state::FAULTS, faults);
        }
    }

    /// Writes that the program has ended, at this time in nanoseconds since the Unix epoch.
    pub fn exit(&mut self, unix_ns: u64) {
        if self.is_whole() {
            self.words.store_release(state::EXIT_UNIX_NS, unix_ns);
        }
    }

    /// Returns the indices of the slots that viewers own.
    pub fn watched_slots(&self) -> Vec<usize> {
        let Some((file, _)) = self.file.get() else {
            return Vec::new();
        };
        let mut held = Vec::new();
        // Usually there is no viewer, and one call finds that out. After a held slot is found, the ranges
        // before and after it remain to be searched.
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

    /// Replies to a request with the number of the first record that shows its effect, and the reset epoch after it.
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

/// Returns device and inode of the root directory, if it can be read.
fn root() -> Option<(u64, u64)> {
    fs::metadata("/").ok().as_ref().map(id_of)
}

/// Locks and maps a file, and returns a second open file that does not carry the lock. The locked descriptor is closed on return,
/// because a child that is forked earlier keeps its copy of the descriptor.
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

/// Opens a file in `dir` that has no name. On file systems without nameless files, the file gets a name that no viewer
/// takes for a ring.
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
        // A file that cannot be removed is found later by `list --clean`.
        let _ = fs::remove_file(path);
    }
}

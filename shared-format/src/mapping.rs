//! A memory mapping of a file, accessed as words. Another process writes to the file too, so this module never creates a
//! reference into the mapping.
//!
//! Another process may also truncate the file. A store beyond the new end of the file would then raise a signal that
//! kills the program. So stores are gathered in a buffer, and the kernel is asked to copy them into the mapping: if the
//! destination no longer exists, the system call just fails.
//!
//! **Order.** Each run of gathered words is copied by a separate system call, and before any store that follows a fence.
//! The copies that the kernel makes are plain stores by this CPU, in the order of the calls. `fence(Release)` between two
//! calls preserves that order for a reader on another CPU, whether it reads through a mapping or with `pread`. (On x86-64
//! the fence costs nothing. On aarch64 it is a `dmb ish`, which orders all stores by this CPU, including those that it
//! made in the kernel.)
//!
//! **Whole words.** The kernel copies eight aligned bytes with a single store, except where it uses `rep movsb` for all
//! lengths (x86-64 with `fsrm`). For that instruction, CPU vendors do not guarantee single stores. So no reader relies on
//! whole words alone. A reader accepts `latest` once two reads agree and the record at that position states the same
//! position. A torn `intent` may lie more than a ring's size past the record, in which case the copy is discarded;
//! otherwise the record's checksum decides. A size that is not a power of two is rejected.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use memmap2::{Advice, MmapOptions, MmapRaw};

use crate::error::FormatError;
use crate::layout::WORD;
use crate::os;
use crate::words::{ReadWords, Words};

/// Maximum number of words that are gathered, small enough that they stay in the innermost CPU caches until the kernel
/// copies them.
const GATHERED: usize = (16 << 10) / WORD;

/// Names of the system calls that copy into the mapping and out of it.
const WRITE: &str = "process_vm_writev";
const READ: &str = "process_vm_readv";

/// How stores reach the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The kernel copies stores into the mapping (`process_vm_writev`), which needs no file descriptor. If the kernel
    /// refuses the system call, the mapping switches to [`Way::Mapped`].
    Copied,
    /// Stores go directly into the mapping. If the file has been truncated, a store may kill the program.
    Mapped,
}

/// A system call that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) call: &'static str,
    pub(crate) errno: i32,
}

/// The mapping of a whole ring file. A forked child does not inherit it.
#[derive(Debug)]
pub(crate) struct MapWords {
    map: MmapRaw,
    /// Number of words whose blocks are allocated. It never decreases, and never exceeds the length of the mapping.
    length: usize,
    way: Cell<Way>,
    /// Stores that the kernel has not copied yet: `count` values, for the words from index `first` on.
    gathered: Box<[Cell<u64>]>,
    first: Cell<usize>,
    count: Cell<usize>,
    /// The first fault. Once there is a fault, nothing more is stored.
    fault: Cell<Option<Fault>>,
}

impl Fault {
    fn of(call: &'static str, error: &io::Error) -> Self {
        Self {
            call,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        }
    }

    /// Returns whether the kernel refuses this system call for every file, either because it does not implement the
    /// call or because a filter (such as seccomp) forbids it.
    fn is_refusal(self) -> bool {
        matches!(self.errno, libc::ENOSYS | libc::EPERM | libc::EACCES)
    }

    pub(crate) fn source(self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

impl MapWords {
    /// Maps a file whose first `bytes` bytes are allocated, and which may grow to `bytes_most` bytes.
    ///
    /// # Errors
    /// If the file cannot be mapped.
    pub(crate) fn new(file: &File, bytes: u64, bytes_most: u64, way: Way) -> io::Result<Self> {
        let map = MmapOptions::new()
            .len(bytes_most.max(bytes) as usize)
            .map_raw(file)?;
        map.advise(Advice::DontFork)?;
        let words = if way == Way::Mapped { 0 } else { GATHERED };
        Ok(Self {
            map,
            length: bytes as usize / WORD,
            way: Cell::new(way),
            gathered: vec![Cell::new(0); words].into_boxed_slice(),
            first: Cell::new(0),
            count: Cell::new(0),
            fault: Cell::new(None),
        })
    }

    /// Returns the number of allocated bytes at the beginning of the file.
    pub(crate) fn bytes(&self) -> u64 {
        (self.length * WORD) as u64
    }

    /// Records that this many bytes at the beginning of the file are allocated now.
    pub(crate) fn has_grown(&mut self, bytes: u64) {
        self.length = (bytes as usize).min(self.map.len()) / WORD;
    }

    /// Returns how stores currently reach the file.
    pub(crate) fn way(&self) -> Way {
        self.way.get()
    }

    /// Returns the first fault, if there is one.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault.get()
    }

    /// Returns the address of word `index`. Panics unless `count` words, starting with that one, are allocated.
    fn place(&self, index: usize, count: usize) -> *mut u64 {
        assert!(index + count <= self.length, "word {index} of {}", self.length);
        self.map.as_mut_ptr().cast::<u64>().wrapping_add(index)
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        let pointer = self.place(index, 1);
        // SAFETY: in bounds, because `length` is at most the length of the mapping. Aligned, because mappings begin at
        // a page boundary. The mapping lives as long as `self`. This process accesses it only through this method or
        // through the kernel, and always atomically.
        unsafe { AtomicU64::from_ptr(pointer) }
    }

    fn gather(&self, index: usize, value: u64) {
        let mut count = self.count.get();
        if index != self.first.get() + count || count == GATHERED {
            self.hand_over();
            self.first.set(index);
            count = 0;
        }
        self.gathered[count].set(value.to_le());
        self.count.set(count + 1);
    }

    /// Makes the kernel copy the gathered words.
    fn hand_over(&self) {
        let (first, words) = (self.first.get(), self.count.replace(0));
        let mut done = 0;
        while done < words * WORD && self.fault.get().is_none() {
            match self.write(first, words, done) {
                Ok(bytes) => done += bytes,
                Err(fault) if fault.errno == libc::EINTR => {}
                Err(fault) if fault.is_refusal() && self.way.get() == Way::Copied => {
                    self.way.set(Way::Mapped);
                    let left = &self.gathered[done / WORD..words];
                    for (index, word) in (first + done / WORD..).zip(left) {
                        self.word(index).store(word.get(), Ordering::Relaxed);
                    }
                    return;
                }
                Err(fault) => self.fault.set(Some(fault)),
            }
        }
    }

    /// Has the kernel write the gathered words, except their first `done` bytes. Returns the number of bytes written.
    fn write(&self, first: usize, words: usize, done: usize) -> Result<usize, Fault> {
        let bytes = words * WORD - done;
        let from = self.gathered[..words].as_ptr().cast::<u8>().wrapping_add(done);
        let to = self.place(first, words).cast::<u8>().wrapping_add(done);
        // SAFETY: `from` is valid for reads of `bytes` bytes, which do not change during the call. `to` lies in the
        // mapping, which other code accesses only through atomics.
        match unsafe { os::write_own_memory(from, to, bytes) } {
            Ok(0) => Err(Fault {
                call: WRITE,
                errno: libc::EIO,
            }),
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(Fault::of(WRITE, &error)),
        }
    }

    /// Makes the kernel copy words out of the mapping.
    fn read_by_kernel(&self, first: usize, out: &mut [u64]) -> Result<(), Fault> {
        let bytes = size_of_val(out);
        let (from, to) = (self.place(first, out.len()), out.as_mut_ptr());
        let mut done = 0;
        while done < bytes {
            let from = from.cast::<u8>().wrapping_add(done);
            let to = to.cast::<u8>().wrapping_add(done);
            // SAFETY: `to` is valid for writes of `bytes - done` bytes, and `from` lies in the mapping.
            match unsafe { os::read_own_memory(from, to, bytes - done) } {
                Ok(0) => {
                    return Err(Fault {
                        call: READ,
                        errno: libc::EIO,
                    });
                }
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::of(READ, &error)),
            }
        }
        out.iter_mut().for_each(|word| *word = u64::from_le(*word));
        Ok(())
    }
}

impl ReadWords for MapWords {
    fn read(&self, first: usize, out: &mut [u64]) -> Result<(), FormatError> {
        if self.way.get() != Way::Mapped {
            match self.read_by_kernel(first, out) {
                Ok(()) => return Ok(()),
                Err(fault) if fault.is_refusal() && self.way.get() == Way::Copied => {
                    self.hand_over();
                    self.way.set(Way::Mapped);
                }
                Err(fault) => {
                    self.fault.set(self.fault.get().or(Some(fault)));
                    return Err(FormatError::io(fault.call, "the ring file", fault.source()));
                }
            }
        }
        for (offset, word) in out.iter_mut().enumerate() {
            *word = u64::from_le(self.word(first + offset).load(Ordering::Relaxed));
        }
        Ok(())
    }

    fn fence_acquire(&self) {
        fence(Ordering::Acquire);
    }
}

impl Words for MapWords {
    fn store(&self, index: usize, value: u64) {
        if self.way.get() == Way::Mapped {
            self.word(index).store(value.to_le(), Ordering::Relaxed);
        } else {
            self.gather(index, value);
        }
    }

    fn store_release(&self, index: usize, value: u64) {
        self.fence_release();
        // The store needs a system call of its own, because the copies within one call are not ordered.
        self.store(index, value);
        self.fence_release();
    }

    fn fence_release(&self) {
        self.hand_over();
        fence(Ordering::Release);
    }
}

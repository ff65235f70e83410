//! System calls that the standard library does not wrap.

use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns the effective user id of this process.
pub fn user_id() -> u32 {
    // SAFETY: the call takes no arguments and cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns whether this program has more rights than the user that started it (setuid, setgid, file capabilities). In
/// that case its environment must not decide where it writes files.
pub fn has_more_rights() -> bool {
    // SAFETY: the argument is a number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Lowest number for the collector's descriptors. The kernel gives programs the lowest free numbers, and some programs close a
/// number twice, the second time when another file has it. The constant is below 64, because above that the kernel allocates a
/// larger table of descriptors.
const OUT_OF_THE_WAY: libc::c_int = 40;

/// Moves an open file to a descriptor of at least `OUT_OF_THE_WAY`, if one is free.
///
/// # Errors
/// The error if the program has closed the descriptor meanwhile.
pub(crate) fn out_of_the_way(file: File) -> io::Result<File> {
    // SAFETY: the arguments are numbers, valid for any descriptor.
    let number = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, OUT_OF_THE_WAY) };
    let error = io::Error::last_os_error();
    if number == -1 && error.raw_os_error() != Some(libc::EBADF) {
        return Ok(file);
    }
    close_quietly(file);
    if number == -1 {
        return Err(error);
    }
    // SAFETY: the descriptor was just made, and no other code owns it.
    Ok(unsafe { File::from_raw_fd(number) })
}

/// Closes a file that the program may have closed already. Dropping such a file would make std end the program.
fn close_quietly(file: File) {
    // SAFETY: `file` owned the number, and no code uses the number later.
    unsafe { libc::close(file.into_raw_fd()) };
}

/// Returns the paths in a directory, in no particular order, or no paths if it cannot be read. [`std::fs::ReadDir`] is not used,
/// because it panics if the program has closed its descriptor meanwhile.
pub(crate) fn paths_in(directory: &Path) -> Vec<PathBuf> {
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK);
    let mut paths = Vec::new();
    let Ok(file) = options.open(directory).and_then(out_of_the_way) else {
        return paths;
    };
    // SAFETY: the argument is a number.
    let stream = unsafe { libc::fdopendir(file.as_raw_fd()) };
    if stream.is_null() {
        close_quietly(file);
        return paths;
    }
    // The stream owns the descriptor now.
    let _ = file.into_raw_fd();
    loop {
        // SAFETY: the stream is open and used by this thread alone.
        let entry = unsafe { libc::readdir(stream) };
        if entry.is_null() {
            break;
        }
        // SAFETY: the entry is valid until the next call of `readdir`.
        let name = unsafe { &raw const (*entry).d_name };
        // SAFETY: the name ends in a zero.
        let name = unsafe { CStr::from_ptr(name.cast()) }.to_bytes();
        if !matches!(name, b"." | b"..") {
            paths.push(directory.join(OsStr::from_bytes(name)));
        }
    }
    // SAFETY: the stream is open and not used later. If the profiled program has closed the stream's descriptor, the call fails,
    // and the error is ignored.
    unsafe { libc::closedir(stream) };
    paths
}

/// Reads a small file that the kernel provides, with replacement characters for invalid UTF-8.
///
/// # Errors
/// The system's error.
pub fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut bytes = Vec::new();
    out_of_the_way(File::open(path)?)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the id of this boot of the machine; zeros if the system does not provide it.
pub fn boot_id() -> [u64; 2] {
    let text = read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |from: usize| u64::from_str_radix(digits.get(from..from + 16)?, 16).ok();
    [half(0).unwrap_or(0), half(16).unwrap_or(0)]
}

/// Returns the time at which the kernel started a process, in kernel ticks since boot. Returns `None` if the process
/// has ended, even if its parent has not collected its exit code yet. `process` is its id, or `self`.
pub fn start_time(process: impl fmt::Display) -> Option<u64> {
    started(&read_text(format!("/proc/{process}/stat")).ok()?)
}

/// Returns the start time, which is field 22 of `stat`. The fields are counted after the program's name, which may
/// contain any characters. Returns `None` if state (field 3) and threads (field 20) show a dead process.
fn started(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = behind_name.split(' ').collect();
    // The main thread may have ended while others run.
    let is_dead = matches!(*fields.first()?, "Z" | "X") && *fields.get(17)? == "1";
    fields.get(19).filter(|_| !is_dead)?.parse().ok()
}

/// Returns 64 random bits, from the keys that the standard library draws for its hash maps.
pub fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Returns the monotonic clock in nanoseconds. All processes of one boot read the same clock.
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one timespec, into `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Allocates the blocks of a range of a file that lies within its length. A file that was cut meanwhile does not grow.
///
/// # Errors
/// The system's error, most likely `StorageFull`.
pub fn allocate_within(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let (begin, length) = (offset as libc::off64_t, bytes as libc::off64_t);
    // On older kernels, the call fails on tmpfs at any signal, so it is repeated.
    let mut interrupts = 0;
    loop {
        // SAFETY: the descriptor is open; there is no pointer.
        let allocated =
            check(unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, begin, length) });
        match allocated {
            // If the file system does not support the call, `allocate` makes the C library write to each block.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                return allocate(file, offset, bytes);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupts < 100 => interrupts += 1,
            result => return result,
        }
    }
}

/// Allocates the blocks of a range of a file, so that stores into its mapping cannot fail.
///
/// # Errors
/// The system's error, most likely `StorageFull`. The file may have grown in part.
pub fn allocate(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let (begin, length) = (offset as libc::off64_t, bytes as libc::off64_t);
    // SAFETY: the descriptor is open; there is no pointer.
    match unsafe { libc::posix_fallocate64(file.as_raw_fd(), begin, length) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Returns the bytes that unprivileged users may still allocate on the file system of a file; `None` if the number is
/// unknown or unlimited.
pub fn free_bytes(file: &File) -> Option<u64> {
    let mut facts = std::mem::MaybeUninit::<libc::statvfs64>::uninit();
    // SAFETY: the descriptor is open, and `facts` has space for the result.
    check(unsafe { libc::fstatvfs64(file.as_raw_fd(), facts.as_mut_ptr()) }).ok()?;
    // SAFETY: the call succeeded, so it has filled in `facts`.
    let facts = unsafe { facts.assume_init() };
    #[allow(clippy::unnecessary_cast, reason = "the type has 32 bits on 32-bit systems")]
    let block = facts.f_frsize as u64;
    // A tmpfs without a limit has no blocks at all.
    (facts.f_blocks > 0).then(|| facts.f_bavail.saturating_mul(block))
}

/// Frees the blocks of a range. The file keeps its length and reads as zeros there.
///
/// # Errors
/// The system's error. Not every file system supports this.
pub fn punch_hole(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (begin, length) = (offset as libc::off64_t, bytes as libc::off64_t);
    // SAFETY: the descriptor is open; there is no pointer.
    check(unsafe { libc::fallocate64(file.as_raw_fd(), mode, begin, length) })
}

fn counted(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Returns the id of the calling thread, for calls that expect a process id. The process id itself names the main
/// thread, which has no memory after its end. The thread id is not cached, because a forked child would then write into
/// its parent.
// Not `gettid`, because std declares it as a weak symbol. In a static program with LTO, the linker then does not take
// it from the C library.
fn own_id() -> libc::pid_t {
    // SAFETY: the call takes no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// Returns the path at which the kernel shows a descriptor of this thread. `/proc/self` shows the main thread's
/// descriptors, which are gone once that thread has ended.
pub(crate) fn path_of_open_file(file: &File) -> String {
    format!("/proc/thread-self/fd/{}", file.as_raw_fd())
}

/// Makes the kernel copy bytes within this process, and returns the number of bytes copied. If there is no memory at `to` any
/// more, the call returns an error, whereas a store would raise a signal.
///
/// # Safety
/// `from` has `bytes` bytes, and the bytes at `to` are read by atomics alone.
///
/// # Errors
/// `EFAULT` if not even the first byte could be copied, or the system's error if it refuses such calls.
pub(crate) unsafe fn write_own_memory(from: *const u8, to: *mut u8, bytes: usize) -> io::Result<usize> {
    let (local, remote) = (part(from.cast_mut(), bytes), part(to, bytes));
    // SAFETY: by the caller; both parts live through the call.
    counted(unsafe { libc::process_vm_writev(own_id(), &local, 1, &remote, 1, 0) })
}

/// Makes the kernel copy bytes within this process, from memory that may no longer exist. Returns the number of bytes
/// copied.
///
/// # Safety
/// `to` has space for `bytes` bytes, which no other code uses.
///
/// # Errors
/// As [`write_own_memory`].
pub(crate) unsafe fn read_own_memory(from: *const u8, to: *mut u8, bytes: usize) -> io::Result<usize> {
    let (local, remote) = (part(to, bytes), part(from.cast_mut(), bytes));
    // SAFETY: by the caller; both parts live through the call.
    counted(unsafe { libc::process_vm_readv(own_id(), &local, 1, &remote, 1, 0) })
}

fn part(base: *mut u8, bytes: usize) -> libc::iovec {
    libc::iovec {
        iov_base: base.cast(),
        iov_len: bytes,
    }
}

/// Gives a name to a file that was opened with `O_TMPFILE`. Fails if the name is taken.
///
/// # Errors
/// The system's error.
pub fn link_open_file(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(path_of_open_file(file))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (cwd, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both strings end in a zero and live through the call.
    check(unsafe { libc::linkat(cwd, from.as_ptr(), cwd, to.as_ptr(), follow) })
}

fn byte_range(kind: libc::c_int, offset: u64, bytes: u64) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset as libc::off_t,
        l_len: bytes as libc::off_t,
        l_pid: 0,
    }
}

/// Locks a byte range for this open file. Returns false if another open file holds it. The kernel releases the lock
/// with the last descriptor of this open file, even if the process crashes.
///
/// # Errors
/// The system's error.
pub fn lock_range(file: &File, offset: u64, bytes: u64) -> io::Result<bool> {
    let range = byte_range(libc::F_WRLCK, offset, bytes);
    // SAFETY: the descriptor is open and `range` lives through the call.
    match check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &range) }) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the byte range of a lock that another open file holds in the given range, if any. If there are several locks, returns
/// any of them.
///
/// # Errors
/// The system's error.
pub fn locked_in(file: &File, offset: u64, bytes: u64) -> io::Result<Option<Range<u64>>> {
    let mut range = byte_range(libc::F_WRLCK, offset, bytes);
    // SAFETY: the descriptor is open and `range` lives through the call.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut range) })?;
    let (start, length) = (range.l_start as u64, range.l_len as u64);
    // Length 0 means all bytes up to the end.
    let end = match length {
        0 => u64::MAX,
        _ => start.saturating_add(length),
    };
    Ok((i32::from(range.l_type) != libc::F_UNLCK).then_some(start..end))
}

/// Makes a descriptor number refer to another file.
#[cfg(test)]
pub(crate) fn put_in_place(file: &File, number: i32) {
    // SAFETY: the owner of the number checks its file before each use.
    assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), number) }, number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_has_its_own_number() {
        assert_eq!(boot_id(), boot_id());
        assert_ne!(boot_id(), [0, 0]);
    }

    #[test]
    fn a_process_has_started_until_its_last_thread_has_ended() {
        let stat = |state: &str, threads: u32| {
            format!("7 (a) R 1 ) {state} 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 {threads} 0 1234 5 6\n")
        };
        assert_eq!(started(&stat("R", 1)), Some(1234));
        assert_eq!(started(&stat("Z", 1)), None);
        assert_eq!(started(&stat("Z", 2)), Some(1234));
        assert_eq!(started(""), None);
        assert!(start_time("self").is_some_and(|ticks| ticks > 0));
        assert_eq!(start_time("self"), start_time(std::process::id()));
        assert_eq!(start_time(u32::MAX), None);
    }

    #[test]
    fn a_file_of_ours_has_a_number_out_of_the_way() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(77).unwrap();
        let low = file.try_clone().unwrap();
        let moved = out_of_the_way(low).unwrap();
        assert!(moved.as_raw_fd() >= OUT_OF_THE_WAY);
        assert_eq!(moved.metadata().unwrap().len(), 77);
        // SAFETY: the arguments are numbers.
        let flags = unsafe { libc::fcntl(moved.as_raw_fd(), libc::F_GETFD) };
        assert_eq!(flags, libc::FD_CLOEXEC);
    }

    #[test]
    fn a_directory_has_its_paths_and_what_is_none_has_none() {
        let directory = tempfile::tempdir().unwrap();
        let wanted = [".c", "a", "b.ring", "\u{e4}"].map(|name| directory.path().join(name));
        for path in &wanted {
            File::create(path).unwrap();
        }
        let mut found = paths_in(directory.path());
        found.sort();
        assert_eq!(found, wanted);
        assert!(paths_in(&wanted[0]).is_empty());
        assert!(paths_in(&directory.path().join("none")).is_empty());
    }

    /// `out_of_the_way` must not drop a file that the program has closed, because std would then end the
    /// program.
    #[test]
    fn a_file_that_the_program_closed_meanwhile_ended_it() {
        let file = tempfile::tempfile().unwrap();
        // No other test gets this number.
        put_in_place(&file, 900);
        // SAFETY: the descriptor was just made.
        let ours = unsafe { File::from_raw_fd(900) };
        // SAFETY: the argument is a number.
        assert_eq!(unsafe { libc::close(900) }, 0);
        let error = out_of_the_way(ours).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }

    #[test]
    fn random_bits_differ() {
        assert_ne!(random(), random());
    }

    #[test]
    fn a_locked_range_is_seen_by_others_and_free_when_its_file_closes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("slots");
        let open = || {
            File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .unwrap()
        };
        let (owner, program) = (open(), open());
        assert_eq!(locked_in(&program, 0, 4096).unwrap(), None);
        assert!(lock_range(&owner, 256, 256).unwrap());
        assert_eq!(locked_in(&program, 0, 4096).unwrap(), Some(256..512));
        assert_eq!(locked_in(&program, 0, 256).unwrap(), None);
        assert!(!lock_range(&program, 256, 256).unwrap());
        drop(owner);
        assert_eq!(locked_in(&program, 0, 4096).unwrap(), None);
        let all = open();
        assert!(lock_range(&all, 100, 0).unwrap());
        assert_eq!(locked_in(&program, 0, 4096).unwrap(), Some(100..u64::MAX));
    }
}

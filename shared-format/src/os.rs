//! The few system calls that std has no safe face for.

use std::ffi::CString;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// The effective user id of this process.
pub fn user_id() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() }
}

/// 64 random bits, by the keys that std draws for its hash maps.
pub fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// The machine's monotonic clock in nanoseconds: the same for all processes of one boot.
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Gives a file so many bytes from an offset on, with all their blocks, so that a store into its mapping finds them.
///
/// # Errors
/// What the system says, `StorageFull` above all; the file may have grown in part.
pub fn allocate(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    // SAFETY: the descriptor is open; there is no pointer.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as libc::off_t, bytes as libc::off_t) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Gives the blocks of a range back; the file keeps its length and reads as zeros there.
///
/// # Errors
/// What the system says; not every file system can.
pub fn punch_hole(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the descriptor is open; there is no pointer.
    check(unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            mode,
            offset as libc::off_t,
            bytes as libc::off_t,
        )
    })
}

/// Gives a file opened with `O_TMPFILE` a name; fails where the name is taken.
///
/// # Errors
/// What the system says.
pub fn link_open_file(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (cwd, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both are strings that end in a zero and live through the call.
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

/// Locks a byte range for this open file; false where another holds it. The kernel frees it with the last
/// descriptor of this open file, however the process ends.
///
/// # Errors
/// What the system says.
pub fn lock_range(file: &File, offset: u64, bytes: u64) -> io::Result<bool> {
    let range = byte_range(libc::F_WRLCK, offset, bytes);
    // SAFETY: the descriptor is open and `range` lives through the call.
    match check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &range) }) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether anybody else holds a lock on a byte range.
///
/// # Errors
/// What the system says.
pub fn range_is_locked(file: &File, offset: u64, bytes: u64) -> io::Result<bool> {
    let mut range = byte_range(libc::F_WRLCK, offset, bytes);
    // SAFETY: the descriptor is open and `range` lives through the call.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut range) })?;
    Ok(i32::from(range.l_type) != libc::F_UNLCK)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!range_is_locked(&program, 0, 4096).unwrap());
        assert!(lock_range(&owner, 256, 256).unwrap());
        assert!(range_is_locked(&program, 0, 4096).unwrap());
        assert!(!range_is_locked(&program, 0, 256).unwrap());
        assert!(!lock_range(&program, 256, 256).unwrap());
        drop(owner);
        assert!(!range_is_locked(&program, 0, 4096).unwrap());
    }
}

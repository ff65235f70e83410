//! File descriptors: what kind of file is behind one, and reading and writing text without std's buffers.

use std::ffi::CStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::enabled::platform::signals::Unsignalled;

/// The files behind standard output and standard error when measuring began. Each is stored as its device and inode
/// number, both plus one, or as zeros if the descriptor was closed.
static STANDARD: [[AtomicU64; 2]; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];

/// Remembers the files behind standard output and error.
pub(crate) fn note_standard() {
    for (descriptor, [device, inode]) in (libc::STDOUT_FILENO..).zip(&STANDARD) {
        if let Some(facts) = facts_of(descriptor) {
            device.store(facts.st_dev.wrapping_add(1), Ordering::Relaxed);
            inode.store(facts.st_ino.wrapping_add(1), Ordering::Relaxed);
        }
    }
}

/// Returns whether standard input, output and error are open. A program that has closed one of them is likely to open
/// its next file under the same number. No file of the collector may take that number, not even for microseconds.
pub(crate) fn has_standard() -> bool {
    // SAFETY: the call only reads flags.
    (0..=2).all(|descriptor| unsafe { libc::fcntl(descriptor, libc::F_GETFD) } >= 0)
}

/// Returns whether the collector may write text to a descriptor. If the program closes standard output or error, the
/// next file that it opens gets the same number. For these two descriptors, this function tells such a file from a
/// redirection, and allows only the redirection. All other descriptors are allowed.
fn is_for_text(descriptor: i32) -> bool {
    let Some([device, inode]) = STANDARD.get((descriptor - libc::STDOUT_FILENO) as usize) else {
        return true;
    };
    let Some(facts) = facts_of(descriptor) else {
        return false;
    };
    let before = [device, inode].map(|word| word.load(Ordering::Relaxed));
    if before == [facts.st_dev, facts.st_ino].map(|word| word.wrapping_add(1)) {
        return true;
    }
    // SAFETY: the call only reads flags.
    let own = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } & libc::FD_CLOEXEC != 0;
    // SAFETY: the call only reads flags.
    let appends = unsafe { libc::fcntl(descriptor, libc::F_GETFL) } & libc::O_APPEND != 0;
    !own && (appends || facts.st_mode & libc::S_IFMT == libc::S_IFCHR)
}

/// Writes to a descriptor directly, bypassing std's buffer and its lock, which the exiting thread may hold. If a
/// non-blocking descriptor accepts nothing, waits for up to `patience` milliseconds, or indefinitely if it is `-1`. A
/// pipe without a reader, or a file that may not grow any more, causes an error instead of a signal.
///
/// # Errors
/// Returns the system's error, or `BrokenPipe` if standard output or error now belongs to another file of the program.
pub fn write_all(descriptor: i32, bytes: &[u8], patience: i32) -> io::Result<()> {
    if !is_for_text(descriptor) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    let _unsignalled = Unsignalled::new();
    write_unsignalled(descriptor, bytes, patience)
}

fn write_unsignalled(descriptor: i32, mut bytes: &[u8], patience: i32) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: `bytes` may be read for its whole length.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written.min(bytes.len())..],
            Err(_) => {
                let error = io::Error::last_os_error();
                let kind = error.kind();
                let again = kind == io::ErrorKind::Interrupted
                    || kind == io::ErrorKind::WouldBlock && takes_more(descriptor, patience);
                if !again {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Waits until a descriptor accepts more bytes, or until it has an error, which the next write will report.
fn takes_more(descriptor: i32, patience: i32) -> bool {
    let mut asked = libc::pollfd {
        fd: descriptor,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `asked` is one valid `pollfd`.
    let found = unsafe { libc::poll(&mut asked, 1, patience) };
    found > 0 || found < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

/// Kind of the file behind a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileKind {
    File,
    Pipe,
    Socket,
    /// For example a terminal.
    Device,
    Other,
}

/// Returns the kind of the file behind a descriptor of this process, or `None` if there is no such descriptor.
pub(crate) fn kind_of_file(descriptor: i32) -> Option<FileKind> {
    Some(match facts_of(descriptor)?.st_mode & libc::S_IFMT {
        libc::S_IFREG => FileKind::File,
        libc::S_IFIFO => FileKind::Pipe,
        libc::S_IFSOCK => FileKind::Socket,
        libc::S_IFCHR => FileKind::Device,
        _ => FileKind::Other,
    })
}

/// Returns the `stat64` of the file behind a descriptor. Its inode number has 64 bits even on 32-bit systems.
fn facts_of(descriptor: i32) -> Option<libc::stat64> {
    let mut facts = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `facts` has the size and alignment of the result.
    let known = unsafe { libc::fstat64(descriptor, facts.as_mut_ptr()) } == 0;
    // SAFETY: `facts` is initialised: all zeros are a valid `stat64`, and the call writes only valid ones.
    known.then(|| unsafe { facts.assume_init() })
}

/// Reads the beginning of a file into `buffer` without allocating. Returns the bytes without surrounding whitespace.
pub(crate) fn read_small<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: `path` is null-terminated.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: `buffer` may be written for its whole length.
    let read = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: the descriptor was opened above and has no other user.
    unsafe { libc::close(file) };
    Some(buffer.get(..usize::try_from(read).ok()?)?.trim_ascii())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_nonblocking_pipe_gets_everything_once_it_is_read() {
        let (mut reader, writer) = io::pipe().unwrap();
        let descriptor = writer.as_raw_fd();
        // SAFETY: the descriptor belongs to this test, and the other arguments are numbers.
        unsafe { libc::fcntl(descriptor, libc::F_SETFL, libc::O_NONBLOCK) };
        let text = vec![b'x'; 1 << 20];
        let failed = write_all(descriptor, &text, 0).map_err(|error| error.kind());
        assert_eq!(failed, Err(io::ErrorKind::WouldBlock), "the pipe has no reader");
        let read = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read.len())
        });
        write_all(descriptor, &text, -1).unwrap();
        drop(writer);
        assert!(read.join().unwrap().unwrap() > text.len());
    }
}

//! Asks the kernel for the state of a thread of this process: whether it is running or, if it waits, in which system
//! call.

use std::borrow::Cow;
use std::ffi::CStr;
use std::io::{Cursor, Write};

use crate::enabled::platform::descriptors::{self, FileKind};
use crate::enabled::platform::os;

/// The system call in which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    /// Number of the system call, or a negative number for a wait that is not in a known call (see the constants
    /// below).
    number: i32,
    /// Kind of the file that the call reads or writes, if it is known.
    file: Option<FileKind>,
}

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Running,
    /// The thread is ready to run, but has no CPU.
    Ready,
    Waiting(Call),
}

impl Call {
    /// The smallest and the largest possible call in the sort order, for ranges over all calls.
    pub(crate) const FIRST: Self = Self::of(i32::MIN);
    pub(crate) const LAST: Self = Self {
        number: i32::MAX,
        file: Some(FileKind::Other),
    };

    /// No system call: the thread waits while the kernel loads a page.
    const PAGE_FAULT: Self = Self::of(-1);

    /// A wait for a disk, in an unknown call.
    const DISK: Self = Self::of(-2);

    /// A wait in an unknown call.
    const UNKNOWN: Self = Self::of(-3);

    const fn of(number: i32) -> Self {
        Self { number, file: None }
    }

    /// Returns the name of the system call, or its number if the name is not in the table. Appends the kind of the file
    /// that the call reads or writes.
    pub(crate) fn name(self) -> Cow<'static, str> {
        let name = match self {
            Self::PAGE_FAULT => "page fault".into(),
            Self::DISK => "unknown call, for a disk".into(),
            Self::UNKNOWN => "unknown call".into(),
            Self { number, .. } => match SYSTEM_CALLS.iter().find(|&&(known, _)| known == number) {
                Some(&(_, name)) => Cow::Borrowed(name.strip_prefix("SYS_").unwrap_or(name)),
                None => format!("system call {number}").into(),
            },
        };
        let file = match self.file {
            None | Some(FileKind::Other) => return name,
            Some(FileKind::File) => "file",
            Some(FileKind::Pipe) => "pipe",
            Some(FileKind::Socket) => "socket",
            Some(FileKind::Device) => "device",
        };
        format!("{name} ({file})").into()
    }

    /// Returns whether the call reads from or writes to the descriptor in its first argument, which may refer to any
    /// kind of file.
    fn is_of_file(self) -> bool {
        const CALLS: [i32; 4] = [
            libc::SYS_read as i32,
            libc::SYS_readv as i32,
            libc::SYS_write as i32,
            libc::SYS_writev as i32,
        ];
        CALLS.contains(&self.number)
    }
}

/// Returns the state of another thread of this process, without allocating. Returns `None` if the thread has ended, or
/// if the kernel does not report its state.
///
/// Opens and closes one file, or two if the first cannot be read.
pub(crate) fn look(tid: u32) -> Option<Doing> {
    let before = os::cpu_ns_of(tid)?;
    let mut buffer = [0; 512];
    let text = read(tid, "syscall", &mut buffer).and_then(of_syscall);
    let waiting = match text {
        Some(waiting) => waiting,
        None => of_stat(read(tid, "stat", &mut buffer)?)?,
    };
    Some(match waiting {
        Some(call) => Doing::Waiting(call),
        // If the thread has a CPU, its CPU time has grown while its file was read.
        None if os::cpu_ns_of(tid)? > before => Doing::Running,
        None => Doing::Ready,
    })
}

fn read<'a>(tid: u32, file: &str, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut path = [0; 48];
    write!(Cursor::new(&mut path[..47]), "/proc/self/task/{tid}/{file}").ok()?;
    descriptors::read_small(CStr::from_bytes_until_nul(&path).ok()?, buffer)
}

/// Parses a thread's `/proc` file `syscall`, which contains either `running`, or the number of the system call (-1 if
/// the thread is not in one) and its arguments. Returns `None` if the text is not valid, and `Some(None)` if the thread
/// is not waiting.
fn of_syscall(text: &[u8]) -> Option<Option<Call>> {
    if text == b"running" {
        return Some(None);
    }
    let mut words = text.split(|&byte| byte == b' ').map(str::from_utf8);
    let number: i32 = words.next()?.ok()?.parse().ok()?;
    if number < 0 {
        return Some(Some(Call::PAGE_FAULT));
    }
    let mut call = Call::of(number);
    if call.is_of_file() {
        let descriptor = words
            .next()
            .and_then(Result::ok)
            .and_then(|word| word.strip_prefix("0x"));
        // A descriptor has 32 bits; the upper half of the argument may have any value.
        let descriptor = descriptor.and_then(|word| u64::from_str_radix(word, 16).ok());
        call.file = descriptor.and_then(|descriptor| descriptors::kind_of_file(descriptor as i32));
    }
    Some(Some(call))
}

/// Parses a thread's `/proc` file `stat`, with the same results as [`of_syscall`]. The state is a letter after the
/// thread's name, which is in parentheses and may itself contain any characters, even parentheses.
fn of_stat(text: &[u8]) -> Option<Option<Call>> {
    let name_end = text.iter().rposition(|&byte| byte == b')')?;
    match text.get(name_end + 2)? {
        b'R' => Some(None),
        b'D' => Some(Some(Call::DISK)),
        b'S' => Some(Some(Call::UNKNOWN)),
        _ => None,
    }
}

/// Makes a table of the numbers and names of system calls. The arguments are the calls that only the target
/// architecture has, and the macro adds those that both architectures have. Calls that older versions of `libc` do not
/// define are given by number.
macro_rules! system_calls {
    ($($own:ident $number:expr,)*) => {
        system_calls! {
            @
            $($own $number,)* epoll_pwait2 441, futex_waitv 449, futex 455, clone3 435, io_uring_enter 426,
            openat2 437,
            ;
            SYS_futex SYS_epoll_pwait SYS_ppoll SYS_pselect6 SYS_nanosleep SYS_clock_nanosleep
            SYS_restart_syscall SYS_read SYS_readv SYS_pread64 SYS_preadv SYS_preadv2 SYS_write SYS_writev
            SYS_pwrite64 SYS_pwritev SYS_pwritev2 SYS_splice SYS_tee SYS_vmsplice SYS_copy_file_range
            SYS_recvfrom SYS_recvmsg SYS_recvmmsg SYS_sendto SYS_sendmsg SYS_sendmmsg SYS_accept SYS_accept4
            SYS_connect SYS_shutdown SYS_wait4 SYS_waitid SYS_clone SYS_execve SYS_exit SYS_exit_group
            SYS_io_getevents SYS_io_submit SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_msync SYS_fallocate
            SYS_truncate SYS_ftruncate SYS_readahead SYS_openat SYS_close SYS_fstat SYS_newfstatat SYS_statx
            SYS_getdents64 SYS_unlinkat SYS_renameat SYS_renameat2 SYS_mkdirat SYS_flock SYS_fcntl SYS_ioctl
            SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_madvise SYS_brk SYS_mlock SYS_membarrier
            SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_sched_yield SYS_semop SYS_semtimedop SYS_msgrcv
            SYS_msgsnd SYS_mq_timedreceive SYS_mq_timedsend SYS_process_vm_readv SYS_getrandom
        }
    };
    (@ $($own:ident $number:expr,)* ; $($name:ident)*) => {
        &[
            $(($number as i32, stringify!($own)),)*
            $((libc::$name as i32, stringify!($name)),)*
        ]
    };
}

#[cfg(target_arch = "x86_64")]
const SYSTEM_CALLS: &[(i32, &str)] = system_calls! {
    epoll_wait libc::SYS_epoll_wait, poll libc::SYS_poll, select libc::SYS_select, pause libc::SYS_pause,
    sendfile libc::SYS_sendfile, vfork libc::SYS_vfork, io_pgetevents 333, sync_file_range
    libc::SYS_sync_file_range, open libc::SYS_open, stat libc::SYS_stat, lstat libc::SYS_lstat, unlink
    libc::SYS_unlink, rename libc::SYS_rename, mkdir libc::SYS_mkdir,
};

#[cfg(target_arch = "aarch64")]
const SYSTEM_CALLS: &[(i32, &str)] = system_calls! {
    sendfile 71, io_pgetevents 292,
};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const SYSTEM_CALLS: &[(i32, &str)] = &[];

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, mpsc};

    use super::*;
    use crate::enabled::platform::threads;

    #[test]
    fn files_of_the_kernel_are_understood() {
        let name = |waiting: Option<Option<Call>>| waiting.unwrap().unwrap().name();
        assert_eq!(of_syscall(b"running"), Some(None));
        assert_eq!(name(of_syscall(b"-1 0x7ffd 0x7f12")), "page fault");
        assert_eq!(name(of_syscall(b"999 0x0 0x7ffd 0x7f12")), "system call 999");
        assert_eq!(of_syscall(b""), None);
        assert_eq!(of_syscall(b"Permission denied"), None);
        assert_eq!(of_stat(b"12 (a) b) R 1 12"), Some(None));
        assert_eq!(name(of_stat(b"12 (name) D 1 12")), "unknown call, for a disk");
        assert_eq!(name(of_stat(b"12 (name) S 1 12")), "unknown call");
        assert_eq!(of_stat(b"12 (name) Z 1 12"), None);
        assert_eq!(of_stat(b"12 (name)"), None);
    }

    #[test]
    fn what_is_read_from_is_told_by_its_kind() {
        let (pipe, _end) = std::io::pipe().unwrap();
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        let device = std::fs::File::open("/dev/null").unwrap();
        let told = |descriptor: i32| {
            let text = format!("{} {descriptor:#x} 0x7ffd", libc::SYS_read);
            of_syscall(text.as_bytes()).unwrap().unwrap().name().into_owned()
        };
        assert_eq!(told(pipe.as_raw_fd()), "read (pipe)");
        assert_eq!(told(socket.as_raw_fd()), "read (socket)");
        assert_eq!(told(file.as_raw_fd()), "read (file)");
        assert_eq!(told(device.as_raw_fd()), "read (device)");
        assert_eq!(told(-1), "read");
        // The first argument of other calls is not treated as a descriptor.
        let text = format!("{} {:#x}", libc::SYS_futex, pipe.as_raw_fd());
        assert_eq!(of_syscall(text.as_bytes()).unwrap().unwrap().name(), "futex");
    }

    #[test]
    fn a_thread_in_a_call_is_found_there_and_a_busy_one_is_not() {
        let (tell, told) = mpsc::channel();
        let spins = Arc::new(AtomicBool::new(true));
        let busy = {
            let (tell, spins) = (tell.clone(), Arc::clone(&spins));
            std::thread::spawn(move || {
                tell.send(threads::thread_id()).unwrap();
                while spins.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let tid = told.recv().unwrap();
        // While other programs run, the busy thread may be waiting for a CPU. With only one CPU, it is never running
        // while this thread reads its state.
        let has_one_cpu = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1);
        let expected = |doing| doing == Doing::Running || has_one_cpu && doing == Doing::Ready;
        while !look(tid).is_some_and(expected) {
            std::thread::yield_now();
        }
        spins.store(false, Ordering::Relaxed);
        busy.join().unwrap();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(threads::thread_id()).unwrap();
            _ = ended.recv();
        });
        let tid = told.recv().unwrap();
        let found = loop {
            if let Some(Doing::Waiting(call)) = look(tid) {
                break call.name();
            }
            std::thread::yield_now();
        };
        assert!(["futex", "unknown call"].contains(&&*found), "{found}");
        end.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(look(u32::MAX), None, "there is no such thread");
    }
}

//! Asks the kernel for the state of a thread of this process: whether it has a CPU, and in which system call it waits.

use std::borrow::Cow;
use std::ffi::CStr;
use std::io::{Cursor, Write};

use crate::enabled::platform::descriptors::{self, FileKind};
use crate::enabled::platform::os;

/// The system call in which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    /// Number of the system call, or a negative number for one of the constants.
    number: i32,
    /// Kind of the file that the call reads or writes, if it is known.
    file: Option<FileKind>,
}

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Running,
    /// The thread could run, but has no CPU.
    Ready,
    Waiting(Call),
}

impl Call {
    /// Bounds of the order of calls: no call is before `FIRST` or after `LAST`.
    pub(crate) const FIRST: Self = Self::of(i32::MIN);
    pub(crate) const LAST: Self = Self {
        number: i32::MAX,
        file: Some(FileKind::Other),
    };

    /// No system call: the kernel loads a page for the thread.
    const PAGE_FAULT: Self = Self::of(-1);

    /// A wait for a disk, in an unknown call.
    const DISK: Self = Self::of(-2);

    /// A wait in an unknown call.
    const UNKNOWN: Self = Self::of(-3);

    const fn of(number: i32) -> Self {
        Self { number, file: None }
    }

    /// Returns the name of the system call, or its number if the name is not in the table, with the kind of the file
    /// that it reads or writes.
    pub(crate) fn name(self) -> Cow<'static, str> {
        let name = match self {
            Self::PAGE_FAULT => "page fault".into(),
            Self::DISK => "unknown call, for a disk".into(),
            Self::UNKNOWN => "unknown call".into(),
            Self { number, .. } => match SYSTEM_CALLS.iter().find(|&&(known, _)| known == number) {
                Some(&(_, name)) => Cow::Borrowed(name),
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

    /// Returns whether the call reads or writes the descriptor in its first argument, which may be of any kind.
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
/// if the kernel does not tell.
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
        // The CPU time of a thread that has a CPU grew while its file was read.
        None if os::cpu_ns_of(tid)? > before => Doing::Running,
        None => Doing::Ready,
    })
}

fn read<'a>(tid: u32, file: &str, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut path = [0; 48];
    write!(Cursor::new(&mut path[..47]), "/proc/self/task/{tid}/{file}").ok()?;
    descriptors::read_small(CStr::from_bytes_until_nul(&path).ok()?, buffer)
}

/// Parses the file `syscall`: `running`, or the number of the call (-1 without a call) and its arguments. Returns
/// `None` if the text is not valid, and `Some(None)` if the thread does not wait.
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

/// Parses the file `stat`, with results like [`of_syscall`]. The letter of the state follows the name, which may
/// contain any characters.
fn of_stat(text: &[u8]) -> Option<Option<Call>> {
    let name_end = text.iter().rposition(|&byte| byte == b')')?;
    match text.get(name_end + 2)? {
        b'R' => Some(None),
        b'D' => Some(Some(Call::DISK)),
        b'S' => Some(Some(Call::UNKNOWN)),
        _ => None,
    }
}

/// Makes a table of numbers and names of system calls. Calls that older versions of `libc` do not define are given by
/// number.
macro_rules! system_calls {
    ($($name:ident: $number:expr),* $(,)?) => {
        &[$(($number as i32, stringify!($name))),*]
    };
}

#[cfg(target_arch = "x86_64")]
const SYSTEM_CALLS: &[(i32, &str)] = system_calls![
    futex: libc::SYS_futex, epoll_wait: libc::SYS_epoll_wait, epoll_pwait: libc::SYS_epoll_pwait, epoll_pwait2: 441,
    poll: libc::SYS_poll, ppoll: libc::SYS_ppoll, select: libc::SYS_select, pselect6: libc::SYS_pselect6,
    nanosleep: libc::SYS_nanosleep, clock_nanosleep: libc::SYS_clock_nanosleep, pause: libc::SYS_pause,
    restart_syscall: libc::SYS_restart_syscall, futex_waitv: 449, futex: 455,
    read: libc::SYS_read, readv: libc::SYS_readv, pread64: libc::SYS_pread64, preadv: libc::SYS_preadv,
    preadv2: libc::SYS_preadv2, write: libc::SYS_write, writev: libc::SYS_writev, pwrite64: libc::SYS_pwrite64,
    pwritev: libc::SYS_pwritev, pwritev2: libc::SYS_pwritev2, sendfile: libc::SYS_sendfile, splice: libc::SYS_splice,
    tee: libc::SYS_tee, vmsplice: libc::SYS_vmsplice, copy_file_range: libc::SYS_copy_file_range,
    recvfrom: libc::SYS_recvfrom, recvmsg: libc::SYS_recvmsg, recvmmsg: libc::SYS_recvmmsg, sendto: libc::SYS_sendto,
    sendmsg: libc::SYS_sendmsg, sendmmsg: libc::SYS_sendmmsg, accept: libc::SYS_accept, accept4: libc::SYS_accept4,
    connect: libc::SYS_connect, shutdown: libc::SYS_shutdown,
    wait4: libc::SYS_wait4, waitid: libc::SYS_waitid, clone: libc::SYS_clone, clone3: 435, vfork: libc::SYS_vfork,
    execve: libc::SYS_execve, exit: libc::SYS_exit, exit_group: libc::SYS_exit_group,
    io_uring_enter: 426, io_getevents: libc::SYS_io_getevents, io_pgetevents: 333, io_submit: libc::SYS_io_submit,
    fsync: libc::SYS_fsync, fdatasync: libc::SYS_fdatasync, sync: libc::SYS_sync, syncfs: libc::SYS_syncfs,
    sync_file_range: libc::SYS_sync_file_range, msync: libc::SYS_msync, fallocate: libc::SYS_fallocate,
    truncate: libc::SYS_truncate, ftruncate: libc::SYS_ftruncate, readahead: libc::SYS_readahead,
    open: libc::SYS_open, openat: libc::SYS_openat, openat2: 437, close: libc::SYS_close, stat: libc::SYS_stat,
    fstat: libc::SYS_fstat, lstat: libc::SYS_lstat, newfstatat: libc::SYS_newfstatat, statx: libc::SYS_statx,
    getdents64: libc::SYS_getdents64, unlink: libc::SYS_unlink, unlinkat: libc::SYS_unlinkat,
    rename: libc::SYS_rename, renameat: libc::SYS_renameat, renameat2: libc::SYS_renameat2,
    mkdir: libc::SYS_mkdir, mkdirat: libc::SYS_mkdirat, flock: libc::SYS_flock, fcntl: libc::SYS_fcntl,
    ioctl: libc::SYS_ioctl,
    mmap: libc::SYS_mmap, munmap: libc::SYS_munmap, mprotect: libc::SYS_mprotect, mremap: libc::SYS_mremap,
    madvise: libc::SYS_madvise, brk: libc::SYS_brk, mlock: libc::SYS_mlock, membarrier: libc::SYS_membarrier,
    rt_sigsuspend: libc::SYS_rt_sigsuspend, rt_sigtimedwait: libc::SYS_rt_sigtimedwait,
    sched_yield: libc::SYS_sched_yield, semop: libc::SYS_semop, semtimedop: libc::SYS_semtimedop,
    msgrcv: libc::SYS_msgrcv, msgsnd: libc::SYS_msgsnd, mq_timedreceive: libc::SYS_mq_timedreceive,
    mq_timedsend: libc::SYS_mq_timedsend, process_vm_readv: libc::SYS_process_vm_readv,
    getrandom: libc::SYS_getrandom,
];

#[cfg(target_arch = "aarch64")]
const SYSTEM_CALLS: &[(i32, &str)] = system_calls![
    futex: libc::SYS_futex, epoll_pwait: libc::SYS_epoll_pwait, epoll_pwait2: 441, ppoll: libc::SYS_ppoll,
    pselect6: libc::SYS_pselect6, nanosleep: libc::SYS_nanosleep, clock_nanosleep: libc::SYS_clock_nanosleep,
    restart_syscall: libc::SYS_restart_syscall, futex_waitv: 449, futex: 455,
    read: libc::SYS_read, readv: libc::SYS_readv, pread64: libc::SYS_pread64, preadv: libc::SYS_preadv,
    preadv2: libc::SYS_preadv2, write: libc::SYS_write, writev: libc::SYS_writev, pwrite64: libc::SYS_pwrite64,
    pwritev: libc::SYS_pwritev, pwritev2: libc::SYS_pwritev2, sendfile: 71, splice: libc::SYS_splice,
    tee: libc::SYS_tee, vmsplice: libc::SYS_vmsplice, copy_file_range: libc::SYS_copy_file_range,
    recvfrom: libc::SYS_recvfrom, recvmsg: libc::SYS_recvmsg, recvmmsg: libc::SYS_recvmmsg, sendto: libc::SYS_sendto,
    sendmsg: libc::SYS_sendmsg, sendmmsg: libc::SYS_sendmmsg, accept: libc::SYS_accept, accept4: libc::SYS_accept4,
    connect: libc::SYS_connect, shutdown: libc::SYS_shutdown,
    wait4: libc::SYS_wait4, waitid: libc::SYS_waitid, clone: libc::SYS_clone, clone3: 435,
    execve: libc::SYS_execve, exit: libc::SYS_exit, exit_group: libc::SYS_exit_group,
    io_uring_enter: 426, io_getevents: libc::SYS_io_getevents, io_pgetevents: 292, io_submit: libc::SYS_io_submit,
    fsync: libc::SYS_fsync, fdatasync: libc::SYS_fdatasync, sync: libc::SYS_sync, syncfs: libc::SYS_syncfs,
    msync: libc::SYS_msync, fallocate: libc::SYS_fallocate, truncate: libc::SYS_truncate,
    ftruncate: libc::SYS_ftruncate, readahead: libc::SYS_readahead,
    openat: libc::SYS_openat, openat2: 437, close: libc::SYS_close, fstat: libc::SYS_fstat,
    newfstatat: libc::SYS_newfstatat, statx: libc::SYS_statx, getdents64: libc::SYS_getdents64,
    unlinkat: libc::SYS_unlinkat, renameat: libc::SYS_renameat, renameat2: libc::SYS_renameat2,
    mkdirat: libc::SYS_mkdirat, flock: libc::SYS_flock, fcntl: libc::SYS_fcntl, ioctl: libc::SYS_ioctl,
    mmap: libc::SYS_mmap, munmap: libc::SYS_munmap, mprotect: libc::SYS_mprotect, mremap: libc::SYS_mremap,
    madvise: libc::SYS_madvise, brk: libc::SYS_brk, mlock: libc::SYS_mlock, membarrier: libc::SYS_membarrier,
    rt_sigsuspend: libc::SYS_rt_sigsuspend, rt_sigtimedwait: libc::SYS_rt_sigtimedwait,
    sched_yield: libc::SYS_sched_yield, semop: libc::SYS_semop, semtimedop: libc::SYS_semtimedop,
    msgrcv: libc::SYS_msgrcv, msgsnd: libc::SYS_msgsnd, mq_timedreceive: libc::SYS_mq_timedreceive,
    mq_timedsend: libc::SYS_mq_timedsend, process_vm_readv: libc::SYS_process_vm_readv,
    getrandom: libc::SYS_getrandom,
];

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const SYSTEM_CALLS: &[(i32, &str)] = system_calls![];

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
        // The first argument of other calls is not taken for a descriptor.
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
        // While other programs run, the busy thread may be without a CPU. With only one CPU, it never has the CPU while
        // this thread looks.
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

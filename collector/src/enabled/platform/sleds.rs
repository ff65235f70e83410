//! Switches the compiler's sleds on and off while other threads execute them.
//!
//! A sled is 11 bytes of code that the compiler leaves at a function's entry, returns and tail calls. While a sled is
//! off, it has no effect: it is a jump over its other bytes or, in the sled of a return, a return followed by padding.
//! While it is on, it loads the function's number into a register and calls a trampoline. The sled of a return jumps to
//! the trampoline instead of calling it:
//!
//! | | off | on |
//! |---|---|---|
//! | entry, drop | `eb 09` and 9 bytes of padding | `41 bb NUMBER` `e8 TRAMPOLINE` |
//! | tail call | the same | `41 ba NUMBER` `e8 TRAMPOLINE` |
//! | return | `c3` and 10 bytes of padding | `41 bb NUMBER` `e9 TRAMPOLINE` |
//!
//! The register is `r11d`. `r11` is the only register that a function may change in every calling convention: functions
//! that are `extern "rust-cold"` preserve `r10` for their callers. But a tail call may jump to an address in `r11`, and
//! never to one in `r10`, so the sled of a tail call uses `r10d`.
//!
//! The steps follow LLVM's XRay runtime. To switch a sled on, all of its bytes except the first two are written first,
//! while no thread can execute them. Next, every running thread is made to execute a serialising instruction
//! (`membarrier`), so that no CPU has the old bytes in its pipeline. Finally, a single aligned store to the first two
//! bytes switches the sled on. Switching a sled off takes only a store to the first two bytes, or to the first byte for
//! a return. The number and the trampoline of a sled never change, so a thread that is inside a sled when it is
//! switched off still executes valid instructions.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, Ordering};

use tickscope_format::function_table::SledKind;

/// A sled in this executable or library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sled {
    /// Address of the sled, which is even.
    pub(crate) at: usize,
    pub(crate) kind: SledKind,
    /// Number of the function that contains the sled.
    pub(crate) number: u32,
    /// Whether this function polls an async body.
    pub(crate) polls: bool,
}

/// Addresses of the trampolines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trampolines {
    pub(crate) entry: usize,
    pub(crate) ret: usize,
    pub(crate) tail_call: usize,
    /// Trampoline at the entry of functions that poll an async body. The next two fields are the trampolines for the
    /// returns and tail calls of these functions.
    pub(crate) poll: usize,
    pub(crate) poll_ret: usize,
    pub(crate) poll_tail_call: usize,
    /// Trampoline of functions that drop the future of an async body.
    pub(crate) drop: usize,
}

/// Reason why sleds cannot be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The system does not let a program change its code.
    Protected,
    /// The system cannot make running threads execute the changed code.
    NoBarrier,
}

const BYTES: usize = 11;
const PAGE: usize = 4096;

/// Sleds that are at most this many bytes apart are made writable together, by one system call that also covers the
/// pages between them.
const GAP: usize = 64 * PAGE;

/// Returns the first two bytes of a sled while it is on: the opcode of the instruction that loads the function's
/// number.
fn on(kind: SledKind) -> [u8; 2] {
    match kind {
        SledKind::Entry | SledKind::Return | SledKind::Drop => [0x41, 0xbb],
        SledKind::TailCall => [0x41, 0xba],
    }
}

/// First two bytes of the sled of an entry, a tail call or a drop, while the sled is off.
const SKIP: u16 = u16::from_le_bytes([0xeb, 0x09]);

const RETURN: u8 = 0xc3;

// From linux/membarrier.h. Only newer versions of the `libc` crate have these constants.
const MEMBARRIER_SYNC_CORE: i32 = 1 << 5;
const MEMBARRIER_REGISTER_SYNC_CORE: i32 = 1 << 6;

/// Whether the kernel had to write the sleds because the system did not let the program change its own code.
static THROUGH_KERNEL: AtomicBool = AtomicBool::new(false);

/// Held while code is changed.
static CHANGING: Mutex<()> = Mutex::new(());

/// Switches sleds on or off, and returns how many were switched. Bytes that do not look like a sled stay unchanged,
/// because a debugger may have put a breakpoint there.
///
/// `alone` means that no other thread is running yet, as is the case before `main`. If the system forbids writable
/// code, the kernel has to write the sleds, which is possible only if `alone` is set.
///
/// # Safety
/// The sleds must come from the compiler's map of this executable or library, each with the number of its function, and
/// must be sorted by address. The trampolines must be in the same file and preserve all registers that a function may
/// use. If `alone` is set, no other thread may execute the sleds meanwhile.
pub(crate) unsafe fn switch(
    sleds: &[Sled],
    on: bool,
    trampolines: &Trampolines,
    alone: bool,
) -> Result<usize, Refusal> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    if sleds.is_empty() {
        return Ok(0);
    }
    if alone {
        // If this fails, the first switch that needs the barrier reports it.
        let _ = register();
    } else if !serialize() {
        return Err(Refusal::NoBarrier);
    }
    let runs = runs(sleds);
    if !runs.iter().all(|run| protect(*run, libc::PROT_WRITE)) {
        protect_again(&runs);
        return if alone {
            // SAFETY: both functions have the same contract, which the caller keeps.
            unsafe { write_through_kernel(sleds, on, trampolines) }
        } else {
            Err(Refusal::Protected)
        };
    }
    let mut ready = Vec::with_capacity(sleds.len());
    for sled in sleds {
        // SAFETY: the pages of all sleds are readable, and have just been made writable.
        if unsafe { is_sled(sled) } && (!on || unsafe { fill(sled, trampolines) }) {
            ready.push(*sled);
        }
    }
    if on && !alone {
        serialize();
    }
    // Entries are switched on last. Otherwise the beginning of a call could be recorded, but not its end.
    if on {
        ready.sort_by_key(|sled| sled.kind == SledKind::Entry);
    }
    for sled in &ready {
        // SAFETY: the bytes are writable, and only this function changes them, under the lock.
        unsafe { open_or_close(sled, on) };
    }
    if !alone {
        serialize();
    }
    protect_again(&runs);
    Ok(ready.len())
}

/// Executes the same instructions as a function's sleds while they are on, and nothing else, to measure their cost.
///
/// # Safety
/// `entry` and `ret` must be the trampolines for the function with this number.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn measured_call(number: u32, entry: usize, ret: usize) {
    core::arch::naked_asm!("mov r11d, edi", "call rsi", "mov r11d, edi", "jmp rdx")
}

/// Executes the same instructions as [`measured_call`], but does not call the trampolines.
#[unsafe(naked)]
pub(crate) extern "C" fn plain_call(number: u32, entry: usize, ret: usize) {
    core::arch::naked_asm!("mov r11d, edi", "mov r11d, edi", "ret")
}

/// Returns whether the kernel had to write the sleds. If so, no sled can be switched any more once there are other
/// threads.
pub(crate) fn went_through_kernel() -> bool {
    THROUGH_KERNEL.load(Ordering::Relaxed)
}

/// Makes every running thread of the process execute a serialising instruction. Returns false if the system cannot.
pub(crate) fn serialize() -> bool {
    membarrier(MEMBARRIER_SYNC_CORE) || register() && membarrier(MEMBARRIER_SYNC_CORE)
}

/// Registers this process with the kernel, as [`serialize`] requires. This takes a microsecond as long as the process
/// has only one thread. With more threads, the kernel waits for all CPUs, which takes about 20 ms. No function can be
/// switched off during that time.
fn register() -> bool {
    membarrier(MEMBARRIER_REGISTER_SYNC_CORE)
}

fn membarrier(command: i32) -> bool {
    // SAFETY: all arguments are plain numbers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Returns the ranges of pages that contain the sleds, as start and end addresses.
fn runs(sleds: &[Sled]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for sled in sleds {
        let (from, to) = (sled.at / PAGE * PAGE, (sled.at + BYTES).div_ceil(PAGE) * PAGE);
        match runs.last_mut() {
            Some((_, end)) if from <= *end + GAP => *end = (*end).max(to),
            _ => runs.push((from, to)),
        }
    }
    runs
}

/// Makes pages of code readable and executable, with the additional permissions `more`.
fn protect((from, to): (usize, usize), more: i32) -> bool {
    let allowed = libc::PROT_READ | libc::PROT_EXEC | more;
    // SAFETY: the pages are code of this image, and stay readable and executable.
    unsafe { libc::mprotect(from as *mut libc::c_void, to - from, allowed) == 0 }
}

/// Makes code read-only again after [`protect`] has made it writable.
fn protect_again(runs: &[(usize, usize)]) {
    for run in runs {
        // If the system refuses this, the code stays writable.
        let _ = protect(*run, 0);
    }
}

/// Switches a sled with a single store, to its first two bytes or, when switching a return off, to its first byte.
///
/// # Safety
/// The sled must exist, in writable memory.
unsafe fn open_or_close(sled: &Sled, on: bool) {
    let is_return = sled.kind == SledKind::Return;
    if !on && is_return {
        // SAFETY: the byte is writable, and all accesses to it are atomic or instruction fetches.
        let first = unsafe { &*(sled.at as *const AtomicU8) };
        first.store(RETURN, Ordering::Release);
    } else {
        // SAFETY: the address is even, as `is_sled` has checked. The bytes are writable, and all accesses to them are
        // atomic or instruction fetches.
        let door = unsafe { &*(sled.at as *const AtomicU16) };
        let opened = u16::from_le_bytes(self::on(sled.kind));
        door.store(if on { opened } else { SKIP }, Ordering::Release);
    }
}

/// Returns whether the bytes at the sled's address are a sled, on or off.
///
/// # Safety
/// The bytes must be readable.
unsafe fn is_sled(sled: &Sled) -> bool {
    // SAFETY: the caller promises that the bytes are readable.
    let [first, second] = unsafe { *(sled.at as *const [u8; 2]) };
    let is_on = [first, second] == on(sled.kind);
    sled.at.is_multiple_of(2)
        && match sled.kind {
            SledKind::Entry | SledKind::TailCall | SledKind::Drop => {
                is_on || [first, second] == SKIP.to_le_bytes()
            }
            SledKind::Return => is_on || first == RETURN,
        }
}

/// Returns the bytes of a sled while it is on, or `None` if the trampoline is out of reach of a 32-bit relative jump.
fn bytes_on(sled: &Sled, trampolines: &Trampolines) -> Option<[u8; BYTES]> {
    let (target, instruction) = match (sled.kind, sled.polls) {
        (SledKind::Entry, false) => (trampolines.entry, 0xe8),
        (SledKind::TailCall, false) => (trampolines.tail_call, 0xe8),
        (SledKind::Return, false) => (trampolines.ret, 0xe9),
        (SledKind::Entry, true) => (trampolines.poll, 0xe8),
        (SledKind::TailCall, true) => (trampolines.poll_tail_call, 0xe8),
        (SledKind::Return, true) => (trampolines.poll_ret, 0xe9),
        (SledKind::Drop, _) => (trampolines.drop, 0xe8),
    };
    let distance = (target as i64).checked_sub((sled.at + BYTES) as i64)?;
    let distance = i32::try_from(distance).ok()?;
    let mut bytes = [0; BYTES];
    bytes[..2].copy_from_slice(&on(sled.kind));
    bytes[2..6].copy_from_slice(&sled.number.to_le_bytes());
    bytes[6] = instruction;
    bytes[7..].copy_from_slice(&distance.to_le_bytes());
    Some(bytes)
}

/// Writes all bytes of a sled except the first two. Returns false if the trampoline is too far away.
///
/// # Safety
/// The sled must exist, in writable memory.
unsafe fn fill(sled: &Sled, trampolines: &Trampolines) -> bool {
    let Some([_, _, rest @ ..]) = bytes_on(sled, trampolines) else {
        return false;
    };
    // SAFETY: the caller promises that the 11 bytes of the sled are writable. Threads execute the 9 bytes only while
    // the sled is on, and then the bytes already have these values.
    unsafe { ((sled.at + 2) as *mut [u8; 9]).write_volatile(rest) };
    true
}

/// Writes sleds through `/proc/self/mem`, which also works for pages that must not be made writable. The kernel does
/// not write a sled in one store, so no other thread may run.
///
/// # Safety
/// The caller must keep the contract of [`switch`].
unsafe fn write_through_kernel(
    sleds: &[Sled],
    on: bool,
    trampolines: &Trampolines,
) -> Result<usize, Refusal> {
    use std::os::unix::fs::FileExt;
    let memory = std::fs::OpenOptions::new().write(true).open("/proc/self/mem");
    let memory = memory.map_err(|_| Refusal::Protected)?;
    let mut written = 0;
    for sled in sleds {
        // SAFETY: code is readable.
        if !unsafe { is_sled(sled) } {
            continue;
        }
        let whole = bytes_on(sled, trampolines);
        let bytes: &[u8] = match (&whole, on, sled.kind) {
            (Some(bytes), true, _) => bytes,
            (None, true, _) => continue,
            (_, false, SledKind::Return) => &[RETURN],
            (_, false, SledKind::Entry | SledKind::TailCall | SledKind::Drop) => &SKIP.to_le_bytes(),
        };
        memory
            .write_all_at(bytes, sled.at as u64)
            .map_err(|_| Refusal::Protected)?;
        written += 1;
    }
    THROUGH_KERNEL.store(true, Ordering::Relaxed);
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::platform::os;

    #[test]
    fn switching_before_threads_leaves_the_barrier_ready_for_later() {
        let page = os::map_zeroed(PAGE).unwrap().cast::<[u8; 2]>();
        // SAFETY: the page is writable, and no other code uses it.
        unsafe { page.write(SKIP.to_le_bytes()) };
        let at = page.as_ptr().addr();
        let sled = Sled {
            at,
            kind: SledKind::Entry,
            number: 7,
            polls: false,
        };
        let target = at + 64;
        let trampolines = Trampolines {
            entry: target,
            ret: target,
            tail_call: target,
            poll: target,
            poll_ret: target,
            poll_tail_call: target,
            drop: target,
        };
        // SAFETY: the sled is in the page, and no thread runs there.
        assert_eq!(unsafe { switch(&[sled], true, &trampolines, true) }, Ok(1));
        // SAFETY: the page is readable.
        assert_eq!(unsafe { page.read() }, on(SledKind::Entry));
        // If the kernel supports this barrier, `switch` has already registered the process for it.
        let is_ready = membarrier(MEMBARRIER_SYNC_CORE);
        assert_eq!(is_ready, register());
    }
}

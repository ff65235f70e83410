//! Targets of sleds: code that saves and restores the program's registers around the collector's functions.
//!
//! Sleds are at points where the compiler expects no call: at a function's first instruction, where the arguments are
//! in registers, and in place of its return, where the result is in registers. So all registers that may hold arguments
//! or results have to be preserved. The sled has loaded the function's number into `r11d` or `r10d`; the documentation
//! of `platform/sleds` says which, and why.
//!
//! A trampoline first calls a short function that handles the usual event. This function is compiled for the baseline
//! CPU and calls no other function, so it changes only the low halves of vector registers, and these are saved; a test
//! checks its instructions. If the short function returns false, another function handles the event. That function may
//! run any code, so the whole state of the vector units is saved around it (`xsave`), which takes about 100 ns.

use core::arch::naked_asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
#[cfg(target_env = "gnu")]
use std::mem::offset_of;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::enabled::functions::{hooks, polls};
use crate::enabled::platform::sleds::Trampolines;
#[cfg(target_env = "gnu")]
use crate::enabled::record::{
    frames::{Frame, Frames},
    hot_tree::hot_tree_name,
    tree::Tree,
};

/// Returns the addresses of the trampolines.
pub(super) fn trampolines() -> Trampolines {
    Trampolines {
        entry: entry as *const () as usize,
        ret: ret as *const () as usize,
        tail_call: tail_call as *const () as usize,
        poll: poll as *const () as usize,
        poll_ret: poll_ret as *const () as usize,
        poll_tail_call: poll_tail_call as *const () as usize,
        drop: drop as *const () as usize,
    }
}

/// 1 if the CPU has `xsavec`, otherwise 0. Unlike `xsave`, `xsavec` skips components that are in their initial state,
/// as most of them are.
static COMPACTS: AtomicU8 = AtomicU8::new(0);

/// Returns whether the CPU and the system can save the state of the vector units, and sets [`COMPACTS`].
pub(super) fn can_keep_state() -> bool {
    let ecx = __cpuid(1).ecx;
    // Bit 26 says that the CPU has XSAVE, and bit 27 that the system has enabled it.
    let can = ecx & (1 << 26) != 0 && ecx & (1 << 27) != 0;
    if can && __cpuid_count(0xd, 1).eax & (1 << 1) != 0 {
        COMPACTS.store(1, Ordering::Relaxed);
    }
    can
}

/// Saves all registers that may hold arguments or results and that a call may change. `$space` is 208 or 216 bytes,
/// whichever makes `rsp` a multiple of 16.
macro_rules! keep {
    ($space:literal) => {
        concat!(
            concat!("sub rsp, ", $space, "\n.cfi_adjust_cfa_offset ", $space, "\n"),
            "mov [rsp], rax\n",
            "mov [rsp + 8], rcx\n",
            "mov [rsp + 16], rdx\n",
            "mov [rsp + 24], rsi\n",
            "mov [rsp + 32], rdi\n",
            "mov [rsp + 40], r8\n",
            "mov [rsp + 48], r9\n",
            "mov [rsp + 56], r11\n",
            "mov [rsp + 64], r10\n",
            "movups [rsp + 80], xmm0\n",
            "movups [rsp + 96], xmm1\n",
            "movups [rsp + 112], xmm2\n",
            "movups [rsp + 128], xmm3\n",
            "movups [rsp + 144], xmm4\n",
            "movups [rsp + 160], xmm5\n",
            "movups [rsp + 176], xmm6\n",
            "movups [rsp + 192], xmm7\n",
        )
    };
}

macro_rules! bring_back {
    ($space:literal) => {
        concat!(
            "movups xmm7, [rsp + 192]\n",
            "movups xmm6, [rsp + 176]\n",
            "movups xmm5, [rsp + 160]\n",
            "movups xmm4, [rsp + 144]\n",
            "movups xmm3, [rsp + 128]\n",
            "movups xmm2, [rsp + 112]\n",
            "movups xmm1, [rsp + 96]\n",
            "movups xmm0, [rsp + 80]\n",
            "mov r9, [rsp + 48]\n",
            "mov r8, [rsp + 40]\n",
            "mov rdi, [rsp + 32]\n",
            "mov rsi, [rsp + 24]\n",
            "mov rdx, [rsp + 16]\n",
            "mov rcx, [rsp + 8]\n",
            "mov rax, [rsp]\n",
            concat!("add rsp, ", $space, "\n.cfi_adjust_cfa_offset -", $space, "\n"),
        )
    };
}

/// Defines trampolines. `$space` is 208 bytes if a sled calls the trampoline, and 216 if a sled jumps to it, so that
/// the function's return address is always at `rsp + 216`. `$number` is the register that holds the function's number,
/// and `$kept` is the stack offset at which this register is saved. `$other` restores either `r10` or `r11`, whichever
/// the sled did not use. `$third` sets the third argument of the short function.
macro_rules! trampolines {
    ($($(#[$doc:meta])* $name:ident, $space:literal, $number:literal, $kept:literal, $other:literal, $third:literal, $usual:path, $rare:path;)*) => {$(
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                keep!($space),
                concat!("mov edi, ", $number),
                "lea rsi, [rsp + 216]",
                $third,
                "call {usual}",
                "test al, al",
                "jne 2f",
                concat!("mov edi, [rsp + ", $kept, "]"),
                "lea rsi, [rsp + 216]",
                "lea rax, [rip + {rare}]",
                "call {keeping_all}",
                "2:",
                $other,
                bring_back!($space),
                "ret",
                ".cfi_endproc",
                usual = sym $usual,
                rare = sym $rare,
                keeping_all = sym keeping_all,
            )
        }
    )*};
}

trampolines! {
    /// Called at a function's first instruction. The function's return address is right above the return address of
    /// this call.
    entry, "208", "r11d", "56", "mov r10, [rsp + 64]", "mov edx, 1", hooks::enter, hooks::enter_rarely;
}
/// Target of the jump that replaces a return. The stack pointer is at the function's return address. If the place of
/// the innermost open function is above this address, the end belongs to a call that began while the function was off,
/// and is ignored here. This is checked first, because many such calls may end while an earlier call is still open.
#[cfg(target_env = "gnu")]
#[unsafe(naked)]
unsafe extern "C" fn ret() {
    naked_asm!(
        ".cfi_startproc",
        "push rcx",
        ".cfi_adjust_cfa_offset 8",
        concat!("mov rcx, qword ptr [rip + ", hot_tree_name!(), "@GOTTPOFF]"),
        "mov rcx, qword ptr fs:[rcx]",
        "test rcx, rcx",
        "je 2f",
        "mov rcx, [rcx + {top}]",
        "test rcx, rcx",
        "je 2f",
        "mov rcx, [rcx + {place}]",
        "sub rcx, 8",
        "cmp rcx, rsp",
        "ja 2f",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "jmp {counted}",
        "2:",
        ".cfi_adjust_cfa_offset 8",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        top = const offset_of!(Tree, frames) + Frames::TOP,
        place = const Frame::PLACE,
        counted = sym counted_ret,
    )
}
#[cfg(not(target_env = "gnu"))]
use counted_ret as ret;

trampolines! {
    /// Target of the jump that replaces a return, for a call that may be counted.
    counted_ret, "216", "r11d", "56", "mov r10, [rsp + 64]", "xor edx, edx", hooks::exit, hooks::exit_rarely;

    /// Called before a tail call, which is a jump to a function that returns to this function's caller.
    tail_call, "208", "r10d", "64", "mov r11, [rsp + 56]", "xor edx, edx", hooks::exit, hooks::exit_rarely;
}

/// Defines trampolines for polls of async bodies, which have no short function for usual events. The first two
/// arguments of the polling function are passed to the hook as its fifth and sixth arguments, in registers that
/// [`keeping_all`] does not change. A poll has no vector arguments, and its result uses at most 16 bytes of a vector
/// register. So `$call` calls the hook directly, and goes through [`keeping_all`] only before a tail call, which may
/// jump to any other function.
macro_rules! poll_trampolines {
    ($($(#[$doc:meta])* $name:ident, $space:literal, $number:literal, $other:literal, $call:literal, $hook:path;)*) => {$(
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                keep!($space),
                "mov r8, rdi",
                "mov r9, rsi",
                concat!("mov edi, ", $number),
                "lea rsi, [rsp + 216]",
                "lea rax, [rip + {hook}]",
                "lea r11, [rip + {keeping_all}]",
                $call,
                $other,
                bring_back!($space),
                "ret",
                ".cfi_endproc",
                hook = sym $hook,
                keeping_all = sym keeping_all,
            )
        }
    )*};
}

poll_trampolines! {
    /// Called at the first instruction of a poll function; the counterpart of [`entry`].
    poll, "208", "r11d", "mov r10, [rsp + 64]", "call rax", polls::begin;

    /// Target of the jump that replaces a return of a poll function; the counterpart of [`ret`].
    poll_ret, "216", "r11d", "mov r10, [rsp + 64]", "call rax", polls::end;

    /// Called before a tail call in a poll function; the counterpart of [`tail_call`].
    poll_tail_call, "208", "r10d", "mov r11, [rsp + 56]", "call r11", polls::end;

    /// Called at the first instruction of a function that drops a future.
    drop, "208", "r11d", "mov r10, [rsp + 64]", "call rax", polls::dropped;
}

/// Calls the function at `rax` with the arguments in `rdi`, `rsi`, `r8` and `r9`, and preserves the state of x87, SSE,
/// AVX and AVX-512. The state takes 2 688 bytes if the CPU has all these components, and its address must be a multiple
/// of 64. Each component that the mask selects has a fixed offset, so the area is large enough on every CPU. The header
/// of the area, which is 64 bytes at offset 512, must be zero before the state is saved.
#[unsafe(naked)]
unsafe extern "C" fn keeping_all() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 2688",
        "and rsp, -64",
        "mov r11, rax",
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        "mov eax, 0xe7",
        "xor edx, edx",
        "cmp byte ptr [rip + {compacts}], 0",
        "jne 2f",
        "xsave64 [rsp]",
        "jmp 3f",
        "2:",
        "xsavec64 [rsp]",
        "3:",
        "call r11",
        "mov eax, 0xe7",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "mov rsp, rbp",
        ".cfi_def_cfa_register rsp",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
        compacts = sym COMPACTS,
    )
}

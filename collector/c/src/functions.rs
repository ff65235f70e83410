//! Hooks that functions compiled with `-finstrument-functions` call. Both pass on to [`begin`] and [`end`] the values that only
//! the caller's registers and its stack hold.

use std::arch::naked_asm;

use tickscope::__private::calls::{self, Event};

use crate::names;

/// A function begins.
///
/// # Safety
/// Only calls that a compiler has put into functions may reach it.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __cyg_profile_func_enter(function: u64, caller: u64) {
    naked_asm!(
        ".cfi_startproc",
        "lea rdx, [rsp + 8]",
        "mov rcx, rbp",
        "mov r8, [rsp]",
        "jmp {begin}",
        ".cfi_endproc",
        begin = sym begin,
    )
}

/// A function ends.
///
/// # Safety
/// The caller keeps the promises of [`__cyg_profile_func_enter`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __cyg_profile_func_exit(function: u64, caller: u64) {
    naked_asm!(
        ".cfi_startproc",
        "lea rdx, [rsp + 8]",
        "mov rcx, rbp",
        "mov r8, [rsp]",
        "jmp {end}",
        ".cfi_endproc",
        end = sym end,
    )
}

extern "C-unwind" fn begin(function: u64, caller: u64, stack: u64, frame: u64, from: u64) {
    let event = Event {
        function,
        caller,
        stack,
        frame,
        from,
    };
    calls::begin(&event, names::of_function);
}

extern "C-unwind" fn end(function: u64, caller: u64, stack: u64, frame: u64, from: u64) {
    calls::end(&Event {
        function,
        caller,
        stack,
        frame,
        from,
    });
}

//! Hooks that functions compiled with `-finstrument-functions` call. They pass values from the caller's registers and
//! stack to [`begin`] and [`end`].

use std::arch::naked_asm;

use tickscope::__private::calls::{self, Event};

use crate::names;

/// Makes linkers include the code that runs before `main` when they take only these hooks from the static library.
#[used]
static BEFORE_MAIN: &extern "C" fn() = &tickscope::__private::BEFORE_MAIN;

/// Handles the beginning of a function.
///
/// # Safety
/// Only calls that a compiler has put into functions may call this function.
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

/// Handles the end of a function.
///
/// # Safety
/// The contract of [`__cyg_profile_func_enter`] applies.
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

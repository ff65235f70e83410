//! Rust code that calls C code, which calls Rust code.

use std::hint::black_box;
use std::panic::catch_unwind;

extern "C-unwind" {
    fn c_sum(n: i64, back: extern "C-unwind" fn(i64) -> i64) -> i64;
}

#[inline(never)]
extern "C-unwind" fn back(n: i64) -> i64 {
    black_box(n) + 1
}

#[inline(never)]
extern "C-unwind" fn falls(n: i64) -> i64 {
    if n == 2 {
        panic!("on purpose");
    }
    black_box(n)
}

#[inline(never)]
fn rust_calls(n: i64) -> i64 {
    // The addition prevents a tail call, which would remove this function from the stack.
    // SAFETY: `c_sum` takes any number, and calls only `back`.
    black_box(unsafe { c_sum(n, back) }) + 1
}

#[inline(never)]
fn panics_through_c() -> usize {
    // SAFETY: `c_sum` takes any number, calls only `falls`, and has unwind tables, like all C code on x86-64.
    (0..5).filter(|_| catch_unwind(|| unsafe { c_sum(10, falls) }).is_err()).count()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    println!("{} {}", rust_calls(100), panics_through_c());
}

//! The fuzzer: one program for all targets; the environment variable `TARGET` chooses one. The script `run` starts it.

#![no_main]

mod counting;
mod targets;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

static TARGET: LazyLock<&'static targets::Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    let names = || targets::ALL.map(|target| target.name).join(", ");
    let target = targets::ALL.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("TARGET is {name:?}, wanted one of {}", names()))
});

fuzz_target!(|input: &[u8]| TARGET.check(input));

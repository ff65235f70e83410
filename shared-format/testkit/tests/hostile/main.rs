//! Tests with hostile bytes: the fuzzer's corpus and the inputs that once made it fail (`shared-format/fuzz`), flipped
//! bits, oversized lengths, and other versions of the format.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

#[path = "../../../fuzz/src/counting.rs"]
mod counting;
#[path = "../../../fuzz/src/targets/mod.rs"]
mod targets;

mod corpus;
mod flips;
mod lengths;
mod versions;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

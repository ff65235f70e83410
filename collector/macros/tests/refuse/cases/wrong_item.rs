use tickscope_macros::profile;

#[profile]
#[derive(Clone)]
pub(crate) struct Table {
    f: fn() -> u8,
}

#[profile]
enum Choice {}

#[profile]
const F: fn(u8) -> u8 = |x| { x };

#[profile]
pub use std::fmt;

#[profile]
std::thread_local! {}

#[profile]
unsafe extern "C" {}

fn main() {}

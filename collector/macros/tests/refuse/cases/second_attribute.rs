use tickscope_macros::profile;

#[profile]
#[inline]
#[tickscope_macros::profile(name = "x")]
fn counted_twice() {}

fn main() {}

use tickscope_macros::profile;

#[profile]
#[inline]
#[tickscope_macros::profile(skip)]
fn counted_twice() {}

fn main() {}

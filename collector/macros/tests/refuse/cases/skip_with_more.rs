use tickscope_macros::profile;

#[profile(skip, group = "g")]
fn beside() {}

#[profile(skip = true)]
fn value() {}

fn main() {}

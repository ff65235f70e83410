use tickscope_macros::profile;

#[profile(name = 3)]
fn number() {}

#[profile(group = b"bytes")]
fn bytes() {}

#[profile(name = concat!("a", "b"))]
fn call() {}

#[profile(name = "a" "b")]
fn two() {}

fn main() {}

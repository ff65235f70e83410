use tickscope_macros::profile;

#[profile(crate = "crate::mock")]
fn text() {}

#[profile(crate = crate::)]
fn cut_off() {}

#[profile(crate = crate::mock<u8>)]
fn generic() {}

fn main() {}

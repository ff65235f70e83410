use tickscope_macros::profile;

#[profile(name = "")]
fn empty() {}

#[profile(group = r#" "#)]
fn blank() {}

fn main() {}

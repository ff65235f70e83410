use tickscope_macros::profile;

#[profile(name = "x", group = "g", name = "y")]
fn twice() {}

fn main() {}

use tickscope_macros::profile;

struct Table;

#[profile(name = "x")]
impl Table {}

#[profile(name = "x")]
trait Shape {}

#[profile(name = "x")]
mod inside {}

fn main() {}

use tickscope_macros::profile;

struct Table;

#[profile(name = "x")]
impl Table {}

#[profile(name = "x")]
trait Shape {}

#[profile(name = "x")]
mod inside {
    macro_rules! make {
        () => {};
    }
    pub(crate) use make;
}

// The module still exists in spite of its error, so this line causes no further error.
inside::make!();

fn main() {}

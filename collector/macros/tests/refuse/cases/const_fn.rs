use tickscope_macros::profile;

#[profile]
const fn free() -> u8 {
    1
}

struct Table;

impl Table {
    #[profile]
    pub(crate) const unsafe fn method(&self) {}
}

// The item stands there all the same: this is no second error.
const ONE: u8 = free();

fn main() {}

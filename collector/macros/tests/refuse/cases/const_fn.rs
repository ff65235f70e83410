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

fn main() {}

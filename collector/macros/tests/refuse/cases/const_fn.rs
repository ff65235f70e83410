use inner::free;
use tickscope_macros::profile;

mod inner {
    // The function stands there all the same: its import is no second error.
    #[super::profile]
    pub(crate) const fn free() -> u8 {
        1
    }
}

struct Table;

impl Table {
    #[profile]
    pub(crate) const unsafe fn method(&self) {}
}

fn main() {
    free();
}

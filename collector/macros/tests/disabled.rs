//! Without the feature `enable` the attribute gives back its item.
//!
//! There is no crate `tickscope` here: whatever the attribute inserted would fail to compile.

#![cfg(not(feature = "enable"))]
#![deny(warnings)]

use tickscope_macros::profile;

#[profile]
fn plain() -> u8 {
    1
}

#[profile]
async fn later() -> u8 {
    2
}

#[profile]
const fn constant() -> u8 {
    3
}

#[profile(no such option = 7, name = )]
struct Holder {
    field: u8,
}

#[profile(group = "g")]
impl Holder {
    #[profile(name = "n")]
    fn field(&self) -> u8 {
        self.field
    }
}

#[profile(skip)]
mod inside {
    pub(crate) fn free() -> u8 {
        5
    }
}

#[test]
fn everything_is_as_written() {
    const CONSTANT: u8 = constant();
    assert_eq!((plain(), CONSTANT), (1, 3));
    assert_eq!((Holder { field: 4 }.field(), inside::free()), (4, 5));
    let future = std::pin::pin!(later());
    let poll = future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert_eq!(poll, std::task::Poll::Ready(2));
}

//! Checks that without the feature `enable` the attribute returns its item unchanged: a path that it inserted would not compile,
//! because `::tickscope` is this test, which has no mock here.

#![cfg(not(feature = "enable"))]
#![deny(warnings, clippy::all, clippy::items_after_statements)]
#![forbid(unused_variables, unused_must_use, unused_mut, clippy::needless_return)]

extern crate self as tickscope;

use tickscope_macros::profile;

#[profile]
fn plain() -> u8 {
    1
}

#[profile]
async fn later() -> u8 {
    2
}

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

#[profile]
mod inside {
    pub(crate) fn free() -> u8 {
        5
    }

    pub(crate) const fn constant() -> u8 {
        3
    }
}

#[profile(task)]
fn returned() -> impl Future<Output = u8> {
    later()
}

#[test]
fn everything_is_as_written() {
    assert_eq!(plain(), 1);
    assert_eq!(Holder { field: 4 }.field(), 4);
    assert_eq!(inside::free(), 5);
    assert_eq!(inside::constant(), 3);
    let future = std::pin::pin!(returned());
    let poll = future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert_eq!(poll, std::task::Poll::Ready(2));
}

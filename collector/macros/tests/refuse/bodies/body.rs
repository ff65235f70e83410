//! The compiler must report errors in a profiled body at their positions in the source.

extern crate self as tickscope;

use tickscope_macros::profile;

#[macro_export]
macro_rules! scope {
    () => {
        let _guard = 1;
    };
}

#[macro_export]
macro_rules! __site {
    () => {
        &()
    };
}

#[doc(hidden)]
pub mod __private {
    pub async fn profile_future<F: Future>(_: &'static (), future: F) -> F::Output {
        future.await
    }
}

#[profile]
fn plain() -> u8 {
    "text"
}

#[profile]
async fn later() -> u8 {
    "text"
}

#[profile]
fn no_result() -> u8 {
    1;
}

fn main() {}

//! Scopes that are open at an `.await`.

extern crate self as tickscope;

use tickscope_macros::profile;

#[macro_export]
macro_rules! scope {
    ($($site:tt)*) => {
        let _guard = 1;
    };
}

#[macro_export]
macro_rules! time {
    ($name:expr, $value:expr) => {
        $value
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

async fn other() -> u8 {
    1
}

#[profile]
async fn bare() {
    scope!("bare");
    other().await;
}

#[profile]
async fn deeper(flag: bool) {
    let first = 1;
    tickscope::scope!(group = "g", "deeper");
    if flag {
        drop((first, [other().await]));
    }
}

#[profile]
async fn timed() -> u8 {
    ::tickscope::time!("timed", other().await + 1)
}

#[profile]
fn in_an_async_block() -> impl Future<Output = ()> {
    async move {
        scope!();
        other().await;
    }
}

struct Shape;

#[profile]
impl Shape {
    async fn area(&self) -> u8 {
        loop {
            { scope!("ends here"); }
            crate::scope!("another crate's, for all that the attribute knows");
            tickscope::scope!("area");
            return other().await;
        }
    }
}

fn main() {
    drop((bare(), deeper(true), timed(), in_an_async_block(), Shape.area()));
}
